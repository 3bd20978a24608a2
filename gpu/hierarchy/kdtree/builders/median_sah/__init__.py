"""median_sah: spatial medians and cuts of empty space above, the SAH over words of bits below.

Idea: As long as a node has more than 64 references it is halved in the middle of its longest side, after empty space
was cut off, and what lies on both sides is clipped to each. Below, a node is a word of 64 bits: the planes that may
split it and the sets on either side of each are known from the start, so that the SAH of a plane is two ands and two
counts of bits.

Paper: Zhou, Hou, Wang and Guo, Real-Time KD-Tree Construction on Graphics Hardware (2008); Chang, Seo and Ihm, On the
Efficient Implementation of a Real-time Kd-tree Construction Algorithm. `implementation` is Zhou's (primitives) or
Chang's (atomics); `sorting` [A], `scans` [B], `boxes` [C],
`reductions` [D] and `bit_counts` [E] turn each improvement of Chang's table on or off by itself. Phases: build.start,
build.large, build.small.

Cost: Three launches per level of large nodes by atomics, nine by primitives, which also take five for each of 20 rounds
of small nodes; no number is read back, so that as many levels are launched as there may be. Faster to build than
sah_events, and its trees cost about the same by the SAH.

Limits: No refit. Above, splits are blind to the SAH. Large primitives are listed many times; a share of references
bounds how often. Deterministic: where atomics decide the order of references, leaves are put in order at the end.
"""

from __future__ import annotations

import math

import numpy as np

from .....target.base import Array
from ....base import Primitives
from ....grown_tree import Capacity, Draft
from ....primitives import unit_source
from ....scratch import Shapes, bytes_of, scratch_arrays
from ...kdtree import KdTreeHierarchy
from ...tree import MOST_DEPTH
from .large import LEVEL_WORDS, ROOM, SMALL, LargeStage
from .options import MedianSahOptions
from .small import SmallStage

EXTRA_LEVELS = 20
"""Levels of large nodes beyond 1.3 log2 of the number of small nodes that there would be at least. Halves come down to
a detail of a thousandth of the scene in 30 levels, and what is large still when they end is one leaf, for which a warp
waits."""


class MedianSah(KdTreeHierarchy):
    """See the module."""

    name = "median_sah"
    title = "Kd-tree by medians, SAH for small nodes"
    Options = MedianSahOptions
    options: MedianSahOptions

    def max_depth(self) -> int:
        return self.options.max_depth or MOST_DEPTH

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        shapes = {
            **self._start_arrays(primitive_count),
            **self._large(capacity).shapes(),
            **self._small(capacity).shapes(),
        }
        return bytes_of(shapes)

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        large, small = self._large(capacity), self._small(capacity)
        shapes = {**self._start_arrays(primitives.count), **large.shapes(), **small.shapes()}
        held = scratch_arrays(self.target, "median_sah", shapes)
        self._start(primitives, held, draft)
        levels = self.large_levels(primitives.count)
        with self.target.phase("build.large"):
            large.start(primitives, held, draft)
            for level in range(levels):
                large.split(primitives, held, draft, level, ends_here=level + 1 == levels)
        with self.target.phase("build.small"):
            small.build(primitives, held, draft)

    def large_levels(self, primitive_count: int) -> int:
        """Levels of large nodes that are launched: as many as there may be."""
        if primitive_count <= self._small_count():
            return 0
        return min(EXTRA_LEVELS + math.ceil(1.3 * math.log2(max(1, primitive_count // SMALL))), self.max_depth())

    def _start(self, primitives: Primitives, held: dict[str, Array], draft: Draft) -> None:
        target, n = self.target, primitives.count
        unit = target.unit(unit_source(f"{ROOM}/start.cu", primitives))
        with target.phase("build.start"):
            level_words = len(held["levels"])
            target.launch(
                unit,
                "clear_start",
                level_words,
                level_words=level_words,
                levels=held["levels"],
                totals=held["totals"],
                box_words=held["box_words"],
                counts=draft.counts,
            )
            target.launch(
                unit, "find_active", n, primitives=primitives.view, active=held["active"], box_words=held["box_words"]
            )
            target.exclusive_scan(held["active"], held["places"], "median_sah.scan")
            target.launch(
                unit,
                "write_references",
                n,
                primitives=primitives.view,
                places=held["places"],
                references=held["references"],
            )
            names = ("places", "active", "box_words", "levels", "totals", "cells", "ranges", "boxes", "side_counts")
            target.launch(
                unit,
                "make_root",
                1,
                n=n,
                **{name: held[name] for name in (*names, "root_cells", "root_ranges")},
                share=self.options.references_per_primitive,
                small_count=self._small_count(),
                counts=draft.counts,
                box=draft.box,
                draft_nodes=draft.nodes,
                draft_parent=draft.parent,
            )

    def _large(self, capacity: Capacity) -> LargeStage:
        return LargeStage(self.target, self.options, capacity, self._small_count(), self.max_depth())

    def _small(self, capacity: Capacity) -> SmallStage:
        return SmallStage(self.target, self.options, capacity, self.max_depth())

    def _small_count(self) -> int:
        """Nodes of so many references are no longer large."""
        return max(SMALL, self.options.max_leaf_size)

    def _start_arrays(self, n: int) -> Shapes:
        return {
            "levels": (((MOST_DEPTH + 2) * LEVEL_WORDS,), np.int32),
            "totals": ((4,), np.int32),
            "box_words": ((6,), np.int32),
            "active": ((n,), np.int32),
            "places": ((n,), np.int32),
        }
