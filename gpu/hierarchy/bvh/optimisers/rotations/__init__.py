"""Tree rotations: at every node, from below, the exchange of two subtrees that lowers the areas most.

Idea: A child of a node and a child of its sibling may change places without anybody else noticing; the only box that
changes is the one between. Of the four such exchanges under a node, and the two of grandchildren with each other, the
one that shrinks boxes most is made, at every node on the way up.

Paper: Kensler, Tree Rotations for Improving Bounding Volume Hierarchies (2008); in a refit after Kopta et al., Fast,
Effective BVH Updates for Animated Scenes (2012).

Cost: A pass is a refit that looks further down at each node. Small: it mends what moved, but does not find what is far
away. In each refit, on its way up, it keeps the tree of a deforming scene from wearing out; one pass a frame does, more
gain half a per cent.

Limits: Each exchange is the best one near by, so a tree ends where no single exchange helps. Nodes never stand higher
than before, and the SAH cost never rises. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from .....target.base import Target
from ....base import Primitives
from ...climb import CLIMB_SCRATCH, launch_climb
from ...tree import CanonicalTree
from .. import Optimiser


@dataclasses.dataclass(frozen=True)
class RotationsOptions:
    """Options of tree rotations."""

    passes: int = option(3, "Bottom-up passes over the whole tree after a build.", minimum=1, maximum=16)
    in_refits: bool = option(True, "Rotate in every refit too, once, so that the tree follows what moves.")


class Rotations(Optimiser):
    """See the module."""

    name = "rotations"
    title = "Tree rotations"
    Options = RotationsOptions

    def __init__(self, target: Target, options: RotationsOptions) -> None:
        super().__init__(target, options)
        self.rotation_passes = options.passes
        self.after_refit = options.in_refits  # type: ignore[misc]

    def max_depth(self, depth: int) -> int:
        return depth

    def scratch_bytes(self, reference_count: int) -> int:
        return (CLIMB_SCRATCH + 1) * reference_count

    def improve(self, tree: CanonicalTree, primitives: Primitives, after_refit: bool = False) -> None:
        target = self.target
        if tree.node_capacity == 0:
            return
        unit = target.unit(tree.unit_source("gpu/hierarchy/bvh/optimisers/rotations/rotations.cu", primitives))
        heights = target.scratch("optimise.heights", tree.node_capacity, np.uint8)
        visited = {"flags": tree.flags, "heights": heights}
        with target.phase("optimise.rotations"):
            for _ in range(1 if after_refit else self.rotation_passes):
                launch_climb(target, unit, tree, "mark_starts_of_rotations", "rotate_nodes", **visited)


__all__ = ["Rotations", "RotationsOptions"]
