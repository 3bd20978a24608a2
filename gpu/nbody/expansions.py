"""Expansions of the cells of a tree: the multipoles of all nodes, found on the way up."""

from __future__ import annotations

import math

import numpy as np

from ..gravity import LEAST_ORDER, MOST_ORDER
from ..hierarchy.octree.point_tree import MAX_DEPTH, PointTree
from ..target.base import Array, Target, Unit, UnitSource


def terms_to(order: int) -> int:
    """Powers of x, y and z of an order and below, as expansion.cuh counts them."""
    return math.comb(order + 3, 3)


def row_of(order: int) -> int:
    """Numbers of a node's row: a multiple of four."""
    return -(-terms_to(order) // 4) * 4


class Multipoles:
    """Centres of mass and radii (m, 4) and multipoles (m, row) of every node, to an order."""

    def __init__(self, target: Target, order: int) -> None:
        if not LEAST_ORDER <= order <= MOST_ORDER:
            raise ValueError(f"Expansions have an order from {LEAST_ORDER} to {MOST_ORDER}; {order} was asked for.")
        self.target, self.order = target, order
        self._unit = expansion_unit(target, "upward", order)
        self.reserve(0)

    def reserve(self, capacity: int) -> None:
        """Arrays for trees of so many nodes."""
        self.centres: Array = self.target.zeros((capacity, 4), np.float32, "nbody")
        self.rows: Array = self.target.zeros((capacity, row_of(self.order)), np.float32, "nbody")

    def find(self, tree: PointTree) -> None:
        """Expand the leaves, and then each depth from the deepest. Launches only; phases nbody.p2m and nbody.m2m."""
        arrays = {"tree": tree.view, "centres": self.centres, "multipoles": self.rows}
        with self.target.phase("nbody.p2m"):
            self.target.launch(self._unit, "expand_leaves", tree.capacity, **arrays)
        with self.target.phase("nbody.m2m"):
            for depth in reversed(range(MAX_DEPTH + 1)):
                self.target.launch(self._unit, "expand_depth", tree.capacity, **arrays, depth=depth)


def expansion_unit(target: Target, name: str, order: int, rays_per_thread: int = 1) -> Unit:
    """A kernel file of expansions, compiled for an order."""
    return target.unit(
        UnitSource(f"gpu/nbody/{name}.cu", constants=(("ORDER", order),), rays_per_thread=rays_per_thread)
    )
