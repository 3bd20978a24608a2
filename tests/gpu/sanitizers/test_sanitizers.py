"""The host kernels under ASan with UBSan and under TSan, in a child process that preloads the sanitizer; and planted
faults that must be found."""

from __future__ import annotations

import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from raygrove.gpu.target.translation_unit import parse_kernels
from tests.gpu.sanitizers.child import ENDED

ROOT = pathlib.Path(__file__).resolve().parents[3]
pytestmark = [pytest.mark.sanitize, pytest.mark.first]

PARTS = 2

THREADS = {"address": 2, "thread": 3}
"""Two show most races; with three there are threads without a share of a launch, and blocks that meet a third one's."""

BY_CHOICE = "-DIS_INLINED_BY_CHOICE "
"""The compiler chooses what it inlines (cuda_on_host.cuh): each access is watched all the same, in fewer copies."""

FLAGS = {
    # Address checks by calls: the same ones, and the compiler is done in half the time. UBSan's checks of null, of
    # pointers that wrap and of the sizes of objects find before an access what ASan finds at it, for a quarter more.
    "address": BY_CHOICE + "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
    " -fno-sanitize=null,pointer-overflow,object-size"
    " --param asan-instrumentation-with-call-threshold=0",
    "thread": BY_CHOICE + "-O1 -g1 -fno-omit-frame-pointer -fsanitize=thread",
}
SPIN_US = {"address": "0", "thread": "100"}
"""TSan takes the lock of threads that sleep for an order of what they do; who naps takes none (host_runtime.cpp)."""
LIBRARIES = {"address": ("libasan.so", "libstdc++.so.6"), "thread": ("libtsan.so", "libstdc++.so.6")}
WATCH = {"address": "memory", "thread": "races"}
"""What each tool is run for: their units take the longest to compile and to run, and many differ in nothing that it
finds."""

OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:exitcode=66",
    "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=66",
    "TSAN_OPTIONS": "exitcode=66:ignore_noninstrumented_modules=1:report_signal_unsafe=0",
}


@functools.cache
def preloaded(tool: str) -> tuple[str, tuple[str, ...]]:
    """What LD_PRELOAD holds for a tool, and what the command begins with: `setarch -R` where TSan cannot live with
    random addresses."""
    if shutil.which("g++") is None:
        pytest.skip("the sanitizers' libraries come with g++, which is not there")
    paths = []
    for library in LIBRARIES[tool]:
        found = subprocess.run(
            ["g++", f"-print-file-name={library}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        if not pathlib.Path(found).is_absolute():
            pytest.skip(f"g++ has no {library} here")
        paths.append(found)
    for prefix in ((), ("setarch", "-R")):
        trial = [*prefix, sys.executable, "-c", "import threading"]
        if (
            subprocess.run(
                trial, env={**os.environ, **OPTIONS, "LD_PRELOAD": ":".join(paths)}, capture_output=True, check=False
            ).returncode
            == 0
        ):
            return ":".join(paths), prefix
    pytest.skip(f"a process with {paths[0]} does not start on this machine")


def run_child(tool: str, *scenario: str) -> subprocess.CompletedProcess[str]:
    preload, prefix = preloaded(tool)
    chosen = {
        "LD_PRELOAD": preload,
        "RAYGROVE_HOST_FLAGS": FLAGS[tool],
        "RAYGROVE_HOST_FORCE_SPLIT": "1",
        "RAYGROVE_HOST_SPIN_US": SPIN_US[tool],
        "CXX": "g++",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [*prefix, sys.executable, "-m", "tests.gpu.sanitizers.child", "--threads", str(THREADS[tool]), *scenario]
    return subprocess.run(
        command,
        env={**os.environ, **OPTIONS, **chosen},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1100,
        check=False,
    )


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


@pytest.mark.parametrize("threads", [3, 8])
def test_the_pool_itself_has_no_race(threads: int) -> None:
    """The last `--threads` counts. Of eight threads most have no share of most launches."""
    done = run_child("thread", "pool", "--threads", str(threads))
    assert done.returncode == 0 and "Sanitizer" not in done.stderr, done.stderr[-6000:]


def test_two_threads_of_a_program_have_no_race() -> None:
    """Trees of their own, and one tree that both would use."""
    done = run_child("thread", "two_threads")
    assert done.returncode == 0 and "Sanitizer" not in done.stderr, done.stderr[-6000:]


@functools.cache
def everything_watched() -> dict[str, list[subprocess.CompletedProcess[str]]]:
    """Every kernel under every tool, in parts: as many at a time as there are processors, since compiling them anew
    takes the longest."""
    parts = [(tool, str(part)) for part in range(PARTS) for tool in FLAGS]
    for tool in FLAGS:
        preloaded(tool)
    with concurrent.futures.ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
        done = list(
            pool.map(
                lambda job: run_child(job[0], "everything", "--part", job[1], str(PARTS), "--watch", WATCH[job[0]]),
                parts,
            )
        )
    return {tool: [outcome for (of, _), outcome in zip(parts, done, strict=True) if of == tool] for tool in FLAGS}


@pytest.mark.timeout(1200)  # every kernel is compiled anew
@pytest.mark.parametrize("tool", ["address", "thread"])
def test_every_kernel_is_clean(tool: str) -> None:
    launched: set[str] = set()
    for done in everything_watched()[tool]:
        assert done.returncode == 0 and "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, (
            done.stderr[-6000:]
        )
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
    assert done.returncode == 0 and "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr[
        -6000:
    ]
