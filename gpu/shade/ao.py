"""Ambient occlusion (Meister 2014, 6.2.5): how much of the sky each point sees, as the share of rays that hit nothing
within a radius, far hits counting less.

Idea: From each primary hit some rays start to all sides of the surface. They end at the first thing they meet, and the
more of them go free up to the radius, the brighter is the point: corners and folds are dark, and contact is seen
without any light in the scene. In a room every ray hits something: so a hit at t counts by (1 - t / radius), for which
rays are of random lengths, as many longer than t as it counts. By the cosine and without that falloff the picture is
what an evenly bright sky would light; uniform directions are the thesis's.

Paper: Zhukov, Iones and Kronin, An Ambient Light Illumination Model (1998), who let the weight of a hit fall with its
distance; as a ray type in Meister, section 6.2.5
(2014); directions by Sobol's sequence with Owen's scrambling after Burley (2020).

Cost: One primary ray per pixel and `rays` any-hit rays from each hit. The shorter the radius, the fewer nodes they
visit; neighbouring rays go to all sides, so that they share little of the way.

Limits: Noise falls with the root of the number of rays: let samples add up. Only triangles hide the sky, whatever they
are made of; light that surfaces throw at each other is left out.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..settings import option
from ..target.base import Array
from ..trace.queue import RayQueue
from ..trace.trace import HitBuffer
from .frame_context import FrameContext
from .gather import Gather, GatherOptions, GatherRow

FALLOFFS = ("none", "linear", "square")
"""By the power of what is left of the radius."""


@dataclasses.dataclass(frozen=True)
class AoOptions(GatherOptions):
    """Options of ambient occlusion."""

    radius: float = option(0.3, "How far rays look for what hides the sky.", minimum=0.0, maximum=1e30)
    radius_unit: str = option(
        "diagonal",
        "Whether the radius is a share of the diagonal of the scene's box, or in scene units.",
        choices=("diagonal", "scene"),
    )
    falloff: str = option(
        "linear",
        "How a surface that hides the sky counts less the farther it is, to nothing at the radius: evenly (linear), "
        "faster (square), or not at all, as in the thesis (none).",
        choices=FALLOFFS,
    )
    albedo: float = option(
        0.6,
        "What a surface shows of the sky that it sees: below 1 an open model is grey, so that its folds can be read.",
        minimum=0.0,
        maximum=1.0,
    )


@dataclasses.dataclass(frozen=True)
class AoRow(GatherRow):
    """The options as kernels read them."""

    albedo: float


class AmbientOcclusion(Gather):
    """Any-hit rays within a radius."""

    name = "ao"
    title = "Ambient occlusion"
    Options = AoOptions
    shows_materials = False
    kind = "ao"
    hit_kind = "any"
    strategies = {"host": "megakernel", "cuda": "megakernel"}
    planes, dtype = 1, np.int32
    item_is_ray = True

    def parameters(self, options: Any, context: FrameContext) -> AoRow:
        row = super().parameters(options, context)
        shared = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
        return AoRow(**shared, albedo=options.albedo)

    def length(self, options: Any, context: FrameContext) -> float:
        return float(options.radius * (context.diagonal if options.radius_unit == "diagonal" else 1.0))

    def falloff(self, options: Any) -> int:
        return FALLOFFS.index(options.falloff)

    def _collect(self, context: FrameContext, queue: RayQueue, hits: HitBuffer, sums: Array) -> None:
        packs = queue.capacity // self.target.lane_count
        unit = self._unit("gpu/shade/ao_wavefront.cu")
        self.target.launch(
            unit, "collect_ao", packs, queue=queue.view(), pack_count=packs, prim_id=hits.prim_id, unoccluded=sums
        )

    def _finish(self, context: FrameContext, hits: HitBuffer, sums: Array) -> None:
        packs = self._packs(context)
        self.target.launch(
            self._unit("gpu/shade/ao_wavefront.cu"),
            "shade_ao",
            packs,
            frame=context.frame,
            options=self._parameters,
            pack_count=packs,
            prim_id=hits.prim_id,
            unoccluded=sums,
            sums=context.sums,
            ray_counts=self._counts.array,
        )
