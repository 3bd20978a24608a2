"""Smooth shading (Meister 2014, 6.2.5): interpolated normals, textures, Blinn-Phong reflection, shadows of point and directional lights.

Idea: The normal at a hit is interpolated between the triangle's corners, so that facets look curved. Diffuse and specular light is added for each
light that a shadow ray finds free. Materials are metallic-roughness; smooth.cu says how they become diffuse and specular reflection.

Paper: Phong, Illumination for Computer Generated Pictures (1975); Blinn, Models of Light Reflection for Computer Synthesized Pictures (1977);
shadow rays after Whitted, An Improved Illumination Model for Shaded Display (1980); as a ray type in Meister, section 6.2.5 (2014).

Cost: One primary ray a pixel, and one shadow ray for each light at each hit. Shadow rays end at the first hit, and run from neighbouring points to
the same light, so they are cheaper than primary ones.

Limits: A scene without lights is lit from the eye, without shadows: its environment is seen, but lights nothing. No reflections, no light from
other surfaces; shadows are hard, those of lights with an area too. Glass and what alpha cuts are drawn opaque, but light goes through holes: the
sixteenth surface in a row hides it. Such shadows take four bytes a pixel and light. Silhouettes of curved surfaces keep their corners.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..animate.animate import Surface
from ..settings import option
from ..target.base import Array, Target, Unit
from ..trace.trace import TRACE_BLOCK, HitBuffer, Tracer
from .base import Color, EnvironmentOptions, RayType
from .film import Film
from .materials import HAS_ALPHA, Materials
from .ray_counts import RayCounts

REGISTERS = 96
"""Room for a walk that goes on behind holes."""


@dataclasses.dataclass(frozen=True)
class SmoothOptions(EnvironmentOptions):
    """Options of smooth shading."""

    ambient: Color = option((0.12, 0.13, 0.15), "Linear light that reaches every surface from all sides.", minimum=0.0, maximum=10.0)
    headlight: float = option(0.0, "Strength of a light at the eye; scenes without lights always have one of 1.", minimum=0.0, maximum=10.0)
    shadows: bool = option(True, "Trace a ray from every hit to every light, so that things cast shadows.")


class Smooth(RayType):
    """Primary rays, then a shadow ray a light and hit."""

    name = "smooth"
    title = "Smooth"
    Options = SmoothOptions

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._has_shadows = True
        self._environment = materials.environment.view()
        self._counts = RayCounts(target, ("shadow",))

    @property
    def shape(self) -> Hashable:
        return self._has_shadows, self._has_holes, self._environment.tobytes()

    @property
    def _has_holes(self) -> bool:
        return bool(self.materials.features & HAS_ALPHA)

    def ray_counts(self) -> RayCounts | None:
        return self._counts if self._has_shadows else None

    def parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        headlight = options.headlight if surface.light_count else max(options.headlight, 1.0)
        return (*options.background_below, *options.background_above, *options.ambient, headlight)

    def prepare(self, options: Any, surface: Surface) -> None:
        super().prepare(options, surface)
        self._environment = self._environment_view(options)
        self._has_shadows = options.shadows and surface.light_count > 0

    def compile(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        tracer.compile(film.rays)
        if surface.light_count:
            if self._has_holes:
                self._shares_unit(tracer, film)
            else:
                tracer.compile_shadows(film.rays)
        self._unit("gpu/shade/smooth.cu")

    def render(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        with self.target.phase("trace.primary"):
            hits = tracer.trace(film.rays)
        shadowed, kernel = None, "shade_smooth"
        if self._has_shadows:
            with self.target.phase("trace.shadow"):
                self._counts.begin()
                if self._has_holes:
                    shadowed, kernel = self._trace_shares(tracer, surface, film, hits), "shade_smooth_with_holes"
                else:
                    geometry = (surface.positions, surface.triangles, surface.lights, surface.light_count)
                    shadowed = tracer.trace_shadows(film.rays, hits, *geometry, self._counts.array)
        with self.target.phase("shade"):
            packs = self._packs(film)
            arguments = (self._surface_view(surface), self._environment, film.frame, self._parameters, packs)
            buffers = (hits.prim_id, hits.u, hits.v, shadowed, film.sums)
            self.target.launch(self._unit("gpu/shade/smooth.cu"), kernel, packs, *arguments, *buffers)

    def _shares_unit(self, tracer: Tracer, film: Film) -> tuple[Unit, np.ndarray]:
        return tracer.unit("gpu/shade/smooth_shadow.cu", film.rays, registers=REGISTERS)

    def _trace_shares(self, tracer: Tracer, surface: Surface, film: Film, hits: HitBuffer) -> Array:
        """How much of each light reaches the hits, a plane of rays for each."""
        unit, view = self._shares_unit(tracer, film)
        shares = self.target.scratch("smooth.shares", surface.light_count * film.rays.padded_count, np.float32)
        packs = tracer.packs(film.rays)
        arguments = (view, self._surface_view(surface), packs, hits.prim_id, hits.u, hits.v, shares, self._counts.array)
        self.target.launch(unit, "trace_shadow_shares", packs, *arguments, block=TRACE_BLOCK)
        return shares
