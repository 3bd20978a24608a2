"""octree_complete: all cells of all levels up to one, whether they hold anything or not.

Idea: Where every cell exists, a node's number says where it is: the children of node i are 8 i + 1 to 8 i + 8, and a
level needs no count of the one before. What leaves list is sorted by their Z-order codes.

Paper: The rival that GPU-based Adaptive Octree Construction Algorithms (2008) compare with: the complete octree of
level l with its sum of 8^i nodes, empty ones included (Ajmera and others 2008).

Cost: One sort of as many keys as there are references, and a launch for all nodes. Memory grows by 8 a level however
few of the cells hold anything.

Limits: No refit. One level for all, and a shallow one: rays pass cells that hold nothing one by one. Deterministic.
"""

from __future__ import annotations

import dataclasses
import math

from .....settings import option
from .....target.base import UnitSource
from ....base import HierarchyError, Primitives
from ....grown_tree import SPARE, Capacity, Draft, Limits
from ...cell_keys import key_bytes, make_keys
from ...octree import OctreeHierarchy
from ...options import OctreeOptions

MOST_LEVELS = 10
MOST_CELLS = 1 << 27
"""Nodes at most: a level of 9 has more."""


@dataclasses.dataclass(frozen=True)
class OctreeCompleteOptions(OctreeOptions):
    """How deep all leaves are."""

    level: int = option(
        -1,
        "Level of all leaves; -1 takes the deepest one that gains, up to half as many cells as there are primitives.",
        minimum=-1,
        maximum=MOST_LEVELS,
    )


class OctreeComplete(OctreeHierarchy):
    """See the module."""

    name = "octree_complete"
    title = "Octree, complete"
    Options = OctreeCompleteOptions
    options: OctreeCompleteOptions

    def max_depth(self) -> int:
        return MOST_LEVELS

    def advice(self) -> str:
        return "too many primitives meet many cells. Lower level, or references_per_primitive."

    def limits(self) -> Limits:
        """Of nodes as many as the level has, whatever the number of primitives."""
        return dataclasses.replace(super().limits(), nodes=MOST_CELLS)

    def first_capacity(self, primitive_count: int) -> Capacity:
        nodes = ((8 << 3 * self._level(primitive_count)) - 1) // 7
        if nodes > MOST_CELLS:
            raise HierarchyError(
                f"The structure {self.name} of level {self.options.level} has {nodes:,} nodes, and holds at most "
                f"{MOST_CELLS:,}: lower level."
            )
        usual = super().first_capacity(primitive_count)
        return Capacity(nodes + SPARE, usual.references, usual.working)

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        return key_bytes(capacity, primitive_count)

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        target, options, n = self.target, self.options, primitives.count
        level = None if options.level < 0 else options.level
        keys, chosen = make_keys(
            target, primitives, draft, capacity, level, self._level(n), options.references_per_primitive * n
        )
        unit = target.unit(UnitSource("gpu/hierarchy/octree/builders/octree_complete/complete.cu"))
        with target.phase("build.nodes"):
            target.launch(
                unit,
                "count_tree",
                1,
                chosen=chosen,
                node_capacity=capacity.nodes,
                reference_capacity=capacity.references,
                counts=draft.counts,
            )
            target.launch(
                unit,
                "write_tree",
                max(capacity.nodes, capacity.working),
                keys=keys,
                chosen=chosen,
                counts=draft.counts,
                draft_nodes=draft.nodes,
                draft_parent=draft.parent,
                draft_references=draft.references,
            )

    def _level(self, primitive_count: int) -> int:
        """The deepest level that there is room for."""
        if self.options.level >= 0:
            return self.options.level
        return min(MOST_LEVELS, max(0, math.floor(math.log2(max(1.0, primitive_count / 2)) / 3)))
