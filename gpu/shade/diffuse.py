"""Diffuse rays (Meister 2014, 6.2.5): one bounce of light between surfaces under a white sky.

Idea: From each primary hit some rays go to all sides, as far as the scene reaches. One that hits something brings back
that surface's diffuse light, one that hits nothing the white of the sky; their mean, times the diffuse colour of the
point that they left, is the pixel. Walls tint what stands beside them.

Paper: Meister, section 6.2.5 (2014), where they measure how structures bear incoherent rays; directions by Sobol's
sequence with Owen's scrambling after Burley (2020).

Cost: One primary ray per pixel and `rays` closest-hit rays from each hit, which have no end but the scene's: the most
incoherent rays there are, and at each second hit a material and its textures.

Limits: Lights throw no shadows at the second hit, and none shines on the first one directly: the sky and the neighbours
do. A scene without lights is lit from where a ray comes from. Noise falls with the root of the number of rays: let
samples add up.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..target.base import Array
from ..trace.queue import RayQueue
from ..trace.trace import HitBuffer
from .frame_context import FrameContext
from .gather import Gather, GatherOptions


@dataclasses.dataclass(frozen=True)
class DiffuseOptions(GatherOptions):
    """Options of diffuse rays."""


class Diffuse(Gather):
    """Closest-hit rays without an end."""

    name = "diffuse"
    title = "Diffuse rays"
    Options = DiffuseOptions
    kind = "diffuse"
    hit_kind = "closest"
    strategies = {"host": "wavefront", "cuda": "megakernel"}
    is_incoherent = True
    planes, dtype = 3, np.float32
    item_is_ray = False

    def length(self, options: Any, context: FrameContext) -> float:
        return float("inf")

    def _collect(self, context: FrameContext, queue: RayQueue, hits: HitBuffer, sums: Array) -> None:
        packs = queue.capacity // self.target.lane_count
        self.target.launch(
            self._unit("gpu/shade/diffuse_wavefront.cu"),
            "collect_diffuse",
            packs,
            surface=self._surface_view(context.surface),
            queue=queue.view(),
            pack_count=packs,
            prim_id=hits.prim_id,
            u=hits.u,
            v=hits.v,
            sums=sums,
            place_count=context.rays.padded_count,
        )

    def _finish(self, context: FrameContext, hits: HitBuffer, sums: Array) -> None:
        packs = self._packs(context)
        self.target.launch(
            self._unit("gpu/shade/diffuse_wavefront.cu"),
            "shade_diffuse",
            packs,
            surface=self._surface_view(context.surface),
            frame=context.frame,
            options=self._parameters,
            pack_count=packs,
            prim_id=hits.prim_id,
            u=hits.u,
            v=hits.v,
            sums=sums,
            film=context.sums,
            ray_counts=self._counts.array,
        )
