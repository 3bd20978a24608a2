"""`room`: a closed furnished room of 61 patches of even squares, still: 499,712 triangles with 64 x 64 squares a patch;
the camera is inside."""

from __future__ import annotations

import math

import numpy as np

from raygrove.gpu.scene import Light, Material, Object, Scene

from .parts import bounds, colour_materials, painted
from .shapes import Surface, box_sheets, lathe, rounded_box, sheet, torus
from .textures import wood

LOWER, UPPER = np.array([-4.0, 0.0, -3.0]), np.array([4.0, 3.0, 3.0])
PATCHES = 61
PLASTER, PARQUET, CHALK, OAK, BRASS = 6, 7, 8, 9, 10


def make_room(triangles: int, seed: int) -> Scene:
    """Sixteen patches of walls, forty-five of furniture; all patches have the same number of squares."""
    n = max(3, round(math.sqrt(triangles / 2.0 / PATCHES)))
    mesh = painted("room", _walls(n) + _table(n) + _seats(n) + _ornaments(n, seed))
    lower, upper = bounds(LOWER, UPPER)
    return Scene(
        "room",
        meshes=(mesh,),
        objects=(Object(0, 0),),
        materials=(
            *colour_materials(0.6),
            Material("plaster", (0.66, 0.62, 0.54, 1.0), roughness=0.9),
            Material("parquet", (1.0, 1.0, 1.0, 1.0), roughness=0.45, base_color_texture=0),
            Material("chalk", (0.82, 0.81, 0.78, 1.0), roughness=0.95),
            Material("oak", (0.36, 0.21, 0.10, 1.0), roughness=0.5),
            Material("brass", (0.85, 0.58, 0.22, 1.0), metallic=0.7, roughness=0.3),
        ),
        textures=(wood("parquet", seed=seed),),
        lights=(Light("point", (24.0, 22.5, 19.5), position=(0.4, 2.55, 0.9)),),
        lower=lower,
        upper=upper,
        eye=(3.55, 1.75, 2.6),
        look_at=(-1.0, 0.85, -0.9),
    )


def _walls(n: int) -> list[tuple[Surface, int]]:
    """Floor and ceiling of 2 x 2 patches, each wall of two: their lattices meet vertex on vertex, so the shell is
    closed."""
    (x0, y0, z0), (x1, y1, z1) = LOWER, UPPER
    dx, dy, dz = UPPER - LOWER
    two = 2 * n
    floor = sheet((x0, y0, z1), (dx, 0, 0), (0, 0, -dz), two, two, (4, 3))
    ceiling = sheet((x0, y1, z0), (dx, 0, 0), (0, 0, dz), two, two)
    back = sheet((x0, y0, z0), (dx, 0, 0), (0, dy, 0), two, n)
    front = sheet((x1, y0, z1), (-dx, 0, 0), (0, dy, 0), two, n)
    left = sheet((x0, y0, z1), (0, 0, -dz), (0, dy, 0), two, n)
    right = sheet((x1, y0, z0), (0, 0, dz), (0, dy, 0), two, n)
    return [(floor, PARQUET), (ceiling, CHALK), (back, PLASTER), (front, PLASTER), (left, 4), (right, PLASTER)]


def _column(n: int, radius: float, height: float, x: float, z: float, y: float = 0.0) -> Surface:
    """An upright round leg, open at its ends."""
    return lathe(lambda t: (radius * (0.7 + 0.3 * t), height * t), n, n).placed(translation=(x, y, z))


def _table(n: int) -> list[tuple[Surface, int]]:
    """A top and four legs: ten patches."""
    top = box_sheets((-1.5, 0.70, -0.85), (0.5, 0.78, 0.25), n)
    legs = [_column(n, 0.06, 0.70, x, z) for x in (-1.38, 0.38) for z in (-0.73, 0.13)]
    return [(side, OAK) for side in top] + [(leg, OAK) for leg in legs]


def _seats(n: int) -> list[tuple[Surface, int]]:
    """A sofa of seat and back, and a chest against the wall: eighteen patches."""
    boxes = [
        ((-3.9, 0.12, -1.6), (-2.9, 0.48, 1.4), 0),
        ((-3.95, 0.48, -1.6), (-3.62, 1.05, 1.4), 0),
        ((1.4, 0.02, -2.95), (3.2, 0.95, -2.35), OAK),
    ]
    return [(side, material) for low, high, material in boxes for side in box_sheets(low, high, n)]


def _ornaments(n: int, seed: int) -> list[tuple[Surface, int]]:
    """Two round cushions, a ring, a vase, a lamp shade, a rug and a curtain: seventeen patches."""
    ball = rounded_box(n, 2.0)
    vase = lathe(lambda t: (0.16 + 0.07 * np.sin(2.0 * math.pi * (t * 0.9 + 0.1)), 0.5 * t), n, n).placed(
        translation=(-1.05, 0.781, -0.35)
    )
    shade = lathe(lambda t: (0.34 - 0.18 * t, 0.3 * t), n, n).placed(translation=(0.4, 2.62, -1.4))
    return [
        (ball.placed((0.32, 0.3, 0.32), (1.75, 0.31, 0.7)), 2),
        (ball.placed((0.24, 0.24, 0.24), (-0.1, 1.021, -0.3)), 5),
        (torus(0.28, 0.07, n, n).placed(translation=(2.3, 1.021, -2.65)), BRASS),
        (vase, 3),
        (shade, 1),
        (sheet((-2.3, 0.012, 1.9), (3.6, 0, 0), (0, 0, -3.4), n, n), 0),
        (_curtain(n, seed), 2),
    ]


def _curtain(n: int, seed: int) -> Surface:
    """A folded sheet before the back wall."""
    flat = sheet((-2.6, 0.05, -2.8), (2.2, 0, 0), (0, 2.75, 0), n, n)
    phase = float(np.random.default_rng(seed).uniform(0.0, 2.0 * math.pi))
    angle = flat.positions[:, 0].astype(np.float64) * 17.0 + phase
    positions = flat.positions.copy()
    positions[:, 2] += (0.07 * np.sin(angle)).astype(np.float32)
    normals = np.stack([-0.07 * 17.0 * np.cos(angle), np.zeros_like(angle), np.ones_like(angle)], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return flat._replace(positions=positions, normals=normals.astype(np.float32))
