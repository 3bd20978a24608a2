"""A path tracer in float64 by numpy, which shares nothing with the program's: no tree, no packs, no multiple importance
sampling.

Lambertian surfaces and perfect mirrors under a lamp. At each matte surface one point of the lamps is sampled; light
that a path meets by itself counts only where no sample could have found it: seen directly or in mirrors. `python -m
tests.oracle.path_tracer` writes the kept picture anew.
"""

from __future__ import annotations

import math
import pathlib

import numpy as np

from .cornell import ALBEDOS, EMISSION, EYE, FOV, LAMP, LOOK_AT, MIRROR, Room, cornell

KEPT = pathlib.Path(__file__).with_name("cornell.npz")
SIDE, SAMPLES, BOUNCES = 24, 2025, 4
OFFSET = 1e-9
ROOMS = {
    "matte": cornell(),
    "mirror": cornell(with_mirror=True),
    "one-sided": cornell(with_mirror=True, one_sided=True),
}


def intersect(triangles: np.ndarray, origins: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance (inf: none) and triangle of each ray's nearest hit, each triangle tried on each ray (Moeller and
    Trumbore 1997)."""
    nearest, which = np.full(len(origins), np.inf), np.full(len(origins), -1)
    for index, (a, b, c) in enumerate(triangles):
        p = np.cross(directions, c - a)
        determinant = p @ (b - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            away = origins - a
            u = np.einsum("ij,ij->i", away, p) / determinant
            q = np.cross(away, b - a)
            v, t = np.einsum("ij,ij->i", directions, q) / determinant, q @ (c - a) / determinant
            closer = (u >= 0) & (v >= 0) & (u + v <= 1) & (t > OFFSET) & (t < nearest)
        nearest[closer], which[closer] = t[closer], index
    return nearest, which


def normals_of(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (T, 3) and areas (T,)."""
    vectors = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(vectors, axis=1)
    return vectors / lengths[:, None], lengths / 2.0


def camera_rays(side: int, cell: tuple[int, int, int], random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One ray through a random place of every pixel of a square picture, row 0 on top: in part `cell[0]`, `cell[1]` of
    `cell[2]` squared."""
    forward = np.subtract(LOOK_AT, EYE) / np.linalg.norm(np.subtract(LOOK_AT, EYE))
    right = np.cross(forward, (0.0, 1.0, 0.0))
    half = np.tan(np.radians(FOV) / 2.0)
    rows, columns = np.mgrid[0:side, 0:side].reshape(2, -1)
    x = (columns + (cell[0] + random.random(side * side)) / cell[2]) / side * 2.0 - 1.0
    y = 1.0 - (rows + (cell[1] + random.random(side * side)) / cell[2]) / side * 2.0
    directions = forward + half * (x[:, None] * right + y[:, None] * np.cross(right, forward))
    return np.broadcast_to(np.array(EYE), directions.shape).copy(), directions / np.linalg.norm(
        directions, axis=1, keepdims=True
    )


def light_of_lamp(room: Room, points: np.ndarray, normals: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Irradiance (N, 3) by one sampled point of the lamp."""
    all_normals, areas = normals_of(room.triangles)
    lamps = np.flatnonzero(room.materials == LAMP)
    chosen = random.choice(lamps, len(points), p=areas[lamps] / areas[lamps].sum())
    u, v = random.random((2, len(points)))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    a, b, c = np.moveaxis(room.triangles[chosen], 1, 0)
    away = a + u[:, None] * (b - a) + v[:, None] * (c - a) - points
    distance = np.linalg.norm(away, axis=1)
    towards = away / distance[:, None]
    of_lamp = -np.einsum("ij,ij->i", towards, all_normals[chosen])
    cosines = np.maximum(np.einsum("ij,ij->i", towards, normals), 0) * (
        np.maximum(of_lamp, 0) if room.is_lamp_one_sided else np.abs(of_lamp)
    )
    reached, _ = intersect(room.triangles, points + normals * OFFSET, towards)
    lit = reached > distance * (1 - 1e-6)
    return EMISSION * (lit * cosines / distance**2 * areas[lamps].sum())[:, None]


def cosine_directions(normals: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Directions around normals by the cosine: a point of the sphere that stands on the surface."""
    ball = random.normal(size=normals.shape)
    directions = normals + ball / np.linalg.norm(ball, axis=1, keepdims=True)
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def one_sample(
    room: Room, side: int, bounces: int, cell: tuple[int, int, int], random: np.random.Generator
) -> np.ndarray:
    """Radiance (side * side, 3) by one path a pixel; light is scattered `bounces` times at most."""
    normals, _ = normals_of(room.triangles)
    origins, directions = camera_rays(side, cell, random)
    radiance, weight = np.zeros_like(origins), np.ones_like(origins)
    alive, counts_lamps = np.arange(len(origins)), np.ones(len(origins), bool)
    for bounce in range(bounces + 1):
        t, which = intersect(room.triangles, origins, directions)
        hit = which >= 0
        alive, origins, directions, t, which, counts_lamps = (
            x[hit] for x in (alive, origins, directions, t, which, counts_lamps)
        )
        kinds, points = room.materials[which], origins + directions * t[:, None]
        is_front = np.einsum("ij,ij->i", normals[which], directions) < 0
        sees = (kinds == LAMP) & counts_lamps & (is_front | (not room.is_lamp_one_sided))
        radiance[alive[sees]] += weight[alive[sees]] * EMISSION
        if bounce == bounces:
            break
        facing = normals[which] * -np.sign(np.einsum("ij,ij->i", normals[which], directions))[:, None]
        weight[alive] *= ALBEDOS[kinds]
        matte = kinds != MIRROR
        radiance[alive[matte]] += (
            weight[alive[matte]] / np.pi * light_of_lamp(room, points[matte], facing[matte], random)
        )
        mirrored = directions - 2.0 * np.einsum("ij,ij->i", directions, facing)[:, None] * facing
        directions = np.where(matte[:, None], cosine_directions(facing, random), mirrored)
        origins, counts_lamps = points + facing * OFFSET, ~matte
    return radiance


def render(
    room: Room, side: int = SIDE, samples: int = SAMPLES, bounces: int = BOUNCES, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The mean radiance (side, side, 3) of the largest square number of samples in `samples`, evenly over each pixel,
    and its standard error if they were not spread evenly."""
    random = np.random.default_rng(seed)
    total, squares = np.zeros((side * side, 3)), np.zeros((side * side, 3))
    parts = math.isqrt(samples)
    for index in range(parts * parts):
        found = one_sample(room, side, bounces, (index % parts, index // parts, parts), random)
        total += found
        squares += found**2
    mean = total / parts**2
    error = np.sqrt(np.maximum(squares / parts**2 - mean**2, 0.0)) / parts
    return mean.reshape(side, side, 3), error.reshape(side, side, 3)


def kept() -> dict[str, np.ndarray]:
    """The kept pictures of the room without and with a mirror, and with a lamp that shines down alone; and their
    standard errors."""
    with np.load(KEPT) as found:
        return dict(found)


def main() -> None:
    """Write the kept pictures."""
    pictures = {}
    for name, room in ROOMS.items():
        mean, error = render(room)
        pictures[name], pictures[f"{name} error"] = mean.astype(np.float32), error.astype(np.float32)
    np.savez_compressed(KEPT, **pictures)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
