"""Forces by the fast multipole method: Cartesian expansions on an octree, cells that attract one another as wholes
(Greengard and Rokhlin 1987, in Dehnen's form of 2002). O(N)."""

from __future__ import annotations

import numpy as np

from ..gravity import MultipoleOptions
from ..hierarchy.octree.point_tree import MAX_DEPTH, NEEDED, PointTree, PointTreeBuilder, PointTreeOptions
from ..target.base import Array, Target, UnitSource
from .bodies import PROGRESS, Bodies
from .expansions import Multipoles, expansion_unit, row_of
from .lists import PairLists


class FastMultipole:
    """See the module. `softening` is Plummer's, in scene units; `count` bodies."""

    def __init__(self, target: Target, count: int, softening: float, options: MultipoleOptions | None = None) -> None:
        self.target, self.softening, self.options = target, softening, options or MultipoleOptions()
        order, self._count = self.options.order, count
        self._multipoles, self.lists = Multipoles(target, order), PairLists(target, self.options.angle)
        self._local_unit = expansion_unit(target, "local", order, 0)
        self._near_unit = target.unit(UnitSource("gpu/nbody/near.cu", rays_per_thread=0))
        self._down_unit = expansion_unit(target, "downward", order)
        self._near_field: Array = target.zeros((count, 4), np.float32, "nbody")
        self._reserve(max(256, 8 * count // self.options.leaf_points))

    def _reserve(self, capacity: int) -> None:
        options = PointTreeOptions(leaf_points=self.options.leaf_points)
        self._builder = PointTreeBuilder(self.target, self._count, options, capacity=capacity)
        self._multipoles.reserve(capacity)
        self._locals: Array = self.target.zeros((capacity, row_of(self.options.order)), np.float32, "nbody")
        self.lists.reserve(capacity)

    # -- Forces -----------------------------------------------------------------------------------------------------
    @property
    def tree(self) -> PointTree:
        """The octree over the bodies as they were when the field was last found."""
        return self._builder.tree

    def find(self, bodies: Bodies) -> None:
        """Write the field of all bodies. Launches only. Phases build.*, and nbody.p2m to nbody.p2p."""
        target, lists, multipoles = self.target, self.lists, self._multipoles
        tree = self._builder.build(bodies.places)
        multipoles.find(tree)
        lacking = bodies.progress[PROGRESS.index("lacking") :][:1]
        with target.phase("nbody.lists"):
            lists.find(tree, multipoles.centres, lacking)
        cells = {"tree": tree.view, "centres": multipoles.centres, "locals": self._locals}
        far = {"first_far": lists.first["far"], "far_count": lists.counts["far"], "far": lists.listed["far"]}
        lanes = 32 * tree.capacity  # of a warp each
        with target.phase("nbody.m2l"):
            more = {"multipoles": multipoles.rows, "softening2": self.softening**2, "lacking": lacking}
            target.launch(self._local_unit, "gather_locals", lanes, **cells, **far, **more)
        with target.phase("nbody.l2l"):
            for depth in range(1, MAX_DEPTH + 1):
                target.launch(self._down_unit, "pass_down", tree.capacity, **cells, depth=depth)
        near = {"first_near": lists.first["near"], "near_count": lists.counts["near"], "near": lists.listed["near"]}
        with target.phase("nbody.p2p"):
            more = {"field": self._near_field, "softening2": self.softening**2, "lacking": lacking}
            target.launch(self._near_unit, "sum_near", lanes, tree=tree.view, **near, **more)
        with target.phase("nbody.l2p"):
            target.fill(bodies.field, 0)
            fields = {"near_field": self._near_field, "field": bodies.field}
            target.launch(self._down_unit, "evaluate_locals", lanes, **cells, **fields)

    def make_room(self) -> None:
        """More room for the nodes, or the lists, that were too many. Waits."""
        needed = int(self.target.download(self._builder.tree.counts)[NEEDED])
        if needed > self._builder.tree.capacity:
            self._reserve(needed + needed // 4)
        else:
            self.lists.make_room()
