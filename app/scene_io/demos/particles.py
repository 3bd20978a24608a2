"""`spheres` and `mixed`: many spheres in the field of view, and spheres that fall through a sieve.

`spheres` is a stand-in for Soell's data set (2015), which is not published: centres lie uniformly in what a camera
sees between a near and a far plane at 1:4. Its radius is read in two ways: the same for all in pixels, wherever they
lie, or the same for all in the world.
"""

from __future__ import annotations

import math

import numpy as np

from raygrove.gpu.scene import Light, Material, Mesh, Node, Object, PeriodicBox, Scene, SceneCamera, SphereKeys, Spheres

from .memory import check_memory
from .parts import PALETTE, bounds, mesh_of
from .shapes import Surface, merge

SEED = 2015
NEAR, FAR, FOV, PICTURE = 1.0, 4.0, 45.0, 1024
"""Distances and vertical angle of what the camera of `spheres` sees, and the pixels that radii are counted in."""
SECONDS, KEYS = 8.0, 49
MANY, KEYS_OF_MANY = 16_000_000, 13
"""More falling spheres than that have fewer key frames: 100 million take 16 GB with them, 59 with all."""

HOLES, BAR = 6, 0.2
"""Holes of the sieve along a side, and how much of a hole's distance its bars take."""
HALF, HEIGHT = 1.0, 3.0
BYTES_A_SPHERE, BYTES_BESIDE_KEYS = 72, 100
"""Of memory while they are made, as measured, of `spheres` with a copy on the way to the target, and of `mixed`;
structures take 60 to 130 more."""


def make_spheres(spheres: int, seed: int, radius: str = "pixels", pixels: float = 3.0) -> Scene:
    """Spheres uniformly in the frustum of a camera at zero that looks along -z. `radius`: `pixels` of a picture of
    1024, or the same in the `world`, as many pixels as that in the middle distance."""
    check_memory(spheres, BYTES_A_SPHERE)
    random = np.random.default_rng((SEED, seed) if seed else SEED)
    slope = math.tan(math.radians(FOV / 2.0))
    away = np.cbrt(random.uniform(NEAR**3, FAR**3, spheres))
    centres = np.empty((spheres, 3), np.float32)
    for axis in range(2):
        centres[:, axis] = random.uniform(-slope, slope, spheres) * away
    centres[:, 2] = -away
    per_pixel = 2.0 * slope / PICTURE
    radii = (pixels * per_pixel * (away if radius == "pixels" else np.full(spheres, away.mean()))).astype(np.float32)
    colours = np.asarray(PALETTE, np.float32)[random.integers(0, len(PALETTE), spheres), :3]
    reach = float(radii.max(initial=0.0))
    side = slope * FAR + reach
    lower, upper = bounds(np.array([-side, -side, -FAR - reach]), np.array([side, side, -NEAR + reach]))
    return Scene(
        "spheres",
        spheres=(Spheres("spheres", centres, radii, colours),),
        objects=(Object(0, spheres=0),),
        materials=(Material("sphere", roughness=0.5),),
        lights=(Light("directional", (2.5, 2.5, 2.5), direction=(-0.4, -0.6, -0.7)),),
        cameras=(SceneCamera("as the data set is seen", 0, FOV),),
        lower=lower,
        upper=upper,
        eye=(0.0, 0.0, 0.0),
        look_at=(0.0, 0.0, -NEAR),
    )


def make_mixed(primitives: int, seed: int) -> Scene:
    """A sieve of bars and, for the rest of the primitives, spheres that fall through its holes again and again: the
    box is periodic from below to above."""
    sieve = _sieve()
    count = max(1, primitives - len(sieve.triangles))
    keys = KEYS if count <= MANY else KEYS_OF_MANY
    check_memory(count, BYTES_BESIDE_KEYS + 12 * keys, primitives)
    random = np.random.default_rng(seed)
    pitch = 2.0 * HALF / HOLES
    radius = min(0.4 * (1.0 - BAR) * pitch, 0.6 * HALF / math.cbrt(count))
    home = random.uniform(-HALF, HALF, (count, 2))
    hole = (np.floor((home + HALF) / pitch).clip(0, HOLES - 1) + 0.5) * pitch - HALF
    room = max(0.0, 0.5 * (1.0 - BAR) * pitch - radius)
    through = hole + (home - hole).clip(-room, room)
    start = random.uniform(0.0, 1.0, count)
    times = np.linspace(0.0, SECONDS, keys)
    centres = np.empty((keys, count, 3), np.float32)
    for key, time in enumerate(times):
        height = HEIGHT * (0.5 - (start + time / SECONDS) % 1.0)
        near = np.exp(-((height / (0.25 * HEIGHT)) ** 4))[:, None]
        centres[key, :, [0, 2]] = (home + (through - home) * near).T
        centres[key, :, 1] = height
    radii = (radius * random.uniform(0.6, 1.0, count)).astype(np.float32)
    colours = np.asarray(PALETTE, np.float32)[random.integers(0, len(PALETTE), count), :3]
    corner = np.array([-HALF, -HEIGHT / 2.0, -HALF])
    cell = PeriodicBox(corner, np.diag(-2.0 * corner), (False, True, False))
    falling = Spheres("falling", centres[0], radii, colours, 1, key_frames=SphereKeys(times, centres), box=cell)
    reach = np.array([HALF + radius, HEIGHT / 2.0 + HEIGHT / keys + radius, HALF + radius])
    lower, upper = bounds(-reach, reach)
    return Scene(
        "mixed",
        nodes=(Node(),),
        meshes=(sieve,),
        spheres=(falling,),
        objects=(Object(0, 0), Object(0, spheres=0)),
        materials=(Material("steel", (0.7, 0.72, 0.75, 1.0), 1.0, 0.3), Material("sphere", roughness=0.4)),
        lights=(
            Light("directional", (2.2, 2.1, 2.0), direction=(-0.5, -0.9, -0.6)),
            Light("point", (4.0, 4.5, 5.0), (-2.0, 2.5, 3.0)),
        ),
        lower=lower,
        upper=upper,
        eye=(2.2, 1.7, 3.6),
        look_at=(0.0, -0.1, 0.0),
    )


def _sieve() -> Mesh:
    """Bars along x and along z, one above the other, so that no face of the one lies in a face of the other."""
    pitch, thick = 2.0 * HALF / HOLES, 0.5 * BAR * 2.0 * HALF / HOLES
    bars = []
    for place in np.arange(HOLES + 1) * pitch - HALF:
        bars.append(_box((0.0, 0.5 * thick, place), (HALF + thick, 0.5 * thick, 0.5 * thick)))
        bars.append(_box((place, -0.5 * thick, 0.0), (0.5 * thick, 0.5 * thick, HALF + thick)))
    return mesh_of("sieve", merge(bars))


def _box(centre: tuple[float, float, float], half: tuple[float, float, float]) -> Surface:
    """Six faces, each with its normal and corners of its own, wound counterclockwise as seen from outside."""
    positions, normals = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            first, second = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            normal = side * np.eye(3)[axis]
            corners = [normal + s * side * first + t * second for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            positions += [np.multiply(corner, half) + centre for corner in corners]
            normals += [normal] * 4
    quads = np.arange(24).reshape(6, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return Surface(np.array(positions, np.float32), np.array(normals, np.float32), triangles.astype(np.int32))
