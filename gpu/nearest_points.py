"""What a scan does not say of its points, estimated from the nearest ones: normals and areas."""

from __future__ import annotations

import numpy as np

NEIGHBOURS = 12
"""Points that an estimate is made of, the own one not among them."""

CANDIDATES, AT_ONCE = 1 << 19, 1 << 16
"""Pairs of points that are looked at together, and points whose normals are made together: what is small is fast."""


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
    """A small part of the radius in which most points of an even surface have so many others, for scans are uneven:
    where it is too small larger cells are searched next, and no point looks at many more than it needs."""
    extent = float(np.max(np.ptp(positions, axis=0)))
    return max(extent / 256.0 * np.sqrt(2.0 * count / len(positions)), 1e-30)


def _search(positions: np.ndarray, asked: np.ndarray, side: float, indices: np.ndarray, squares: np.ndarray) -> None:
    """Write the nearest of what lies in the 27 cells around each of the `asked`: right up to the cell's side."""
    cells = np.floor((positions - positions.min(axis=0)) / side).astype(np.int64) + 1
    sizes = cells.max(axis=0) + 2
    keys = (cells[:, 0] * sizes[1] + cells[:, 1]) * sizes[2] + cells[:, 2]
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    around = np.array([(x * sizes[1] + y) * sizes[2] for x in (-1, 0, 1) for y in (-1, 0, 1)])
    wanted = keys[asked, None] + around[None]
    begins = np.searchsorted(sorted_keys, wanted - 1, side="left")
    counts = np.searchsorted(sorted_keys, wanted + 1, side="right") - begins
    totals = counts.sum(axis=1)
    enough = np.flatnonzero(totals > indices.shape[1])
    if not len(enough):
        return
    by_total = enough[np.argsort(totals[enough], kind="stable")]  # rows of one part have about as many candidates
    ends = np.cumsum(totals[by_total])
    cuts = np.searchsorted(ends, np.arange(CANDIDATES, int(ends[-1]), CANDIDATES))
    for part in np.split(by_total, cuts):
        if len(part):
            candidates = order[_ranges(begins[part].reshape(-1), counts[part].reshape(-1))]
            _nearest_of(positions, asked[part], candidates, totals[part], indices, squares)


def _ranges(begins: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """begin, begin + 1, ... of each range, one range after another."""
    firsts = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(begins - firsts, counts))


def _nearest_of(
    positions: np.ndarray,
    asked: np.ndarray,
    candidates: np.ndarray,
    totals: np.ndarray,
    indices: np.ndarray,
    squares: np.ndarray,
) -> None:
    """Write the nearest of each one's candidates, `totals` of them one after another; equals by their numbers."""
    count = indices.shape[1]
    row = np.repeat(np.arange(len(asked)), totals)
    column = _ranges(np.zeros(len(asked), np.int64), totals)
    shape = (len(asked), max(int(totals.max()), count + 1))
    found, square = np.zeros(shape, np.int64), np.full(shape, np.inf)
    between = positions[candidates] - positions[asked][row]
    found[row, column], square[row, column] = candidates, np.einsum("ij,ij->i", between, between)
    square[found == asked[:, None]] = np.inf
    near = np.argpartition(square, count - 1, axis=1)[:, :count]
    square, found = (np.take_along_axis(values, near, axis=1) for values in (square, found))
    ranked = np.lexsort((found, square), axis=1)
    indices[asked], squares[asked] = (np.take_along_axis(values, ranked, axis=1) for values in (found, square))


def normals_by_neighbours(positions: np.ndarray, indices: np.ndarray | None = None) -> np.ndarray:
    """(N, 3): the direction in which a point and its nearest ones, `indices` (N, k) where they are known, extend least
    (Hoppe et al. 1992), turned away from the middle of all points."""
    if indices is None:
        indices, _ = nearest_points(positions)
    normals = np.empty((len(positions), 3))
    for begin in range(0, len(positions), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        patch = np.concatenate([positions[part, None], positions[indices[part]]], axis=1)
        patch = patch - patch.mean(axis=1, keepdims=True)
        _, vectors = np.linalg.eigh(np.einsum("nki,nkj->nij", patch, patch))
        normals[part] = vectors[:, :, 0]
    outwards = np.einsum("ij,ij->i", normals, positions - positions.mean(axis=0))
    return np.asarray(np.where(outwards[:, None] < 0.0, -normals, normals))


def areas_by_neighbours(positions: np.ndarray, distances: np.ndarray | None = None) -> np.ndarray:
    """(N,): the disc through the k-th nearest point, shared by k; `distances` (N, k) where they are known."""
    if distances is None:
        _, distances = nearest_points(positions)
    return np.asarray(np.pi * distances[:, -1] ** 2 / distances.shape[1])
