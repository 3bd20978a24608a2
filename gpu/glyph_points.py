"""Where on glyphs hits lie, from u and v, as gpu/device/glyph_surface.cuh has it: what is asked for on the host."""

from __future__ import annotations

import numpy as np

from .glyph_shapes import ARROW_HEAD, GLYPH_SHAPES
from .octahedral import octahedral_direction


def glyph_points(rows: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of the scene and outward normals of unit length, (N, 3) float64 each, of glyphs `rows` (N, 12) as
    gpu/device/glyph.cuh has them."""
    rows, u, v = (np.asarray(values, np.float64) for values in (rows, u, v))
    sizes, shapes = rows[:, 8:11], np.round(-2.0 - rows[:, 11]).astype(int)
    points, normals = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
    for index, shape in enumerate(GLYPH_SHAPES):
        of = shapes == index
        if of.any():
            points[of], normals[of] = _in_frame(shape, sizes[of], u[of], v[of])
    axes = _axes(rows[:, 4:8])
    turned = [np.einsum("nij,nj->ni", axes, local) for local in (points, normals)]
    return rows[:, :3] + turned[0], turned[1] / np.linalg.norm(turned[1], axis=1, keepdims=True)


def _axes(turns: np.ndarray) -> np.ndarray:
    x, y, z, w = (turns / np.linalg.norm(turns, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def _in_frame(shape: str, s: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if shape in ("ellipsoid", "box"):
        unit = octahedral_direction(u, v)
        if shape == "ellipsoid":
            return unit * s, unit / s
        unit /= np.abs(unit).max(axis=1, keepdims=True)
        face = np.abs(unit).argmax(axis=1)[:, None] == np.arange(3)
        return unit * s, np.where(face, np.sign(unit), 0.0)
    if shape == "splat":
        return np.zeros_like(s), np.tile([0.0, 0.0, 1.0], (len(s), 1))
    turned = 4.0 * u
    x = np.where(turned <= 2.0, 1.0 - turned, turned - 3.0)
    y = (1.0 - np.abs(x)) * np.where(turned <= 2.0, 1.0, -1.0)
    way = np.stack([x, y], axis=1) / np.hypot(x, y)[:, None]
    radius, height, out, up = _outline(shape, s, 4.0 * v)
    wide = s[:, :2] if shape in ("cylinder", "disc") else np.ones_like(s[:, :2])
    point = np.concatenate([way * radius[:, None] * wide, height[:, None]], axis=1)
    return point, np.concatenate([way * out[:, None] / wide * wide.min(axis=1, keepdims=True), up[:, None]], axis=1)


def _outline(shape: str, s: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """How far from the axis, how high, and the normal there, by quarters of the outline."""
    a, b, c = s.T
    if shape == "arrow":
        head = np.maximum(a, b)
        base = c - np.minimum(ARROW_HEAD * head, 2 * c)
        slant = np.hypot(c - base, head)
        parts = [q <= 1, q <= 2, q <= 3]
        return (
            np.select(parts, [a * q, a, a + (q - 2) * (head - a)], head * (4 - q)),
            np.select(parts, [-c, -c + (q - 1) * (base + c), base], base + (q - 3) * (c - base)),
            np.select(parts, [0.0, 1.0, 0.0], (c - base) / slant),
            np.select(parts, [-1.0, 0.0, -1.0], head / slant),
        )
    if shape == "disc":
        none = np.zeros_like(a)
        return 4.0 - q, none, none, none + 1.0
    side, cap = np.where(q <= 1, -1.0, 1.0), np.where(q <= 1, q, 4.0 - q)
    is_side, radius = (q > 1) & (q < 3), np.ones_like(a) if shape == "cylinder" else a
    scale = np.hypot(cap, 1 - cap)
    out, up = (cap, side) if shape == "cylinder" else (cap / scale, (1 - cap) / scale * side)
    cap_normal = np.zeros_like(out) if shape == "cylinder" else out
    top = side * c if shape == "cylinder" else side * c + a * up
    return (
        np.where(is_side, radius, radius * out),
        np.where(is_side, (q - 2) * c, top),
        np.where(is_side, 1.0, cap_normal),
        np.where(is_side, 0.0, up),
    )
