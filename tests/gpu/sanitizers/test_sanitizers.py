"""The host kernels under ASan with UBSan and under TSan, in a child process that preloads the sanitizer; and planted
faults that must be found."""

from __future__ import annotations

import functools
import re
import subprocess
import warnings

import pytest

from raygrove.gpu.target.translation_unit import parse_kernels

from . import keep
from .child import ENDED
from .kept_jobs import Outcome, read, to_run, today
from .tools import FLAGS, ROOT, how, is_clean, names_for, run_child, watched

pytestmark = [pytest.mark.sanitize, pytest.mark.first]

FAULTS = [
    ("address", "write_past_the_end", "AddressSanitizer: use-after-poison"),
    ("address", "read_past_the_end", "AddressSanitizer: use-after-poison"),
    ("address", "read_through_null", "AddressSanitizer: SEGV"),
    ("address", "read_far_in_front", "AddressSanitizer: "),
    ("address", "write_past_a_tile", "out of bounds for type 'int [8]'"),
    ("address", "overflow_a_sum", "signed integer overflow"),
    ("thread", "race_for_a_sum", "ThreadSanitizer: data race"),
    ("thread", "race_with_an_earlier_block", "ThreadSanitizer: data race"),
]


@functools.cache
def faults_watched(tool: str) -> dict[str, tuple[str, int]]:
    """What the tool reported of each planted fault, and how the process with it ended: forks of one."""
    done, found = run_child(tool, "faults", *(fault for of, fault, _ in FAULTS if of == tool)), {}
    parts = re.split(rf"^{ENDED} (\w+) (-?\d+)\n", done.stderr, flags=re.MULTILINE)
    for report, fault, code in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        found[fault] = report, int(code)
    return found


@pytest.mark.parametrize(("tool", "fault", "report"), FAULTS)
def test_a_planted_fault_is_found(tool: str, fault: str, report: str) -> None:
    said, code = faults_watched(tool)[fault]
    assert code == 66, said[-3000:]
    assert report in said
    assert fault in said, "the report names the kernel"


@pytest.mark.broad("a planted fault is found by each tool in the default run; every kernel takes minutes")
@pytest.mark.parametrize("threads", [3, 8])
def test_the_pool_itself_has_no_race(threads: int) -> None:
    """The last `--threads` counts. Of eight threads most have no share of most launches."""
    done = run_child("thread", "pool", "--threads", str(threads))
    assert done.returncode == 0 and "Sanitizer" not in done.stderr, done.stderr[-6000:]


@pytest.mark.broad("as above")
def test_two_threads_of_a_program_have_no_race() -> None:
    """Trees of their own, and one tree that both would use."""
    done = run_child("thread", "two_threads")
    assert done.returncode == 0 and "Sanitizer" not in done.stderr, done.stderr[-6000:]


@functools.cache
def valid(tool: str) -> dict[str, tuple[str, Outcome]]:
    """What is kept of the tool's jobs and still counts."""
    return read().valid(tool, how(tool))


@functools.cache
def everything_watched() -> dict[str, list[subprocess.CompletedProcess[str]]]:
    """Each job of which nothing is kept under every tool, and some by turns."""
    asked = {tool: to_run(names_for(tool), valid(tool), today()) for tool in FLAGS}
    for tool, names in asked.items():
        if len(names) > len(names_for(tool)) // 4:
            warnings.warn(f"{tool}: {len(names)} jobs are not kept: python -m {keep.__name__}", stacklevel=1)
    return watched(asked)


@pytest.mark.broad("as above")
@pytest.mark.timeout(1200)  # where every kernel is compiled anew
@pytest.mark.parametrize("tool", ["address", "thread"])
def test_every_kernel_is_clean(tool: str) -> None:
    launched = {name for _, outcome in valid(tool).values() for some in outcome.launched.values() for name in some}
    assert everything_watched()[tool], "no job ran"
    for done in everything_watched()[tool]:
        assert is_clean(done), done.stderr[-6000:]
        launched |= set(done.stdout.split())
    files = sorted((ROOT / "gpu").rglob("*.cu"))
    kernels = {name for file in files for name in parse_kernels(file.read_text(encoding="utf-8"), str(file))}
    assert kernels <= launched, f"not run under the sanitizer: {sorted(kernels - launched)}"


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("tool", ["address", "thread"])
def test_each_form_of_it_is_clean(tool: str, part: int) -> None:
    """What test_every_kernel_is_clean leaves out: every form, and pictures of every structure in every layout."""
    done = run_child(tool, "everything", "--part", str(part), "8")
    assert is_clean(done), done.stderr[-6000:]
