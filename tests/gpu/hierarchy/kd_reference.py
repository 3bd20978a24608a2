"""SAH kd-trees one node at a time: the sequential reference that builders are compared with, in numpy, and a builder
that emits a tree it is given.

Single precision, operation by operation as kernels have it without contraction, so that ties fall alike: of equal costs
the first axis, the lowest plane, and primitives that lie in the plane on the right. Boxes that are cut along all axes
may be had in double precision too, as geometry has them.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.hierarchy.base import Primitives, StructureChoice
from raygrove.gpu.hierarchy.grown_tree import Capacity, Draft
from raygrove.gpu.hierarchy.kdtree.kdtree import KdTreeHierarchy
from raygrove.gpu.hierarchy.kdtree.options import KdTreeOptions
from raygrove.gpu.hierarchy.kdtree.tree import LEAF_AXIS
from raygrove.gpu.target.base import Target

FLOAT = np.float32
POLYGON_SLACK = 9.6e-7
"""As gpu/device/epsilons.cuh has it."""


@dataclasses.dataclass
class KdArrays:
    """Nodes (N, 2) int32 as on the device, parents, references and the root's box (2, 3)."""

    nodes: np.ndarray
    parent: np.ndarray
    references: np.ndarray
    box: np.ndarray


@dataclasses.dataclass
class Split:
    """A plane and what it costs; whether primitives in it go right."""

    cost: np.float32
    axis: int
    plane: np.float32
    flat_right: bool


def sweep_counts(lower: np.ndarray, upper: np.ndarray, plane: float) -> tuple[int, int, int]:
    """How many lie below a plane at least in part, above it, and in it."""
    flat = (lower == plane) & (upper == plane)
    return int((lower < plane).sum()), int((upper > plane).sum()), int(flat.sum())


def flat_sides(plane: float, low: float, high: float, flat: int) -> tuple[bool, ...]:
    """Where primitives in a plane may go, to the right or not: at a face outwards, with none in it nothing is split
    there."""
    if low < plane < high:
        return (True, False) if flat else (False,)
    return (bool(plane == high),) if flat else ()


def cost_terms(cell: np.ndarray) -> tuple[np.ndarray, np.float32, np.float32]:
    """The cell's extents, scaled so that the greatest is 1, half its surface, and the scale."""
    extent = cell[1] - cell[0]
    greatest = extent.max()
    scale = FLOAT(1.0) / greatest if greatest > 0 else FLOAT(0.0)
    e = extent * scale
    return e, e[0] * e[1] + e[1] * e[2] + e[2] * e[0], scale


def best_split(lower: np.ndarray, upper: np.ndarray, cell: np.ndarray, options: KdTreeOptions) -> Split | None:
    """The cheapest plane inside the cell, or at a face where primitives lie flat in it; None where there is none."""
    extent, area, scale = cost_terms(cell)
    best: Split | None = None
    for axis in range(3):
        planes = np.unique(np.concatenate([lower[:, axis], upper[:, axis]]))
        a, b = extent[(axis + 1) % 3], extent[(axis + 2) % 3]
        for plane in planes if cell[0, axis] < cell[1, axis] else ():
            below, above, flat = sweep_counts(lower[:, axis], upper[:, axis], plane)
            choices = flat_sides(plane, cell[0, axis], cell[1, axis], flat)
            left_area = a * b + (plane - cell[0, axis]) * scale * (a + b)
            right_area = a * b + (cell[1, axis] - plane) * scale * (a + b)
            for flat_right in choices:
                left, right = below + (0 if flat_right else flat), above + (flat if flat_right else 0)
                cost = FLOAT(options.traversal_cost) * area + FLOAT(options.intersection_cost) * (
                    left_area * FLOAT(left) + right_area * FLOAT(right)
                )
                if left == 0 or right == 0:
                    cost = cost * FLOAT(options.empty_factor)
                if cost <= np.finfo(FLOAT).max and (best is None or cost < best.cost):
                    best = Split(cost, axis, plane, flat_right)
    return best


@dataclasses.dataclass
class _Node:
    node_id: int
    prim_ids: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    was_cut: np.ndarray
    cell: np.ndarray
    share: np.float32


@dataclasses.dataclass
class Clip:
    """Bounds the part of a triangle (n, 3, 3) in a box, in nodes of at most `most` references: in double precision, or
    in single precision as the kernels do it, with what they add for roundings."""

    corners: np.ndarray
    most: float = np.inf
    dtype: type = np.float64

    def is_for(self, node: _Node) -> bool:
        """Whether it is small enough."""
        return len(node.prim_ids) <= self.most

    def part(self, prim_id: int, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """From the corners of the polygon that the box's faces leave; an inverted box where they leave none."""
        polygon = self.corners[prim_id].astype(self.dtype)
        whole = polygon.min(axis=0), polygon.max(axis=0)
        slack = np.abs(polygon).max(axis=0) * self.dtype(POLYGON_SLACK if self.dtype is FLOAT else 0.0)
        for axis in range(3):
            for plane, sign in (
                (lower[axis] - slack[axis], self.dtype(1.0)),
                (upper[axis] + slack[axis], self.dtype(-1.0)),
            ):
                if whole[0][axis] >= plane if sign > 0 else whole[1][axis] <= plane:
                    continue
                away, following = (polygon[:, axis] - plane) * sign, np.roll(polygon, -1, axis=0)
                to = np.roll(away, -1)
                crossed = (away < 0) != (to < 0)
                share = np.divide(away, away - to, out=np.zeros_like(away), where=crossed)
                kept = np.stack([polygon, polygon + (following - polygon) * share[:, None]], axis=1)
                kept[:, 1, axis] = plane
                polygon = kept.reshape(-1, 3)[np.stack([away >= 0, crossed], axis=1).ravel()]
                if not len(polygon):
                    return np.full(3, np.inf, self.dtype), np.full(3, -np.inf, self.dtype)
        inside = np.maximum(polygon.min(axis=0) - slack, lower), np.minimum(polygon.max(axis=0) + slack, upper)
        return inside if (inside[0] <= inside[1]).all() else (lower, upper)

    def bound(self, node: _Node) -> None:
        """Bound what was cut since it was bounded last."""
        for i in np.flatnonzero(node.was_cut):
            node.lower[i], node.upper[i] = self.part(int(node.prim_ids[i]), node.lower[i], node.upper[i])
        node.was_cut[:] = False


def build_reference(lower: np.ndarray, upper: np.ndarray, options: KdTreeOptions, clip: Clip | None = None) -> KdArrays:
    """Level by level over boxes (n, 3), in each the large nodes before the small ones; inverted boxes are left out.
    Boxes are clipped along the split's axis alone, or, with `clip`, in small nodes along all axes."""
    lower, upper = lower + FLOAT(0.0), upper + FLOAT(0.0)
    if clip is not None:
        lower, upper = lower.astype(clip.dtype), upper.astype(clip.dtype)
    active = np.flatnonzero((lower <= upper).all(axis=1))
    cell = np.stack([lower[active].min(axis=0), upper[active].max(axis=0)]) if len(active) else np.zeros((2, 3), FLOAT)
    levels = options.levels(len(lower))
    tree = _Growing([(0, 0)], [-1], [], clip)
    root = _Node(
        0,
        active,
        lower[active],
        upper[active],
        np.zeros(len(active), bool),
        cell,
        FLOAT(options.references_per_primitive),
    )
    waiting = [] if tree.is_leaf(root, levels, options) else [root]
    while waiting:
        levels -= 1
        waiting.sort(key=lambda node: clip is not None and clip.is_for(node))
        waiting = [child for node in waiting for child in tree.part(node, levels, options)]
    nodes = np.array(tree.nodes, np.int64).astype(np.uint32).view(np.int32).reshape(-1, 2)
    return KdArrays(nodes, np.array(tree.parent, np.int32), np.array(tree.references, np.int32), cell.astype(FLOAT))


@dataclasses.dataclass
class _Growing:
    nodes: list[tuple[int, int]]
    parent: list[int]
    references: list[int]
    clip: Clip | None = None

    def is_leaf(self, node: _Node, levels: int, options: KdTreeOptions) -> bool:
        """Whether it is one without being looked at; then it is written."""
        if len(node.prim_ids) > options.max_leaf_size and levels > 0:
            return False
        self.write_leaf(node)
        return True

    def write_leaf(self, node: _Node) -> None:
        self.nodes[node.node_id] = (len(self.references), len(node.prim_ids) << 2 | LEAF_AXIS)
        self.references += node.prim_ids.tolist()

    def part(self, node: _Node, levels: int, options: KdTreeOptions) -> list[_Node]:
        """The children that are still to be split."""
        if self.clip is not None and self.clip.is_for(node):
            self.clip.bound(node)
        is_there = (node.lower <= node.upper).all(axis=1)
        split = best_split(node.lower[is_there], node.upper[is_there], node.cell, options)
        area = cost_terms(node.cell)[1]
        whole = FLOAT(options.intersection_cost) * (area * FLOAT(is_there.sum()))
        if split is None or (options.stop == "sah" and not split.cost < whole):
            self.write_leaf(node)
            return []
        axis, plane, left = split.axis, split.plane, len(self.nodes)
        flat = (node.lower[:, axis] == plane) & (node.upper[:, axis] == plane)
        sides = (
            (node.lower[:, axis] < plane) | (flat & (not split.flat_right)),
            (node.upper[:, axis] > plane) | (flat & split.flat_right),
        )
        share = node.share * FLOAT(len(node.prim_ids)) / FLOAT(max(1, sides[0].sum() + sides[1].sum()))
        if share < 1:
            self.write_leaf(node)
            return []
        self.nodes[node.node_id] = (int(np.array(plane, FLOAT).view(np.uint32)), left << 2 | axis)
        self.nodes += [(0, 0), (0, 0)]
        self.parent += [node.node_id, node.node_id]
        found = []
        for side, goes in enumerate(sides):
            lower, upper, cell = node.lower[goes].copy(), node.upper[goes].copy(), node.cell.copy()
            if side == 0:
                upper[:, axis], cell[1, axis] = np.minimum(upper[:, axis], plane), plane
            else:
                lower[:, axis], cell[0, axis] = np.maximum(lower[:, axis], plane), plane
            was_cut = (node.was_cut | sides[0] & sides[1])[goes]
            child = _Node(left + side, node.prim_ids[goes], lower, upper, was_cut, cell, share)
            if not self.is_leaf(child, levels, options):
                found.append(child)
        return found


class GivenKdTree(KdTreeHierarchy):
    """Emits the reference's tree over boxes that the test knows. Nobody finds it in the registry's folders."""

    name = "given_kdtree"
    title = "A kd-tree of the test's"
    Options = KdTreeOptions

    def __init__(
        self, target: Target, given: KdArrays, traversal: str = "auto", options: KdTreeOptions | None = None
    ) -> None:
        super().__init__(target, StructureChoice(options, traversal=traversal))
        self.given = given

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        given, target = self.given, self.target
        nodes, references = len(given.nodes), len(given.references)
        status = (1 if nodes > capacity.nodes else 0) | (2 if references > capacity.references else 0)
        target.write(draft.counts, np.array([nodes, references, status, 0], np.int32))
        if status:
            return
        target.write(draft.nodes[:nodes], given.nodes)
        target.write(draft.parent[:nodes], given.parent)
        target.write(draft.references[:references], given.references)
        target.write(draft.box, np.pad(given.box, ((0, 0), (0, 1))))
