"""The large-node stage: level by level, what is empty is cut off and the middle parts the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....target.base import Array, Target, Unit
from ....base import Primitives
from ....primitives import unit_source
from ...tree import Capacity, Draft
from .options import MedianSahOptions

ROOM = "gpu/hierarchy/kdtree/builders/median_sah"
CHUNK = 256
SMALL = 64
LEVEL_WORDS = 8
BOX_WORDS, SIDE_WORDS, COUNT_STRIDE, ADDITION_WORDS = 6, 6, 8, 6
REDUCE_THREADS = 32

Shapes = dict[str, tuple[tuple[int, ...], Any]]
_NODE_ARRAYS = ("cells", "ranges", "boxes", "side_counts")


class LargeStage:
    """One build's. `small_count`: nodes of so many references are small."""

    def __init__(self, target: Target, options: MedianSahOptions, capacity: Capacity, small_count: int, max_depth: int) -> None:
        self.target, self.options, self.capacity = target, options, capacity
        self.small_count, self.max_depth, self.ways = small_count, max_depth, options.ways()
        self.slots = capacity.working // (small_count + 1) + 3
        self.roots = most_roots(capacity)
        self.chunks = capacity.working // CHUNK + self.slots

    def shapes(self) -> Shapes:
        """Working memory. What is read and written by turns is there twice."""
        slots = self.slots
        twice: Shapes = {
            "cells": ((slots, 8), np.float32),
            "ranges": ((slots, 4), np.int32),
            "boxes": ((slots * BOX_WORDS,), np.int32),
            "side_counts": ((slots * COUNT_STRIDE,), np.int32),
        }
        once: Shapes = {
            "references": ((2 * self.capacity.working, 8), np.float32),
            "plans": ((slots, 4), np.int32),
            "offsets": ((slots, 4), np.int32),
            "node_additions": ((slots, 4), np.int32),
            "root_cells": ((self.roots, 8), np.float32),
            "root_ranges": ((self.roots, 4), np.int32),
        }
        if not self.ways.boxes_by_atomics:
            once["chunk_boxes"] = ((BOX_WORDS * self.chunks,), np.float32)
        if not self.ways.sorts_by_atomics:
            once["chunk_counts"] = ((SIDE_WORDS * self.chunks + 1,), np.int32)
            once["additions"] = ((ADDITION_WORDS * slots,), np.int32)
        return once | twice | {f"{name}_too": shape for name, shape in twice.items()}

    def part(self, primitives: Primitives, held: dict[str, Array], draft: Draft, level: int, ends_here: bool) -> None:
        """A level of large nodes: their boxes, then the children and where their references go."""
        at = {name: held[name if level % 2 == 0 else f"{name}_too"] for name in _NODE_ARRAYS}
        to = {name: held[f"{name}_too" if level % 2 == 0 else name] for name in _NODE_ARRAYS}
        row, next_row = held["levels"][level * LEVEL_WORDS :], held["levels"][(level + 1) * LEVEL_WORDS :]
        jobs = self._most_chunks(level) * CHUNK
        if not self.ways.boxes_by_atomics:
            self._reduce_boxes(self._unit("scans", primitives), held, at, row, level)
        elif not self.ways.sorts_by_atomics:
            self.target.launch(self._unit("large", primitives), "bound_chunks", jobs, row, held["references"], at["ranges"], at["boxes"], block=CHUNK)
        if self.ways.sorts_by_atomics:
            self._part_by_atomics(self._unit("large", primitives), primitives, held, draft, (at, to), (row, next_row), level, ends_here)
        else:
            self._part_by_scans(self._unit("scans", primitives), primitives, held, draft, (at, to), (row, next_row), level, ends_here)

    def _part_by_atomics(
        self, unit: Unit, primitives: Primitives, held: dict[str, Array], draft: Draft, nodes: Any, rows: Any, level: int, ends_here: bool
    ) -> None:
        """The counts of both sides, the children, the sorting of references with the children's boxes: three kernels."""
        target, options, (at, to) = self.target, self.options, nodes
        jobs, rules = self._most_chunks(level) * CHUNK, (options.empty_fraction, self.max_depth, self.small_count, int(ends_here))
        cells, additions = (at["cells"], at["ranges"], at["boxes"]), held["node_additions"]
        target.launch(unit, "count_sides", jobs, rows[0], held["references"], *cells, *rules, at["side_counts"], additions, block=CHUNK)
        room = ((level + 1) % 2, self.capacity.nodes, self.capacity.working, self.slots, self.roots)
        tree = (rows[1], held["totals"], draft.counts, draft.nodes, draft.parent)
        outputs = (*to.values(), held["root_cells"], held["root_ranges"], held["plans"], held["offsets"])
        counted = (at["side_counts"], additions)
        nodes_here = min(1 << min(level, 30), self.slots)
        target.launch(unit, "make_children", nodes_here, rows[0], *cells, *rules, *room, *counted, *tree, *outputs, block=CHUNK)
        sorted_by = (held["plans"], int(options.clips_primitives), int(self.ways.boxes_by_atomics), held["references"], held["offsets"])
        target.launch(unit, "sort_chunks", jobs, primitives.view, rows[0], draft.counts, at["ranges"], *sorted_by, to["boxes"], block=CHUNK)

    def _reduce_boxes(self, unit: Unit, held: dict[str, Array], at: dict[str, Array], row: Array, level: int) -> None:
        """The boxes of chunks, then segmented reductions."""
        chunk_boxes = (self.chunks, held["chunk_boxes"])
        self.target.launch(unit, "box_chunks", self._most_chunks(level) * CHUNK, row, held["references"], at["ranges"], *chunk_boxes, block=CHUNK)
        jobs = min(1 << min(level, 30), self.slots) * BOX_WORDS * REDUCE_THREADS
        self.target.launch(unit, "reduce_boxes", jobs, row, at["ranges"], *chunk_boxes, at["boxes"], block=REDUCE_THREADS)

    def _part_by_scans(
        self, unit: Unit, primitives: Primitives, held: dict[str, Array], draft: Draft, nodes: Any, rows: Any, level: int, ends_here: bool
    ) -> None:
        """Counts of chunks and of nodes, each summed up by the library, then children and references."""
        target, options, (at, to) = self.target, self.options, nodes
        jobs, half = self._most_chunks(level) * CHUNK, (level + 1) % 2
        cells, sums = (at["cells"], at["ranges"], at["boxes"]), (self.chunks, held["chunk_counts"])
        rules = (options.empty_fraction, self.max_depth)
        target.launch(unit, "count_chunks", jobs, rows[0], held["references"], *cells, *rules, int(ends_here), *sums, block=CHUNK)
        target.exclusive_scan(held["chunk_counts"], held["chunk_counts"], "median_sah.scan")
        node_rules = (*rules, self.small_count, int(ends_here))
        target.launch(unit, "count_nodes", self.slots, rows[0], *cells, *node_rules, *sums, self.slots, held["additions"])
        target.exclusive_scan(held["additions"], held["additions"], "median_sah.scan")
        room = (half, self.capacity.nodes, self.capacity.working, self.slots, self.roots)
        tree = (draft.nodes, draft.parent)
        outputs = (*to.values(), held["root_cells"], held["root_ranges"], held["plans"])
        nodes_here = min(1 << min(level, 30), self.slots)
        target.launch(unit, "place_nodes", nodes_here, rows[0], *cells, *node_rules, *room, *sums, held["additions"], *tree, *outputs)
        target.launch(unit, "end_level", 1, rows[0], *room, held["additions"], rows[1], held["totals"], draft.counts)
        placed_by = (held["plans"], int(options.clips_primitives), *sums, held["references"])
        target.launch(unit, "place_chunks", jobs, primitives.view, rows[0], draft.counts, at["ranges"], *placed_by, block=CHUNK)

    def _unit(self, name: str, primitives: Primitives) -> Unit:
        constants = {key: value for key, value in self.ways.constants.items() if key != "MANKU"}
        return self.target.unit(unit_source(f"{ROOM}/{name}.cu", primitives, **constants))

    def _most_chunks(self, level: int) -> int:
        """The most chunks of a level: full ones, and a last one of each node."""
        return self.capacity.working // CHUNK + min(1 << min(level, 30), self.slots)


def most_roots(capacity: Capacity) -> int:
    """Room for small roots. They have 20 to 40 references, mostly."""
    return capacity.working // 8 + 64
