"""A filter of noisy light over time and space, so that one sample a pixel makes a picture.

Idea: Light is parted from the albedo that it falls on. Where a pixel's point was in the picture before, light of the past is found and the mean
goes on, as long as it is the same surface. What noise is left, by its variance, decides how far the light is spread over neighbours of the same
surface, in passes of a small kernel with growing gaps. While things move, the past is held to what the new samples show around a pixel. As samples of
a picture that rests add up, it goes over to their plain mean.

Paper: Schied et al., Spatiotemporal Variance-Guided Filtering (2017); Dammertz et al., Edge-Avoiding A-Trous Wavelet Transform for Fast Global
Illumination Filtering (2010); Salvi, An Excursion in Temporal Supersampling (2016), for clipping the past.
"""

from __future__ import annotations

import numpy as np

from ..animate.animate import Surface
from ..target.base import Array, Target, UnitSource
from ..target.structs import make_struct, struct_dtype
from ..trace.trace import VIEW_FRAME, HitBuffer
from .film import Film

_FIELDS = (
    *("frame", "previous", "state", "guide", "light", "mean", "shown", "moments", "place", "depth"),
    *("albedo", "glow", "raw", "old_guide", "old_mean", "old_moments", "sums"),
)
FILTER_VIEW = struct_dtype([(name, "pointer") for name in _FIELDS])
"""FilterView of filter.cuh."""

MOVING_HISTORY = 24
"""Samples that history counts while things move: more are smoother and follow light more slowly."""
PASSES = ((1, 2), (2, 2), (4, 2), (8, 1), (16, 1))
"""Gap and reach of each pass: a reach of 2 is 5 x 5 pixels."""
BLOCK = (32, 8)
_KEPT = {"albedo": 4, "glow": 4, "old_guide": 4, "old_mean": 4, "old_moments": 4}
_PASSING = {"guide": 4, "light": 4, "mean": 4, "shown": 4, "moments": 4, "place": 2, "depth": 1}


class Filter:
    """See the module. One a view: it keeps the past. `generation` grows with new memory."""

    def __init__(self, target: Target) -> None:
        self._target, self.generation = target, 0
        self._previous = target.zeros(VIEW_FRAME.itemsize, np.uint8, "filter")
        self._state = target.zeros(2, np.int32, "filter")
        self._kept: dict[str, Array] = {}
        self._pixels = self._places = 0
        self._written: tuple[int, int] | None = None

    def reserve(self, film: Film) -> None:
        """Memory for a picture of the film's size; what was kept of another size is of no use any more. Not among launches."""
        pixels, places = film.width * film.height, film.rays.padded_count
        if pixels <= self._pixels and places <= self._places:
            return
        self._pixels, self._places = pixels + pixels // 8, places + places // 8
        self._kept = {name: self._target.empty((self._pixels, floats), np.float32, "filter") for name, floats in _KEPT.items()}
        self._kept["raw"] = self._target.empty(3 * self._places, np.float32, "filter")
        self.generation += 1
        self.forget()

    def forget(self) -> None:
        """There is no past any more."""
        self._target.write(self._previous, np.zeros(VIEW_FRAME.itemsize, np.uint8))

    def prepare(self, moves: bool) -> None:
        """Write whether anything but the eye moves."""
        state = (int(moves), MOVING_HISTORY)
        if state != self._written:
            self._written = state
            self._target.write(self._state, np.array(state, np.int32))

    def compile(self) -> None:
        """Compile what `launch` launches."""
        self._units()

    def sample(self, film: Film) -> tuple[Array, Array]:
        """Where this sample's light is to be, three planes in ray order; and where the part of it that is without noise."""
        planes = 3 * film.rays.padded_count
        return self._target.scratch("filter.sample", planes, np.float32), self._target.scratch("filter.sharp", planes, np.float32)

    def launch(self, surface: Surface, surface_view: np.ndarray, hits: HitBuffer, sample: Array, sharp: Array, film: Film) -> None:
        """Filter a sample into the film, all but what of it is without noise. Launches only."""
        guides, unit = self._units()
        target, places = self._target, film.rays.padded_count
        arrays = {name: target.scratch(f"filter.{name}", (film.width * film.height, floats), np.float32) for name, floats in _PASSING.items()}
        view = make_struct(FILTER_VIEW, frame=film.frame, previous=self._previous, state=self._state, sums=film.sums, **self._kept, **arrays)
        packs = places // target.lane_count
        found = (hits.t, hits.prim_id, hits.u, hits.v, sample, sharp)
        target.launch(guides, "guide_filter", packs, view, surface_view, surface.previous, packs, *found)
        items = -(-film.width // BLOCK[0]) * -(-film.height // BLOCK[1]) * BLOCK[0] * BLOCK[1]
        target.launch(unit, "filter_accumulate", items, view, items)
        source, goal = arrays["mean"], arrays["shown"]
        for gap, reach in PASSES:
            target.launch(unit, "filter_spread", items, view, source, goal, gap, reach, items)
            source, goal = goal, arrays["light"] if goal is arrays["shown"] else arrays["shown"]
        target.launch(unit, "filter_compose", places, view, source, places)

    def _units(self) -> tuple:
        return (
            self._target.unit(UnitSource("gpu/shade/filter_guides.cu", rays_per_thread=0)),
            self._target.unit(UnitSource("gpu/shade/filter.cu")),
        )
