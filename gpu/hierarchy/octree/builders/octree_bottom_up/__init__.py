"""octree_bottom_up: the cells of one level that primitives meet, sorted along the Z-order, and their common ancestors.

Idea: Each primitive lists the cells that it meets at one level, as keys of the cell's Z-order code and the primitive.
Sorted, equal codes are a leaf, and what two neighbours have in common is the code of a cell above: every inner node
begins where a code differs from the one before. Cells above that hold no more than a leaf may are leaves themselves.

Paper: GPU-based Adaptive Octree Construction Algorithms (2008), section 4: common ancestors of adjacent leaves as
prefixes of a multiple of 3 bits, copies left out, chains by differences of levels; for primitives in place of points.

Cost: One sort of as many keys as there are references at the level, and two prefix sums; the number of launches does
not depend on the depth.

Limits: No refit. One level for all: where primitives are dense in a small part of the scene leaves there are long.
Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from .....target.base import MOST_ITEMS, UnitSource
from ....base import HierarchyError, Primitives
from ....grown_tree import Capacity, Draft
from ....scratch import Shapes, bytes_of, scratch_arrays
from ...cell_keys import CODE_LEVELS, key_bytes, level_for, make_keys
from ...octree import OctreeHierarchy
from ...options import OctreeOptions


@dataclasses.dataclass(frozen=True)
class OctreeBottomUpOptions(OctreeOptions):
    """Which cells the octree begins with."""

    level: int = option(
        -1,
        "Level of the cells that primitives are sorted into; -1 takes the deepest one that gains and has no more "
        "references than there may be.",
        minimum=-1,
        maximum=CODE_LEVELS,
    )


class OctreeBottomUp(OctreeHierarchy):
    """See the module."""

    name = "octree_bottom_up"
    title = "Octree, bottom-up"
    Options = OctreeBottomUpOptions
    ample = ((2.0, 2.0, 2.0),)
    options: OctreeBottomUpOptions

    def max_depth(self) -> int:
        return CODE_LEVELS

    def advice(self) -> str:
        return (
            super().advice()
            if self.options.level < 0
            else f"at level {self.options.level} primitives meet too " + ("many cells. Lower level, or let it be -1.")
        )

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        return key_bytes(capacity, primitive_count) + bytes_of(self._shapes(capacity, primitive_count))

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        target, options, n = self.target, self.options, primitives.count
        level, rows = None if options.level < 0 else options.level, self._rows(n)
        self._check_numbers(capacity, n)
        keys, chosen = make_keys(
            target, primitives, draft, capacity, level, rows - 1, options.references_per_primitive * n
        )
        unit = target.unit(UnitSource("gpu/hierarchy/octree/builders/octree_bottom_up/ancestors.cu"))
        held = scratch_arrays(target, "octree_bottom_up", self._shapes(capacity, n))
        cells = {"keys": keys, "chosen": chosen}
        leaves = {"leaf_primitives": options.leaf_primitives}
        room = {"capacity": capacity.working, "numbers": held["numbers"]}
        made = {"counts": draft.counts, "draft_nodes": draft.nodes, "draft_parent": draft.parent}
        with target.phase("build.nodes"):
            target.launch(
                unit, "mark_nodes", capacity.working + 1, **cells, **leaves, **room, rows=rows, kept=held["kept"]
            )
            target.launch(unit, "drop_copies", capacity.working, **cells, **leaves, kept=held["kept"])
            for name in ("numbers", "kept"):
                target.exclusive_scan(held[name], held[name], "octree_bottom_up.scan")
            target.launch(
                unit,
                "count_tree",
                1,
                chosen=chosen,
                **room,
                rows=rows,
                places=held["kept"],
                node_capacity=capacity.nodes,
                reference_capacity=capacity.references,
                **made,
            )
            target.launch(
                unit,
                "write_tree",
                capacity.working,
                **cells,
                **room,
                places=held["kept"],
                **made,
                draft_references=draft.references,
            )

    def _rows(self, primitive_count: int) -> int:
        """Levels that there may be, that of the root among them."""
        level = self.options.level
        return 1 + (level if level >= 0 else level_for(primitive_count, self.options.leaf_primitives / 4))

    def _check_numbers(self, capacity: Capacity, primitive_count: int) -> None:
        numbers = self._rows(primitive_count) * capacity.working
        if numbers >= MOST_ITEMS:
            raise HierarchyError(
                f"The structure {self.name} would number {numbers:,} beginnings of nodes for this scene of "
                f"{primitive_count:,} primitives, and {MOST_ITEMS:,} are counted at once: lower level, or choose "
                f"octree_top_down."
            )

    def _shapes(self, capacity: Capacity, primitive_count: int) -> Shapes:
        return {
            "numbers": ((self._rows(primitive_count) * capacity.working + 1,), np.int32),
            "kept": ((capacity.working + 1,), np.int32),
        }
