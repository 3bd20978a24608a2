"""Every ray against every primitive, in float64; what was found is kept."""

from __future__ import annotations

import dataclasses

import numpy as np

from .kept import kept

EDGE = 1e-4
"""How near (in u, v) to an edge, or (in t, relative) to another primitive, a hit may not be told apart in float32."""

_MOST_PAIRS = 16_384
"""Pairs of ray and triangle that are looked at at once: what stays in the cache of a processor."""


@dataclasses.dataclass(frozen=True)
class OracleHits:
    """The closest hit of each ray: t (inf for none) and prim_id (-1); `is_certain` where float32 must find the same
    primitive."""

    t: np.ndarray
    prim_id: np.ndarray
    is_certain: np.ndarray


@kept
def triangle_hits(
    vertices: np.ndarray, origins: np.ndarray, directions: np.ndarray, t_max: float = np.inf
) -> OracleHits:
    """Triangles (T, 3, 3), rays (N, 3). Solves origin + t d = a + u (b - a) + v (c - a) by Cramer's rule; lines, points
    and NaNs are never hit."""
    return _closest(*_triangle_distances(vertices, origins, directions, t_max))


@kept
def sphere_hits(centres: np.ndarray, radii: np.ndarray, origins: np.ndarray, directions: np.ndarray) -> OracleHits:
    """Spheres by the quadratic formula; the first root beyond 0."""
    return _closest(*_sphere_distances(centres, radii, origins, directions))


@kept
def mixed_hits(
    vertices: np.ndarray, centres: np.ndarray, radii: np.ndarray, origins: np.ndarray, directions: np.ndarray
) -> OracleHits:
    """Triangles (T, 3, 3) and, numbered from T on, spheres."""
    triangles = _triangle_distances(vertices, origins, directions, np.inf)
    spheres = _sphere_distances(centres, radii, origins, directions)
    return _closest(*(np.concatenate(pair, axis=1) for pair in zip(triangles, spheres, strict=True)))


def _triangle_distances(
    vertices: np.ndarray, origins: np.ndarray, directions: np.ndarray, t_max: float
) -> tuple[np.ndarray, np.ndarray]:
    """(N, T) distances, inf for none, and how far inside the edges."""
    a, b, c = (vertices[:, k].astype(np.float64) for k in range(3))
    e1, e2 = b - a, c - a
    with np.errstate(all="ignore"):
        normal = np.cross(e1, e2)
    area = np.linalg.norm(normal, axis=1)
    has_area = np.isfinite(area) & (area > 1e-7 * np.linalg.norm(e1, axis=1) * np.linalg.norm(e2, axis=1))
    t, slack = np.full((len(origins), len(a)), np.inf), np.full((len(origins), len(a)), -np.inf)
    rays = max(1, _MOST_PAIRS // max(1, len(a)))
    for first in range(0, len(origins), rays):
        part = slice(first, first + rays)
        o, d = (array[part, None].astype(np.float64) for array in (origins, directions))
        with np.errstate(all="ignore"):
            det = -_dot(normal, d)
            from_a = o - a
            turned = np.cross(from_a, d)
            u, v = _dot(e2, turned) / det, -_dot(e1, turned) / det
            at = _dot(normal, from_a) / det
            possible = has_area & (at > 0) & (at <= t_max) & (np.abs(det) > 0)
            slack[part] = np.where(possible, np.minimum(np.minimum(u, v), 1 - u - v), -np.inf)
            t[part] = np.where(possible & (slack[part] > -EDGE), at, np.inf)
    return t, slack


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of vectors along the last axis, which are broadcast against each other."""
    return one[..., 0] * other[..., 0] + one[..., 1] * other[..., 1] + one[..., 2] * other[..., 2]


def _sphere_distances(
    centres: np.ndarray, radii: np.ndarray, origins: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(N, S) distances, inf for none, and how far inside the silhouettes."""
    o, d = origins.astype(np.float64), directions.astype(np.float64)
    from_centre = o[:, None] - centres[None].astype(np.float64)
    squared = np.sum(d * d, axis=1)[:, None]
    half_b = np.einsum("rsi,ri->rs", from_centre, d)
    with np.errstate(invalid="ignore"):
        discriminant = half_b**2 - squared * (np.sum(from_centre**2, axis=2) - radii.astype(np.float64)[None] ** 2)
        root = np.sqrt(np.maximum(discriminant, 0))
        near, far = (-half_b - root) / squared, (-half_b + root) / squared
        t = np.where(near > 0, near, far)
        # How far inside the silhouette, so that 1 % of the squared radius is the edge.
        slack = discriminant / (squared * np.maximum(radii.astype(np.float64) ** 2, 1e-12)[None]) * 1e-2
        is_hit = (slack > -EDGE) & (t > 0) & (radii[None] >= 0)
    return np.where(is_hit, t, np.inf), np.where(is_hit, slack, -np.inf)


def _closest(t: np.ndarray, slack: np.ndarray) -> OracleHits:
    if t.shape[1] == 0:
        return OracleHits(np.full(len(t), np.inf), np.full(len(t), -1), np.ones(len(t), bool))
    inside = np.where(slack >= 0, t, np.inf)
    prim_id = np.argmin(inside, axis=1)
    rows = np.arange(len(t))
    best = inside[rows, prim_id]
    limit = np.where(np.isfinite(best), best * (1 + EDGE), np.inf)[:, None]
    near_edge = (np.abs(slack) < EDGE) & (t <= limit)
    rivals = (t <= limit) & np.isfinite(t) & (t != best[:, None])
    is_certain = ~near_edge.any(axis=1) & ~rivals.any(axis=1)
    return OracleHits(best, np.where(np.isfinite(best), prim_id, -1), is_certain)
