"""Quality of a tree by its definitions, in float64 and by brute force: end-point overlap, leaf-count variability (Aila,
Karras and Laine 2013)."""

from __future__ import annotations

import itertools

import numpy as np

from raygrove.gpu.hierarchy.base import NodeTable


def clipped_area(corners: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """The area of a triangle (3, 3) inside a box."""
    polygon = [np.asarray(corner, np.float64) for corner in corners]
    for axis, (plane, sign) in itertools.product(range(3), ((0, 1.0), (1, -1.0))):
        bound = float((lower, upper)[plane][axis])
        distances = [sign * (corner[axis] - bound) for corner in polygon]
        kept = []
        for (a, da), (b, db) in zip(
            zip(polygon, distances, strict=True),
            zip(polygon[1:] + polygon[:1], distances[1:] + distances[:1], strict=True),
            strict=True,
        ):
            if da >= 0:
                kept.append(a)
            if da * db < 0:
                kept.append(a + (b - a) * (da / (da - db)))
        polygon = kept
        if len(polygon) < 3:
            return 0.0
    spokes = [corner - polygon[0] for corner in polygon[1:]]
    return float(np.linalg.norm(sum(np.cross(a, b) for a, b in itertools.pairwise(spokes)))) / 2


def members(table: NodeTable) -> list[frozenset[int]]:
    """The prim_ids in every row's subtree."""
    found: list[set[int]] = [set() for _ in range(len(table))]
    for row in range(len(table) - 1, -1, -1):
        first, count = table.first_reference[row], table.reference_count[row]
        found[row] |= set(table.references[first : first + count].tolist())
        if table.parent[row] >= 0:
            found[table.parent[row]] |= found[row]
    return [frozenset(prim_ids) for prim_ids in found]


def reaches(corners: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Whether a triangle's box and plane both meet a box: the box's eight corners do not lie on one side of the
    plane."""
    if (corners.max(axis=0) < lower).any() or (corners.min(axis=0) > upper).any():
        return False
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    sides = [
        normal @ (np.array(corner) - corners[0])
        for corner in itertools.product(*zip(lower.astype(np.float64), upper, strict=True))
    ]
    return min(sides) <= 0 <= max(sides)


def members_reached(table: NodeTable, corners: np.ndarray) -> list[frozenset[int]]:
    """Of a tree by space, the prim_ids in every row's subtree, counting only leaves that the triangle reaches."""
    found: list[set[int]] = [set() for _ in range(len(table))]
    for row in range(len(table) - 1, -1, -1):
        first, count = table.first_reference[row], table.reference_count[row]
        listed = set(table.references[first : first + count].tolist())
        found[row] |= {prim_id for prim_id in listed if reaches(corners[prim_id], table.lower[row], table.upper[row])}
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
    summed = 0.0
    for row in range(len(table)):
        cost = table.reference_count[row] * intersection_cost if table.is_leaf[row] else traversal_cost
        near = np.flatnonzero((low <= table.upper[row]).all(axis=1) & (high >= table.lower[row]).all(axis=1))
        if by_space:
            ends = (low == table.lower[row]) | (low == table.upper[row])
            near = near[~((low == high) & ends).any(axis=1)[near]]
        summed += cost * sum(
            clipped_area(corners[t], table.lower[row], table.upper[row]) for t in near if int(t) not in inside[row]
        )
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
