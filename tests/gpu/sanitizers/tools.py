"""The sanitizers: what is compiled with them, and a child process that preloads one."""

from __future__ import annotations

import concurrent.futures
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

import pytest

from .kept_jobs import Outcome, outcome_of
from .scenario import everything, name_of

ROOT = pathlib.Path(__file__).resolve().parents[3]

PARTS, FEW = 2, 24
"""Processes a tool, and so few jobs that one process runs them: it takes a second to start."""

THREADS = {"address": 2, "thread": 3}
"""Two show most races; with three there are threads without a share of a launch, and blocks that meet a third one's."""

BY_CHOICE = "-DIS_INLINED_BY_CHOICE "
"""The compiler chooses what it inlines (cuda_on_host.cuh): each access is watched all the same, in fewer copies."""

FLAGS = {
    # Address checks by calls: the same ones, and the compiler is done in half the time. UBSan's checks of null, of
    # pointers that wrap and of the sizes of objects find before an access what ASan finds at it, for a quarter more.
    "address": BY_CHOICE + "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
    " -fno-sanitize=null,pointer-overflow,object-size"
    " --param asan-instrumentation-with-call-threshold=0"
    # An instruction that not every processor has hides what the sums in its place do wrong.
    " -mno-avx512vpopcntdq",
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


def chosen(tool: str) -> dict[str, str]:
    """The environment that is chosen for a tool, the same on each machine."""
    return {
        **OPTIONS,
        "RAYGROVE_HOST_FLAGS": FLAGS[tool],
        "RAYGROVE_HOST_FORCE_SPLIT": "1",
        "RAYGROVE_HOST_SPIN_US": SPIN_US[tool],
        "CXX": "g++",
        "OPENBLAS_NUM_THREADS": "1",
    }


def run_child(tool: str, *scenario: str) -> subprocess.CompletedProcess[str]:
    preload, prefix = preloaded(tool)
    command = [*prefix, sys.executable, "-m", "tests.gpu.sanitizers.child", "--threads", str(THREADS[tool]), *scenario]
    return subprocess.run(
        command,
        env={**os.environ, **chosen(tool), "LD_PRELOAD": preload},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1100,
        check=False,
    )


@functools.cache
def names_for(tool: str) -> tuple[str, ...]:
    """The jobs that a tool is run for."""
    return tuple(name_of(job) for job in everything(WATCH[tool]))


def how(tool: str) -> str:
    """What a kept outcome depends on besides what a job reads."""
    return "\n".join([f"{tool} {THREADS[tool]}", *(f"{name}={value}" for name, value in sorted(chosen(tool).items()))])


def watched(asked: Mapping[str, Sequence[str]]) -> dict[str, list[subprocess.CompletedProcess[str]]]:
    """Jobs under each tool, in parts: as many at a time as there are processors, since compiling their units takes the
    longest."""
    parts = [
        (tool, names[part :: PARTS if len(names) > FEW else 1])
        for part in range(PARTS)
        for tool, names in asked.items()
        if names and (part == 0 or len(names) > FEW)
    ]
    for tool in asked:
        preloaded(tool)
    with concurrent.futures.ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
        done = list(pool.map(lambda part: run_jobs(*part), parts))
    return {tool: [outcome for (of, _), outcome in zip(parts, done, strict=True) if of == tool] for tool in asked}


def run_jobs(tool: str, names: Sequence[str], *more: str) -> subprocess.CompletedProcess[str]:
    """Jobs under a tool, in a process."""
    return run_child(tool, "everything", "--watch", WATCH[tool], *more, "--jobs", *names)


def is_clean(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a tool found nothing."""
    return done.returncode == 0 and "Sanitizer" not in done.stderr and "runtime error" not in done.stderr


def outcomes(tool: str, names: Sequence[str]) -> dict[str, Outcome]:
    """What jobs come to under a tool, to be kept. RuntimeError with what it found where one is not clean."""
    with tempfile.TemporaryDirectory() as folder:
        told = pathlib.Path(folder) / "told.json"
        done = run_jobs(tool, names, "--told", str(told))
        if not is_clean(done):
            raise RuntimeError(f"{tool}: {done.stderr[-6000:]}")
        lines = told.read_text(encoding="utf-8").splitlines()
    return {name: outcome_of(found) for name, found in map(json.loads, lines)}
