"""`explode`: a closed object bursts into its triangles. The longer it flies, the worse a refitted tree: the case where
refit fails."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.scene import KeyFrames, Light, Material, Mesh, Scene
from raygrove.gpu.scene import Object as SceneObject

from .parts import PALETTE, bounds
from .shapes import Surface
from .sphere import displaced, icosphere, icosphere_frequency

DURATION = 6.0
KEY_BYTES = 160 << 20
"""What all key frames together may take, as long as there are two."""
FLIGHT_CHUNK = 1 << 17
"""Triangles that are flown at a time."""


def make_explode(triangles: int, seed: int) -> Scene:
    """A displaced icosphere whose triangles own their three vertices; whole-mesh key frames, more of them where they
    are small."""
    frequency = icosphere_frequency(triangles)
    whole = displaced(icosphere(frequency), seed, amplitude=0.04, frequency=4.0)
    corners = whole.triangles.reshape(-1)
    count = len(corners)
    keys = int(np.clip(KEY_BYTES // (count * 24), 2, 31))
    times = np.linspace(0.0, DURATION, keys)
    positions, normals = np.empty((keys, count, 3), np.float32), np.empty((keys, count, 3), np.float32)
    lower, upper = _fly(whole, times, positions, normals, seed)
    bands = (np.floor((whole.positions[whole.triangles[:, 0], 1] + 1.2) * 4.0).astype(np.int32) % len(PALETTE)).astype(
        np.int32
    )
    mesh = Mesh(
        "shell",
        positions[0],
        np.arange(count, dtype=np.int32).reshape(-1, 3),
        bands,
        normals[0],
        key_frames=KeyFrames(times.astype(np.float32), positions, normals),
    )
    low, high = bounds(lower, upper)
    return Scene(
        "explode",
        meshes=(mesh,),
        objects=(SceneObject(0, 0),),
        materials=tuple(Material(f"shard {k + 1}", colour, roughness=0.4) for k, colour in enumerate(PALETTE)),
        lights=(Light("directional", (3.0, 2.9, 2.7), direction=(-0.5, -0.8, -0.35)),),
        lower=low,
        upper=high,
        eye=(1.7, 1.1, 4.3),
        look_at=(0.0, 0.0, 0.0),
    )


def _fly(
    whole: Surface, times: np.ndarray, positions: np.ndarray, normals: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Fill (K, 3 T, 3) positions and normals: each triangle leaves along its normal with a speed of its own and spins
    about its own axis. The flight starts at rest, so that the object is whole for a moment. Returns the bounds over all
    keys."""
    rng = np.random.default_rng([seed, 1])
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for first in range(0, len(whole.triangles), FLIGHT_CHUNK):
        corners = whole.triangles[first : first + FLIGHT_CHUNK]
        n = len(corners)
        points, directions = whole.positions[corners], whole.normals[corners]
        centre = points.mean(axis=1, keepdims=True)
        velocity = centre * rng.uniform(0.4, 1.9, (n, 1, 1)).astype(np.float32)
        velocity += 0.75 * rng.standard_normal((n, 1, 3)).astype(np.float32)
        axis = rng.standard_normal((n, 1, 3)).astype(np.float32)
        axis /= np.linalg.norm(axis, axis=2, keepdims=True)
        spin = rng.uniform(-4.0, 4.0, (n, 1, 1)).astype(np.float32)
        offsets, turning = _spinning(points - centre, axis), _spinning(directions, axis)
        part = slice(3 * first, 3 * (first + n))
        for key, time in enumerate(times):
            flown = np.float32(max(0.0, time - 0.08 * DURATION) ** 1.3 * 0.13)
            angle = spin * flown
            cosine, sine = np.cos(angle), np.sin(angle)
            moved = positions[key, part].reshape(n, 3, 3)
            _turn(offsets, cosine, sine, moved)
            moved += centre + velocity * flown
            _turn(turning, cosine, sine, normals[key, part].reshape(n, 3, 3))
            for along in range(3):  # an axis at a time: numpy reduces many short rows slowly
                lower[along] = min(lower[along], moved[..., along].min())
                upper[along] = max(upper[along], moved[..., along].max())
    return lower, upper


def _spinning(vectors: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors (N, 3, 3) in three parts about unit axes (N, 1, 3), as Rodrigues' formula takes them: along, across, and
    a quarter turn on."""
    along = axis * np.sum(axis * vectors, axis=2, keepdims=True)
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    a, b, c = axis[..., 0], axis[..., 1], axis[..., 2]
    return along, vectors - along, np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=2)


def _turn(
    parts: tuple[np.ndarray, np.ndarray, np.ndarray], cosine: np.ndarray, sine: np.ndarray, turned: np.ndarray
) -> None:
    """Fill `turned` (N, 3, 3) with the vectors turned by angles of which (N, 1, 1) are the cosines and sines."""
    along, across, quarter = parts
    np.multiply(across, cosine, out=turned)
    turned += along
    turned += quarter * sine
