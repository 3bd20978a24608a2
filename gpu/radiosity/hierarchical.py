"""The sum over all pairs of points by the fast multipole method: an octree over the points, lists of nodes that
exchange light, and expansions of it (Greengard and Rokhlin 1987; the octrees' paper, section 6, for radiosity).

Idea: What a node's points send is brought together at a few places of its box, goes from box to box where both are far
apart for their size, and is spread again where it arrives. Points that are near each other, or whose normals turn away
within a box, exchange it themselves. Lists are made once for each place of the points, a bounce only goes through them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..hierarchy.octree.point_tree import (
    DEPTHS,
    MAX_DEPTH,
    NEEDED,
    PointTree,
    PointTreeBuilder,
    PointTreeOptions,
    most_nodes,
)
from ..settings import option
from ..target.base import WARP, Array, Target, Unit, UnitSource
from ..trace.trace import Tracer
from .direct import gather_from_all
from .pairs import MOST_LEAF_POINTS, PairLists, SightOptions
from .point_set import PointSet, empty_points

PLACE_FLOATS = 9
GATHER_THREADS = 128
"""That share out the lists of a leaf."""
FIRST_PAIRS = 8
"""Pairs of a kind for each point that there is room for at first."""


@dataclasses.dataclass(frozen=True)
class HierarchicalOptions:
    """What can be chosen about the hierarchical sum."""

    order: int = option(
        2,
        "Chebyshev nodes of an expansion along each axis of a box: more are more exact and slower.",
        minimum=1,
        maximum=4,
    )
    angle: float = option(
        0.33,
        "Two boxes exchange light as a whole where the sum of their half diagonals is at most this share of their "
        "distance: less is more exact and slower.",
        minimum=0.05,
        maximum=1.0,
    )
    leaf_points: int = option(
        32, "A box with at most so many points is not divided.", minimum=1, maximum=MOST_LEAF_POINTS
    )


class HierarchicalSum:
    """See the module. `place` takes where points are, `gather` then sums what they send; arrays are in the order of the
    points as handed in, those of `sorted_points` and of what is gathered in that of the tree."""

    def __init__(self, target: Target, count: int, options: HierarchicalOptions) -> None:
        self._target, self.count, self.options = target, count, options
        self.lists = PairLists(target, options.leaf_points, options.angle, 2 * options.order**2)
        self._nodes = target.unit(UnitSource("gpu/radiosity/nodes.cu"))
        self._sorted = empty_points(target, count)
        self.sorted_direct = target.zeros((max(count, 1), 4), np.float32, "radiosity")
        # Leaves of 8 points and more make some nodes for two points; no tree has more than two a point.
        self._reserve(most_nodes(count) if options.leaf_points < 8 else max(count // 2, 64))

    def _reserve(self, capacity: int) -> None:
        tree_options = PointTreeOptions(bits="21", leaf_points=self.options.leaf_points)
        self._builder = PointTreeBuilder(self._target, self.count, tree_options, capacity=capacity)
        self.tree = self._builder.tree
        self.sorted_points = dataclasses.replace(self._sorted, places=self.tree.points)
        self.shapes = self._target.zeros((capacity, 4, 4), np.float32, "radiosity")
        floats = capacity * self.options.order**3 * PLACE_FLOATS
        self._multipoles, self._locals = (self._target.zeros(floats, np.float32, "radiosity") for _ in range(2))
        self.lists.reserve(capacity, FIRST_PAIRS * self.count, FIRST_PAIRS * self.count)

    @property
    def generation(self) -> int:
        """Another number for other sums, and after other arrays or rounds were taken."""
        return self.lists.generation

    def place(self, points: PointSet, direct: Array, sight: SightOptions | None, learns: bool = False) -> None:
        """Take where points are and what is known of them: the tree, its nodes' shapes, and their lists. Launches only;
        the first one has to be one that `learns` how much room they need, and waits to make it."""
        target = self._target
        with target.phase("radiosity.tree"):
            tree = self._build(points)
            if learns:
                tree = self._tree_with_room(points)
            self._sort(points, direct)
            for depth in range(MAX_DEPTH, -1, -1):
                target.launch(
                    self._nodes,
                    "shape_nodes",
                    tree.capacity,
                    tree=tree.view,
                    depth=depth,
                    normals=self.sorted_points.normals,
                    reflectance=self.sorted_points.reflectance,
                    emission=self.sorted_points.emission,
                    direct=self.sorted_direct,
                    shapes=self.shapes,
                )
        with target.phase("radiosity.lists"):
            self.lists.find(tree, self.shapes, self.sorted_points.normals, sight, learns)

    def _tree_with_room(self, points: PointSet) -> PointTree:
        """The tree that was built, or one with room for all of its nodes; how deep it is."""
        counts = self._target.download(self.tree.counts)
        needed = int(counts[NEEDED])
        if needed > self.tree.capacity:
            self._reserve(needed + needed // 8)
            counts = self._target.download(self._build(points).counts)
        self.lists.learn_depths(int(counts[DEPTHS]))
        return self.tree

    def _build(self, points: PointSet) -> PointTree:
        """Nodes below the root look to one of six sides: along an edge between two walls each wall has its own, so that
        all but the bent ones are flat, and know whom they face from far up in the tree."""
        return self._builder.build(points.places, directions=points.normals)

    def gather(self, sent: Array, gathered: Array) -> None:
        """Write what each point gathers of what all send, (N, 4) in the order of the tree: radiance times area to
        irradiance over pi. Launches only."""
        target, tree, unit = self._target, self.tree, self._unit()
        common: dict[str, Any] = {"tree": tree.view, "shapes": self.shapes}
        points = {"normals": self.sorted_points.normals, "sent": sent}
        places = tree.capacity * self.options.order**3
        lists = self.lists.lists
        with target.phase("radiosity.up"):
            up = {**common, "multipoles": self._multipoles}
            target.launch(unit, "send_up_points", WARP * tree.capacity, **up, **points)
            for depth in range(self.lists.depths - 2, -1, -1):
                target.launch(unit, "send_up", WARP * tree.capacity, **up, depth=depth)
        both = {"multipoles": self._multipoles, "locals": self._locals}
        with target.phase("radiosity.across"):
            of: dict[str, Any] = {"far": lists("far"), "of_points": lists("of_points")}
            target.launch(unit, "send_across", WARP * tree.capacity, **common, **points, **of, **both)
        with target.phase("radiosity.down"):
            for depth in range(1, self.lists.depths):
                target.launch(unit, "send_down", places, **common, depth=depth, locals=self._locals)
        with target.phase("radiosity.points"):
            near: dict[str, Any] = {kind: lists(kind) for kind in ("to_points", "near", "partial")}
            target.launch(
                unit,
                "gather_in_leaves",
                GATHER_THREADS * tree.capacity,
                **common,
                **points,
                **near,
                **both,
                seen=self.lists.seen,
                gathered=gathered,
                block=GATHER_THREADS,
            )

    def error(self, sent: Array, asked: int, tracer: Tracer | None) -> float:
        """The root mean square of the differences to the sum over all pairs, with a ray for each where there is a
        tracer, over that of what should be gathered, at `asked` points. 0 where nothing arrives. Waits; between two
        frames."""
        target, step = self._target, max(1, self.count // asked)
        found = target.zeros((self.count, 4), np.float32, "radiosity")
        self.gather(sent, found)
        chosen = np.minimum(np.arange(asked) * step, self.count - 1)
        if tracer is not None:
            expected = self.lists.gather_by_rays(self.tree, self.sorted_points.normals, sent, asked, tracer)
        else:
            points = self.sorted_points
            to = PointSet(
                *(target.upload(target.download(rows)[chosen], "radiosity") for rows in vars(points).values())
            )
            arrived = target.zeros((asked, 4), np.float32, "radiosity")
            gather_from_all(target, points, sent, arrived, to)
            expected = target.download(arrived)[:, :3].astype(np.float64)
        square = float(np.mean(expected**2))
        differences = target.download(found)[chosen, :3] - expected
        return float(np.sqrt(np.mean(differences**2) / square)) if square > 0.0 else 0.0

    def _unit(self) -> Unit:
        constants = (("ORDER", self.options.order), ("LEAF_POINTS", self.options.leaf_points))
        return self._target.unit(UnitSource("gpu/radiosity/expansions.cu", constants=constants, rays_per_thread=0))

    def _sort(self, points: PointSet, direct: Array) -> None:
        to = self.sorted_points
        self._target.launch(
            self._nodes,
            "sort_with_points",
            self.count,
            order=self.tree.order,
            count=self.count,
            normals=points.normals,
            reflectance=points.reflectance,
            emission=points.emission,
            direct=direct,
            sorted_normals=to.normals,
            sorted_reflectance=to.reflectance,
            sorted_emission=to.emission,
            sorted_direct=self.sorted_direct,
        )
