"""sah_events: the exact SAH over all ends of all boxes, level by level, from events that are sorted once.

Idea: Each box has two ends, events, along each axis. Sorted along the axes, prefix sums over their kinds say how many primitives lie below and
above each of them: the SAH of every plane of every node of a level is computed at once, and the best one parts the node. What a plane cuts is
listed on both sides with its box cut along that axis alone, which leaves every list in order: nothing is sorted a second time.

Paper: Kolodzey, Parallele SAH KD-Tree Konstruktion auf GPUs für Raytracing dynamischer Szenen (2014), after Wu, Zhao and Liu (2011) and Wald and
Havran (2006).

Cost: One sort of six keys a primitive, then ten launches a level, each of which reads all references or events of that level a few times; no
number is read back. The slowest build here for the fewest tests of primitives a ray.

Limits: No refit: primitives would leave their cells. Large primitives are listed many times; a share of references bounds how often. Boxes are
not cut along the other axes, so a primitive may be listed where it does not reach. Deterministic.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .....target.base import Array, Unit, UnitSource
from ....base import Primitives
from ....primitives import unit_source
from ...kdtree import KdTreeHierarchy
from ...options import KdTreeOptions
from ...tree import MOST_DEPTH, Capacity, Draft

TILE = 2048
THREADS = 256
CHILD_THREADS = 512
LEVEL_WORDS = 4
_ROOM = "gpu/hierarchy/kdtree/builders/sah_events"


@dataclasses.dataclass(frozen=True)
class SahEventsOptions(KdTreeOptions):
    """Options of the builder by events."""


class SahEvents(KdTreeHierarchy):
    """See the module."""

    name = "sah_events"
    title = "Kd-tree by events, full SAH"
    Options = SahEventsOptions
    options: SahEventsOptions

    def scratch_bytes(self) -> int:
        arrays = self._arrays(0 if self._built is None else self._built.count, self.tree.capacity)
        return sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in arrays.values())

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        n = primitives.count
        arrays = self._arrays(n, capacity)
        held = {name: self.target.scratch(f"sah_events.{name}", shape, dtype) for name, (shape, dtype) in arrays.items()}
        self._start(primitives, held, draft, capacity)
        levels = self.options.levels(n)
        splits, partition = (self.target.unit(UnitSource(f"{_ROOM}/{name}.cu")) for name in ("splits", "partition"))
        with self.target.phase("build.levels"):
            for level in range(levels):
                self._choose(splits, held, capacity, level)
                self._part(partition, held, draft, capacity, level, ends_here=level + 1 == levels)

    def _start(self, primitives: Primitives, held: dict[str, Array], draft: Draft, capacity: Capacity) -> None:
        target, n = self.target, primitives.count
        unit = target.unit(unit_source(f"{_ROOM}/start.cu", primitives))
        with target.phase("build.events"):
            target.launch(unit, "clear_start", 8, held["box_words"], draft.counts)
            target.launch(unit, "find_active", n, primitives.view, held["active"], held["box_words"])
            target.exclusive_scan(held["active"], held["places"], "sah_events.scan")
            target.launch(unit, "write_events", n, primitives.view, held["places"], held["references"], held["keys"])
            root = (draft.counts, held["levels"], draft.box, draft.nodes, draft.parent, held["cells"], held["ranges"], held["best"])
            share = self.options.references_per_primitive
            target.launch(unit, "make_root", 1, n, held["places"], held["active"], held["box_words"], share, *root)
        with target.phase("build.sort"):
            keys = target.sort_keys(held["keys"], (28, 64), "sah_events.sort")
            target.launch(unit, "take_events", 2 * n, keys, held["levels"], 2 * capacity.working, held["events"])

    def _choose(self, unit: Unit, held: dict[str, Array], capacity: Capacity, level: int) -> None:
        """The splits of a level."""
        target, options, length = self.target, self.options, 2 * capacity.working
        row, tiles = held["levels"][level * LEVEL_WORDS :], _tiles(length)
        at, _ = _sides(level)
        events, references = held[f"events{at}"], held[f"references{at}"]
        nodes = (held[f"cells{at}"], held[f"ranges{at}"])
        jobs = 3 * tiles * THREADS
        target.launch(unit, "count_starts", jobs, row, length, events, tiles, held["sums"], block=THREADS)
        target.launch(unit, "scan_tiles", 1, row, 2, 3, tiles, held["sums"], block=THREADS, blocks=3)
        costs = (options.traversal_cost, options.intersection_cost, options.empty_factor)
        lists = (row, length, events, references, *nodes, tiles, held["sums"])
        target.launch(unit, "find_splits", jobs, *lists, *costs, held[f"best{at}"], block=THREADS)
        rules = (options.intersection_cost, int(options.stop == "sah"), options.max_leaf_size)
        inputs = (row, length, events, references, *nodes, held[f"best{at}"])
        nodes_here = min(1 << min(level, 30), self._most_slots(capacity))
        target.launch(unit, "choose_splits", nodes_here, *inputs, *rules, held["splits"], held["side_counts"])

    def _part(self, unit: Unit, held: dict[str, Array], draft: Draft, capacity: Capacity, level: int, ends_here: bool) -> None:
        """The children of a level, their references and events."""
        target, length, options = self.target, 2 * capacity.working, self.options
        row, next_row = held["levels"][level * LEVEL_WORDS :], held["levels"][(level + 1) * LEVEL_WORDS :]
        tiles, event_tiles = _tiles(capacity.working), _tiles(length)
        at, to = _sides(level)
        references, jobs = held[f"references{at}"], tiles * THREADS
        nodes, next_nodes = ((held[f"cells{side}"], held[f"ranges{side}"]) for side in (at, to))
        target.launch(unit, "count_sides", jobs, row, references, held["splits"], tiles, held["sums"], held["side_counts"], block=THREADS)
        room = (capacity.nodes, capacity.references, capacity.working, len(held["splits"]))
        level_in = (row, next_row, tiles, held["sums"], *nodes, held["splits"], held["side_counts"], options.max_leaf_size, int(ends_here), *room)
        outputs = (draft.counts, draft.nodes, draft.parent, *next_nodes, held[f"best{to}"], held["places_of_sides"])
        target.launch(unit, "make_children", 1, *level_in, *outputs, block=CHILD_THREADS, blocks=1)
        parted = (row, references, held["splits"], held["places_of_sides"], tiles, held["sums"], draft.counts)
        target.launch(unit, "part_references", jobs, *parted, held[f"references{to}"], held["moves"], draft.references, block=THREADS)
        if ends_here:
            return
        inputs, jobs = (row, length, held[f"events{at}"], held["moves"], draft.counts, event_tiles, held["sums"]), 3 * event_tiles * THREADS
        target.launch(unit, "count_moves", jobs, *inputs, block=THREADS)
        splits = target.unit(UnitSource(f"{_ROOM}/splits.cu"))
        target.launch(splits, "scan_tiles", 1, row, 2, 6, event_tiles, held["sums"], block=THREADS, blocks=6)
        target.launch(unit, "part_events", jobs, *inputs, held[f"events{to}"], block=THREADS)

    def _most_slots(self, capacity: Capacity) -> int:
        """The most nodes of a level: each has more references than a leaf may have."""
        return capacity.working // (self.options.max_leaf_size + 1) + 2

    def _arrays(self, n: int, capacity: Capacity) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the working memory; what is read and written by turns is there twice."""
        working, slots = capacity.working, self._most_slots(capacity)
        twice: dict[str, tuple[tuple[int, ...], Any]] = {
            "references": ((working, 8), np.float32),
            "events": ((6 * working,), np.int32),
            "cells": ((slots, 8), np.float32),
            "ranges": ((slots, 4), np.int32),
            "best": ((slots,), np.uint64),
        }
        once: dict[str, tuple[tuple[int, ...], Any]] = {
            "box_words": ((8,), np.int32),
            "active": ((n,), np.int32),
            "places": ((n,), np.int32),
            "keys": ((6 * n,), np.uint64),
            "levels": (((MOST_DEPTH + 2) * LEVEL_WORDS,), np.int32),
            "sums": ((6 * _tiles(2 * working),), np.int32),
            "splits": ((slots, 4), np.int32),
            "side_counts": ((slots, 2), np.int32),
            "places_of_sides": ((slots, 8), np.int32),
            "moves": ((working, 4), np.int32),
        }
        return once | twice | {f"{name}_too": shape for name, shape in twice.items()}


def _sides(level: int) -> tuple[str, str]:
    """What the names of arrays end in that a level reads, and that it writes."""
    return ("", "_too") if level % 2 == 0 else ("_too", "")


def _tiles(count: int) -> int:
    return -(-count // TILE)
