"""`cloth`: a waving sheet for scaling, up to 16 million triangles. Key frames with exact positions and normals."""

from __future__ import annotations

import math

import numpy as np

from raygrove.gpu.scene import KeyFrames, Light, Material, Mesh, Object, Scene

from .parts import bounds
from .shapes import grid_triangles
from .textures import stripes

DURATION = 4.0
WIDTH, HEIGHT = 4.0, 3.0
KEY_BYTES = 768 << 20
"""What all key frames together may take, as long as there are five."""


def make_cloth(triangles: int, seed: int) -> Scene:
    """A sheet that hangs by its upper edge; waves run down and across it, and it swings more the lower it is."""
    columns, rows = _lattice(triangles)
    count = (columns + 1) * (rows + 1)
    keys = int(np.clip(KEY_BYTES // (count * 24), 5, 25))
    times = np.linspace(0.0, DURATION, keys)
    positions = np.empty((keys, rows + 1, columns + 1, 3), np.float32)
    normals = np.empty((keys, rows + 1, columns + 1, 3), np.float32)
    waves = _waves(seed)
    for key in range(keys - 1):
        _wave(positions[key], normals[key], 2.0 * math.pi * key / (keys - 1), waves)
    positions[-1], normals[-1] = positions[0], normals[0]
    depth = [float(positions[..., 2].min()), float(positions[..., 2].max())]
    flat_positions, flat_normals = positions.reshape(keys, count, 3), normals.reshape(keys, count, 3)
    uvs = np.empty((rows + 1, columns + 1, 2), np.float32)
    uvs[..., 0] = np.linspace(0.0, 2.0, columns + 1, dtype=np.float32)
    uvs[..., 1] = np.linspace(1.5, 0.0, rows + 1, dtype=np.float32)[:, None]
    mesh = Mesh(
        "sheet",
        flat_positions[0],
        grid_triangles(columns, rows),
        np.zeros(2 * columns * rows, np.int32),
        flat_normals[0],
        uvs.reshape(-1, 2),
        KeyFrames(times.astype(np.float32), flat_positions, flat_normals),
    )
    lower, upper = bounds(np.array([-WIDTH / 2, -HEIGHT / 2, depth[0]]), np.array([WIDTH / 2, HEIGHT / 2, depth[1]]))
    return Scene(
        "cloth",
        meshes=(mesh,),
        objects=(Object(0, 0),),
        materials=(Material("cloth", (1.0, 1.0, 1.0, 1.0), roughness=0.8, base_color_texture=0),),
        textures=(stripes("cloth", ((178, 58, 46), (240, 226, 200), (40, 92, 120), (240, 226, 200))),),
        lights=(Light("directional", (3.0, 2.9, 2.7), direction=(-0.45, -0.6, -0.66)),),
        lower=lower,
        upper=upper,
        eye=(1.5, 0.3, 4.6),
        look_at=(0.0, -0.1, 0.0),
    )


def _lattice(triangles: int) -> tuple[int, int]:
    """Columns and rows near the sheet's proportions whose triangles come nearest to the count."""
    ideal = max(1, round(math.sqrt(triangles / 2.0 * WIDTH / HEIGHT)))
    candidates = [(c, max(1, round(triangles / 2.0 / c))) for c in range(max(1, ideal - 24), ideal + 25)]
    return min(candidates, key=lambda size: (abs(2 * size[0] * size[1] - triangles), abs(size[0] - ideal)))


def _waves(seed: int) -> list[tuple[float, float, float, int, float]]:
    """Amplitude, wave numbers across and down, whole turns in a loop, phase."""
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0.0, 2.0 * math.pi, 4)
    numbers = [(0.16, 2.1, 0.7, 1), (0.08, -3.4, 2.2, 1), (0.05, 6.2, 1.1, 2), (0.025, 4.1, -6.3, 1)]
    return [(a, kx, ky, turns, float(phase)) for (a, kx, ky, turns), phase in zip(numbers, phases, strict=True)]


def _wave(
    positions: np.ndarray, normals: np.ndarray, angle: float, waves: list[tuple[float, float, float, int, float]]
) -> None:
    """Write one instant of the sheet, (R, C, 3) each: z = g(y) sum a sin(kx x + ky y - turns angle + phase), g growing
    downwards."""
    rows, columns = positions.shape[0], positions.shape[1]
    x = np.linspace(-WIDTH / 2, WIDTH / 2, columns, dtype=np.float32)[None, :]
    y_all = np.linspace(-HEIGHT / 2, HEIGHT / 2, rows, dtype=np.float32)[:, None]
    step = max(1, (1 << 19) // columns)
    for first in range(0, rows, step):
        band = slice(first, first + step)
        y = y_all[band]
        hang = (np.float32(HEIGHT / 2) - y) / np.float32(HEIGHT)
        swing = np.float32(0.12) + np.float32(1.2) * hang
        total, slope_x, slope_y = (np.zeros((len(y), columns), np.float32) for _ in range(3))
        for amplitude, kx, ky, turns, phase in waves:
            argument = np.float32(kx) * x + (np.float32(ky) * y + np.float32(phase - turns * angle))
            wave, rate = np.float32(amplitude) * np.sin(argument), np.float32(amplitude) * np.cos(argument)
            total += wave
            slope_x += np.float32(kx) * rate
            slope_y += np.float32(ky) * rate
        slope_y = swing * slope_y - np.float32(1.2 / HEIGHT) * total
        slope_x = swing * slope_x
        length = np.sqrt(slope_x * slope_x + slope_y * slope_y + np.float32(1.0))
        positions[band, :, 0], positions[band, :, 1], positions[band, :, 2] = x, y, swing * total
        normals[band, :, 0], normals[band, :, 1], normals[band, :, 2] = (
            -slope_x / length,
            -slope_y / length,
            1.0 / length,
        )
