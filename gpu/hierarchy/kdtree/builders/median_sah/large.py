"""The large-node stage: level by level, what is empty is cut off and the middle parts the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....target.base import Array, Target
from ....base import Primitives
from ....primitives import unit_source
from ...tree import Capacity, Draft
from .options import MedianSahOptions

ROOM = "gpu/hierarchy/kdtree/builders/median_sah"
CHUNK = 256
SMALL = 64
LEVEL_WORDS = 4
BOX_WORDS, SIDE_WORDS = 6, 6

Shapes = dict[str, tuple[tuple[int, ...], Any]]


class LargeStage:
    """One build's. `small_count`: nodes of so many references are small; `ways`: constants of the units."""

    def __init__(
        self, target: Target, options: MedianSahOptions, capacity: Capacity, small_count: int, max_depth: int, ways: dict[str, bool]
    ) -> None:
        self.target, self.options, self.capacity = target, options, capacity
        self.small_count, self.max_depth, self.ways = small_count, max_depth, ways
        self.slots = capacity.working // (small_count + 1) + 2
        self.roots = most_roots(capacity)

    def shapes(self) -> Shapes:
        """Working memory. What is read and written by turns is there twice."""
        slots = self.slots
        twice: Shapes = {
            "cells": ((slots, 8), np.float32),
            "ranges": ((slots, 4), np.int32),
            "boxes": ((slots * BOX_WORDS,), np.int32),
            "side_counts": ((slots * SIDE_WORDS,), np.int32),
        }
        once: Shapes = {
            "references": ((2 * self.capacity.working, 8), np.float32),
            "plans": ((slots, 4), np.int32),
            "offsets": ((slots, 2), np.int32),
            "root_cells": ((self.roots, 8), np.float32),
            "root_ranges": ((self.roots, 4), np.int32),
        }
        return once | twice | {f"{name}_too": shape for name, shape in twice.items()}

    def part(self, primitives: Primitives, held: dict[str, Array], draft: Draft, level: int, ends_here: bool) -> None:
        """A level of large nodes by atomics: their boxes, the counts of both sides with the children, the sorting of references."""
        target, options = self.target, self.options
        unit = target.unit(unit_source(f"{ROOM}/large.cu", primitives, **self.ways))
        row, next_row = held["levels"][level * LEVEL_WORDS :], held["levels"][(level + 1) * LEVEL_WORDS :]
        at, to = ("", "_too") if level % 2 == 0 else ("_too", "")
        jobs = self._most_chunks(level) * CHUNK
        cells, ranges, boxes, counts = (held[name + at] for name in ("cells", "ranges", "boxes", "side_counts"))
        target.launch(unit, "bound_chunks", jobs, row, held["references"], ranges, boxes, block=CHUNK)
        rules = (options.empty_fraction, self.max_depth, self.small_count, int(ends_here), (level + 1) % 2)
        room = (self.capacity.nodes, self.capacity.working, self.slots, self.roots)
        tree = (held["totals"], draft.counts, draft.nodes, draft.parent)
        children = tuple(held[name + to] for name in ("cells", "ranges", "boxes", "side_counts"))
        plans = (held["root_cells"], held["root_ranges"], held["plans"], held["offsets"])
        inputs = (row, held["references"], cells, ranges, boxes, *rules, *room, counts, next_row)
        target.launch(unit, "count_sides", jobs, *inputs, *tree, *children, *plans, block=CHUNK)
        sorted_by = (held["plans"], int(options.clips_primitives), held["references"], held["offsets"])
        target.launch(unit, "sort_chunks", jobs, primitives.view, row, draft.counts, ranges, *sorted_by, block=CHUNK)

    def _most_chunks(self, level: int) -> int:
        """The most chunks of a level: full ones, and a last one of each node."""
        return self.capacity.working // CHUNK + min(1 << min(level, 30), self.slots)


def most_roots(capacity: Capacity) -> int:
    """Room for small roots. They have 20 to 40 references, mostly."""
    return capacity.working // 8 + 64
