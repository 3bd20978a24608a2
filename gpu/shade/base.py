"""The contract of a ray type: an integrator that draws one sample of a view into its film.

`prepare` does the host's part of a frame (options, memory); `render` only launches, so that a frame of unchanged shape can be captured.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np

from ..animate.animate import Surface
from ..camera import Camera
from ..settings import option
from ..stats import Reading, StepCounts
from ..target.base import Array, Target, Unit, UnitSource
from ..trace.trace import CameraRays, Tracer
from .film import TONES, Film
from .materials import Materials
from .ray_counts import RayCounts
from .surface_view import surface_view

Color = tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class PictureOptions:
    """What every ray type has: exposure and background."""

    exposure: float = option(0.0, "Brightens (or darkens) the picture; each step doubles the light.", minimum=-10.0, maximum=10.0, unit="stops")
    tone: str = option(
        "none",
        "How light beyond a screen is brought into its range: cut off, pressed together with its hue kept (reinhard), or as film does.",
        choices=TONES,
    )
    background_below: Color = option((0.2, 0.2, 0.22), "Linear colour of the background straight down.", minimum=0.0, maximum=100.0)
    background_above: Color = option(
        (0.32, 0.4, 0.52), "Linear colour of the background straight up; the same as below makes it constant.", minimum=0.0, maximum=100.0
    )


@dataclasses.dataclass(frozen=True)
class EnvironmentOptions(PictureOptions):
    """What ray types have that show the scene's environment where rays hit nothing."""

    environment: float = option(1.0, "Factor on the light of the scene's environment.", minimum=0.0, maximum=1e4)
    environment_turn: float = option(0.0, "How far the environment is turned around the vertical.", minimum=-360.0, maximum=360.0, unit="degrees")


@dataclasses.dataclass(frozen=True)
class Legend:
    """A scale that explains a picture's colours: `colors` (N, 3) uint8 sRGB from `low` to `high` of `label`."""

    label: str
    low: float
    high: float
    colors: np.ndarray


class RayType(abc.ABC):
    """See the module. One instance a view; `name` is the command line's."""

    name: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type]
    rays_part: ClassVar[bool] = False
    """Whether its frames last as long as rays that go each their own way: `auto` then is the layout that was faster for those."""

    def __init__(self, target: Target, materials: Materials) -> None:
        self.target, self.materials = target, materials
        self.diagonal = 1.0
        """Of the scene's box at all times, in scene units; whoever makes the ray type sets it."""
        self.camera = Camera()
        """What the view looks through; set before each `prepare`."""
        self._packed: bytes = b""
        self._parameters: Array = None

    @abc.abstractmethod
    def parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        """The options as the kernel's float array."""

    @abc.abstractmethod
    def compile(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        """Compile what `render` launches: ahead of the first frame, so that no frame's times hold a compiler's."""

    @abc.abstractmethod
    def render(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        """Trace and shade one sample into the film. Launches only."""

    def reserve(self, options: Any, film: Film) -> None:
        """Take the memory of its own that a picture of the film's size needs. Between two frames, before `prepare`."""

    def prepare(self, options: Any, surface: Surface) -> None:
        """Write the options to the target where they changed."""
        values = np.array(self.parameters(options, surface), np.float32)
        if self._parameters is None:
            self._parameters = self.target.zeros(len(values), np.float32, "shade")
        if values.tobytes() != self._packed:
            self._packed = values.tobytes()
            self.target.write(self._parameters, values)

    def exposure(self, options: Any) -> float:
        """The factor on linear colours before they are clamped."""
        return float(2.0**options.exposure)

    def tone(self, options: Any) -> str:
        """One of TONES: what becomes of linear colours before they are clamped."""
        return str(getattr(options, "tone", "none"))

    def shutter(self, options: Any) -> float:
        """Seconds that the shutter is open: each sample of the film then shows another instant of them. With several views in a frame the first
        one's instant is shown by all."""
        return 0.0

    @property
    def shape(self) -> Hashable:
        """What of the options decides which kernels `render` launches."""
        return ()

    def ray_counts(self) -> RayCounts | None:
        """Counters of the secondary rays of the sample last rendered; None where there are none."""
        return None

    def step_reader(self) -> Callable[[], StepCounts | None]:
        """Start reading back the steps that the sample last rendered has counted; the function gives them once they are there, else None."""
        return lambda: None

    def reading(self, tracer: Tracer, surface: Surface, rays: CameraRays) -> Reading | None:
        """What the colour of the first of these rays stands for; None for types whose colours are just colours. Waits: outside a frame."""
        return None

    @classmethod
    def legend(cls, options: Any) -> Legend | None:
        """What the colours mean, where they mean a number."""
        return None

    def _unit(self, path: str) -> Unit:
        return self.target.unit(UnitSource(path, rays_per_thread=0))

    def _packs(self, film: Film) -> int:
        return film.rays.padded_count // self.target.lane_count

    def _surface_view(self, surface: Surface) -> np.ndarray:
        return surface_view(surface, self.materials)

    def _environment_view(self, options: Any) -> np.ndarray:
        """EnvironmentView of environment.cuh, of EnvironmentOptions. By value: what it holds belongs to a frame's shape."""
        return self.materials.environment.view(options.environment, options.environment_turn / 360.0)
