"""The icosphere of any frequency, and its displacement by waves: triangles of even size for spheres, the blob and the
burst."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .shapes import CHUNK, Surface

EDGE_ANGLE = math.atan(2.0)
"""The angle that an icosahedron's edge spans at its centre."""


def icosphere_frequency(triangles: float) -> int:
    """The subdivision frequency whose 20 f^2 triangles come nearest to a count."""
    low = max(1, math.floor(math.sqrt(triangles / 20.0)))
    return low if triangles - 20 * low**2 <= 20 * (low + 1) ** 2 - triangles else low + 1


def icosphere(frequency: int) -> Surface:
    """A unit sphere of 20 f^2 triangles and 10 f^2 + 2 shared vertices; each icosahedron face is an even lattice along
    great circles."""
    f = frequency
    corners, faces = _icosahedron()
    edges = {
        pair: k
        for k, pair in enumerate(sorted({(min(p), max(p)) for face in faces for p in itertools.combinations(face, 2)}))
    }
    i, j = np.nonzero(np.add.outer(np.arange(f + 1), np.arange(f + 1)) <= f)
    inside = (i > 0) & (j > 0) & (i + j < f)
    inner_count = int(inside.sum())
    weights = np.sin(np.stack([f - i - j, i, j], axis=1) * (EDGE_ANGLE / f))
    lattice = _lattice_triangles(f)
    positions = np.empty((10 * f * f + 2, 3), np.float32)
    triangles = np.empty((20, f * f, 3), np.int32)
    ids = np.zeros((f + 1, f + 1), np.int32)
    steps = np.arange(1, f)
    for number, (a, b, c) in enumerate(faces):
        ids[0, 0], ids[f, 0], ids[0, f] = a, b, c
        ids[steps, 0] = _edge_ids(edges, a, b, f)
        ids[0, steps] = _edge_ids(edges, a, c, f)
        ids[f - steps, steps] = _edge_ids(edges, b, c, f)
        ids[i[inside], j[inside]] = 12 + 30 * (f - 1) + number * inner_count + np.arange(inner_count)
        points = weights @ corners[[a, b, c]]
        positions[ids[i, j]] = points / np.linalg.norm(points, axis=1, keepdims=True)
        triangles[number] = ids.reshape(-1)[lattice]
    return Surface(positions, positions.copy(), triangles.reshape(-1, 3))


def displaced(sphere: Surface, seed: int, amplitude: float = 0.026, waves: int = 12, frequency: float = 7.0) -> Surface:
    """A unit sphere moved along its radius by a sum of plane waves, with the exact normals of the new surface.
    The waves' directions, lengths and phases come from the seed."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((waves, 3))
    vectors *= (rng.uniform(0.35, 1.0, waves) * frequency / np.linalg.norm(vectors, axis=1))[:, None]
    phases = rng.uniform(0.0, 2.0 * math.pi, waves)
    vectors, phases = vectors.astype(np.float32), phases.astype(np.float32)
    positions, normals = np.empty_like(sphere.positions), np.empty_like(sphere.normals)
    for first in range(0, len(positions), CHUNK):
        part = slice(first, first + CHUNK)
        n = sphere.positions[part]
        angle = n @ vectors.T + phases
        radius = 1.0 + amplitude * np.sin(angle).sum(axis=1, keepdims=True)
        gradient = amplitude * (np.cos(angle) @ vectors)
        gradient -= n * np.sum(gradient * n, axis=1, keepdims=True)
        normal = radius * n - gradient
        positions[part] = radius * n
        normals[part] = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    return sphere._replace(positions=positions, normals=normals)


def _icosahedron() -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    """Twelve unit corners and twenty faces, counter-clockwise from outside: poles and two rings of five."""
    high, ring = 1.0 / math.sqrt(5.0), 2.0 / math.sqrt(5.0)
    turns = np.arange(5) * (2.0 * math.pi / 5.0)
    upper = [(ring * math.cos(t), high, -ring * math.sin(t)) for t in turns]
    lower = [(ring * math.cos(t + math.pi / 5.0), -high, -ring * math.sin(t + math.pi / 5.0)) for t in turns]
    corners = np.array([(0.0, 1.0, 0.0), *upper, *lower, (0.0, -1.0, 0.0)])
    faces = []
    for k in range(5):
        u0, u1, l0, l1 = 1 + k, 1 + (k + 1) % 5, 6 + k, 6 + (k + 1) % 5
        faces += [(0, u0, u1), (u0, l0, u1), (u1, l0, l1), (l0, 11, l1)]
    return corners, faces


def _edge_ids(edges: dict[tuple[int, int], int], a: int, b: int, f: int) -> np.ndarray:
    """The f - 1 vertices between corners a and b, in that order; both faces of an edge get the same ones."""
    along = np.arange(f - 1, dtype=np.int32)
    return 12 + edges[(min(a, b), max(a, b))] * (f - 1) + (along if a < b else along[::-1])


def _lattice_triangles(f: int) -> np.ndarray:
    """(f^2, 3) flat indices into an (f + 1, f + 1) table: the triangles of one face, row by row."""
    w = f + 1
    sums = np.add.outer(np.arange(w), np.arange(w))
    i, j = np.nonzero(sums < f)
    up = np.stack([i * w + j, (i + 1) * w + j, i * w + j + 1], axis=1)
    i, j = np.nonzero(sums < f - 1)
    down = np.stack([(i + 1) * w + j, (i + 1) * w + j + 1, i * w + j + 1], axis=1)
    both = np.concatenate([up, down])
    return both[np.argsort(both[:, 0], kind="stable")]
