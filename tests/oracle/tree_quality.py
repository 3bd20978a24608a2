"""Quality of a tree by its definitions, in float64 and by brute force: end-point overlap, leaf-count variability (Aila,
Karras and Laine 2013)."""

from __future__ import annotations

import itertools

import numpy as np

from raygrove.gpu.hierarchy.base import NodeTable


def clipped_areas(corners: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The areas (N,) of triangles (N, 3, 3), each inside its box (N, 3): cut along one plane of the box after another.

    Polygons are rows of as many corners as the longest has; a shorter one repeats its last corner, which adds nothing
    to an area."""
    polygons, count = np.asarray(corners, np.float64), np.full(len(corners), 3)
    for axis, (bounds, sign) in itertools.product(range(3), ((lower, 1.0), (upper, -1.0))):
        side = sign * (polygons[:, :, axis] - bounds[:, axis, None].astype(np.float64))
        place = np.arange(polygons.shape[1])
        following = np.where(place[None] + 1 < count[:, None], place[None] + 1, 0)
        other = np.take_along_axis(polygons, following[:, :, None], axis=1)
        other_side = np.take_along_axis(side, following, axis=1)
        is_corner = place[None] < count[:, None]
        is_cut = is_corner & (side * other_side < 0)
        share = np.divide(side, side - other_side, out=np.zeros_like(side), where=is_cut)
        emitted = np.stack([polygons, polygons + (other - polygons) * share[:, :, None]], axis=2)
        is_emitted = np.stack([is_corner & (side >= 0), is_cut], axis=2).reshape(len(corners), -1)
        count = is_emitted.sum(axis=1)
        order = np.argsort(~is_emitted, axis=1, kind="stable")[:, : max(3, int(count.max(initial=0)))]
        last = np.maximum(count, 1)[:, None] - 1
        order = np.take_along_axis(order, np.minimum(np.arange(order.shape[1])[None], last), axis=1)
        polygons = np.take_along_axis(emitted.reshape(len(corners), -1, 3), order[:, :, None], axis=1)
    spokes = polygons[:, 1:] - polygons[:, :1]
    doubled = np.linalg.norm(np.cross(spokes[:, :-1], spokes[:, 1:]).sum(axis=1), axis=1)
    return np.where(count >= 3, doubled / 2, 0.0)


def clipped_area(corners: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """The area of a triangle (3, 3) inside a box."""
    return float(clipped_areas(corners[None], lower[None], upper[None])[0])


def members(table: NodeTable) -> list[frozenset[int]]:
    """The prim_ids in every row's subtree."""
    found: list[set[int]] = [set() for _ in range(len(table))]
    for row in range(len(table) - 1, -1, -1):
        first, count = table.first_reference[row], table.reference_count[row]
        found[row] |= set(table.references[first : first + count].tolist())
        if table.parent[row] >= 0:
            found[table.parent[row]] |= found[row]
    return [frozenset(prim_ids) for prim_ids in found]


def reaches(corners: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Whether the box and the plane of each triangle (N, 3, 3) both meet a box: the box's eight corners do not lie on
    one side of the plane."""
    is_near = ((corners.max(axis=1) >= lower) & (corners.min(axis=1) <= upper)).all(axis=1)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    ends = np.array(list(itertools.product(*zip(lower.astype(np.float64), upper, strict=True))))
    sides = np.einsum("ni,nki->nk", normals, ends[None] - corners[:, :1])
    return is_near & (sides.min(axis=1) <= 0) & (sides.max(axis=1) >= 0)


def members_reached(table: NodeTable, corners: np.ndarray) -> list[frozenset[int]]:
    """Of a tree by space, the prim_ids in every row's subtree, counting only leaves that the triangle reaches."""
    found: list[set[int]] = [set() for _ in range(len(table))]
    for row in range(len(table) - 1, -1, -1):
        first, count = table.first_reference[row], table.reference_count[row]
        listed = np.unique(table.references[first : first + count])
        if len(listed):
            found[row].update(listed[reaches(corners[listed], table.lower[row], table.upper[row])].tolist())
        if table.parent[row] >= 0:
            found[table.parent[row]] |= found[row]
    return [frozenset(prim_ids) for prim_ids in found]


def end_point_overlap(
    table: NodeTable,
    corners: np.ndarray,
    traversal_cost: float = 1.0,
    intersection_cost: float = 1.0,
    *,
    by_space: bool = False,
) -> float:
    """Of a tree over the triangles (T, 3, 3): for every node the area of all others inside its box, times its cost,
    over the area of all. In a tree
    `by_space` nothing that lies in a plane of the box is inside."""
    corners = corners.astype(np.float64)
    total = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
    low, high, inside = (
        corners.min(axis=1),
        corners.max(axis=1),
        members_reached(table, corners) if by_space else members(table),
    )
    costs = np.where(table.is_leaf, table.reference_count * intersection_cost, traversal_cost)
    others: list[np.ndarray] = []
    for row in range(len(table)):
        near = np.flatnonzero((low <= table.upper[row]).all(axis=1) & (high >= table.lower[row]).all(axis=1))
        if by_space:
            ends = (low[near] == table.lower[row]) | (low[near] == table.upper[row])
            near = near[~((low[near] == high[near]) & ends).any(axis=1)]
        others.append(np.setdiff1d(near, np.fromiter(inside[row], int, len(inside[row])), assume_unique=True))
    rows, summed = np.repeat(np.arange(len(table)), [len(part) for part in others]), 0.0
    pairs = np.concatenate([*others, np.zeros(0, int)])
    for first in range(0, len(pairs), 20_000):  # as many at a time as the cache holds
        part = slice(first, first + 20_000)
        areas = clipped_areas(corners[pairs[part]], table.lower[rows[part]], table.upper[rows[part]])
        summed += float(areas @ costs[rows[part]])
    return summed / total


def lines_through(lower: np.ndarray, upper: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and unit directions of `count` lines: an even sequence in four dimensions, directions on the sphere,
    places in a disc across them."""
    phi = 1.1673039782614187
    even = np.modf(0.5 + np.arange(1, count + 1)[:, None] * (1 / phi) ** np.arange(1, 5))[0]
    z, turn = 1 - 2 * even[:, 0], 2 * np.pi * even[:, 1]
    along = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)
    sign = np.where(z < 0, -1.0, 1.0)
    a = -1 / (sign + z)
    b = along[:, 0] * along[:, 1] * a
    right = np.stack([1 + sign * along[:, 0] ** 2 * a, sign * b, -sign * along[:, 0]], axis=1)
    up = np.stack([b, sign + along[:, 1] ** 2 * a, -along[:, 1]], axis=1)
    radius = np.linalg.norm(upper - lower) / 2 * np.sqrt(even[:, 2])
    angle = 2 * np.pi * even[:, 3]
    points = (lower + upper) / 2 + radius[:, None] * (np.cos(angle)[:, None] * right + np.sin(angle)[:, None] * up)
    return points, along


def leaf_variability(table: NodeTable, count: int) -> float:
    """The standard deviation of the number of leaves' boxes on lines through the root's: every leaf with references
    against every line, whatever the tree."""
    lower, upper = table.lower.astype(np.float64), table.upper.astype(np.float64)
    points, along = lines_through(lower[0], upper[0], count)

    def met(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        a, b = (low - points) / along, (high - points) / along
        return np.minimum(a, b).max(axis=1) <= np.maximum(a, b).min(axis=1)

    listed = np.flatnonzero(table.is_leaf & (table.reference_count > 0))
    leaves = sum(met(lower[row], upper[row]).astype(int) for row in listed if (lower[row] <= upper[row]).all())
    return float(np.std(np.asarray(leaves)[met(lower[0], upper[0])]))
