"""Runs one scenario on the host target, in a process that preloads a sanitizer: python -m tests.gpu.sanitizers.child
SCENARIO [--part K N] [--watch memory | races] [--jobs NAME ...] [--told FILE], where SCENARIO is faults with the names
of planted ones behind it.

Prints the kernels that it launched, one per line. Arrays get poisoned ground in front and behind, so that an access one
element past an end is found although the target's arrays are parts of larger pieces.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pathlib
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from raygrove.gpu.target.base import Array, DeviceCount, Target, TargetOptions, Unit, UnitSource
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.structs import address

from .kept_jobs import Followed, Launched, Outcome
from .scenario import everything, name_of

ENDED = "== ended:"
"""Begins the line behind the report of a planted fault."""


class FencedTarget(HostTarget):
    """The host target with poisoned ground around its arrays (under ASan), and a list of what was launched."""

    def __init__(self, threads: int, spin_us: int = 100, checks: bool = False) -> None:
        super().__init__(TargetOptions(threads=threads, spin_us=spin_us, checks=checks))
        self.launched: Launched = {}
        self._source_of: dict[int, UnitSource] = {}
        library = ctypes.CDLL(None)
        self._poison = getattr(library, "__asan_poison_memory_region", None)
        self._unpoison = getattr(library, "__asan_unpoison_memory_region", None)

    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        array = super().empty(shape, dtype, tag)
        raw = array
        while isinstance(raw.base, np.ndarray):
            raw = raw.base
        if self._poison is not None and raw is not array:
            first, start, size = address(raw), address(array), array.nbytes
            self._mark(self._poison, first, start - first)
            self._mark(self._poison, start + size, first + raw.nbytes - start - size)
            weakref.finalize(raw, self._mark, self._unpoison, first, raw.nbytes).atexit = False
        return array

    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        lent = super().scratch(name, shape, dtype)
        if self._poison is not None:
            held, start = self._scratch[name], address(self._scratch[name])
            self._mark(self._unpoison, start, lent.nbytes)
            self._mark(self._poison, start + lent.nbytes, held.nbytes - lent.nbytes)
        return lent

    def unit(self, source: UnitSource) -> Unit:
        made = super().unit(source)
        self.launched.setdefault(source, set())
        self._source_of[id(made)] = source
        return made

    @staticmethod
    def _mark(mark: Any, start: int, size: int) -> None:
        if size > 0:
            mark(ctypes.c_void_p(start), ctypes.c_size_t(size))

    def launch(
        self,
        unit: Unit,
        kernel: str,
        n: int | DeviceCount,
        /,
        *,
        block: int = 256,
        blocks: int = 0,
        **arguments: Any,
    ) -> None:
        self.launched.setdefault(self._source_of[id(unit)], set()).add(kernel)
        super().launch(unit, kernel, n, block=block, blocks=blocks, **arguments)


def run_fault(target: FencedTarget, kernel: str) -> None:
    """One of the planted faults."""
    n = 1000
    unit = target.unit(UnitSource("tests/gpu/sanitizers/faults.cu"))
    real, whole = target.zeros(n, "f4", "test"), target.upload(np.full(n, 7, np.int32), "test")
    arguments: dict[str, dict[str, Any]] = {
        "write_past_the_end": {"out": real},
        "read_past_the_end": {"values": real, "out": target.zeros(n, "f4", "test")},
        "read_through_null": {"values": None, "out": real},
        "read_far_in_front": {"values": real, "out": target.zeros(n, "f4", "test")},
        "write_past_a_tile": {"out": whole},
        "overflow_a_sum": {"values": whole, "out": target.zeros(n, "i4", "test")},
        "race_for_a_sum": {"out": whole},
        "race_with_an_earlier_block": {"out": whole},
    }
    target.launch(unit, kernel, n, n=n, **arguments[kernel], blocks=8)


def run_faults(threads: int, kernels: list[str]) -> None:
    """Each planted fault in a fork of this process, and a line of how it ended behind what it reported."""
    for kernel in kernels:
        child = os.fork()
        if child == 0:
            target = FencedTarget(threads)
            run_fault(target, kernel)
            target.close()
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(f"{ENDED} {kernel} {code}", file=sys.stderr, flush=True)


def run_pool(threads: int, launches: int = 300) -> None:
    """The pool itself: launches of few blocks and of many by turns, so that threads without a share meet the next
    launch; by fixed shares and by claims, by workers that spin and by workers that sleep at once."""
    for split in ("1", "0"):
        os.environ["RAYGROVE_HOST_FORCE_SPLIT"] = split
        for spin_us in (100, 0):
            target = FencedTarget(threads, spin_us)
            unit = target.unit(UnitSource("tests/gpu/target/kernels_for_tests.cu"))
            visits = target.zeros(2 * threads + 1, "i4", "test")
            for number in range(launches):
                blocks = (2, visits.size, threads - 1, threads + 1)[number % 4]
                visits.fill(0)
                target.launch(unit, "count_visits", blocks, n=blocks, visits=visits, blocks=blocks)
                assert (visits[:blocks] == 1).all() and not visits[blocks:].any(), (
                    f"launch {number} by {threads} threads: {visits}"
                )
            target.close()


def run_jobs(target: FencedTarget, jobs: list[Callable[[Target], None]], told: pathlib.Path | None) -> set[str]:
    """Run jobs, and the kernels that they launched; a line of JSON each of what it came to is `told`."""
    kernels: set[str] = set()
    for job in jobs:
        target.launched = {}
        if told is None:
            job(target)
        else:
            with Followed() as read_by:
                job(target)
            line = json.dumps([name_of(job), Outcome(target.launched, read_by.files).as_json()])
            with told.open("a", encoding="utf-8") as file:
                print(line, file=file)
        kernels.update(*target.launched.values())
    return kernels


def main() -> None:
    """Run `everything`, or of it the k-th of n parts or some jobs by name, or `pool`, `two_threads`, or `faults`, the
    planted ones named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", choices=("everything", "pool", "two_threads", "faults"))
    parser.add_argument("faults", nargs="*")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--watch", choices=("all", "memory", "races"), default="all", help="leave out what differs in nothing else"
    )
    parser.add_argument("--jobs", nargs="+", help="these alone")
    parser.add_argument("--told", type=pathlib.Path, help="a file for what each job came to")
    given = parser.parse_args()
    os.environ.pop("LD_PRELOAD", None)  # this process has it; compilers under a sanitizer take twice as long
    launched: set[str] = set()
    if given.scenario == "pool":
        run_pool(given.threads)
    elif given.scenario == "two_threads":
        from .two_threads import run_two_threads

        run_two_threads(lambda: HostTarget(TargetOptions(threads=given.threads)))
    elif given.scenario == "faults":  # the sanitizer's to find: not checked, as what is run whole is
        run_faults(given.threads, given.faults)
    else:
        target, jobs = FencedTarget(given.threads, checks=True), everything(given.watch)[given.part[0] :: given.part[1]]
        jobs = [job for job in jobs if given.jobs is None or name_of(job) in given.jobs]
        launched = run_jobs(target, jobs, given.told)
        target.close()
    print("\n".join(sorted(launched)), flush=True)
    # Leave without Python's own tidying up, which is not what is examined.
    os._exit(0)


if __name__ == "__main__":
    main()
