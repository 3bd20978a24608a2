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
"""Triangles whose random numbers are drawn at a time."""
TOGETHER = 1 << 11
"""Triangles that fly through all key frames at once: few calls of numpy, each of which lets other threads have Python
and waits for it again, over what stays in a processor's cache."""

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
    flown = (np.maximum(0.0, times - 0.08 * DURATION) ** 1.3 * 0.13).astype(np.float32)
    moving = int(np.count_nonzero(flown == 0.0))  # the first key that is not whole
    ends = whole.positions.min(axis=0), whole.positions.max(axis=0)
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
        own = slice(3 * first, 3 * (first + n))
        positions[:moving, own], normals[:moving, own] = points.reshape(-1, 3), directions.reshape(-1, 3)
        offsets, turning = _spinning(points - centre, axis), _spinning(directions, axis)
        moves = _stacked(velocity, centre, offsets), _stacked(None, None, turning)
        for start in range(0, n, TOGETHER):
            block = slice(start, min(start + TOGETHER, n))
            part = slice(3 * (first + block.start), 3 * (first + block.stop))
            filled = positions[moving:, part], normals[moving:, part]
            _fly_block(spin[block, :, 0], (moves[0][block], moves[1][block]), flown[moving:], filled, ends)
    for values in (positions, normals):
        values.flags.writeable = False  # a target in main memory draws from them as they are
    return ends


def _stacked(velocity: np.ndarray | None, centre: np.ndarray | None, parts: Turned) -> np.ndarray:
    """(N, 4, 9) or, without a velocity, (N, 3, 9): what the distance flown, one, and the angle's cosine and sine are
    multiplied by to give three vectors of each of N triangles."""
    along, across, quarter = (part.reshape(-1, 9) for part in parts)
    if velocity is None or centre is None:
        return np.stack([along, across, quarter], axis=1)
    rest = along + np.tile(centre[:, 0], 3)
    return np.stack([np.tile(velocity[:, 0], 3), rest, across, quarter], axis=1)


def _fly_block(
    spin: np.ndarray,
    moves: tuple[np.ndarray, np.ndarray],
    flown: np.ndarray,
    filled: tuple[np.ndarray, np.ndarray],
    ends: tuple[np.ndarray, np.ndarray],
) -> None:
    """Fill (K, 3 N, 3) positions and normals of N triangles that spin so fast (N, 1) and have flown so far (K,), and
    widen the bounds."""
    angles = spin * flown
    factors = np.ones((*angles.shape, 4), np.float32)
    factors[..., 0] = flown
    np.cos(angles, out=factors[..., 2])
    np.sin(angles, out=factors[..., 3])
    for values, move in zip(filled, moves, strict=True):
        by_triangle = values.reshape(len(flown), len(spin), 9).transpose(1, 0, 2)
        np.matmul(factors[..., 4 - move.shape[1] :], move, out=by_triangle)
    lower, upper = ends
    rows = filled[0].reshape(len(flown), -1)
    np.minimum(lower, rows.min(axis=0).reshape(-1, 3).min(axis=0), out=lower)
    np.maximum(upper, rows.max(axis=0).reshape(-1, 3).max(axis=0), out=upper)


def _spinning(vectors: np.ndarray, axis: np.ndarray) -> Turned:
    """Vectors (N, 3, 3) in three parts about unit axes (N, 1, 3), as Rodrigues' formula takes them: along, across, and
    a quarter turn on."""
    along = axis * np.sum(axis * vectors, axis=2, keepdims=True)
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    a, b, c = axis[..., 0], axis[..., 1], axis[..., 2]
    return along, vectors - along, np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=2)
