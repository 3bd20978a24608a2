"""Tessellated shapes with shared vertices and exact normals, in numpy: what the built-in scenes are made of.

Every function returns a `Surface` in float32 and int32, counter-clockwise seen from outside, and allocates little more
than its result, because the largest scenes have 16 million triangles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

Vector = Sequence[float] | np.ndarray

CHUNK = 1 << 20
"""Vertices worked on at a time where a formula needs temporaries."""


class Surface(NamedTuple):
    """positions and normals (V, 3) float32, triangles (T, 3) int32, uvs (V, 2) float32 or None."""

    positions: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    uvs: np.ndarray | None = None

    def placed(self, scale: Vector = (1, 1, 1), translation: Vector = (0, 0, 0)) -> Surface:
        """Scaled by positive factors along the axes, then moved."""
        factors = np.asarray(scale, np.float32)
        normals = self.normals / factors
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return self._replace(
            positions=self.positions * factors + np.asarray(translation, np.float32), normals=normals.astype(np.float32)
        )


def merge(surfaces: Sequence[Surface]) -> Surface:
    """One surface of all; vertices of different parts stay apart. Parts without uvs get zeros if any part has them."""
    starts = np.cumsum([0] + [len(s.positions) for s in surfaces])
    triangles = np.concatenate([s.triangles + np.int32(start) for s, start in zip(surfaces, starts, strict=False)])
    uvs = None
    if any(s.uvs is not None for s in surfaces):
        uvs = np.concatenate(
            [s.uvs if s.uvs is not None else np.zeros((len(s.positions), 2), np.float32) for s in surfaces]
        )
    return Surface(
        np.concatenate([s.positions for s in surfaces]), np.concatenate([s.normals for s in surfaces]), triangles, uvs
    )


def grid_triangles(columns: int, rows: int, wrap_columns: bool = False, wrap_rows: bool = False) -> np.ndarray:
    """(2 columns rows, 3) int32: triangles of a lattice of vertices, row by row; a wrapped side joins its end to its
    start."""
    width = columns if wrap_columns else columns + 1
    height = rows if wrap_rows else rows + 1
    x0, y0 = np.arange(columns, dtype=np.int32), np.arange(rows, dtype=np.int32)[:, None]
    x1, y1 = (x0 + 1) % np.int32(width), (y0 + 1) % np.int32(height)
    w = np.int32(width)
    triangles = np.empty((rows, columns, 2, 3), np.int32)
    triangles[..., 0, 0] = triangles[..., 1, 0] = y0 * w + x0
    triangles[..., 0, 1] = y0 * w + x1
    triangles[..., 0, 2] = triangles[..., 1, 1] = y1 * w + x1
    triangles[..., 1, 2] = y1 * w + x0
    return triangles.reshape(-1, 3)


def sheet(
    corner: Vector, across: Vector, along: Vector, columns: int, rows: int, repeat: tuple[float, float] = (1, 1)
) -> Surface:
    """A flat grid: `corner` + s `across` + t `along`; its normal is across x along. Coordinates at the far sides are
    exact sums."""
    s = np.linspace(0.0, 1.0, columns + 1)[None, :, None]
    t = np.linspace(0.0, 1.0, rows + 1)[:, None, None]
    positions = np.asarray(corner, np.float64) + s * np.asarray(across, np.float64) + t * np.asarray(along, np.float64)
    normal = np.cross(across, along)
    normal = normal / np.linalg.norm(normal)
    uvs = np.stack(np.broadcast_arrays(s[..., 0] * repeat[0], (1.0 - t[..., 0]) * repeat[1]), axis=-1)
    count = (columns + 1) * (rows + 1)
    normals = np.broadcast_to(normal.astype(np.float32), (count, 3)).copy()
    return Surface(
        positions.reshape(-1, 3).astype(np.float32),
        normals,
        grid_triangles(columns, rows),
        uvs.reshape(-1, 2).astype(np.float32),
    )


def box_sheets(lower: Vector, upper: Vector, n: int, inwards: bool = False, repeat: float = 1.0) -> list[Surface]:
    """The six sides of a box as flat n x n sheets (x low, x high, y low, ...), normals outwards or inwards. Each side
    has its own vertices."""
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    sides = []
    for axis in range(3):
        u, v = np.zeros(3), np.zeros(3)
        u[(axis + 1) % 3] = (high - low)[(axis + 1) % 3]
        v[(axis + 2) % 3] = (high - low)[(axis + 2) % 3]
        for is_high in (False, True):
            corner = low.copy()
            corner[axis] = (high if is_high else low)[axis]
            across, along = (u, v) if is_high != inwards else (v, u)
            sides.append(sheet(corner, across, along, n, n, (repeat, repeat)))
    return sides


def tube(
    curve: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]], radius: float, along: int, around: int
) -> Surface:
    """A closed tube about a closed curve: `curve(s)` gives points and two unit vectors across it, (N, 3) each, for s in
    [0, 2 pi). Vertices are shared all round, so texture coordinates would tear: there are none."""
    s = np.arange(along) * (2.0 * math.pi / along)
    phi = np.arange(around) * (2.0 * math.pi / around)
    centre, n, b = curve(s)
    normals = np.cos(phi)[None, :, None] * n[:, None, :] + np.sin(phi)[None, :, None] * b[:, None, :]
    positions = centre[:, None, :] + radius * normals
    triangles = grid_triangles(around, along, wrap_columns=True, wrap_rows=True)
    return Surface(positions.reshape(-1, 3).astype(np.float32), normals.reshape(-1, 3).astype(np.float32), triangles)


def torus_knot(p: int, q: int, major: float, minor: float, radius: float, along: int, around: int) -> Surface:
    """A tube about the (p, q) torus knot, its axis +Y."""

    def curve(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cp, sp, cq, sq = np.cos(p * s), np.sin(p * s), np.cos(q * s), np.sin(q * s)
        ring = major + minor * cq
        point = np.stack([ring * cp, minor * sq, ring * sp], axis=1)
        tangent = np.stack(
            [-minor * q * sq * cp - p * ring * sp, minor * q * cq, -minor * q * sq * sp + p * ring * cp], axis=1
        )
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        outwards = np.stack([cq * cp, sq, cq * sp], axis=1)
        outwards -= tangent * np.sum(outwards * tangent, axis=1, keepdims=True)
        outwards /= np.linalg.norm(outwards, axis=1, keepdims=True)
        return point, outwards, np.cross(tangent, outwards)

    return tube(curve, radius, along, around)


def torus(major: float, minor: float, along: int, around: int) -> Surface:
    """A ring about +Y."""

    def curve(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        out = np.stack([np.cos(s), np.zeros_like(s), np.sin(s)], axis=1)
        return major * out, out, np.broadcast_to(np.array([0.0, 1.0, 0.0]), out.shape)

    return tube(curve, minor, along, around)


def lathe(profile: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], columns: int, rows: int) -> Surface:
    """A surface of revolution about +Y, open at its ends: `profile(t)` gives radius and height for t in [0, 1],
    upwards."""
    t = np.linspace(0.0, 1.0, rows + 1)
    radius, height = profile(t)
    slope_r, slope_h = np.gradient(radius, t), np.gradient(height, t)
    phi = np.arange(columns) * (2.0 * math.pi / columns)
    c, s = np.cos(phi)[None, :], -np.sin(phi)[None, :]
    flat = np.ones_like(c)
    positions = np.stack([radius[:, None] * c, height[:, None] * flat, radius[:, None] * s], axis=-1)
    normals = np.stack([slope_h[:, None] * c, -slope_r[:, None] * flat, slope_h[:, None] * s], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    triangles = grid_triangles(columns, rows, wrap_columns=True)
    return Surface(positions.reshape(-1, 3).astype(np.float32), normals.reshape(-1, 3).astype(np.float32), triangles)


def rounded_box(n: int, roundness: float = 4.0) -> Surface:
    """A closed superellipsoid |x|^p + |y|^p + |z|^p = 1 from a cube of n x n squares a side, vertices shared: 12 n^2
    triangles. p = 2 is a sphere; the larger p, the more it is a cube."""
    sides = box_sheets((-1, -1, -1), (1, 1, 1), n)
    cube = merge([side._replace(uvs=None) for side in sides])
    lattice = np.rint((cube.positions.astype(np.float64) + 1.0) * (n / 2.0)).astype(np.int64)
    keys = (lattice[:, 0] * (n + 1) + lattice[:, 1]) * (n + 1) + lattice[:, 2]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    points = np.tan(cube.positions[first].astype(np.float64) * (math.pi / 4.0))
    points /= np.sum(np.abs(points) ** roundness, axis=1, keepdims=True) ** (1.0 / roundness)
    normals = np.sign(points) * np.abs(points) ** (roundness - 1.0)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Surface(
        points.astype(np.float32), normals.astype(np.float32), inverse.reshape(-1).astype(np.int32)[cube.triangles]
    )
