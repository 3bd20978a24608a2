"""The built-in scenes: generated from a seed, no file needed. The command line's `--demo NAME`, the welcome page and
the benchmarks use them."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable

from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError, option

FEWEST, MOST, MOST_SPHERES, MOST_BODIES = 12, 16_000_000, 100_000_000, 2_000_000
"""How many triangles can be asked for, how many spheres, and how many of them where they attract one another."""


class UnknownDemoError(ValueError):
    """There is no built-in scene of that name."""


@dataclasses.dataclass(frozen=True)
class DemoInfo:
    """A built-in scene as the welcome page shows it; `triangles` is its default count, spheres among them, `most` the
    largest and `limit` the reason why no larger one, `seconds` how long it takes to repeat (0: still), `counted` what
    there are so many of. A `variant` is in the menu and not on that page, where all scenes are seen at once."""

    name: str
    title: str
    sentence: str
    triangles: int
    seconds: float = 0.0
    most: int = MOST
    counted: str = "triangles"
    variant: bool = False
    limit: str = ""


RADII = ("pixels", "world")
"""How the radius of the scene `spheres` is read."""


@dataclasses.dataclass(frozen=True)
class DemoOptions:
    """What can be chosen about a built-in scene."""

    triangles: int = option(
        0,
        f"About how many triangles and spheres the scene has; 0 takes the scene's own number, else {FEWEST} or more. "
        f"Scenes of triangles and ball_and_stick have at most {MOST:,}, galaxy {MOST_BODIES:,}. What many spheres take "
        "in memory is said before they are made.",
        minimum=0,
        maximum=MOST_SPHERES,
    )
    seed: int = option(
        0, "Number from which everything that looks random in the scene is drawn.", minimum=0, maximum=2**31 - 1
    )
    sphere_radius: str = option(
        "pixels",
        "Of the scene spheres: pixels gives each as many pixels as sphere_pixels at its own distance, world gives all "
        "the radius that has so many in the middle distance.",
        choices=RADII,
    )
    sphere_pixels: float = option(
        3.0,
        "Of the scene spheres: their radius in pixels of a picture of 1024 (the thesis has 3 and 12).",
        minimum=0.01,
        maximum=1000.0,
    )


DEMOS: tuple[DemoInfo, ...] = (
    DemoInfo(
        "orbit",
        "Orbit",
        "Spheres circle a torus knot in a room: many bodies that move rigidly. To Whitted its walls are mirrors.",
        100_000,
        12.0,
    ),
    DemoInfo(
        "metal",
        "Metal",
        "The same room about a knot of polished metal: mirrors in mirrors, for recursive rays.",
        100_000,
        12.0,
    ),
    DemoInfo(
        "glass",
        "Glass",
        "The same room about a knot of glass, which bends and takes away light, for recursive rays.",
        100_000,
        12.0,
    ),
    DemoInfo(
        "explode",
        "Explode",
        "A shell bursts into its triangles: a refitted tree falls apart with it, a rebuilt one does not.",
        70_000,
        6.0,
    ),
    DemoInfo(
        "walker",
        "Walker",
        "A robot of fifteen rigid parts walks in a circle: joints turn, triangles stay.",
        30_000,
        12.0,
    ),
    DemoInfo(
        "cloth",
        "Cloth",
        "A sheet waves in the wind: smooth motion of every vertex, up to 16 million triangles.",
        100_000,
        4.0,
    ),
    DemoInfo(
        "blob", "Blob", "A still body of 512,000 triangles of even size: the measure of building and tracing.", 512_000
    ),
    DemoInfo(
        "room",
        "Room",
        "A still, closed, furnished room of 499,712 triangles seen from inside: every ray hits.",
        499_712,
    ),
    DemoInfo(
        "radiosity_room",
        "Radiosity room",
        "Cornell's room with two bodies under a lamp, still: light that goes from wall to wall.",
        30_000,
        variant=True,
    ),
)
"""Scenes of triangles."""

PARTICLE_DEMOS: tuple[DemoInfo, ...] = (
    DemoInfo(
        "spheres",
        "Spheres",
        "Still spheres of one size in pixels or in the world, up to 100 million: a stand-in for Soell's data set.",
        100_000,
        most=MOST_SPHERES,
        counted="spheres",
    ),
    DemoInfo(
        "mixed",
        "Mixed",
        "Spheres fall through a meshed sieve, again and again: triangles and moving spheres in one structure.",
        20_000,
        8.0,
        MOST_SPHERES,
        "spheres",
    ),
    DemoInfo(
        "galaxy",
        "Galaxy",
        "A rotating disc of stars that attract one another, simulated while it plays: particles that swirl.",
        4_000,
        12.0,
        MOST_BODIES,
        "spheres",
        limit="each of its steps finds the forces of all on all",
    ),
    DemoInfo(
        "molecule",
        "Molecule",
        "A generated bundle of helices whose atoms wobble, in the colours of their elements.",
        20_000,
        4.0,
        MOST_SPHERES,
        "spheres",
    ),
    DemoInfo(
        "ball_and_stick",
        "Ball and stick",
        "The same molecule as small atoms with bonds between them: spheres, and cylinders that follow them.",
        2_000,
        4.0,
        counted="spheres",
        variant=True,
        limit="the bonds between all atoms are looked for by one thread",
    ),
)
"""Scenes of spheres."""

_MODULES = {
    "metal": "orbit",
    "glass": "orbit",
    "spheres": "particles",
    "mixed": "particles",
    "ball_and_stick": "molecule",
}
"""The module of each scene that has none of its own name. It is imported with the scene, not with the program."""


ALL_DEMOS = (*DEMOS, *PARTICLE_DEMOS)
"""Those of the menu and, but for variants, of the welcome page, in its order."""


def demo_info(name: str) -> DemoInfo:
    """What is said of a built-in scene, whose name may have hyphens; `UnknownDemoError` names the ones there are."""
    name = name.replace("-", "_")
    for info in ALL_DEMOS:
        if info.name == name:
            return info
    known = ", ".join(info.name for info in ALL_DEMOS)
    raise UnknownDemoError(f"There is no built-in scene named {name!r}: choose one of {known}.")


def make_demo(
    name: str, triangles: int | None = None, seed: int = 0, sphere_radius: str = "pixels", sphere_pixels: float = 3.0
) -> Scene:
    """The built-in scene `name` with about `triangles` triangles and spheres (None or 0: its own number), as near as
    its tessellation allows. The last two are of `spheres` alone (`DemoOptions`).

    The same name, count and seed give the same bytes. Raises `UnknownDemoError`, and `OptionError` for a count that is
    not between 12 and the scene's most, or for more spheres than memory holds. What a GiB or more of them take is said
    before they are made (gpu/target/remarks.py).
    """
    info = demo_info(name)
    if triangles and not FEWEST <= triangles <= info.most:
        raise OptionError(
            "demo.triangles",
            triangles,
            f"a whole number from {FEWEST:,} to {info.most:,}{info.limit and f' ({info.limit})'}, or 0 for the scene's "
            "own number",
        )
    if seed < 0:
        raise OptionError("demo.seed", seed, "a whole number of at least 0")
    maker = _maker(info.name)
    if info.name == "spheres":
        maker = functools.partial(maker, radius=sphere_radius, pixels=sphere_pixels)
    return maker(triangles or info.triangles, seed)


def _maker(name: str) -> Callable[..., Scene]:
    """What makes a scene of about so many triangles from a seed."""
    module = importlib.import_module(f".{_MODULES.get(name, name)}", __name__)
    if name in ("metal", "glass"):
        return functools.partial(module.make_orbit, name=name)
    maker: Callable[..., Scene] = getattr(module, f"make_{name}")
    return maker
