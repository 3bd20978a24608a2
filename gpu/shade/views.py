"""Views of what is hit: readings of every pixel's hit as colours, with the value under the pointer, a range, a
histogram and colour maps."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np

from ..animate.animate import Surface
from ..settings import option
from ..stats import Reading, StepCounts
from ..target.base import Array, Target
from ..trace.trace import CameraRays, HitBuffer, Tracer
from .base import RayType
from .color_maps import NAMES
from .frame_context import FrameContext
from .heat import HeatMap, HeatRow, legend
from .materials import Materials
from .presentation import Legend, NumberPresentation

VALUES = float(1 << 20)
"""Values of a heat map that one unit of a reading has: a histogram then resolves a millionth, and its bars a
thirty-second of what they stand for."""


@dataclasses.dataclass(frozen=True)
class Shown:
    """A way to show readings: `plane` of them by a colour map, from `low` to `high`; where `low` is None three planes
    as red, green and blue, times
    `scale` plus `offset`, or with `is_id` a whole number as a colour of its own. `label` is what a legend says."""

    label: str
    plane: int = 0
    low: float | None = None
    high: float = 1.0
    is_length: bool = False
    is_id: bool = False
    scale: float = 1.0
    offset: float = 0.0


@dataclasses.dataclass(frozen=True)
class ViewRow(HeatRow):
    """The options as kernels read them."""

    plane: int
    values_in_one: float
    """How many values of the heat map a reading of 1 is."""
    scale: float
    offset: float
    is_geometric: bool
    """Whether normals are the triangles' own."""


class ReadingPresentation(NumberPresentation):
    """The scale of what is shown, its histogram, and the readings of one pixel."""

    @classmethod
    def legend(cls, integrator: Any, options: Any) -> Legend | None:
        shown = integrator.SHOWN[options.show]
        if shown.low is None:
            return None
        return legend(shown.label, options.minimum, max(options.maximum, options.minimum + 1e-6), options.colors)

    def step_reader(self) -> Callable[[], StepCounts | None]:
        view: SurfaceViewType = self.integrator
        if view.shown.low is None:
            return lambda: None
        return view.heat.reader(view.shown.label, view.unit_length / VALUES)

    def reading(self, tracer: Tracer, surface: Surface, rays: CameraRays) -> Reading:
        view: SurfaceViewType = self.integrator
        hits = tracer.trace(rays)
        if int(view.target.download(hits.prim_id)[0]) < 0:
            return Reading("nothing is hit", None)
        found = view.target.download(view.readings(surface, rays, hits, "shade.reading"))[:, 0]
        return Reading(view.describe(found), None if view.shown.low is None else float(found[view.shown.plane]))


def darkest() -> float:
    """The option `minimum` of a view."""
    return option(0.0, "What gets the darkest colour; less looks the same.", minimum=0.0, maximum=1e30)


def brightest(default: float) -> float:
    """The option `maximum` of a view."""
    return option(default, "What gets the brightest colour; more looks the same.", minimum=0.0, maximum=1e30)


def fitted(default: bool) -> bool:
    """The option `automatic` of a view."""
    text = "Fit the range to each picture; the brightest colour is what one pixel in two hundred exceeds."
    return option(default, text)


def colors() -> str:
    """The option `colors` of a view."""
    return option("viridis", "The colour map.", choices=NAMES)


class SurfaceViewType(RayType):
    """See the module. A view says in SHOWN what its option `show` takes. It fills `planes` numbers per pixel by the
    kernel `read_<name>` of probes.cu, which `takes` some of what is `given`."""

    Presentation = ReadingPresentation
    shows_materials = False
    is_debug_view = True
    SHOWN: ClassVar[dict[str, Shown]]
    planes: ClassVar[int]
    takes: ClassVar[tuple[str, ...]]

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self.heat = HeatMap(target)
        self.shown = next(iter(self.SHOWN.values()))
        self.unit_length = 1.0
        """What a reading of 1 is divided by before it becomes a value."""

    def kernel_arguments(self, surface: Surface, rays: CameraRays, hits: HitBuffer) -> dict[str, Any]:
        """Arguments of kernels, by name."""
        has_coordinates = int(len(surface.uvs) == len(surface.positions))
        found = {"surface": self._surface_view(surface), "frame": rays.frame, "has_coordinates": has_coordinates}
        return {**found, "options": self._parameters, **hits.arrays()}

    @property
    @abc.abstractmethod
    def text(self) -> str:
        """What one pixel's readings are in words, with their numbers to be filled in."""

    def describe(self, readings: np.ndarray) -> str:
        """One pixel's readings in words; it has hit something."""
        return self.text.format(*(readings.view(np.int32) if self.shown.is_id else readings))

    @property
    def shape(self) -> Hashable:
        return (self.shown.low is None, self.shown.is_id)

    def parameters(self, options: Any, context: FrameContext) -> ViewRow:
        self.shown = shown = self.SHOWN[options.show]
        self.unit_length = context.diagonal if shown.is_length else 1.0
        per_one = VALUES / self.unit_length
        low, high, automatic, colors = 0.0, 1.0, False, 0
        if shown.low is not None:
            low, high = (float(np.clip(end * per_one, 0.0, 2.0**30)) for end in (options.minimum, options.maximum))
            high, automatic, colors = max(high, low + 1.0), options.automatic, NAMES.index(options.colors)
        is_geometric = getattr(options, "geometric", False)
        return ViewRow(low, high, automatic, colors, shown.plane, per_one, shown.scale, shown.offset, is_geometric)

    def needs_whole_picture(self, options: Any, samples: int) -> bool:
        return self.SHOWN[options.show].low is not None and bool(options.automatic)

    def needs_structure(self, light_count: int) -> bool:
        return False

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        context.compile_primary(tracer)
        self._unit("gpu/shade/probes.cu")
        self._unit("gpu/shade/views.cu")
        self.heat.compile()

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        with self.target.phase("trace.primary"):
            hits = context.primary_hits(tracer)
        with self.target.phase("shade"):
            readings = self.readings(context.surface, context.rays, hits, "shade.readings")
            self._color(context, hits, readings)

    def readings(self, surface: Surface, rays: CameraRays, hits: HitBuffer, scratch: str) -> Array:
        """The readings of these hits, `planes` planes in ray order, in scratch memory of that name. Launches only."""
        readings = self.target.scratch(scratch, (self.planes, rays.padded_count), np.float32)
        packs, given = rays.padded_count // self.target.lane_count, self.kernel_arguments(surface, rays, hits)
        self.target.launch(
            self._unit("gpu/shade/probes.cu"),
            f"read_{self.name}",
            packs,
            pack_count=packs,
            readings=readings.view("i4") if self.shown.is_id else readings,
            **{name: given[name] for name in self.takes},
        )
        return readings

    def _color(self, context: FrameContext, hits: HitBuffer, readings: Array) -> None:
        unit, packs, shown = self._unit("gpu/shade/views.cu"), self._packs(context), self.shown
        common = {"options": self._parameters, "pack_count": packs, "prim_id": hits.prim_id}
        if shown.low is not None:
            self.target.launch(
                unit, "quantise_reading", packs, **common, readings=readings, values=self.heat.values(context)
            )
            self.heat.draw(context, self._parameters)
        elif shown.is_id:
            self.target.launch(
                unit, "shade_ids", packs, frame=context.frame, **common, readings=readings.view("i4"), sums=context.sums
            )
        else:
            self.target.launch(
                unit, "shade_vector", packs, frame=context.frame, **common, readings=readings, sums=context.sums
            )
