"""Numbers of pixels as colours: the histogram, the range and the colour maps that traversal steps and the views of surfaces share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..stats import STEP_BUCKETS, StepCounts
from ..target.base import Array, Target, UnitSource
from . import srgb
from .base import Legend
from .color_maps import NAMES, color_map
from .film import Film

_UNIT = UnitSource("gpu/shade/heat.cu", rays_per_thread=0)


class HeatMap:
    """Colours the values that a ray type has left, int32 in ray order, none below zero; and tells how many pixels have which."""

    def __init__(self, target: Target) -> None:
        self._target = target
        maps = np.stack([srgb.decode(color_map(name) / 255.0) for name in NAMES])
        self._color_maps = target.upload(maps.astype(np.float32), "shade")
        self._measured = target.zeros(STEP_BUCKETS + 2, np.int32, "shade")

    @staticmethod
    def parameters(low: float, high: float, automatic: bool, colors: str) -> tuple[float, ...]:
        """The first of a ray type's parameters: the range in whole values, and the colours."""
        return (low, high, automatic, NAMES.index(colors))

    def compile(self) -> None:
        """What `draw` launches."""
        self._target.unit(_UNIT)

    def values(self, film: Film) -> Array:
        """Where a ray type leaves its values, for `draw`."""
        return self._target.scratch("shade.values", film.rays.padded_count, np.int32)

    def draw(self, film: Film, parameters: Array) -> None:
        """Measure `values`, and add their colours to the film. Launches only."""
        target, unit, packs = self._target, self._target.unit(_UNIT), film.rays.padded_count // self._target.lane_count
        values = self.values(film)
        target.fill(self._measured, 0)
        target.launch(unit, "count_values", packs, film.frame, packs, values, self._measured)
        target.launch(unit, "choose_range", 1, parameters, self._measured)
        target.launch(unit, "shade_values", packs, film.frame, parameters, self._color_maps, packs, values, self._measured, film.sums)

    def reader(self, what: str, unit: float = 1.0) -> Callable[[], StepCounts | None]:
        """Start reading back what `draw` measured; `what` is a value's name, `unit` what one is in the legend's numbers."""
        arrives = self._target.read_later(self._measured)

        def read() -> StepCounts | None:
            arrived = arrives()
            return None if arrived is None else StepCounts(what, arrived[:STEP_BUCKETS], int(arrived[-2]), int(arrived[-1]), unit)

        return read


def legend(label: str, low: float, high: float, colors: str) -> Legend:
    """The scale of a heat map."""
    return Legend(label, float(low), float(high), color_map(colors))
