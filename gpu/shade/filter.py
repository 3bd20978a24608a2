"""A filter of noisy light over time and space, so that one sample per pixel makes a picture.

Idea: Light is separated from the albedo that it falls on. Where a pixel's point was in the picture before, light of the
past is found and the mean goes on, as long as it is the same surface. What noise is left, by its variance, decides how
far the light is spread over neighbours of the same surface, in passes of a small kernel with growing gaps. While things
move, the past is held to what the new samples show around a pixel. As samples of a picture that rests add up, it goes
over to their plain mean.

Paper: Schied et al., Spatiotemporal Variance-Guided Filtering (2017); Dammertz et al., Edge-Avoiding A-Trous Wavelet
Transform for Fast Global Illumination Filtering (2010); Salvi, An Excursion in Temporal Supersampling (2016), for
clipping the past.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from ..rows import Ints, Struct
from ..target.base import Array, Target, UnitSource
from ..target.structs import pack
from ..trace.trace import VIEW_FRAME, HitBuffer
from .frame_context import FrameContext

_Float4s = Annotated[Array, "float4*"]
_MadeFloats = Annotated[Array, "float*"]


@dataclasses.dataclass(frozen=True)
class FilterView(Struct):
    """The arrays that the filter's kernels share."""

    frame: Annotated[Array, "const ViewFrame*"]
    previous: Annotated[Array, "ViewFrame*"]
    """Of the picture that the history shows; of no width: there is none."""
    state: Ints
    """Whether anything but the eye moves; the most samples that history counts while it does; the samples from which
    on the picture is their plain mean (0: never quite)."""
    guide: _Float4s
    """Normal (packed), distance, its change from pixel to pixel, material (-1: nothing)."""
    light: _Float4s
    """Of this sample, without albedo."""
    mean: _Float4s
    """Of it and the past, and its variance."""
    shown: _Float4s
    """On its way through the passes."""
    moments: _Float4s
    """Mean of brightness and of its square, samples, unused."""
    place: Annotated[Array, "float2*"]
    """Where the point was in the previous picture; far outside: nowhere."""
    depth: _MadeFloats
    """How far from the previous eye it was."""
    albedo: _Float4s
    """Kept from sample to sample: their mean since the restart."""
    glow: _Float4s
    """So is light without noise, as lamps and the background: it is not filtered."""
    raw: _MadeFloats
    """So are the sums of the unfiltered samples."""
    old_guide: _Float4s
    """Kept from picture to picture."""
    old_mean: _Float4s
    old_moments: _Float4s
    sums: _MadeFloats
    """The film."""


MOVING_HISTORY = 24
"""Samples that history counts while things move: more are smoother and follow light more slowly."""
PASSES = ((1, 2), (2, 2), (4, 2), (8, 1), (16, 1))
"""Gap and reach of each pass: a reach of 2 is 5 x 5 pixels."""
BLOCK_ACROSS, BLOCK_DOWN = 32, 8
"""Pixels that a block of threads works on."""
_KEPT = {"albedo": 4, "glow": 4, "old_guide": 4, "old_mean": 4, "old_moments": 4}
_PASSING = {"guide": 4, "light": 4, "mean": 4, "shown": 4, "moments": 4, "place": 2, "depth": 1}


class Filter:
    """See the module. One per view: it keeps the past. `generation` grows with new memory."""

    def __init__(self, target: Target, constants: tuple[tuple[str, int], ...]) -> None:
        self._constants = constants
        self._target, self.generation = target, 0
        self._previous = target.zeros(VIEW_FRAME.itemsize, np.uint8, "filter")
        self._state = target.zeros(3, np.int32, "filter")
        self._kept: dict[str, Array] = {}
        self._pixels = self._places = 0
        self._written: tuple[int, int, int] | None = None

    def reserve(self, context: FrameContext) -> None:
        """Memory for a picture of the film's size; what was kept of another size is of no use any more. Not among
        launches."""
        pixels, places = context.width * context.height, context.rays.padded_count
        if pixels <= self._pixels and places <= self._places:
            return
        self._pixels, self._places = pixels + pixels // 8, places + places // 8
        self._kept = {
            name: self._target.empty((self._pixels, floats), np.float32, "filter") for name, floats in _KEPT.items()
        }
        self._kept["raw"] = self._target.empty(3 * self._places, np.float32, "filter")
        self.generation += 1
        self.forget()

    def forget(self) -> None:
        """There is no past any more."""
        self._target.write(self._previous, np.zeros(VIEW_FRAME.itemsize, np.uint8))

    def prepare(self, moves: bool, plain_from: int) -> None:
        """Write whether anything but the eye moves, and from how many samples on the picture is their plain mean (0:
        it never is quite)."""
        state = (int(moves), MOVING_HISTORY, plain_from)
        if state != self._written:
            self._written = state
            self._target.write(self._state, np.array(state, np.int32))

    def compile(self) -> None:
        """Compile what `launch` launches."""
        self._units()

    def sample(self, context: FrameContext) -> tuple[Array, Array]:
        """Where this sample's light is to be, three planes in ray order; and where the part of it that is without
        noise."""
        planes = 3 * context.rays.padded_count
        return self._target.scratch("filter.sample", planes, np.float32), self._target.scratch(
            "filter.sharp", planes, np.float32
        )

    def launch(
        self, surface_view: np.ndarray, hits: HitBuffer, sample: Array, sharp: Array, context: FrameContext
    ) -> None:
        """Filter a sample into the film, all but what of it is without noise. Launches only."""
        guides, unit = self._units()
        target, places = self._target, context.rays.padded_count
        arrays = {
            name: target.scratch(f"filter.{name}", (context.width * context.height, floats), np.float32)
            for name, floats in _PASSING.items()
        }
        own = {"frame": context.frame, "previous": self._previous, "state": self._state, "sums": context.sums}
        view = pack(FilterView(**own, **self._kept, **arrays))
        packs = places // target.lane_count
        target.launch(
            guides,
            "guide_filter",
            packs,
            f=view,
            surface=surface_view,
            previous_positions=context.surface.previous,
            pack_count=packs,
            t=hits.t,
            prim_id=hits.prim_id,
            u=hits.u,
            v=hits.v,
            sample=sample,
            sharp=sharp,
        )
        blocks = -(-context.width // BLOCK_ACROSS) * -(-context.height // BLOCK_DOWN)
        items = blocks * BLOCK_ACROSS * BLOCK_DOWN
        target.launch(unit, "filter_accumulate", items, f=view, item_count=items)
        source, goal = arrays["mean"], arrays["shown"]
        for gap, reach in PASSES:
            target.launch(
                unit, "filter_spread", items, f=view, source=source, to=goal, step=gap, reach=reach, item_count=items
            )
            source, goal = goal, arrays["light"] if goal is arrays["shown"] else arrays["shown"]
        target.launch(unit, "filter_compose", places, f=view, source=source, ray_count=places)

    def _units(self) -> tuple:
        return (
            self._target.unit(UnitSource("gpu/shade/filter_guides.cu", constants=self._constants, rays_per_thread=0)),
            self._target.unit(UnitSource("gpu/shade/filter.cu")),
        )
