"""median_sah: spatial medians and cuts of empty space above, the SAH over words of bits below.

Idea: As long as a node has more than 64 references it is halved in the middle of its longest side, after empty space was cut off, and what lies on
both sides is clipped to each. Below, a node is a word of 64 bits: the planes that may part it and the sets on either side of each are known from the
start, so that the SAH of a plane is two ands and two counts of bits.

Paper: Zhou, Hou, Wang and Guo, Real-Time KD-Tree Construction on Graphics Hardware (2008); Chang, Seo and Ihm, On the Efficient Implementation of a
Real-time Kd-tree Construction Algorithm. `implementation` is Zhou's (primitives) or Chang's (atomics); `sorting` [A], `scans` [B], `boxes` [C],
`reductions` [D] and `bit_counts` [E] turn each improvement of Chang's table on or off by itself. Phases: build.start, build.large, build.small.

Cost: Three launches a level of large nodes by atomics, nine by primitives, which also take five for each of 20 rounds of small nodes; no number is
read back, so that as many levels are launched as there may be. Faster to build than sah_events, and its trees cost about the same by the SAH.

Limits: No refit. Above, splits are blind to the SAH. Large primitives are listed many times; a share of references bounds how often. Deterministic:
where atomics decide the order of references, leaves are put in order at the end.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....target.base import Array
from ....base import Primitives
from ....primitives import unit_source
from ...kdtree import KdTreeHierarchy
from ...tree import MOST_DEPTH, Capacity, Draft
from .large import LEVEL_WORDS, ROOM, SMALL, LargeStage
from .options import MedianSahOptions
from .small import SmallStage

EXTRA_LEVELS = 10
"""Levels of large nodes beyond 1.3 log2 of the number of small nodes that there would be at least."""


class MedianSah(KdTreeHierarchy):
    """See the module."""

    name = "median_sah"
    title = "Kd-tree by medians, SAH for small nodes"
    Options = MedianSahOptions
    options: MedianSahOptions

    def max_depth(self) -> int:
        return self.options.max_depth or MOST_DEPTH

    def scratch_bytes(self) -> int:
        n, capacity = 0 if self._built is None else self._built.count, self.tree.capacity
        shapes = {**self._start_arrays(n), **self._large(capacity).shapes(), **self._small(capacity).shapes()}
        return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes.values())

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        large, small = self._large(capacity), self._small(capacity)
        shapes = {**self._start_arrays(primitives.count), **large.shapes(), **small.shapes()}
        held = {name: self.target.scratch(f"median_sah.{name}", shape, dtype) for name, (shape, dtype) in shapes.items()}
        self._start(primitives, held, draft)
        levels = self.large_levels(primitives.count)
        with self.target.phase("build.large"):
            large.start(primitives, held, draft)
            for level in range(levels):
                large.part(primitives, held, draft, level, ends_here=level + 1 == levels)
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
            target.launch(unit, "clear_start", level_words, level_words, held["levels"], held["totals"], held["box_words"], draft.counts)
            target.launch(unit, "find_active", n, primitives.view, held["active"], held["box_words"])
            target.exclusive_scan(held["active"], held["places"], "median_sah.scan")
            target.launch(unit, "write_references", n, primitives.view, held["places"], held["references"])
            inputs = (n, held["places"], held["active"], held["box_words"], self.options.references_per_primitive, self._small_count())
            tree = (draft.counts, held["levels"], held["totals"], draft.box, draft.nodes, draft.parent)
            nodes = tuple(held[name] for name in ("cells", "ranges", "boxes", "side_counts", "root_cells", "root_ranges"))
            target.launch(unit, "make_root", 1, *inputs, *tree, *nodes)

    def _large(self, capacity: Capacity) -> LargeStage:
        return LargeStage(self.target, self.options, capacity, self._small_count(), self.max_depth())

    def _small(self, capacity: Capacity) -> SmallStage:
        return SmallStage(self.target, self.options, capacity, self.max_depth())

    def _small_count(self) -> int:
        """Nodes of so many references are no longer large."""
        return max(SMALL, self.options.max_leaf_size)

    def _start_arrays(self, n: int) -> dict[str, tuple[tuple[int, ...], Any]]:
        return {
            "levels": (((MOST_DEPTH + 2) * LEVEL_WORDS,), np.int32),
            "totals": ((4,), np.int32),
            "box_words": ((6,), np.int32),
            "active": ((n,), np.int32),
            "places": ((n,), np.int32),
        }
