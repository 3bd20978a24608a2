"""Treelet restructuring: groups of seven subtrees are put under the best of all binary trees over them.

Idea: Seven subtrees can hang under 10,395 different binary trees. Dynamic programming over their 127 subsets finds the
cheapest in a few hundred steps, which a warp does together. Doing so around every node, from below, makes a tree that
was built fast nearly as good as one that was built well.

Paper: Karras and Aila, Fast Parallel Construction of High-Quality Bounding Volume Hierarchies (2013).

Cost: A few times a fast build a pass. Each pass takes only nodes over twice as many leaves as the one before: below,
little is left to gain.

Limits: What is far apart in the tree never meets. The collapse of subtrees into leaves that the paper does in the same
step is left to builders. A pass lets a node stand at most three higher. The SAH cost never rises. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from ....base import Primitives
from ...climb import CLIMB_SCRATCH, launch_climb
from ...tree import CanonicalTree
from .. import Optimiser

SLACK = 3
"""How much higher a node may stand after a pass."""

_FIRST_LEAVES = 7
_BLOCK = 128
"""Threads of a block: the four warps that treelets.cu has room for."""


@dataclasses.dataclass(frozen=True)
class TreeletRestructureOptions:
    """Options of treelet restructuring."""

    passes: int = option(3, "Bottom-up passes over the whole tree.", minimum=1, maximum=6)


class TreeletRestructure(Optimiser):
    """See the module."""

    name = "treelet_restructure"
    title = "Treelet restructuring"
    Options = TreeletRestructureOptions
    options: TreeletRestructureOptions

    def max_depth(self, depth: int) -> int:
        return depth + SLACK * int(self.options.passes)

    def scratch_bytes(self, reference_count: int) -> int:
        return (CLIMB_SCRATCH + 8) * reference_count

    def improve(self, tree: CanonicalTree, primitives: Primitives, after_refit: bool = False) -> None:
        target, folder = self.target, "gpu/hierarchy/bvh/optimisers/treelet_restructure"
        if tree.node_capacity == 0:
            return
        unit = target.unit(tree.unit_source(f"{folder}/treelets.cu", primitives, SLACK=SLACK))
        kernels = ("mark_starts_of_treelets", "restructure_treelets")
        subtrees = target.scratch("optimise.subtrees", (tree.node_capacity, 2), np.int32)
        with target.phase("optimise.treelets"):
            for number in range(self.options.passes):
                visits = {"least_leaves": _FIRST_LEAVES << number, "subtrees": subtrees, "block": _BLOCK}
                launch_climb(target, unit, tree, *kernels, **visits)


__all__ = ["TreeletRestructure", "TreeletRestructureOptions"]
