"""Hierarchical linear BVH by work queues: spatial median splits along the Morton curve, from the root downwards.

Idea: Primitives sorted by Morton codes are split, at every node, where the highest bit that differs among them changes:
a search in a sorted list. Nodes that are still to be split wait in a queue as tasks; every task takes one thread, or
one warp, and puts up to two new ones into the next queue, at places that prefix sums give. Where all bits are used up,
the list is halved. A task of few primitives is not queued again: one block finishes the whole subtree below it. As the
papers have it (`launches` = levels) every task takes one thread, down to the leaves, and a launch one level; a build's
boxes are then found level by level from below.

Paper: Garanzha, Pantaleoni, McAllister, Simpler and Faster HLBVH with Work Queues (2011), as Meister, Methods for Fast
Construction of Bounding Volume Hierarchies (2014), describes it in 5.4.1 and 6.1.1.

Cost: Bounds, codes and sort of the linear BVH, then a launch for every five levels of large nodes, one for all small
ones, and a refit; or two launches for each level that there may be: code bits + log2(n / max_leaf_size). Its trees are
those of `lbvh` where all codes differ. Times by step stand under the phases of Meister's table 7.7: sort, median
splits; nodes (with the records of the triangles) are its refit.

Limits: Those of the linear BVH: splits lie on a fixed grid. 30 bits do not tell primitives apart that are closer than
1/1024 of the scene; 60 bits do, and cost a longer sort. The depth never passes code bits + log2 of the number of
primitives. Deterministic: queues fill in any order, and no node depends on its place in one.
"""

from __future__ import annotations

import dataclasses

from .....target.base import Array, Target
from ....base import Primitives, StructureChoice
from ....morton_order import MortonOptions
from ...median_levels import Levels, MedianLevels, launches_option
from ...median_splits import MedianSplits
from ...morton_builder import CodeBuilder
from ...stopping import leaf_size_by_kind_option


@dataclasses.dataclass(frozen=True)
class HlbvhMedianOptions(MortonOptions):
    """Options of the median splits."""

    max_leaf_size: int = leaf_size_by_kind_option()
    launches: str = launches_option()


class HlbvhMedian(CodeBuilder):
    """See the module."""

    name = "hlbvh_median"
    title = "HLBVH, median splits (work queues)"
    construction = "linear"
    Options = HlbvhMedianOptions
    options: HlbvhMedianOptions

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self.splits = MedianSplits(target, self.code_bits)
        self.median_levels = MedianLevels(target, self.code_bits)
        self._levels: Levels | None = None

    def scratch_bytes(self) -> int:
        splits = self.median_levels if self.options.launches == "levels" else self.splits
        return self.morton_order.scratch_bytes(self.tree.count) + splits.scratch_bytes(self.tree.count)

    def link_nodes(self, primitives: Primitives, keys: Array, prim_ids: Array | None) -> None:
        self.splits.max_leaf_size = self.median_levels.max_leaf_size = self.leaf_size
        with self.target.phase("build.median_splits"):
            if self.options.launches == "levels":
                self._levels = self.median_levels.begin_with_root(keys, prim_ids, self.tree)
                self.median_levels.split(keys, self.tree, self._levels)
            else:
                queues = self.splits.begin_with_root(keys, prim_ids, self.tree)
                self.splits.split(keys, self.tree, queues)

    def compute_bounds(self, primitives: Primitives) -> bool:
        if self._levels is None:
            return super().compute_bounds(primitives)
        return self.median_levels.compute_bounds(primitives, self.tree, self._levels, self.direct_nodes)


__all__ = ["HlbvhMedian", "HlbvhMedianOptions"]
