"""`orbit`: a ring of spheres about a torus knot in a room of mirrors, the dynamic scene of Kolodzey 7.2. Rigid nodes
only.

`metal` and `glass` are the same with a knot of polished metal and one of glass: the pictures 7.2 and 7.3 there."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from raygrove.gpu.scene import Channel, Clip, Light, Material, Node, Object, Scene, Track

from .parts import about, bounds, colour_materials, full_turns, mesh_of, painted
from .shapes import Surface, box_sheets, torus_knot
from .sphere import icosphere, icosphere_frequency
from .textures import wood

DURATION = 12.0
SPHERES = 12
RING_RADIUS = 2.7
LOWER, UPPER = np.array([-8.0, -2.8, -8.0]), np.array([8.0, 6.2, 8.0])
"""The room: a camera that turns about the knot from where it starts stays inside."""


KNOTS = {
    "orbit": Material("gold", (0.95, 0.64, 0.25, 1.0), metallic=0.6, roughness=0.25),
    "metal": Material("steel", (0.86, 0.87, 0.88, 1.0), metallic=1.0, roughness=0.03),
    "glass": Material(
        "glass",
        (1.0, 1.0, 1.0, 1.0),
        roughness=0.0,
        transmission=1.0,
        ior=1.5,
        attenuation_color=(0.45, 0.78, 0.66),
        attenuation_distance=1.0,
    ),
}
"""What the knot is made of, by the scene's name."""


def make_orbit(triangles: int, seed: int, name: str = "orbit") -> Scene:
    """About 61 % of the triangles in the spheres, 3 % in the walls, the rest in the knot."""
    rng = np.random.default_rng(seed)
    frequency = icosphere_frequency(0.61 * triangles / SPHERES)
    wall_squares = max(1, round(math.sqrt(0.03 * triangles / 12.0)))
    left = triangles - 20 * frequency**2 * SPHERES - 12 * wall_squares**2
    around = max(3, round(math.sqrt(max(left, 0) / 2.0 / 15.0)))
    along = max(12, round(left / (2.0 * around)))
    colours = colour_materials(0.3)
    sphere = icosphere(frequency).placed(scale=(0.44, 0.44, 0.44))
    ball = mesh_of("sphere", sphere)
    balls = [dataclasses.replace(ball, material_ids=ball.material_ids + np.int32(k)) for k in range(len(colours))]
    knot = mesh_of("knot", torus_knot(2, 3, 1.0, 0.5, 0.22, along, around), len(colours))
    room = painted("room", _walls(wall_squares, len(colours)))
    nodes, channels = _nodes(rng)
    objects = [Object(0, 0), Object(1, 1)] + [Object(3 + k, 2 + k % len(balls)) for k in range(SPHERES)]
    materials = (
        *colours,
        KNOTS[name],
        Material("mirror", (0.62, 0.67, 0.72, 1.0), metallic=1.0, roughness=0.02),
        Material("parquet", (1.0, 1.0, 1.0, 1.0), roughness=0.4, base_color_texture=0),
        Material("ceiling", (0.78, 0.77, 0.74, 1.0), roughness=0.9),
    )
    lower, upper = bounds(LOWER, UPPER)
    return Scene(
        name,
        nodes=nodes,
        meshes=(room, knot, *balls),
        objects=tuple(objects),
        materials=materials,
        textures=(wood("parquet", seed=seed),),
        lights=(Light("point", (66.0, 62.0, 56.0), position=(2.0, 3.5, 2.2)),),
        clips=(Clip("orbit", DURATION, channels),),
        lower=lower,
        upper=upper,
        eye=(3.7, 1.55, 4.9),
        look_at=(-0.1, -0.35, 0.0),
    )


def _walls(squares: int, first_material: int) -> list[tuple[Surface, int]]:
    """The room seen from inside: mirrors all round, parquet below, plaster above."""
    sides = box_sheets(LOWER, UPPER, squares, inwards=True, repeat=6.0)
    mirror, parquet, ceiling = first_material + 1, first_material + 2, first_material + 3
    return list(zip(sides, (mirror, mirror, parquet, ceiling, mirror, mirror), strict=True))


def _nodes(rng: np.random.Generator) -> tuple[tuple[Node, ...], tuple[Channel, ...]]:
    """Scene, knot, ring, and one node a sphere that rides on the ring, rises and sinks."""
    tilt = about((0.0, 0.0, 1.0), math.radians(9.0))
    nodes = [Node("scene"), Node("knot"), Node("ring", translation=(0.0, -0.1, 0.0))]
    channels = [
        Channel(1, "rotation", full_turns((0.0, 1.0, 0.0), DURATION, -2)),
        Channel(2, "rotation", _tilted(full_turns((0.0, 1.0, 0.0), DURATION), tilt)),
    ]
    phase = float(rng.uniform(0.0, 2.0 * math.pi))
    times = np.linspace(0.0, DURATION, 33)
    for k in range(SPHERES):
        turn = 2.0 * math.pi * k / SPHERES
        rise = 0.32 * np.sin(2.0 * math.pi * 2.0 * times / DURATION + 3.0 * turn + phase)
        flat = np.ones_like(times)
        path = np.stack([RING_RADIUS * math.cos(turn) * flat, rise, RING_RADIUS * math.sin(turn) * flat], axis=1)
        path[-1] = path[0]
        first = path[0].tolist()
        nodes.append(Node(f"sphere {k + 1}", 2, translation=(first[0], first[1], first[2])))
        channels.append(Channel(3 + k, "translation", Track(times.astype(np.float32), path.astype(np.float32))))
    return tuple(nodes), tuple(channels)


def _tilted(track: Track, q: tuple[float, float, float, float]) -> Track:
    """Every rotation of the track followed by `q`."""
    x1, y1, z1, w1 = q
    x2, y2, z2, w2 = track.values.astype(np.float64).T
    values = np.stack(
        [
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
        ],
        axis=1,
    )
    return Track(track.times, values.astype(np.float32))
