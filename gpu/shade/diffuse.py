"""Diffuse rays (Meister 2014, 6.2.5): one bounce of light between surfaces under a white sky.

Idea: From each primary hit some rays go to all sides, as far as the scene reaches. One that hits something brings back that surface's diffuse light,
one that hits nothing the white of the sky; their mean, times the diffuse colour of the point that they left, is the pixel. Walls tint what stands
beside them.

Paper: Meister, section 6.2.5 (2014), where they measure how structures bear incoherent rays; directions by Sobol's sequence with Owen's scrambling
after Burley (2020).

Cost: One primary ray a pixel and `rays` closest-hit rays from each hit, which have no end but the scene's: the most incoherent rays there are, and
at each second hit a material and its textures.

Limits: Lights throw no shadows at the second hit, and none shines on the first one directly: the sky and the neighbours do. A scene without lights is
lit from where a ray comes from. Noise falls with the root of the number of rays: let samples add up.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..animate.animate import Surface
from ..target.base import Array
from ..trace.queue import RayQueue
from ..trace.trace import HitBuffer
from .film import Film
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
    organisations = {"host": "wavefront", "cuda": "megakernel"}
    rays_part = True
    planes, dtype = 3, np.float32
    item_is_ray = False

    def length(self, options: Any) -> float:
        return float("inf")

    def _collect(self, surface: Surface, film: Film, queue: RayQueue, hits: HitBuffer, sums: Array) -> None:
        packs = queue.capacity // self.target.lane_count
        found = (hits.prim_id, hits.u, hits.v, sums, film.rays.padded_count)
        self.target.launch(
            self._unit("gpu/shade/diffuse_waves.cu"), "collect_diffuse", packs, self._surface_view(surface), queue.view(), packs, *found
        )

    def _finish(self, surface: Surface, film: Film, hits: HitBuffer, sums: Array) -> None:
        packs = self._packs(film)
        arguments = (
            self._surface_view(surface),
            film.frame,
            self._parameters,
            packs,
            hits.prim_id,
            hits.u,
            hits.v,
            sums,
            film.sums,
            self._counts.array,
        )
        self.target.launch(self._unit("gpu/shade/diffuse_waves.cu"), "shade_diffuse", packs, *arguments)
