"""Forces by Barnes and Hut's tree code (Nature 324, 1986): each body walks an octree and takes far cells as wholes, by
their mass or by their quadrupoles too. O(N log N)."""

from __future__ import annotations

from ..gravity import TERMS, BarnesHutOptions
from ..hierarchy.octree.point_tree import NEEDED, PointTreeBuilder, PointTreeOptions
from ..target.base import Target
from .bodies import PROGRESS, Bodies
from .expansions import Multipoles, expansion_unit


class BarnesHut:
    """See the module. `softening` is Plummer's, in scene units; `count` bodies."""

    def __init__(self, target: Target, count: int, softening: float, options: BarnesHutOptions | None = None) -> None:
        self.target, self.softening, self.options = target, softening, options or BarnesHutOptions()
        self._count, order = count, 1 + TERMS.index(self.options.terms)
        self._multipoles = Multipoles(target, order)
        self._unit = expansion_unit(target, "walk", order, 0)
        self._reserve(max(256, 8 * count // self.options.leaf_points))

    def _reserve(self, capacity: int) -> None:
        options = PointTreeOptions(leaf_points=self.options.leaf_points)
        self._builder = PointTreeBuilder(self.target, self._count, options, capacity=capacity)
        self._multipoles.reserve(capacity)

    def find(self, bodies: Bodies) -> None:
        """Write the field of all bodies. Launches only. Phases build.*, nbody.p2m, nbody.m2m and nbody.walk."""
        tree = self._builder.build(bodies.places)
        self._multipoles.find(tree)
        with self.target.phase("nbody.walk"):
            self.target.fill(bodies.field, 0)
            arrays = {"centres": self._multipoles.centres, "multipoles": self._multipoles.rows, "field": bodies.field}
            self.target.launch(
                self._unit,
                "walk_tree",
                bodies.count,
                tree=tree.view,
                **arrays,
                inverse_angle=1.0 / self.options.angle,
                softening2=self.softening**2,
                lacking=bodies.progress[PROGRESS.index("lacking") :],
            )

    def make_room(self) -> None:
        """More room for the nodes, which were too many. Waits."""
        needed = int(self.target.download(self._builder.tree.counts)[NEEDED])
        self._reserve(needed + needed // 4)
