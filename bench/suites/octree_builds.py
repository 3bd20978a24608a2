"""Octrees over points, built and timed for the octree suite: by depth, by every builder, with both code lengths and
chains, by the number of points, and by the threads of a block."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from raygrove.gpu.hierarchy.octree.point_tree import (
    CHAINS,
    DEPTHS,
    LEAVES,
    POINTS,
    STATUS,
    PointTreeBuilder,
    PointTreeOptions,
)
from raygrove.gpu.settings import fields_of
from raygrove.gpu.target.base import Target, TargetError, Unit, UnitSource

from ..measure import median, timed

WARMUP = 2
LEVELS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
"""Depths of figures 12 and 13, whose own are not to be read off the text."""
MOST_COMPLETE = {"cuda": 8, "host": 7}
"""Levels of the complete octree: with one more it has eight times the nodes."""
COUNTS = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536)
"""And all points."""
BLOCK_SIZES = (64, 128, 256, 512, 1_024)
NODE_BYTES, POINT_BYTES = 32, 28

Row = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Way:
    """A builder with its options, as the tables call it: `by_depth` where it is in the tables by depth, by number of
    points and by block."""

    name: str
    options: PointTreeOptions
    by_depth: bool = True

    @property
    def has_chains(self) -> bool:
        """Whether chains are an option of it: the others always have them."""
        return self.options.method not in ("top_down", "complete")

    def at(self, levels: int) -> PointTreeOptions:
        """With so many levels, the paper's k: codes of as many bits an axis."""
        return dataclasses.replace(self.options, bits=str(levels), levels=levels)


def choices(name: str) -> tuple[str, ...]:
    """Of an option of octrees over points."""
    return next(field.info.choices for field in fields_of(PointTreeOptions) if field.name == name)


BOTTOM_UP = {"direct": "bottom-up, direct", "paper": "bottom-up, the paper's"}
TOP_DOWN = {"parallel": "top-down, all points at once", "thread": "top-down, a thread a node (the paper's)"}
COMPLETE = "complete"


def _ways() -> tuple[Way, ...]:
    """All builders that there are, those from the top with each way to divide a node."""
    found = [Way(BOTTOM_UP[name], PointTreeOptions(method=name)) for name in choices("method") if name in BOTTOM_UP]
    for work, split in itertools.product(choices("work"), choices("split")):
        is_first = split == choices("split")[0]
        name = TOP_DOWN[work] if is_first else f"{TOP_DOWN[work]}, {split.replace('_', ' ')}"
        found.append(Way(name, PointTreeOptions(method="top_down", work=work, split=split), is_first))
    return (*found, Way(COMPLETE, PointTreeOptions(method="complete")))


WAYS = _ways()


def complete_nodes(levels: int) -> int:
    """Of the octree that has every cell down to a level: 1 + 8 + ... + 8^levels."""
    return int((8 ** (levels + 1) - 1) // 7)


def build(target: Target, points: np.ndarray, options: PointTreeOptions, repeat: int) -> Row:
    """Times and memory of a builder: `ms`, replayed as one graph, from the first launch to the last one's end, the
    median; its phases; the tree's own counts; the memory reserved, what of it is in use, and the paper's bound of nodes
    for such a tree. Waits. HierarchyError, OutOfMemoryError."""
    array = target.upload(points, "points")
    builder = PointTreeBuilder(target, len(points), options)

    def body() -> None:
        builder.build(array)

    body()
    if target.download(builder.tree.counts)[STATUS]:
        builder.make_room(array)
    counts = target.download(builder.tree.counts)
    timing = timed(target, target.capture(body), repeat, WARMUP)
    memory, kept = builder.memory(), int(counts[POINTS])
    used = NODE_BYTES * memory.nodes + POINT_BYTES * kept
    return {
        "ms": median(timing.spans_ms),
        "phases_ms": timing.medians(),
        "points": kept,
        "nodes": memory.nodes,
        "non_empty": memory.non_empty,
        "bound": memory.bound,
        "leaves": int(counts[LEAVES]),
        "chain_nodes": int(counts[CHAINS]),
        "depths": int(counts[DEPTHS]),
        "used_bytes": used,
        "tree_bytes": memory.tree_bytes,
        "scratch_bytes": memory.scratch_bytes,
        "working_bytes": used + memory.scratch_bytes,
    }


def by_depth(target: Target, one_thread: Target, points: np.ndarray, repeat: int) -> Iterator[Row]:
    """Figures 12 and 13: builders by depth, on the target and on one thread of the CPU."""
    for levels, way in itertools.product(LEVELS, WAYS):
        is_too_deep = way.name == COMPLETE and levels > MOST_COMPLETE[target.kind]
        if is_too_deep or not way.by_depth:
            continue
        row = build(target, points, way.at(levels), repeat)
        cpu = build(one_thread, points, way.at(levels), repeat)["ms"]
        ratio = cpu / row["ms"] if row["ms"] else None
        yield {
            **{"part": "depth", "way": way.name, "levels": levels, **row},
            **{"one_thread_ms": cpu, "speed_up": ratio},
        }


def by_memory(target: Target, points: np.ndarray, repeat: int) -> Iterator[Row]:
    """Every builder with both code lengths, without and with chains."""
    for way in WAYS:
        for bits, chains in itertools.product(choices("bits"), choices("chains") if way.has_chains else ("",)):
            options = dataclasses.replace(way.options, bits=bits)
            if way.has_chains:
                options = dataclasses.replace(options, chains=chains)
            else:
                chains = f"every cell of {options.levels} levels" if way.name == COMPLETE else "as divided"
            yield {
                **{"part": "memory", "way": way.name, "bits": int(bits), "chains": chains},
                **build(target, points, options, repeat),
            }


def by_count(target: Target, points: np.ndarray, repeat: int) -> Iterator[Row]:
    """From few points on: is the target busy with 8,192?"""
    for count in (*(count for count in COUNTS if count < len(points)), len(points)):
        for way in (way for way in WAYS if way.by_depth):
            yield {"part": "count", "way": way.name, **build(target, points[:count], way.options, repeat)}


def by_block(target: Target, points: np.ndarray, repeat: int) -> Iterator[Row]:
    """The octree's own kernels with other blocks; sorts and prefix sums have theirs. On a GPU alone."""
    if target.kind != "cuda":
        return
    for block, way in itertools.product(BLOCK_SIZES, (way for way in WAYS if way.by_depth)):
        row: Row = {"part": "block", "way": way.name, "block": block}
        try:
            with blocks_of(target, block):
                row |= build(target, points, way.options, repeat)
        except TargetError as error:
            row |= {"ms": None, "why": str(error)}
        yield row


@contextlib.contextmanager
def blocks_of(target: Target, threads: int) -> Iterator[None]:
    """Launches of the octree's kernels that name no block of their own have one of so many threads, until it ends."""
    make, launch, ours = target.unit, target.launch, set[int]()

    def unit(source: UnitSource) -> Unit:
        made = make(source)
        if source.path.startswith("gpu/hierarchy/octree/"):
            ours.add(id(made))
        return made

    def launched(made: Unit, kernel: str, n: Any, /, **arguments: Any) -> None:
        if id(made) in ours:
            arguments.setdefault("block", threads)
        launch(made, kernel, n, **arguments)

    target.unit, target.launch = unit, launched  # type: ignore[method-assign]
    try:
        yield
    finally:
        del target.unit, target.launch  # type: ignore[method-assign]
