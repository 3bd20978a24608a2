"""The shapes that USD has by name: a sphere stays one, the others become triangles."""

from __future__ import annotations

import math

import numpy as np
from pxr import Usd

from raygrove.gpu.scene import Mesh, Spheres

from .times import Times

SIDES = 48
ROUND = 12
"""Segments of a quarter of a capsule's end."""
SHAPES = ("Cube", "Cylinder", "Cylinder_1", "Cone", "Capsule", "Capsule_1", "Plane")
TURNS = {"X": ((2, 1, 0), (1, 1, -1)), "Y": ((0, 2, 1), (1, 1, -1)), "Z": ((0, 1, 2), (1, 1, 1))}
"""Which coordinates of a shape along Z those along another axis are, and with which signs: turned, not mirrored."""


def sphere_of(prim: Usd.Prim, material: int, times: Times) -> Spheres:
    """A sphere about the origin."""
    radius = _number(prim, "radius", times, 1.0)
    return Spheres(prim.GetName(), np.zeros((1, 3), np.float32), np.array([radius], np.float32), None, material)


def mesh_of(prim: Usd.Prim, material: int, times: Times) -> Mesh:
    """The triangles of a cube, cylinder, cone, capsule or plane."""
    kind = str(prim.GetTypeName()).removesuffix("_1")
    if kind == "Cube":
        positions, triangles = _box(_number(prim, "size", times, 2.0) / 2.0)
    elif kind == "Plane":
        half = np.array([_number(prim, "width", times, 2.0), _number(prim, "length", times, 2.0)]) / 2.0
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half
        positions, triangles = np.column_stack([corners, np.zeros(4)]), np.array([(0, 1, 2), (0, 2, 3)])
    else:
        positions, triangles = _revolved(_profile(prim, kind, times))
    axis = str(prim.GetAttribute("axis").Get(times.rest)) if prim.HasAttribute("axis") else "Z"
    order, signs = TURNS.get(axis, TURNS["Z"])
    positions = positions[:, order] * signs
    return Mesh(
        prim.GetName(), positions.astype(np.float32), triangles.astype(np.int32),
        np.full(len(triangles), material, np.int32), _flat_or_none(kind, positions, triangles),
    )  # fmt: skip


def _flat_or_none(kind: str, positions: np.ndarray, triangles: np.ndarray) -> np.ndarray | None:
    """Normals of corners that triangles do not share: all but a capsule's are flat or have edges."""
    if kind == "Capsule":
        return None
    corners = positions[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    result = np.zeros_like(positions)
    for corner in range(3):
        np.add.at(result, triangles[:, corner], normals)
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    return (result / np.where(lengths > 0.0, lengths, 1.0)).astype(np.float32)


def _box(half: float) -> tuple[np.ndarray, np.ndarray]:
    """Six faces of four corners each."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float64)
    faces = []
    for axis in range(3):
        for side in (1.0, -1.0):
            face = np.empty((4, 3))
            face[:, axis] = side
            face[:, (axis + 1) % 3] = square[:, 0] * side
            face[:, (axis + 2) % 3] = square[:, 1]
            faces.append(face)
    firsts = 4 * np.arange(6)[:, None, None]
    return np.concatenate(faces) * half, (firsts + np.array([(0, 1, 2), (0, 2, 3)])).reshape(-1, 3)


def _profile(prim: Usd.Prim, kind: str, times: Times) -> list[list[tuple[float, float]]]:
    """Runs of (radius, height) from below, smooth within and with an edge between them."""
    half = _number(prim, "height", times, 1.0 if kind == "Capsule" else 2.0) / 2.0
    default = 0.5 if kind == "Capsule" else 1.0
    radius = _number(prim, "radius", times, default)
    if kind == "Cone":
        return [[(0.0, -half), (radius, -half)], [(radius, -half), (0.0, half)]]
    below = _number(prim, "radiusBottom", times, radius)
    above = _number(prim, "radiusTop", times, radius)
    if kind == "Capsule":
        angles = [math.pi / 2.0 * step / ROUND for step in range(ROUND + 1)]
        start = [(below * math.sin(a), -half - below * math.cos(a)) for a in angles]
        return [start + [(above * math.cos(a), half + above * math.sin(a)) for a in angles]]
    return [[(0.0, -half), (below, -half)], [(below, -half), (above, half)], [(above, half), (0.0, half)]]


def _revolved(runs: list[list[tuple[float, float]]]) -> tuple[np.ndarray, np.ndarray]:
    """The surface that runs sweep about Z, seen from outside counterclockwise."""
    angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
    rings, triangles, first = [], [], 0
    after = np.roll(np.arange(SIDES), -1)
    around = np.arange(SIDES)
    for run in runs:
        for radius, height in run:
            rings.append(np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(SIDES, height)]))
        for step in range(len(run) - 1):
            low, high = first + step * SIDES, first + (step + 1) * SIDES
            if run[step][0] > 0.0:
                triangles.append(np.column_stack([low + around, low + after, high + after]))
            if run[step + 1][0] > 0.0:
                triangles.append(np.column_stack([low + around, high + after, high + around]))
        first += len(run) * SIDES
    return np.concatenate(rings), np.concatenate(triangles)


def _number(prim: Usd.Prim, name: str, times: Times, default: float) -> float:
    value = prim.GetAttribute(name).Get(times.rest) if prim.HasAttribute(name) else None
    return float(value) if value is not None else default
