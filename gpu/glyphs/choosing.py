"""What `auto` is: the arrangement that was fastest where it was measured, for about so many spheres of about such a
size in a picture of about such a size, of this scene on this device.

Where frames may be used to measure (`may_try`: a window's), the first ones of such a picture are drawn by the
candidates in turn: pictures are equal, so nobody sees it, and each frame's own times come back later. The fastest is
kept for as long as the program runs. Where they may not (pictures that are rendered), and while times are still on
their way, a rule decides, so that what is rendered never hangs on a clock.
"""

from __future__ import annotations

import dataclasses
import math
import weakref
from collections.abc import Callable
from typing import Any

from ..brief import brief
from ..camera import Camera
from ..target.base import Target
from .options import GlyphOptions

_IN_TILES = {"tiles": 64, "block_x": 16, "block_y": 8, "local_buffer": True, "box_loops": True}
CANDIDATES: dict[str, tuple[dict[str, Any], ...]] = {
    "cuda": (
        {"arrangement": "splat", "near_first": True},
        {"arrangement": "splat", "near_first": False},
        {"arrangement": "pixels_by_pixels", "lists": "front_to_back", **_IN_TILES, "depth_tiles": 1},
        {"arrangement": "spheres_by_pixels", "lists": "scatter", **_IN_TILES, "depth_tiles": 8},
        {"arrangement": "spheres_by_spheres", "lists": "scatter", **_IN_TILES, "depth_tiles": 1},
    ),
    "host": (
        {
            "arrangement": "spheres_by_pixels", "lists": "scatter", "tiles": 18, "depth_tiles": 8, "ray_setup": "tile",
            "local_buffer": True, "box_loops": True,
        },
        {"arrangement": "splat", "near_first": True},
    ),
}  # fmt: skip
"""What is tried on each kind of target; the first is the rule's. Few, as a unit of each is compiled."""

HOST_TILE_SIDE = 30
"""Pixels of a tile's side on a host, in the mean: a tile's rays and their hits stay in a core's first cache, and are no
more than RAY_PIXELS in pictures up to ten times as wide as high. 24 to 32 are equally fast."""

UNTIMED, TIMED = 4, 4
"""Frames of a candidate: in the first ones kernels are compiled, lists get their memory and launches are captured."""
LEAST_GAIN = 0.05
"""A candidate takes the rule's place where it is faster by this share at least."""
PATIENCE = 64
"""Frames that times may take to come; a candidate without any is left out."""
SPREAD = 0.75
"""A picture counts as alike until a logarithm of its numbers is so far from the class's own."""


def candidates_of(kind: str, pixels: int) -> tuple[dict[str, Any], ...]:
    """What is tried on a kind of target for pictures of so many pixels, the rule's first."""
    found = CANDIDATES[kind]
    if kind != "host":
        return found
    tiles = max(1, math.ceil(math.sqrt(pixels) / HOST_TILE_SIDE))
    return tuple({**candidate, "tiles": tiles} if "tiles" in candidate else candidate for candidate in found)


@dataclasses.dataclass(frozen=True)
class Situation:
    """Numbers that decide which arrangement is fastest: spheres, their typical radius in pixels, the picture's
    pixels."""

    spheres: int
    radius: float
    pixels: int

    @property
    def logarithms(self) -> tuple[float, float, float]:
        """Base 2; the radius counts double, as an area does."""
        return (
            math.log2(max(self.spheres, 1)), 2.0 * math.log2(max(self.radius, 0.25)), math.log2(max(self.pixels, 1)),
        )  # fmt: skip

    def is_like(self, other: tuple[int, ...]) -> bool:
        """Whether it still belongs to a class, so that a picture on the border does not change its class and back."""
        return all(abs(mine - of) <= SPREAD for mine, of in zip(self.logarithms, other, strict=True))

    @property
    def class_of(self) -> tuple[int, ...]:
        """The class that it is in the middle of."""
        return tuple(round(value) for value in self.logarithms)


def typical_radius(camera: Camera, height: int, radius: float, centre: tuple[float, ...], extent: float) -> float:
    """How many pixels a sphere of that radius has at the scene's middle; `extent` is the scene's diagonal, a quarter of
    which is the least distance: an eye within the scene is near to some and far from others."""
    if camera.orthographic:
        return radius / camera.height * height
    distance = max(math.dist(camera.eye, centre), 0.25 * extent, 1e-30)
    return radius / (2.0 * distance * math.tan(math.radians(camera.fov) / 2.0)) * height


class Ticket:
    """What a frame was drawn by; `took` is told what it cost. Nothing is learnt from one that is not `is_timed`."""

    def __init__(self, trial: Trial, number: int) -> None:
        self._trial, self._number = trial, number

    def took(self, phases_ms: dict[str, float]) -> None:
        """The frame's phases by name."""
        if (ms := phases_ms.get("trace.primary")) is not None:
            self._trial.times.setdefault(self._number, []).append(ms)


class Trial:
    """The candidates of one class of pictures, one after the other."""

    def __init__(self, count: int) -> None:
        self.count, self.frames, self.times = count, 0, dict[int, list[float]]()
        self.best: int | None = None

    @property
    def number(self) -> int:
        """Which candidate is to draw now: the rule's where all have had their turn."""
        turn = self.frames // (UNTIMED + TIMED)
        return turn if turn < self.count else 0

    @property
    def is_trying(self) -> bool:
        """Whether candidates still take turns."""
        return self.frames < self.count * (UNTIMED + TIMED)

    def next_frame(self) -> Ticket | None:
        """A frame is drawn by `number`."""
        number, is_timed = self.number, self.frames % (UNTIMED + TIMED) >= UNTIMED and self.is_trying
        self.frames += 1
        return Ticket(self, number) if is_timed else None

    def conclude(self) -> None:
        """Find the best, where all times have come or none is waited for any more."""
        has_all = all(len(self.times.get(number, ())) >= TIMED for number in range(self.count))
        if self.is_trying or not (has_all or self.frames > self.count * (UNTIMED + TIMED) + PATIENCE):
            return
        least = {number: min(times) for number, times in self.times.items()}
        best = min(least, key=lambda number: least[number], default=0)
        rule = least.get(0, math.inf)
        self.best = best if least.get(best, math.inf) < rule * (1.0 - LEAST_GAIN) else 0


Trials = dict[tuple[int, ...], Trial]
_TRIALS: weakref.WeakKeyDictionary[Target, weakref.WeakKeyDictionary[object, Trials]] = weakref.WeakKeyDictionary()
"""What was measured of each scene on each target: views and engines share it. Not scenes: how their spheres lie, and in
which order in memory, makes one arrangement or another the fastest."""


class Chooser:
    """What `auto` is for one view of a scene, from frame to frame. Options that say how spheres are read and tested
    stay what was chosen."""

    def __init__(self, target: Target, options: GlyphOptions, scene: object) -> None:
        self.target, self.options = target, options
        self._class: tuple[int, ...] | None = None
        self._pixels = 1
        self._trials = _TRIALS.setdefault(target, weakref.WeakKeyDictionary()).setdefault(scene, {})

    @property
    def is_open(self) -> bool:
        """Whether there is anything to choose."""
        return self.options.arrangement == "auto"

    def choose(self, situation: Situation, may_try: bool) -> tuple[GlyphOptions, str, Callable[[], Ticket | None]]:
        """Between frames: the options to draw by, why, and what is to be called for a frame that draws by them."""
        if not self.is_open:
            return self.options, "chosen", _no_ticket
        self._pixels = situation.pixels
        if self._class is None or not situation.is_like(self._class):
            self._class = situation.class_of
        trial = self._trials.get(self._class)
        if trial is None and may_try:
            trial = self._trials[self._class] = Trial(len(CANDIDATES[self.target.kind]))
        if trial is not None and trial.best is None:
            trial.conclude()
        if not may_try or trial is None:
            return self._candidate(0), f"auto: the rule for {self._device}", _no_ticket
        if trial.best is not None:
            return self._candidate(trial.best), self._measured(trial, trial.best), _no_ticket
        if not trial.is_trying:
            return self._candidate(0), "auto: times are on their way", trial.next_frame
        return self._candidate(trial.number), f"auto: trying {trial.number + 1} of {trial.count}", trial.next_frame

    @property
    def needs_times(self) -> bool:
        """Whether times of this frame are waited for."""
        trial = self._trials.get(self._class or ())
        return self.is_open and trial is not None and trial.best is None

    @property
    def _device(self) -> str:
        return "GPUs" if self.target.kind == "cuda" else "CPUs"

    def _measured(self, trial: Trial, best: int) -> str:
        assert self._class is not None
        spheres, radius = 2.0 ** self._class[0], 2.0 ** (0.5 * self._class[1])
        what = f"fastest of {trial.count} measured here" if best else f"none of {trial.count} measured here is faster"
        of = f"about {spheres:,.0f} spheres of {brief(radius, 2)} px"
        times = trial.times.get(best)
        return f"auto: {what} for {of}" + (f", {brief(min(times))} ms" if times else "")

    def _candidate(self, number: int) -> GlyphOptions:
        return dataclasses.replace(self.options, **candidates_of(self.target.kind, self._pixels)[number])


def _no_ticket() -> None:
    return None
