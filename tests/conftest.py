"""What every test may use: the targets (raygrove.testing), and hypothesis told to be quick and repeatable."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator

import hypothesis
import pytest

HOST_FLAGS = "-O1 -fexpensive-optimizations -DIS_INLINED_BY_CHOICE"
"""What the host's kernels are compiled with here, behind what users have, in two thirds of the time; the second flag
lets additions and multiplications be fused, as -O3 does, and by the third the compiler chooses what it inlines, which
is less (gpu/target/cuda_on_host.cuh). That the results are the same is shown by
tests/gpu/target/test_as_users_have_it.py; `RAYGROVE_HOST_FLAGS= make test` tests what users have itself."""

os.environ.setdefault("RAYGROVE_HOST_FLAGS", HOST_FLAGS)
os.environ.setdefault("RAYGROVE_HOST_SPIN_US", "0")  # a thread that spins takes from the other tests

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background of a shell; what tests start hears Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["raygrove.testing", "tests.costs", "tests.covering", "tests.denormals", "tests.order", "tests.quick"]
pytest_plugins += ["tests.broad", "tests.app.ready_window"]

hypothesis.settings.register_profile("raygrove", deadline=None, max_examples=25, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("raygrove")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Half a million objects, the tests and all modules, stay to the end: the garbage collector looks at them neither
    while they are made nor afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture
def registry_as_before() -> Iterator[None]:
    """No structure that a test registers is there in the next one."""
    from raygrove.gpu.hierarchy import registry  # here, as most tests need no structure

    before = set(registry.structures())
    yield
    for name in set(registry.structures()) - before:
        registry.unregister(name)


def patience(seconds: float) -> float:
    """By the clock, how long may take what takes `seconds` on a machine of its own: longer where others want the
    processors, too."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
