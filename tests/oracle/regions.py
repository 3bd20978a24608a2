"""Every place and box against every primitive, in float64; what was found for triangles is kept."""

from __future__ import annotations

import itertools

import numpy as np

from raygrove.testing.kept import kept

_MOST_PAIRS = 16_384
"""Pairs of box and triangle that are looked at at once: what stays in the cache of a processor."""


@kept
def triangle_distances(corners: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(N, T): how far places (N, 3) are from triangles (T, 3, 3); infinite where a corner is not finite."""
    triangles = corners.astype(np.float64)
    distances = np.full((len(places), len(triangles)), np.inf)
    is_active = np.isfinite(triangles).all(axis=(1, 2))
    for n, place in enumerate(places.astype(np.float64)):
        a, b, c = np.moveaxis(triangles[is_active] - place, 1, 0)
        found = np.minimum.reduce([_to_edge(a, b), _to_edge(b, c), _to_edge(c, a)])
        normal = np.cross(b - a, c - a)
        weights = [np.einsum("ij,ij->i", np.cross(to - at, -at), normal) for at, to in ((a, b), (b, c), (c, a))]
        size = np.linalg.norm(normal, axis=1)
        has_foot = (np.minimum.reduce(weights) > 0) & (size > 0) if len(a) else np.zeros(0, bool)
        with np.errstate(all="ignore"):
            plane = np.abs(np.einsum("ij,ij->i", a, normal)) / size
        distances[n, is_active] = np.where(has_foot, np.minimum(found, plane), found)
    return distances


def _to_edge(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    edge = b - a
    squared = np.einsum("ij,ij->i", edge, edge)
    with np.errstate(all="ignore"):
        t = np.where(squared > 0, -np.einsum("ij,ij->i", a, edge) / squared, 0.0)
    return np.linalg.norm(a + edge * np.clip(t, 0, 1)[:, None], axis=1)


def sphere_distances(centres: np.ndarray, radii: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(N, S): how far places are from balls, 0 inside; infinite for inactive ones."""
    away = np.linalg.norm(places[:, None].astype(np.float64) - centres[None].astype(np.float64), axis=2)
    return np.where(radii >= 0, np.maximum(away - radii.astype(np.float64), 0), np.inf)


@kept
def triangle_gaps(corners: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """(N, T): the widest gap between boxes (N, 3) and triangles along any axis that may part them; positive where they
    have no point in common, infinite where a corner is not finite."""
    triangles = corners.astype(np.float64)
    gaps = np.full((len(lower), len(triangles)), np.inf)
    is_active = np.isfinite(triangles).all(axis=(1, 2))
    active = triangles[is_active]
    edges = np.roll(active, -1, axis=1) - active
    axes = [np.broadcast_to(unit, (len(active), 3)) for unit in np.eye(3)]
    axes += [np.cross(edges[:, k], unit) for k, unit in itertools.product(range(3), np.eye(3))]
    axes.append(np.cross(edges[:, 0], edges[:, 1]))
    rows = max(1, _MOST_PAIRS // max(1, len(active)))
    for first in range(0, len(lower), rows):
        low, high = (bound[first : first + rows].astype(np.float64) for bound in (lower, upper))
        widest = np.full((len(low), len(active)), -np.inf)
        for axis in axes:
            size = np.linalg.norm(axis, axis=1)
            corners_at = np.einsum("tij,tj->ti", active, axis)
            middle = np.einsum("nj,tj->nt", (low + high) / 2, axis)
            reach = np.einsum("nj,tj->nt", (high - low) / 2, np.abs(axis))
            with np.errstate(all="ignore"):
                gap = np.maximum(corners_at.min(axis=1) - middle, middle - corners_at.max(axis=1)) - reach
                widest = np.where(size > 1e-9, np.maximum(widest, gap / size), widest)
        widest[~(low <= high).all(axis=1)] = np.inf
        gaps[first : first + rows, is_active] = widest
    return gaps


def sphere_gaps(centres: np.ndarray, radii: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """(N, S): the gap between boxes and balls; positive where they have no point in common."""
    at = centres[None].astype(np.float64)
    away = np.maximum(np.maximum(lower[:, None] - at, at - upper[:, None]), 0)
    gaps = np.linalg.norm(away, axis=2) - radii.astype(np.float64)
    return np.where((radii >= 0) & (lower <= upper).all(axis=1)[:, None], gaps, np.inf)
