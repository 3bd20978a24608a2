"""Smooth vertex normals for meshes that bring none."""

from __future__ import annotations

import numpy as np

from .joining import groups_of_rows

CHUNK = 2_000_000


def smooth_normals(positions: np.ndarray, triangles: np.ndarray, weld: bool = True) -> np.ndarray:
    """(V, 3) float32 unit normals: the sum of the adjoining triangles' cross products, so larger ones weigh more.

    `positions` (V, 3), `triangles` (T, 3) in range. With `weld`, vertices at the same place share a normal (no seams
    where only texture coordinates differ). A vertex without a triangle of any area gets +Y.
    """
    groups, first = groups_of_rows([positions]) if weld else (np.arange(len(positions)), np.arange(len(positions)))
    # Huge and tiny scenes: scale first, so that products neither overflow nor vanish.
    largest = float(np.abs(positions).max(initial=0.0)) or 1.0
    sums = np.zeros((len(first), 3))
    for start in range(0, len(triangles), CHUNK):
        part = triangles[start : start + CHUNK]
        corners = positions[part].astype(np.float64) / largest
        crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        flat = groups[part.reshape(-1)]
        for axis in range(3):
            sums[:, axis] += np.bincount(flat, np.repeat(crosses[:, axis], 3), len(first))
    lengths = np.linalg.norm(sums, axis=1)
    is_flat = ~(lengths > 0.0)
    sums[is_flat], lengths[is_flat] = (0.0, 1.0, 0.0), 1.0
    return (sums / lengths[:, None]).astype(np.float32)[groups]
