"""`radiosity_room`: Cornell's room of one red, one green and three white walls, a lamp in its ceiling, and two bodies,
still: for light that goes from wall to wall."""

from __future__ import annotations

import math

import numpy as np

from raygrove.gpu.scene import Material, Object, Scene

from .parts import bounds, painted
from .shapes import Surface, box_sheets, rounded_box, sheet, torus_knot

LOWER, UPPER = np.array([-1.0, 0.0, -1.0]), np.array([1.0, 2.0, 1.0])
WHITE, RED, GREEN, LAMP, CLAY = range(5)
LAMP_SIDE = 0.56


def make_radiosity_room(triangles: int, seed: int) -> Scene:
    """The walls are a tenth of the triangles, the bodies the others: a knot on the floor, and a ball on a block."""
    n = max(1, round(math.sqrt(triangles * 0.1 / 22.0)))
    rest = max(12, triangles - 22 * n * n)
    around = max(3, round(math.sqrt(rest * 0.7 / 2.0 / 16.0)))
    knot = torus_knot(2, 3, 0.30, 0.12, 0.10, 16 * around, around)
    ball = rounded_box(max(1, round(math.sqrt(rest * 0.3 / 12.0))), 2.0)
    to_z = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], np.float32)  # its axis
    upright = knot._replace(positions=knot.positions @ to_z.T, normals=knot.normals @ to_z.T)
    turn = float(np.random.default_rng(seed).uniform(0.2, 0.5)) if seed else 0.35
    parts = _walls(n) + [
        (_turned(upright, turn).placed(translation=(-0.38, 0.55, -0.25)), CLAY),
        *((side, WHITE) for side in box_sheets((0.18, 0.0, -0.15), (0.72, 0.5, 0.39), n)[:2]),
        *((side, WHITE) for side in box_sheets((0.18, 0.0, -0.15), (0.72, 0.5, 0.39), n)[3:]),
        (ball.placed((0.24, 0.24, 0.24), (0.45, 0.74, 0.12)), WHITE),
    ]
    lower, upper = bounds(LOWER, UPPER)
    return Scene(
        "radiosity_room",
        meshes=(painted("radiosity_room", parts),),
        objects=(Object(0, 0),),
        materials=(
            Material("white", (0.73, 0.73, 0.73, 1.0), roughness=1.0),
            Material("red", (0.63, 0.06, 0.05, 1.0), roughness=1.0),
            Material("green", (0.14, 0.45, 0.09, 1.0), roughness=1.0),
            Material("lamp", (0.78, 0.78, 0.78, 1.0), roughness=1.0, emission=(13.0, 10.5, 7.5), is_double_sided=False),
            Material("clay", (0.72, 0.66, 0.55, 1.0), roughness=1.0),
        ),
        lower=lower,
        upper=upper,
        eye=(0.0, 1.0, 4.6),
        look_at=(0.0, 0.97, 0.0),
    )


def _walls(n: int) -> list[tuple[Surface, int]]:
    """All but the front one, which the eye looks through; the lamp hangs just under the ceiling."""
    (x0, y0, z0), (x1, y1, z1) = LOWER, UPPER
    dx, dy, dz = UPPER - LOWER
    half = LAMP_SIDE / 2.0
    return [
        (sheet((x0, y0, z1), (dx, 0, 0), (0, 0, -dz), n, n), WHITE),
        (sheet((x0, y1, z0), (dx, 0, 0), (0, 0, dz), n, n), WHITE),
        (sheet((x0, y0, z0), (dx, 0, 0), (0, dy, 0), n, n), WHITE),
        (sheet((x0, y0, z1), (0, 0, -dz), (0, dy, 0), n, n), RED),
        (sheet((x1, y0, z0), (0, 0, dz), (0, dy, 0), n, n), GREEN),
        (sheet((-half, y1 - 0.01, -half), (LAMP_SIDE, 0, 0), (0, 0, LAMP_SIDE), n, n), LAMP),
    ]


def _turned(surface: Surface, angle: float) -> Surface:
    """About +Y."""
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]], np.float32)
    return surface._replace(positions=surface.positions @ turn.T, normals=surface.normals @ turn.T)
