"""Radiosity between points as it is written, in double precision, and rooms whose light is known."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.radiosity.point_set import PointValues


def form_factors(to: PointValues, points: PointValues) -> np.ndarray:
    """(M, N): what each of `to` receives of each of `points`: cosines clamped, never more than of a disc."""
    r = points.positions[None] - to.positions[:, None]
    squared = np.einsum("ijk,ijk->ij", r, r)
    arrives = np.maximum(np.einsum("ijk,ik->ij", r, to.normals), 0.0)
    leaves = np.maximum(-np.einsum("ijk,jk->ij", r, points.normals), 0.0)
    disc = np.maximum(np.pi * squared, 0.5 * (to.areas[:, None] + points.areas[None]))
    known = np.where(squared > 0.0, squared, 1.0)
    return np.asarray(np.where(squared > 0.0, arrives * leaves / (known * disc), 0.0) * points.areas[None])


def after_bounces(points: PointValues, count: int, factors: np.ndarray | None = None) -> np.ndarray:
    """(N, 3): radiance after so many bounces."""
    factors = form_factors(points, points) if factors is None else factors
    light = points.emission
    for _ in range(count):
        light = points.emission + points.reflectance * (factors @ light)
    return np.asarray(light)


def grey(positions: np.ndarray, normals: np.ndarray, areas: np.ndarray, reflectance: float = 0.5) -> PointValues:
    """Points that all reflect so much and emit 1."""
    ones = np.ones((len(positions), 3))
    return PointValues(positions, normals, np.broadcast_to(areas, len(positions)), ones * reflectance, ones)


def spiral_sphere(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Places on the unit sphere along a spiral, evenly, and the normals to its inside."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    ring = np.sqrt(1.0 - height**2)
    places = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=1)
    return places, -places


def rms_error(found: np.ndarray, expected: np.ndarray) -> float:
    """The root of the mean square of the differences over that of what was expected."""
    return float(np.sqrt(np.mean((found - expected) ** 2) / np.mean(expected**2)))
