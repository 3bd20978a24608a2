"""octree_top_down: a cell that too many primitives meet is cut into eight, level by level.

Idea: All cells of a level are cut at once. Each reference is tested against the children of its cell; prefix sums over
what was met say how many nodes and references the next level has before any is written, and where each one goes. The
tree is deep where primitives are many, and a leaf where they are few.

Paper: GPU-based Adaptive Octree Construction Algorithms (2008), section 5: a level's memory counted beforehand, offsets
by prefix sum; for primitives in place of points, one in every leaf that it meets (Glassner, Space Subdivision for Fast
Ray Tracing, 1984).

Cost: Four launches and two prefix sums per level, each over the references of that level; no number is read back, so
that as many levels are launched as there may be. Cheaper to build than kd-trees with the SAH; its cuts do not follow
what they cut, so that rays test more.

Limits: No refit. Large primitives are listed many times; a share of references bounds how often. Deterministic.
"""

from __future__ import annotations

import dataclasses
import math

from .....target.base import Array
from ....base import Primitives
from ....grown_tree import Capacity, Draft
from ....primitives import unit_source
from ....scratch import bytes_of, scratch_arrays
from ...octree import OctreeHierarchy
from ...options import MOST_LEVELS
from .cuts import LEAF_PRIMITIVES, ROOM, LevelCuts, OctreeTopDownOptions, shapes_of

_EXTRA_LEVELS = 8


class OctreeTopDown(OctreeHierarchy):
    """See the module."""

    name = "octree_top_down"
    title = "Octree, top-down"
    Options = OctreeTopDownOptions
    ample = ((2.0, 2.0, 2.0),)
    options: OctreeTopDownOptions

    @property
    def leaf_primitives(self) -> int:
        return self.options.leaf_primitives or LEAF_PRIMITIVES[self.target.kind]

    def max_depth(self) -> int:
        return self._levels(self.last_built().count)

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        return bytes_of(shapes_of(capacity, primitive_count, self.leaf_primitives))

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        shapes = shapes_of(capacity, primitives.count, self.leaf_primitives)
        held = scratch_arrays(self.target, "octree_top_down", shapes)
        self._start(primitives, held, draft, capacity)
        options = dataclasses.replace(self.options, leaf_primitives=self.leaf_primitives)
        cuts = LevelCuts(self.target, options, capacity, held, draft)
        levels = self._levels(primitives.count)
        with self.target.phase("build.levels"):
            for level in range(levels):
                cuts.cut(primitives, level, ends_here=level + 1 == levels)

    def _levels(self, primitive_count: int) -> int:
        """Levels that are cut: surfaces have four times as many primitives a level."""
        if self.options.max_depth > 0 or primitive_count < 1:
            return self.options.max_depth
        return min(MOST_LEVELS, _EXTRA_LEVELS + math.ceil(0.5 * math.log2(primitive_count)))

    def _start(self, primitives: Primitives, held: dict[str, Array], draft: Draft, capacity: Capacity) -> None:
        target, n = self.target, primitives.count
        unit = target.unit(unit_source(f"{ROOM}/start.cu", primitives))
        with target.phase("build.start"):
            words = int(held["levels"].shape[0])
            target.launch(
                unit,
                "clear_start",
                max(words, int(held["tile_sums"].shape[0]), int(held["additions"].shape[0])),
                level_words=words,
                levels=held["levels"],
                tile_words=int(held["tile_sums"].shape[0]),
                tile_sums=held["tile_sums"],
                addition_words=int(held["additions"].shape[0]),
                additions=held["additions"],
                box_words=held["box_words"],
                counts=draft.counts,
            )
            target.launch(
                unit, "find_active", n, primitives=primitives.view, active=held["active"], box_words=held["box_words"]
            )
            target.exclusive_scan(held["active"], held["places"], "octree_top_down.scan")
            target.launch(
                unit,
                "make_root",
                n,
                n=n,
                **{name: held[name] for name in ("active", "places", "box_words", "levels", "cells", "ranges")},
                prim_ids=held["prim_ids"],
                slot_ids=held["slot_ids"],
                share=self.options.references_per_primitive,
                leaf_primitives=self.leaf_primitives if self._levels(n) > 0 else n,
                working_capacity=capacity.working,
                reference_capacity=capacity.references,
                counts=draft.counts,
                box=draft.box,
                draft_nodes=draft.nodes,
                draft_parent=draft.parent,
                draft_references=draft.references,
            )
