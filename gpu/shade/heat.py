"""Numbers of pixels as colours: the histogram, the range and the colour maps that traversal steps and the views of
surfaces share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ..rows import Row
from ..stats import STEP_BUCKETS, StepCounts
from ..target.base import Array, Target, UnitSource
from . import srgb
from .color_maps import NAMES, color_map
from .frame_context import FrameContext
from .presentation import Legend

_UNIT = UnitSource("gpu/shade/heat.cu", constants=(("SURFACE_KIND", 0),), rays_per_thread=0)


@dataclasses.dataclass(frozen=True)
class HeatRow(Row):
    """What the options of a ray type begin with that has a heat map: the range in whole values, and the colours."""

    range_low: float
    range_high: float
    is_automatic: bool
    color_map: int
    """A place in NAMES of color_maps.py."""


class HeatMap:
    """Colours the values that a ray type has left, int32 in ray order, none below zero; and tells how many pixels have
    which."""

    def __init__(self, target: Target) -> None:
        self._target = target
        maps = np.stack([srgb.decode(color_map(name) / 255.0) for name in NAMES])
        self._color_maps = target.upload(maps.astype(np.float32), "shade")
        self._measured = target.zeros(STEP_BUCKETS + 2, np.int32, "shade")

    def compile(self) -> None:
        """What `draw` launches."""
        self._target.unit(_UNIT)

    def values(self, context: FrameContext) -> Array:
        """Where a ray type leaves its values, for `draw`."""
        return self._target.scratch("shade.values", context.rays.padded_count, np.int32)

    def draw(self, context: FrameContext, parameters: Array) -> None:
        """Measure `values`, and add their colours to the film. Launches only."""
        target, unit, packs = (
            self._target,
            self._target.unit(_UNIT),
            context.rays.padded_count // self._target.lane_count,
        )
        values = self.values(context)
        target.fill(self._measured, 0)
        target.launch(
            unit, "count_values", packs, frame=context.frame, pack_count=packs, values=values, measured=self._measured
        )
        target.launch(unit, "choose_range", 1, options=parameters, measured=self._measured)
        target.launch(
            unit,
            "shade_values",
            packs,
            frame=context.frame,
            options=parameters,
            color_maps=self._color_maps,
            pack_count=packs,
            values=values,
            measured=self._measured,
            sums=context.sums,
        )

    def reader(self, what: str, unit: float = 1.0) -> Callable[[], StepCounts | None]:
        """Start reading back what `draw` measured; `what` is a value's name, `unit` what one is in the legend's
        numbers."""
        arrives = self._target.read_later(self._measured)

        def read() -> StepCounts | None:
            arrived = arrives()
            return (
                None
                if arrived is None
                else StepCounts(what, arrived[:STEP_BUCKETS], int(arrived[-2]), int(arrived[-1]), unit)
            )

        return read


def legend(label: str, low: float, high: float, colors: str) -> Legend:
    """The scale of a heat map."""
    return Legend(label, float(low), float(high), color_map(colors))
