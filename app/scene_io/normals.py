"""Smooth vertex normals for meshes that bring none."""

from __future__ import annotations

import numpy as np

from .joining import groups_of_rows

CHUNK = 2_000_000


def smooth_normals(
    positions: np.ndarray, triangles: np.ndarray, weld: bool = True, owners: np.ndarray | None = None
) -> np.ndarray:
    """(V, 3) float32 unit normals: the sum of the adjoining triangles' cross products, so larger ones weigh more.

    `positions` (V, 3), `triangles` (T, 3) in range. With `weld`, vertices at the same place share a normal (no seams
    where only texture coordinates differ). Of several meshes one after another `owners` (V,) ascending from 0 says to
    which each vertex belongs: nothing is shared between them. A vertex without a triangle of any area gets +Y.
    """
    count = len(positions)
    groups, first = groups_of_rows([positions], owners) if weld else (None, np.arange(count))
    # Huge and tiny scenes: scale first, so that products neither overflow nor vanish.
    scales = _largest(positions, owners)
    columns = columns_of(positions)
    columns /= scales if owners is None else scales[owners]
    sums = np.zeros((3, len(first)))
    for start in range(0, len(triangles), CHUNK):
        part = np.ascontiguousarray(triangles[start : start + CHUNK].T, np.intp)
        of_corners = (part if groups is None else groups[part]).reshape(-1)
        for total, of_axis in zip(sums, crosses_of(columns, part), strict=True):
            total += np.bincount(of_corners, np.tile(of_axis, 3), len(first))
    lengths = np.sqrt(sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2])
    is_flat = ~(lengths > 0.0)
    sums[:, is_flat], lengths[is_flat] = [[0.0], [1.0], [0.0]], 1.0
    normals = np.ascontiguousarray((sums / lengths).T, np.float32)
    return normals if groups is None else normals.take(groups, axis=0)


def columns_of(positions: np.ndarray) -> np.ndarray:
    """(3, V) float64 of (V, 3): numpy works on long columns several times as fast as on many short rows."""
    return np.array(positions.T, np.float64, order="C")


def crosses_of(columns: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(3, T) cross products of the edges from each triangle's first corner, of `columns_of` and (3, T) corners."""
    origin, second, third = (columns.take(some, axis=1) for some in corners)  # a fourth of what indexing takes
    x, y, z = second - origin
    u, v, w = third - origin
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u])


def _largest(positions: np.ndarray, owners: np.ndarray | None) -> np.ndarray:
    """The largest coordinate, of each owner's vertices or of all; 1 where all are 0."""
    if owners is None or not len(positions):
        largest = np.abs(positions).max(initial=0.0)
    else:
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        largest = np.maximum.reduceat(np.abs(positions).max(axis=1), starts)
    return np.where(largest > 0.0, largest, 1.0).astype(np.float64)
