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
    groups, first = groups_of_rows([positions], owners) if weld else (np.arange(count), np.arange(count))
    # Huge and tiny scenes: scale first, so that products neither overflow nor vanish.
    scales = _largest(positions, owners)
    sums = np.zeros((len(first), 3))
    for start in range(0, len(triangles), CHUNK):
        part = triangles[start : start + CHUNK]
        corners = positions[part].astype(np.float64)
        corners /= scales if owners is None else scales[owners[part[:, 0]], None, None]
        crosses = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        flat = groups[part.reshape(-1)]
        for axis in range(3):
            sums[:, axis] += np.bincount(flat, np.repeat(crosses[:, axis], 3), len(first))
    lengths = np.linalg.norm(sums, axis=1)
    is_flat = ~(lengths > 0.0)
    sums[is_flat], lengths[is_flat] = (0.0, 1.0, 0.0), 1.0
    return (sums / lengths[:, None]).astype(np.float32)[groups]


def _largest(positions: np.ndarray, owners: np.ndarray | None) -> np.ndarray:
    """The largest coordinate, of each owner's vertices or of all; 1 where all are 0."""
    if owners is None or not len(positions):
        largest = np.abs(positions).max(initial=0.0)
    else:
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        largest = np.maximum.reduceat(np.abs(positions).max(axis=1), starts)
    return np.where(largest > 0.0, largest, 1.0).astype(np.float64)


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cross products of (N, 3) rows; numpy's own takes tenfold for few."""
    x, y, z = first.T
    u, v, w = second.T
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=1)
