"""Small things that several built-in scenes share: meshes of one material, turning tracks, quaternions, the palette,
bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.scene import Material, Mesh, Track

from .shapes import Surface, merge

PALETTE: tuple[tuple[float, float, float, float], ...] = (
    (0.80, 0.13, 0.09, 1.0),
    (0.90, 0.42, 0.06, 1.0),
    (0.90, 0.69, 0.13, 1.0),
    (0.18, 0.49, 0.20, 1.0),
    (0.06, 0.42, 0.53, 1.0),
    (0.10, 0.18, 0.52, 1.0),
)
"""Linear base colours: brick, orange, ochre, leaf, petrol, indigo."""

Quaternion = tuple[float, float, float, float]
Point = tuple[float, float, float]


def mesh_of(name: str, surface: Surface, material_id: int | np.ndarray = 0) -> Mesh:
    """A mesh of a surface; `material_id` is one number or (T,) of them."""
    ids = np.empty(len(surface.triangles), np.int32)
    ids[:] = material_id
    return Mesh(name, surface.positions, surface.triangles, ids, surface.normals, surface.uvs)


def painted(name: str, parts: Sequence[tuple[Surface, int]]) -> Mesh:
    """One mesh of several surfaces, each with its material."""
    ids = np.repeat([material for _, material in parts], [len(surface.triangles) for surface, _ in parts])
    return mesh_of(name, merge([surface for surface, _ in parts]), ids)


def about(axis: Point, angle: float) -> Quaternion:
    """The rotation by `angle` radians about a unit axis, as x, y, z, w."""
    s = math.sin(angle / 2.0)
    return (axis[0] * s, axis[1] * s, axis[2] * s, math.cos(angle / 2.0))


def rotations(axis: Point, times: np.ndarray, angles: np.ndarray) -> Track:
    """A rotation track about one unit axis through angles in radians; neighbours keep the shorter way as long as they
    lie within a half turn."""
    half = np.asarray(angles, np.float64)[:, None] / 2.0
    values = np.concatenate([np.sin(half) * np.asarray(axis, np.float64), np.cos(half)], axis=1)
    return Track(times.astype(np.float32), values.astype(np.float32))


def full_turns(axis: Point, duration: float, turns: int = 1, start: float = 0.0) -> Track:
    """Steady turning that ends as it began: eight keys a turn."""
    count = 8 * abs(turns) + 1
    return rotations(axis, np.linspace(0.0, duration, count), start + np.linspace(0.0, 2.0 * math.pi * turns, count))


def bounds(lower: np.ndarray, upper: np.ndarray) -> tuple[Point, Point]:
    """Scene bounds as tuples of plain floats."""
    low, high = (tuple(float(v) for v in side) for side in (lower, upper))
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def colour_materials(roughness: float = 0.35) -> tuple[Material, ...]:
    """The palette as materials."""
    names = ("brick", "orange", "ochre", "leaf", "petrol", "indigo")
    return tuple(Material(name, colour, roughness=roughness) for name, colour in zip(names, PALETTE, strict=True))
