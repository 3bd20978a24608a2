"""The large-node stage: level by level, what is empty is cut off and the middle splits the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....primitives.radix_sort import exclusive_scan
from .....target.base import WARP, Array, Target, Unit
from .....target.structs import pack
from ....base import Primitives
from ....grown_tree import Capacity, Draft
from ....primitives import unit_source
from ....scratch import Shapes
from .options import MedianSahOptions
from .stage_arrays import LargeArrays

ROOM = "gpu/hierarchy/kdtree/builders/median_sah"
CHUNK = 256
SMALL = 64
LEVEL_WORDS = 8
BOX_WORDS, SIDE_WORDS, COUNT_STRIDE, ADDITION_WORDS = 6, 6, 8, 6


class LargeStage:
    """One build's. `small_count`: nodes of so many references are small."""

    def __init__(
        self, target: Target, options: MedianSahOptions, capacity: Capacity, small_count: int, max_depth: int
    ) -> None:
        self.target, self.options, self.capacity = target, options, capacity
        self.small_count, self.max_depth, self.ways = small_count, max_depth, options.ways()
        self.slots = capacity.working // (small_count + 1) + 3
        self.roots = most_roots(capacity)
        self.chunks = capacity.working // CHUNK + self.slots
        self._by_atomics: Unit
        self._by_scans: Unit

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
            once["sums"] = ((SIDE_WORDS * self.chunks + ADDITION_WORDS * slots,), np.int32)
        return once | twice | {f"{name}_too": shape for name, shape in twice.items()}

    def start(self, primitives: Primitives, held: dict[str, Array], draft: Draft) -> None:
        """What all levels of a build take."""
        constants = {key: value for key, value in self.ways.constants.items() if key != "MANKU"}
        by_atomics, by_scans = (
            unit_source(f"{ROOM}/{name}.cu", primitives, **constants) for name in ("large", "scans")
        )
        ways = self.ways
        if ways.sorts_by_atomics or ways.boxes_by_atomics:
            self._by_atomics = self.target.unit(by_atomics)
        if not (ways.sorts_by_atomics and ways.boxes_by_atomics):
            self._by_scans = self.target.unit(by_scans)
        arrays: dict[str, Any] = {
            name: held.get(name) for name, kind in LargeArrays.c_types().items() if kind.endswith("*")
        }
        tree = {"counts": draft.counts, "draft_nodes": draft.nodes, "draft_parent": draft.parent}
        rules: dict[str, Any] = {
            "empty_fraction": self.options.empty_fraction,
            "max_depth": self.max_depth,
            "small_count": self.small_count,
        }
        room = {
            "node_capacity": self.capacity.nodes,
            "working_capacity": self.capacity.working,
            "slot_capacity": self.slots,
        }
        self._stage = pack(
            LargeArrays(**(arrays | tree), **rules, **room, root_capacity=self.roots, chunk_capacity=self.chunks)
        )

    def split(self, primitives: Primitives, held: dict[str, Array], draft: Draft, level: int, ends_here: bool) -> None:
        """A level of large nodes, after `start`: their boxes, then the children and where their references go."""
        jobs = self._most_chunks(level) * CHUNK
        if not self.ways.boxes_by_atomics:
            self.target.launch(self._by_scans, "box_chunks", jobs, stage=self._stage, level=level, block=CHUNK)
            reductions = self._most_nodes(level) * BOX_WORDS * WARP
            self.target.launch(self._by_scans, "reduce_boxes", reductions, stage=self._stage, level=level, block=WARP)
        elif not self.ways.sorts_by_atomics:
            self.target.launch(self._by_atomics, "bound_chunks", jobs, stage=self._stage, level=level, block=CHUNK)
        at, to = ("", "_too") if level % 2 == 0 else ("_too", "")
        sorting = {
            "primitives": primitives.view,
            "levels": held["levels"],
            "level": level,
            "counts": draft.counts,
            "ranges": held[f"ranges{at}"],
            "plans": held["plans"],
            "clips": int(self.options.clips_primitives),
        }
        if self.ways.sorts_by_atomics:
            self._make_children(level, ends_here)
            self.target.launch(
                self._by_atomics,
                "sort_chunks",
                jobs,
                **sorting,
                bounds=int(self.ways.boxes_by_atomics),
                references=held["references"],
                offsets=held["offsets"],
                next_boxes=held[f"boxes{to}"],
                block=CHUNK,
            )
        else:
            self._make_children_by_scans(held["sums"], level, ends_here)
            self.target.launch(
                self._by_scans,
                "place_chunks",
                jobs,
                **sorting,
                chunk_capacity=self.chunks,
                chunk_sums=held["sums"],
                references=held["references"],
                block=CHUNK,
            )

    def _make_children(self, level: int, ends_here: bool) -> None:
        """The counts of both sides and the children."""
        jobs = self._most_chunks(level) * CHUNK
        self.target.launch(
            self._by_atomics, "count_sides", jobs, stage=self._stage, level=level, ends_here=int(ends_here), block=CHUNK
        )
        self.target.launch(
            self._by_atomics,
            "make_children",
            self._most_nodes(level),
            stage=self._stage,
            level=level,
            ends_here=int(ends_here),
            block=CHUNK,
        )

    def _make_children_by_scans(self, sums: Array, level: int, ends_here: bool) -> None:
        """Counts of chunks and of nodes, all of them summed up by the project's prefix sums, then the children."""
        target, jobs, nodes = self.target, self._most_chunks(level) * CHUNK, self._most_nodes(level)
        target.launch(
            self._by_scans, "count_chunks", jobs, stage=self._stage, level=level, ends_here=int(ends_here), block=CHUNK
        )
        target.launch(
            self._by_scans,
            "count_nodes",
            nodes * WARP,
            stage=self._stage,
            level=level,
            ends_here=int(ends_here),
            block=WARP,
        )
        exclusive_scan(target, sums, sums, "median_sah.scan")
        target.launch(self._by_scans, "place_nodes", nodes, stage=self._stage, level=level, ends_here=int(ends_here))

    def _most_nodes(self, level: int) -> int:
        return min(1 << min(level, 30), self.slots)

    def _most_chunks(self, level: int) -> int:
        """The most chunks of a level: full ones, and a last one of each node."""
        return self.capacity.working // CHUNK + self._most_nodes(level)


def most_roots(capacity: Capacity) -> int:
    """Room for small roots. They have 20 to 40 references, mostly."""
    return capacity.working // 8 + 64
