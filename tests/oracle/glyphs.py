"""Glyphs in float64: their boxes in closed form from points of their surfaces, and rays by marching, which knows no
formula of any shape but whether a point is inside."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.glyph_shapes import ARROW_HEAD, SPLAT_NEAR


def rotation(turn: np.ndarray) -> np.ndarray:
    """(N, 3, 3) from unit quaternions (N, 4): columns are the glyph's axes."""
    x, y, z, w = (np.asarray(turn, np.float64) / np.linalg.norm(turn.astype(np.float64), axis=-1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def turns_of(normals: np.ndarray) -> np.ndarray:
    """(N, 4) float32 quaternions of some turns that take z to unit vectors (N, 3)."""
    x, y, z = np.asarray(normals, np.float64).T
    turns = np.stack([-y, x, np.zeros_like(x), 1.0 + z], axis=1)
    turns[z < -1.0 + 1e-12] = (1.0, 0.0, 0.0, 0.0)
    return (turns / np.linalg.norm(turns, axis=1, keepdims=True)).astype(np.float32)


def head_of(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where arrows' heads begin, and their radii."""
    radius = np.maximum(sizes[..., 0], sizes[..., 1])
    return sizes[..., 2] - np.minimum(ARROW_HEAD * radius, 2 * sizes[..., 2]), radius


def outside(shape: str, sizes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Above 0 outside of a glyph in its own frame, below inside, continuous: sizes and points (..., 3). What is flat
    has no inside, and a splat is its centre: 0 there."""
    x, y, z = np.moveaxis(points, -1, 0)
    a, b, c = np.moveaxis(sizes, -1, 0)
    if shape == "ellipsoid":
        return np.sqrt((x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2) - 1
    if shape == "box":
        return np.max([np.abs(x) / a, np.abs(y) / b, np.abs(z) / c], axis=0) - 1
    if shape == "cylinder":
        return np.maximum(np.sqrt((x / a) ** 2 + (y / b) ** 2), np.abs(z) / c) - 1
    r = np.hypot(x, y)
    if shape == "disc":
        return np.maximum(np.hypot(x / a, y / b) - 1, np.abs(z) / a)
    if shape == "splat":
        return np.sqrt(r * r + z * z) / a
    if shape == "capsule":
        return np.hypot(r, np.maximum(np.abs(z) - c, 0)) / a - 1
    base, head = head_of(sizes)
    shaft = np.maximum(r / a - 1, np.maximum(-c - z, z - base) / c)
    cone = np.maximum(r / head - (c - z) / (c - base), (base - z) / c)
    return np.minimum(shaft, cone)


def marched(
    shape: str, sizes: np.ndarray, origins: np.ndarray, directions: np.ndarray, end: np.ndarray, steps: int = 4000
) -> tuple[np.ndarray, np.ndarray]:
    """(N,) where rays in the glyphs' frames first cross a surface before `end`, inf for none, and the least of
    `outside` in absolute value beside that, which says how near a miss or a hit is to be the other."""
    shares = np.linspace(0.0, 1.0, steps + 1)
    t, margin = np.full(len(origins), np.inf), np.full(len(origins), np.inf)
    low, high, starts_in = np.zeros(len(origins)), np.zeros(len(origins)), np.zeros(len(origins), bool)
    for i in range(len(origins)):
        places = origins[i] + (shares * end[i])[:, None] * directions[i]
        values = outside(shape, sizes[i], places)
        is_in = values <= 0
        crossings = np.flatnonzero(is_in[1:] != is_in[:-1])
        margin[i] = np.max(-values) if is_in.any() else np.min(values)
        if len(crossings):
            low[i], high[i] = shares[crossings[0]] * end[i], shares[crossings[0] + 1] * end[i]
            starts_in[i], t[i] = is_in[crossings[0]], 0.0
    met = np.flatnonzero(np.isfinite(t))
    low, high = low[met], high[met]
    for _ in range(60):
        middle = 0.5 * (low + high)
        values = outside(shape, sizes[met], origins[met] + middle[:, None] * directions[met])
        is_before = (values <= 0) == starts_in[met]
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    t[met] = high
    return t, margin


def flat_hits(
    shape: str, centres: np.ndarray, axes: np.ndarray, sizes: np.ndarray, origins: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where rays (R, 3), of directions of any length, first meet any of the discs or splats (N, 3), inf for none, and
    how near the ray is to missing or meeting another of them, as a share of the radius. All against all, float64."""
    origins, directions = origins.astype(np.float64)[:, None], directions.astype(np.float64)[:, None]
    away = centres.astype(np.float64) - origins
    if shape == "disc":
        normals = axes[:, :, 2]
        with np.errstate(divide="ignore", invalid="ignore"):  # rays along a disc meet it nowhere
            t = np.sum(away * normals, axis=2) / np.sum(directions * normals, axis=2)
            found = np.einsum("rnk,nkj->rnj", t[..., None] * directions - away, axes)
        margin = 1.0 - np.hypot(found[..., 0] / sizes[:, 0], found[..., 1] / sizes[:, 1])
        met = margin >= 0.0
    else:
        t = np.sum(away * directions, axis=2) / np.sum(directions * directions, axis=2)
        margin = 1.0 - np.linalg.norm(t[..., None] * directions - away, axis=2) / sizes[:, 0]
        height = np.abs(np.sum(away * axes[:, :, 2], axis=2)) / sizes[:, 0] - 1.0
        reach = np.linalg.norm(away, axis=2) / sizes[:, 0] / SPLAT_NEAR - 1.0
        met = (margin >= 0.0) & ((height > 0.0) | (reach > 0.0))
        margin = np.min(np.abs([margin, height, reach]), axis=0)
    t = np.where(met & (t > 0.0), t, np.inf)
    return t.min(axis=1), np.abs(margin).min(axis=1)


def extents(shape: str, sizes: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far glyphs reach below and above their centres along the scene's axes, (N, 3) each, float64: of axes
    (N, 3, 3) as `rotation` gives them. Support functions, not gpu/device/glyph.cuh's sums."""
    found = []
    for sign in (-1.0, 1.0):
        d = sign * np.swapaxes(axes, 1, 2)  # d[n, :, k]: the direction k in the glyph's frame
        s = sizes[:, :, None].astype(np.float64)
        if shape == "ellipsoid":
            far = np.linalg.norm(s * d, axis=1)
        elif shape == "box":
            corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            far = np.max([np.sum(s * d * corner[:, None], axis=1) for corner in corners], axis=0)
        elif shape == "cylinder":
            far = np.hypot(s[:, 0] * d[:, 0], s[:, 1] * d[:, 1]) + s[:, 2] * np.abs(d[:, 2])
        elif shape == "disc":
            far = np.hypot(s[:, 0] * d[:, 0], s[:, 1] * d[:, 1])
        elif shape == "splat":
            far = np.broadcast_to(s[:, 0], d[:, 0].shape)
        elif shape == "capsule":
            far = s[:, 0] + s[:, 2] * np.abs(d[:, 2])
        else:
            base, head = (one[:, None] for one in head_of(sizes.astype(np.float64)))
            slope = np.sqrt(np.maximum(1 - d[:, 2] ** 2, 0))
            tail, wide = s[:, 0] * slope - s[:, 2] * d[:, 2], head * slope + base * d[:, 2]
            far = np.max([tail, wide, s[:, 2] * d[:, 2]], axis=0)
        found.append(far)
    return found[0], found[1]
