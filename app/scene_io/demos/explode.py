"""`explode`: a closed object bursts into its triangles. The longer it flies, the worse a refitted tree: the case where
refit fails."""

from __future__ import annotations

from typing import NamedTuple

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
"""Triangles whose random numbers are drawn at a time."""
CACHED = 1 << 12
"""Triangles that fly through all key frames together: what they are computed from stays in a processor's cache."""

Turned = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Vectors about axes in three parts: along, across, and a quarter turn on."""


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
        for start in range(0, n, CACHED):
            block = slice(start, min(start + CACHED, n))
            part = slice(3 * (first + block.start), 3 * (first + block.stop))
            centres, velocities, spins = (values[block, 0].T.copy() for values in (centre, velocity, spin))
            flight = _Flight(centres, velocities, spins, _by_axes(offsets, block), _by_axes(turning, block))
            _fly_block(flight, times, (positions[:, part], normals[:, part]), (lower, upper))
    return lower, upper


class _Flight(NamedTuple):
    """Of N triangles: centres and velocities (3, N), how fast they spin (1, N), and what turns with them, (3, 3, N) by
    corners and axes: where the corners lie from the centres, and the normals there."""

    centre: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    offsets: Turned
    normals: Turned


def _by_axes(parts: Turned, block: slice) -> Turned:
    """A block of (N, 3, 3) as (3, 3, N): numpy computes long rows faster than short ones."""
    along, across, quarter = (values[block].transpose(1, 2, 0).copy() for values in parts)
    return along, across, quarter


def _fly_block(
    flight: _Flight, times: np.ndarray, filled: tuple[np.ndarray, np.ndarray], ends: tuple[np.ndarray, np.ndarray]
) -> None:
    """Fill (K, 3 N, 3) positions and normals of N triangles, and widen the bounds."""
    n, (lower, upper) = flight.spin.shape[1], ends
    for key, time in enumerate(times):
        flown = np.float32(max(0.0, time - 0.08 * DURATION) ** 1.3 * 0.13)
        angle = flight.spin * flown
        cosine, sine = np.cos(angle), np.sin(angle)
        moved, turned = _turned(flight.offsets, cosine, sine), _turned(flight.normals, cosine, sine)
        moved += flight.centre + flight.velocity * flown
        for values, made in zip(filled, (moved, turned), strict=True):
            values[key].reshape(n, 9)[:] = made.reshape(9, n).T
        for axis in range(3):
            lower[axis] = min(lower[axis], moved[:, axis].min())
            upper[axis] = max(upper[axis], moved[:, axis].max())


def _spinning(vectors: np.ndarray, axis: np.ndarray) -> Turned:
    """Vectors (N, 3, 3) in three parts about unit axes (N, 1, 3), as Rodrigues' formula takes them: along, across, and
    a quarter turn on."""
    along = axis * np.sum(axis * vectors, axis=2, keepdims=True)
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    a, b, c = axis[..., 0], axis[..., 1], axis[..., 2]
    return along, vectors - along, np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=2)


def _turned(parts: Turned, cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """The vectors (3, 3, N) turned by angles of which (1, N) are the cosines and sines."""
    along, across, quarter = parts
    turned = across * cosine
    turned += along
    turned += quarter * sine
    return turned
