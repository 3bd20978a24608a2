"""Figures 6.7, 6.8 and 6.11 to 6.14 of Kolodzey's thesis (2014): kernels of sah_events by themselves over made-up
lists, and what builds with and without a step took. kolodzey2014.py is the suite."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from raygrove.gpu.hierarchy.kdtree.builders.sah_events.listed import kind_row
from raygrove.gpu.hierarchy.kdtree.builders.sah_events.memory import LEVEL_WORDS, TILE_THREADS, tiles
from raygrove.gpu.primitives.thesis import exclusive_scan
from raygrove.gpu.target.base import Target, Unit, UnitSource

from ..measure import median, timed
from .report import Plot, SuiteReport, scenes_of

UNIT = "gpu/hierarchy/kdtree/builders/sah_events/listed.cu"
ELEMENTS = {"cuda": 1 << 24, "host": 1 << 16}
"""Of a list: 16 million, as in the thesis, on a GPU."""

WARMUP = 2
LARGE_NODES, LARGE_REFERENCES = 7, 8
"""Words of a level's row, as events.cuh has them."""

BOX_KERNELS = ("find_active", "write_keys", "make_root")
"""Those that read triangles for their boxes."""

READINGS = {"with all": "vertices read one by one", "triangles": "numbers staged", "vertices": "vertices staged, too"}
CLIPPING = "ClippingAndPartitioning"
MOVES = {"moving by gaps": "without a clip mask", "moving by masks": "with a clip mask"}
TITLES = {
    "6.8": ("A reduction by elements a thread", "elements a thread"),
    "6.11": ("Prefix sums of kinds", "millions of entries"),
    "6.12": ("A reduction of candidates", "millions of candidates"),
    "6.13": ("Whole and segmented reductions", "segments, power of 2"),
}


def micro_rows(target: Target, repeat: int) -> Iterator[dict[str, Any]]:
    """A row a point of figures 6.8 and 6.11 to 6.13: `figure`, `series`, `x`, and `y` in 10^9 entries a second."""
    most = ELEMENTS[target.kind]
    yield from _reductions(target, most, repeat)
    yield from _scans(target, most, repeat)


def _reductions(target: Target, most: int, repeat: int) -> Iterator[dict[str, Any]]:
    shuffled, shared = (_unit(target, shuffled=value) for value in (1, 0))
    for a_thread in (2, 4, 8, 16, 32, 64, 128, 256):
        blocks = max(1, most // (a_thread * TILE_THREADS))
        yield _row(
            "6.8", "shuffles", a_thread, most, _reduce(target, shuffled, "reduce_whole", most, 1, blocks, repeat)
        )
    blocks = max(1, most // (64 * TILE_THREADS))
    for share in (16, 8, 4, 2, 1):
        for name, unit in (("shuffles", shuffled), ("shared memory", shared)):
            spent = _reduce(target, unit, "reduce_whole", most // share, 1, max(1, blocks // share), repeat)
            yield _row("6.12", name, most / share / 1e6, most // share, spent)
    for power in range(0, 13, 2):
        segments = 1 << power
        whole = _reduce(target, shuffled, "reduce_whole", most, segments, max(blocks, segments), repeat)
        parted = _reduce(target, shuffled, "reduce_segments", most, segments, segments, repeat)
        yield _row("6.13", "whole", power, most, whole)
        yield _row("6.13", "segmented", power, most, parted)


def _scans(target: Target, most: int, repeat: int) -> Iterator[dict[str, Any]]:
    for kind_bytes, word in ((1, "bytes"), (4, "words")):
        for a_thread in (1, 8):
            unit = _unit(target, kind_bytes=kind_bytes, a_thread=a_thread)
            for share in (16, 4, 1):
                spent = _scan(target, unit, most // share, kind_bytes, a_thread, repeat)
                yield _row(
                    "6.11",
                    f"{word}, {a_thread} a thread{' by loads of four' * (a_thread > 1)}",
                    most / share / 1e6,
                    3 * (most // share),
                    spent,
                )
    for share in (16, 4, 1):
        spent = _scan_of_gems(target, 3 * (most // share), repeat)
        yield _row("6.11", "words, by shared memory", most / share / 1e6, 3 * (most // share), spent)


def _row(figure: str, series: str, x: float, count: int, spent_ms: float) -> dict[str, Any]:
    return {
        "part": "micro",
        "figure": figure,
        "series": series,
        "x": x,
        "y": count / spent_ms / 1e6 if spent_ms else 0.0,
    }


def _unit(target: Target, shuffled: int = 1, kind_bytes: int = 1, a_thread: int = 8) -> Unit:
    constants = {
        "EVENTS_A_THREAD": a_thread,
        "SEPARATE_WORDS": 0,
        "FLAG_BYTES": kind_bytes,
        "SMALL_NODE": 0,
        "SHUFFLED": shuffled,
    }
    return target.unit(UnitSource(UNIT, constants=tuple(constants.items())))


def _level(target: Target, nodes: int, references: int) -> Any:
    row = np.zeros(LEVEL_WORDS, np.int32)
    row[LARGE_NODES], row[LARGE_REFERENCES] = nodes, references
    return target.upload(row, "bench.level")


def made_ranges(count: int, segments: int) -> np.ndarray:
    """(segments, 4) int32: first and number of references of nodes as equal as can be, half of `count` events."""
    ends = np.arange(segments + 1, dtype=np.int64) * (count // 2) // segments
    ranges = np.zeros((segments, 4), np.int32)
    ranges[:, 0], ranges[:, 1] = ends[:-1], np.diff(ends)
    return ranges


def made_candidates(count: int) -> np.ndarray:
    """(count,) uint64: words of candidates, of which a quarter may not split."""
    rng = np.random.default_rng(2014)
    words = rng.integers(1, 1 << 62, count, np.uint64)
    words[rng.random(count) < 0.25] = 0
    return words


def _reduce(target: Target, unit: Unit, kernel: str, count: int, segments: int, blocks: int, repeat: int) -> float:
    """Milliseconds of a reduction of `count` candidates in `segments` by so many blocks, the median."""
    given = {
        "level": _level(target, segments, count // 2),
        "ranges": target.upload(made_ranges(count, segments), "bench.ranges"),
        "candidates": target.upload(made_candidates(count), "bench.candidates"),
        "best": target.zeros(segments, np.uint64, "bench.best"),
    }
    launch = functools.partial(target.launch, unit, kernel, blocks * TILE_THREADS, **given, block=TILE_THREADS)
    return _median_ms(target, launch, repeat)


def _scan(target: Target, unit: Unit, count: int, kind_bytes: int, a_thread: int, repeat: int) -> float:
    """Milliseconds of the prefix sums of three rows of `count` kinds, the median."""
    room, tile = count // 2, TILE_THREADS * a_thread
    row = kind_row(room)
    kinds = np.zeros((3, row), np.uint8 if kind_bytes == 1 else np.int32)
    kinds[:, 1:count:2] = 1
    sums = kinds[:, : tiles(count, tile) * tile].astype(np.int64)
    before = np.zeros((3, tiles(count, tile)), np.int32)
    for axis in range(3):
        whole = np.add.reduceat(sums[axis], np.arange(0, row, tile)[: before.shape[1]])
        before[axis, 1:] = np.cumsum(whole)[:-1]
    given = {
        "level": _level(target, 1, room),
        "room": room,
        "kind_bytes": target.upload(kinds.view(np.uint8).reshape(-1), "bench.kinds"),
        "starts": target.upload(before.reshape(-1), "bench.starts"),
        "begun": target.zeros(3 * row, np.int32, "bench.begun"),
    }
    jobs = 3 * tiles(count, tile) * TILE_THREADS
    return _median_ms(
        target, functools.partial(target.launch, unit, "scan_kinds", jobs, **given, block=TILE_THREADS), repeat
    )


def _scan_of_gems(target: Target, count: int, repeat: int) -> float:
    """Milliseconds of prefix sums of `count` words by Blelloch's scan in shared memory, as GPU Gems has it."""
    kinds = target.upload(np.arange(count, dtype=np.int32) & 1, "bench.words")
    sums = target.zeros(count, np.int32, "bench.sums")
    scan = functools.partial(exclusive_scan, target, kinds, sums, "blelloch", "bench.scan")
    scan()  # compiled, and its scratch memory had, before a graph takes it
    return _median_ms(target, scan, repeat)


def _median_ms(target: Target, body: Callable[[], None], repeat: int) -> float:
    def timed_body() -> None:
        with target.phase("figure"):
            body()

    return median(timed(target, target.capture(timed_body), repeat, WARMUP).spans_ms)


# -- plots ------------------------------------------------------------------------------------------------------------
def figure_plots(report: SuiteReport) -> list[Plot]:
    """What the rows have of the figures."""
    plots = [_bars(report, "6.7", "Boxes of triangles", READINGS, _box_ms)]
    for number, (title, x_title) in TITLES.items():
        rows = [row for row in report.rows if row["part"] == "micro" and row["figure"] == number]
        series: dict[str, tuple[list[float], list[float]]] = {}
        for row in rows:
            x, y = series.setdefault(row["series"], ([], []))
            x.append(float(row["x"]))
            y.append(float(row["y"]))
        plots.append(Plot(number, f"{title} here", x_title, "10^9 entries/s", series))
    plots.append(_bars(report, "6.14", "Clipping and partitioning", MOVES, lambda row: row["shares_ms"].get(CLIPPING)))
    return [plot for plot in plots if plot.series]


def _box_ms(row: dict[str, Any]) -> float | None:
    spent = [row["by_kernel"][name] for name in BOX_KERNELS if name in row["by_kernel"]]
    return sum(spent) if spent else None


def _bars(
    report: SuiteReport,
    number: str,
    title: str,
    named: dict[str, str],
    of: Callable[[dict[str, Any]], float | None],
) -> Plot:
    """A group of bars a scene: milliseconds of the switches `named`."""
    scenes, series = scenes_of(report, "switch"), {}
    for switch, words in named.items():
        found = {
            row["scene"]: of(row)
            for row in report.rows
            if row["part"] == "switch" and row["without"] == switch and "shares_ms" in row
        }
        if found and len(found) == len(scenes):
            series[words] = ([float(i) for i in range(len(scenes))], [float(found[scene] or 0.0) for scene in scenes])
    if len(series) < 2:
        series = {}  # nothing to compare with
    return Plot(number, f"{title} here", "", "ms", series, tuple(scenes) if series else ())
