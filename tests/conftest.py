"""What every test may use: the targets, and hypothesis told to be quick and repeatable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from gpu.target.base import NoDeviceError, Target, TargetOptions

hypothesis.settings.register_profile("raygrove", deadline=None, max_examples=25, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("raygrove")


def patience(seconds: float) -> float:
    """By the clock, how long may take what takes `seconds` on a machine of its own: longer where others want the processors, too."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def make_target(kind: str, **options: Any) -> Target:
    """A target of `kind` (host or cuda). Without a device the test is skipped and says so; without a host compiler it fails, as it should."""
    if kind == "host":
        from gpu.target.host import HostTarget

        return HostTarget(TargetOptions(**options))
    try:
        from gpu.target.cuda import CudaTarget

        return CudaTarget(TargetOptions(**options))
    except (NoDeviceError, ImportError) as error:
        pytest.skip(f"no CUDA device: {error}")


@pytest.fixture(scope="session")
def host_target() -> Iterator[Target]:
    """The host target with its default options; one for the whole run."""
    made = make_target("host")
    yield made
    made.close()


@pytest.fixture(scope="session", params=["host", pytest.param("cuda", marks=pytest.mark.cuda)])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Each target in turn: what uses it must hold on both."""
    if request.param == "host":
        yield request.getfixturevalue("host_target")
        return
    made = make_target("cuda")
    yield made
    made.close()


@pytest.fixture(scope="session", params=["host", pytest.param("cuda", marks=pytest.mark.cuda)])
def exact_target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Each target without multiply-add contraction: what golden files and comparisons bit by bit use."""
    made = make_target(request.param, contraction=False)
    yield made
    made.close()
