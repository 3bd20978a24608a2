"""Every two primitives, in float64: how far apart they are, or, below zero, how far they reach into one another."""

from __future__ import annotations

import itertools

import numpy as np

from raygrove.testing.kept import kept

from .regions import sphere_distances, triangle_distances


@kept
def triangle_pair_gaps(corners: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(N, M): the widest gap between triangles (N, 3, 3) and (M, 3, 3) along any axis that may part them: positive
    where they have no point in common. Triangles have area."""
    s, t = np.broadcast_arrays(corners[:, None].astype(float), others[None].astype(float))
    e, f = (np.roll(shape, -1, axis=2) - shape for shape in (s, t))
    n, m = np.cross(e[:, :, 0], e[:, :, 1]), np.cross(f[:, :, 0], f[:, :, 1])
    axes = [n, m, *(np.cross(e[:, :, i], f[:, :, j]) for i, j in itertools.product(range(3), repeat=2))]
    axes += [np.cross(normal, edges[:, :, i]) for normal, edges in ((n, e), (m, f)) for i in range(3)]
    widest = np.full(n.shape[:2], -np.inf)
    for axis in axes:
        size = np.linalg.norm(axis, axis=2)
        of_s, of_t = (np.einsum("nmij,nmj->nmi", shape, axis) for shape in (s, t))
        with np.errstate(all="ignore"):
            gap = np.maximum(of_t.min(axis=2) - of_s.max(axis=2), of_s.min(axis=2) - of_t.max(axis=2)) / size
        widest = np.where(size > 1e-9, np.maximum(widest, gap), widest)
    active = np.isfinite(corners).all(axis=(1, 2))[:, None] & np.isfinite(others).all(axis=(1, 2))
    return np.where(active, widest, np.inf)


def pair_gaps(
    some: tuple[np.ndarray, np.ndarray, np.ndarray], others: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> np.ndarray:
    """(N, M): the same of triangles (N, 3, 3) and, behind them, spheres (centres and radii); infinite of inactive
    ones."""
    (corners, centres, radii), (other_corners, other_centres, other_radii) = some, others
    between_balls = sphere_distances(other_centres, np.zeros(len(other_radii)), centres) - radii[:, None] - other_radii
    rows = [
        [triangle_pair_gaps(corners, other_corners), triangle_distances(corners, other_centres).T - other_radii],
        [triangle_distances(other_corners, centres) - radii[:, None], between_balls],
    ]
    gaps = np.concatenate([np.concatenate(row, axis=1) for row in rows], axis=0)
    is_there = [np.concatenate([np.ones(len(shapes), bool), sizes >= 0]) for shapes, _, sizes in (some, others)]
    return np.where(is_there[0][:, None] & is_there[1], gaps, np.inf)
