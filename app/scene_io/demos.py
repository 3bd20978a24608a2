"""The built-in scenes: generated from a seed, no file needed. The command line's `--demo NAME`, the welcome page and the benchmarks use them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

from gpu.scene import Scene
from gpu.settings import OptionError, option

from .demo_blob import make_blob
from .demo_cloth import make_cloth
from .demo_explode import make_explode
from .demo_orbit import make_orbit
from .demo_room import make_room
from .demo_walker import make_walker

FEWEST, MOST = 12, 16_000_000
"""How many triangles can be asked for."""


class UnknownDemoError(ValueError):
    """There is no built-in scene of that name."""


@dataclasses.dataclass(frozen=True)
class DemoInfo:
    """A built-in scene as the welcome page shows it; `triangles` is its default count, `seconds` how long it takes to repeat (0: still)."""

    name: str
    title: str
    sentence: str
    triangles: int
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class DemoOptions:
    """What can be chosen about a built-in scene."""

    triangles: int = option(
        0, f"About how many triangles the scene has; 0 takes the scene's own number, else {FEWEST} or more.", minimum=0, maximum=MOST
    )
    seed: int = option(0, "Number from which everything that looks random in the scene is drawn.", minimum=0, maximum=2**31 - 1)


DEMOS: tuple[DemoInfo, ...] = (
    DemoInfo("orbit", "Orbit", "Spheres circle a torus knot in a room of mirrors: many bodies that move rigidly.", 100_000, 12.0),
    DemoInfo("metal", "Metal", "The same room about a knot of polished metal: mirrors in mirrors, for recursive rays.", 100_000, 12.0),
    DemoInfo("glass", "Glass", "The same room about a knot of glass, which bends and takes away light, for recursive rays.", 100_000, 12.0),
    DemoInfo("explode", "Explode", "A shell bursts into its triangles: a refitted tree falls apart with it, a rebuilt one does not.", 70_000, 6.0),
    DemoInfo("walker", "Walker", "A robot of fifteen rigid parts walks in a circle: joints turn, triangles stay.", 30_000, 12.0),
    DemoInfo("cloth", "Cloth", "A sheet waves in the wind: smooth motion of every vertex, up to 16 million triangles.", 100_000, 4.0),
    DemoInfo("blob", "Blob", "A still body of 512,000 triangles of even size: the measure of building and tracing.", 512_000),
    DemoInfo("room", "Room", "A still, closed, furnished room of 499,712 triangles seen from inside: every ray hits.", 499_712),
)

_MAKERS: dict[str, Callable[[int, int], Scene]] = {
    "orbit": make_orbit,
    "metal": functools.partial(make_orbit, name="metal"),
    "glass": functools.partial(make_orbit, name="glass"),
    "explode": make_explode,
    "walker": make_walker,
    "cloth": make_cloth,
    "blob": make_blob,
    "room": make_room,
}


def demo_info(name: str) -> DemoInfo:
    """What is said of a built-in scene; `UnknownDemoError` names the ones there are."""
    for info in DEMOS:
        if info.name == name:
            return info
    raise UnknownDemoError(f"There is no built-in scene named {name!r}: choose one of {', '.join(info.name for info in DEMOS)}.")


def make_demo(name: str, triangles: int | None = None, seed: int = 0) -> Scene:
    """The built-in scene `name` with about `triangles` triangles (None or 0: its own number), as near as its tessellation allows.

    The same name, count and seed give the same bytes. Raises `UnknownDemoError`, and `OptionError` for a count outside 12 to 16,000,000.
    """
    info = demo_info(name)
    if triangles and not FEWEST <= triangles <= MOST:
        raise OptionError("demo.triangles", triangles, f"a whole number from {FEWEST:,} to {MOST:,}, or 0 for the scene's own number")
    if seed < 0:
        raise OptionError("demo.seed", seed, "a whole number of at least 0")
    return _MAKERS[name](triangles or info.triangles, seed)
