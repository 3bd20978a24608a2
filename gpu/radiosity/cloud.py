"""What a scan does not say of its points, estimated from the nearest ones: normals and areas."""

from __future__ import annotations

import numpy as np

NEIGHBOURS = 12
"""Points that an estimate is made of, the own one not among them."""


def nearest_points(positions: np.ndarray, count: int = NEIGHBOURS) -> tuple[np.ndarray, np.ndarray]:
    """Of each of the points (N, 3) the `count` nearest others: their indices (N, count) and distances (N, count),
    ascending. ValueError for fewer than count + 1 points."""
    total = len(positions)
    if total <= count:
        raise ValueError(f"{total} points have no {count} others each: give normals and areas with so few.")
    indices, squares = np.zeros((total, count), np.int64), np.full((total, count), np.inf)
    side = _cell_side(positions, count)
    open_points = np.arange(total)
    while len(open_points):
        _search(positions, open_points, side, indices, squares)
        open_points = open_points[~(squares[open_points, -1] <= side * side)]
        side *= 2.0
    return indices, np.sqrt(squares)


def _cell_side(positions: np.ndarray, count: int) -> float:
    """A radius in which most points of a surface have so many others."""
    extent = float(np.max(np.ptp(positions, axis=0)))
    return max(extent * np.sqrt(2.0 * count / len(positions)), 1e-30)


def _search(positions: np.ndarray, asked: np.ndarray, side: float, indices: np.ndarray, squares: np.ndarray) -> None:
    """Write the nearest of what lies in the 27 cells around each of the `asked`: right up to the cell's side."""
    cells = np.floor((positions - positions.min(axis=0)) / side).astype(np.int64) + 1
    sizes = cells.max(axis=0) + 2
    keys = (cells[:, 0] * sizes[1] + cells[:, 1]) * sizes[2] + cells[:, 2]
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    around = np.array([(x * sizes[1] + y) * sizes[2] for x in (-1, 0, 1) for y in (-1, 0, 1)])
    for part in np.array_split(asked, max(1, len(asked) // 2048)):
        wanted = keys[part, None] + around[None]
        begin = np.searchsorted(sorted_keys, wanted - 1, side="left").reshape(-1)
        counts = np.searchsorted(sorted_keys, wanted + 1, side="right").reshape(-1) - begin
        owner = np.repeat(np.repeat(np.arange(len(part)), 9), counts)
        found = order[np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(begin, counts)]
        between = positions[found] - positions[part[owner]]
        square = np.einsum("ij,ij->i", between, between)
        square[found == part[owner]] = np.inf
        ranked = np.lexsort((found, square, owner))
        starts = np.searchsorted(owner[ranked], np.arange(len(part)))
        place = np.arange(len(ranked)) - starts[owner[ranked]]
        first = ranked[place < indices.shape[1]]
        at = place[place < indices.shape[1]]
        indices[part[owner[first]], at], squares[part[owner[first]], at] = found[first], square[first]


def normals_by_neighbours(positions: np.ndarray) -> np.ndarray:
    """(N, 3): the direction in which a point and its nearest ones extend least (Hoppe et al. 1992), turned away from
    the middle of all points."""
    indices, _ = nearest_points(positions)
    patch = np.concatenate([positions[:, None], positions[indices]], axis=1)
    patch = patch - patch.mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(np.einsum("nki,nkj->nij", patch, patch))
    normals = vectors[:, :, 0]
    outwards = np.einsum("ij,ij->i", normals, positions - positions.mean(axis=0))
    return np.asarray(np.where(outwards[:, None] < 0.0, -normals, normals))


def areas_by_neighbours(positions: np.ndarray) -> np.ndarray:
    """(N,): the disc through the k-th nearest point, shared by k."""
    _, distances = nearest_points(positions)
    return np.asarray(np.pi * distances[:, -1] ** 2 / distances.shape[1])
