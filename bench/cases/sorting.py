"""What sorting and scanning cost, by each sorter there is.

Keys are `code << 32 | index`, sorted by the code's 30 bits and by the index's in turn, so that every sort finds its
keys in random order. Pairs are 32-bit keys with 32-bit values, sorted by low and high bits in turn. Milliseconds of the
target's own clock, medians. The last two columns are the sorts of Meister's thesis with digits of 4 and of 5 bits; the
scan in the first of them is Hillis and Steele's, in the second Blelloch's.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from raygrove.gpu.target.base import Target
from raygrove.gpu.target.own_sort import OwnSorter
from raygrove.gpu.target.thesis_sort import MerrillSorter, ThesisScanner

from ..arguments import DEVICE, OUT, argument, chosen, repeat
from ..context import context
from ..measure import median, timed
from ..saved import keep

COUNTS = (512_000, 12_800_000)


class ThesisSorter(MerrillSorter):
    """A sort and a scan of the thesis as one sorter."""

    def __init__(self, target: Target, digit_bits: int, scan: str) -> None:
        super().__init__(target, digit_bits)
        self.exclusive_scan = ThesisScanner(target, scan).exclusive_scan


ARGUMENTS = (
    DEVICE,
    repeat(30),
    argument("--counts", type=int, nargs="+", default=list(COUNTS), metavar="N", help="how many keys"),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print as it comes, and keep where asked for."""
    rows: list[dict[str, Any]] = []
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    with chosen(names.device) as target:
        about = context(target, command=names.command)
        say(f"{target.device_name}, the target's own sorter: {getattr(target, 'sorter_name', 'host')}")
        sorters: dict[str, Any] = {"target": target, "own": OwnSorter(target)}
        sorters |= {
            "merrill_4": ThesisSorter(target, 4, "hillis_steele"),
            "merrill_5": ThesisSorter(target, 5, "blelloch"),
        }
        say(f"{'count':>12}  {'what':22}" + "".join(f"  {name + ' ms':>12}" for name in sorters))
        for count in names.counts:
            for bodies in zip(*(measured(target, sorter, count) for sorter in sorters.values()), strict=True):
                times = [median(timed(target, body, names.repeat, 6).spans_ms) for _, body in bodies]
                say(f"{count:12,}  {bodies[0][0]:22}" + "".join(f"  {each:12.4f}" for each in times))
                rows.append({"count": count, "what": bodies[0][0], "ms": dict(zip(sorters, times, strict=True))})
    keep(names.out, {"context": about, "results": rows}, "\n".join(lines))
    return 0


def measured(target: Target, sorter: Any, count: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """What is measured of one sorter: a name and a body that only launches."""
    random = np.random.default_rng(count)
    packed = random.integers(0, 1 << 30, count).astype(np.uint64) << np.uint64(32) | random.permutation(count).astype(
        np.uint64
    )
    narrow = random.integers(0, 1 << 32, count, dtype=np.uint32)
    keys = target.upload(packed, "bench")

    def timing(run: Callable[[], None]) -> Callable[[], None]:
        def body() -> None:
            with target.phase("sort"):
                run()

        return body

    def alternate(pairs: bool, bits: tuple[tuple[int, int], ...], first: np.ndarray) -> Callable[[], None]:
        held = [target.upload(first, "bench"), target.upload(np.arange(count, dtype=np.uint32), "bench")]
        turns = itertools.cycle(bits)

        place = ""  # the scratch memory that holds the keys now; the next sort must use another

        def run() -> None:
            nonlocal place
            name, given = "bench.b" if place == "bench.a" else "bench.a", held[0]
            if pairs:
                held[:] = sorter.sort_pairs(held[0], held[1], next(turns), name)
            else:
                held[0] = sorter.sort_keys(held[0], next(turns), name)
            place = place if held[0] is given else name

        return timing(run)

    yield "keys, bits [32, 62)", alternate(False, ((32, 62), (0, 30)), packed)
    yield "pairs, 64-bit, 60 bits", alternate(True, ((2, 62), (0, 60)), packed)
    yield "pairs, 32-bit, 30 bits", alternate(True, ((2, 32), (0, 30)), narrow)
    sums = target.zeros(count, "i4", "bench")
    ones = keys.view(np.int32)[:count]
    yield "exclusive scan", timing(lambda: sorter.exclusive_scan(ones, sums, "bench.scan"))
