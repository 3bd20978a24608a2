"""Views of what is hit: readings of every pixel's hit as colours, with the value under the pointer, a range, a histogram and colour maps."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np

from ..animate.animate import Surface
from ..stats import Reading, StepCounts
from ..target.base import Array, Target
from ..trace.trace import CameraRays, HitBuffer, Tracer
from .base import Legend, RayType
from .color_maps import NAMES
from .film import Film
from .heat import HeatMap, legend
from .materials import Materials

VALUES = float(1 << 20)
"""Values of a heat map that one unit of a reading has: a histogram then resolves a millionth, and its bars a thirty-second of what they stand for."""


@dataclasses.dataclass(frozen=True)
class Shown:
    """A way to show readings: `plane` of them by a colour map, from `low` to `high`; where `low` is None three planes as red, green and blue, times
    `scale` plus `offset`, or with `is_id` a whole number as a colour of its own. `label` is what a legend says."""

    label: str
    plane: int = 0
    low: float | None = None
    high: float = 1.0
    is_length: bool = False
    is_id: bool = False
    scale: float = 1.0
    offset: float = 0.0


class SurfaceViewType(RayType):
    """See the module. A view says in SHOWN what its option `show` takes, and fills `planes` numbers a pixel."""

    SHOWN: ClassVar[dict[str, Shown]]
    planes: ClassVar[int]

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._heat = HeatMap(target)
        self._shown = next(iter(self.SHOWN.values()))

    @abc.abstractmethod
    def read(self, surface: Surface, rays: CameraRays, hits: HitBuffer, readings: Array) -> None:
        """Launch what writes the readings of these hits: `planes` planes in ray order."""

    @abc.abstractmethod
    def describe(self, readings: np.ndarray) -> str:
        """One pixel's readings in words; it has hit something."""

    @property
    def _unit_length(self) -> float:
        """What a reading of 1 is divided by before it becomes a value."""
        return self.diagonal if self._shown.is_length else 1.0

    @property
    def shape(self) -> Hashable:
        return (self._shown.low is None, self._shown.is_id)

    @classmethod
    def legend(cls, options: Any) -> Legend | None:
        shown = cls.SHOWN[options.show]
        if shown.low is None:
            return None
        return legend(shown.label, options.minimum, max(options.maximum, options.minimum + 1e-6), options.colors)

    def parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        self._shown = shown = self.SHOWN[options.show]
        per_one = VALUES / self._unit_length
        heat = self._heat.parameters(0.0, 1.0, False, NAMES[0])
        if shown.low is not None:
            low, high = (float(np.clip(end * per_one, 0.0, 2.0**30)) for end in (options.minimum, options.maximum))
            heat = self._heat.parameters(low, max(high, low + 1.0), options.automatic, options.colors)
        return (*heat, shown.plane, per_one, shown.scale, shown.offset, *self.more_parameters(options))

    def more_parameters(self, options: Any) -> tuple[float, ...]:
        """What a view's own kernel reads, from the ninth number on."""
        return ()

    def exposure(self, options: Any) -> float:
        return 1.0

    def compile(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        tracer.compile(film.rays)
        self._unit(f"gpu/shade/{self.name}.cu")
        self._unit("gpu/shade/views.cu")
        self._heat.compile()

    def render(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        with self.target.phase("trace.primary"):
            hits = tracer.trace(film.rays)
        with self.target.phase("shade"):
            readings = self._readings(surface, film.rays, hits, "shade.readings")
            self._color(film, hits, readings)

    def _readings(self, surface: Surface, rays: CameraRays, hits: HitBuffer, scratch: str) -> Array:
        readings = self.target.scratch(scratch, (self.planes, rays.padded_count), np.float32)
        self.read(surface, rays, hits, readings)
        return readings

    def _color(self, film: Film, hits: HitBuffer, readings: Array) -> None:
        unit, packs, shown = self._unit("gpu/shade/views.cu"), self._packs(film), self._shown
        common = (self._parameters, packs, hits.prim_id)
        if shown.low is not None:
            self.target.launch(unit, "quantise_reading", packs, *common, readings, self._heat.values(film))
            self._heat.draw(film, self._parameters)
        elif shown.is_id:
            self.target.launch(unit, "shade_ids", packs, film.frame, *common, readings.view("i4"), film.sums)
        else:
            self.target.launch(unit, "shade_vector", packs, film.frame, *common, readings, film.sums)

    def step_reader(self) -> Callable[[], StepCounts | None]:
        if self._shown.low is None:
            return lambda: None
        return self._heat.reader(self._shown.label, self._unit_length / VALUES)

    def reading(self, tracer: Tracer, surface: Surface, rays: CameraRays) -> Reading:
        hits = tracer.trace(rays)
        if int(self.target.download(hits.prim_id)[0]) < 0:
            return Reading("nothing is hit", None)
        found = self.target.download(self._readings(surface, rays, hits, "shade.reading"))[:, 0]
        return Reading(self.describe(found), None if self._shown.low is None else float(found[self._shown.plane]))
