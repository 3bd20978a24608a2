"""Tree rotations: at every node, from below, the exchange of two subtrees that lowers the areas most.

Idea: A child of a node and a child of its sibling may change places without anybody else noticing; the only box that
changes is the one between. Of the four such exchanges under a node, and the two of grandchildren with each other, the
one that shrinks boxes most is made, at every node on the way up.

Paper: Kensler, Tree Rotations for Improving Bounding Volume Hierarchies (2008); in a refit after Kopta et al., Fast,
Effective BVH Updates for Animated Scenes (2012).

Cost: A climb a pass, about the time of a refit. Small: it mends what moved, but does not find what is far away. After
each refit it keeps the tree of a deforming scene from wearing out.

Limits: Each exchange is the best one near by, so a tree ends where no single exchange helps. Nodes never stand higher
than before, and the SAH cost never rises. Deterministic.
"""

from __future__ import annotations

import dataclasses

from .....settings import option
from .....target.base import Target
from ....base import Primitives
from ...climb import CLIMB_SCRATCH, launch_climb
from ...tree import CanonicalTree
from .. import Optimiser


@dataclasses.dataclass(frozen=True)
class RotationsOptions:
    """Options of tree rotations."""

    passes: int = option(3, "Bottom-up passes over the whole tree.", minimum=1, maximum=16)
    in_refits: bool = option(True, "Rotate after every refit too, so that the tree follows what moves.")


class Rotations(Optimiser):
    """See the module."""

    name = "rotations"
    title = "Tree rotations"
    Options = RotationsOptions

    def __init__(self, target: Target, options: RotationsOptions) -> None:
        super().__init__(target, options)
        self.passes = options.passes
        self.after_refit = options.in_refits  # type: ignore[misc]

    def max_depth(self, depth: int) -> int:
        return depth

    def scratch_bytes(self, reference_count: int) -> int:
        return CLIMB_SCRATCH * reference_count

    def improve(self, tree: CanonicalTree, primitives: Primitives) -> None:
        target = self.target
        if tree.node_capacity == 0:
            return
        unit = target.unit(tree.unit_source("gpu/hierarchy/bvh/optimisers/rotations/rotations.cu", primitives))
        with target.phase("optimise.rotations"):
            for _ in range(self.passes):
                launch_climb(target, unit, tree, "mark_starts_of_rotations", "rotate_nodes")


__all__ = ["Rotations", "RotationsOptions"]
