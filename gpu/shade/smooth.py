"""Smooth shading (Meister 2014, 6.2.5): interpolated normals, textures, reflection after Blinn and Phong or after Phong
alone, shadows of point and directional lights.

Idea: The normal at a hit is interpolated between the triangle's corners, so that facets look curved. Diffuse and
specular light is added for each light that a shadow ray finds free. Materials are metallic-roughness; smooth.cuh says
how they become diffuse and specular reflection. Highlights are Blinn's, about the half vector, or, as in the thesis,
Phong's, about the mirrored light: rounder at grazing angles, where Blinn's grow long.

Paper: Phong, Illumination for Computer Generated Pictures (1975); Blinn, Models of Light Reflection for Computer
Synthesized Pictures (1977); Fisher and Woo, R.E versus N.H Specular Highlights (1994); shadow rays after Whitted, An
Improved Illumination Model for Shaded Display (1980); as a ray type in Meister, section 6.2.5 (2014).

Cost: One primary ray per pixel, and one shadow ray for each light at each hit. Shadow rays end at the first hit, and
run from neighbouring points to the same light, so they are cheaper than primary ones.

Limits: A scene without lights is lit from the eye, without shadows: its environment is seen, but lights nothing. No
reflections, no light from other surfaces; shadows are hard, those of lights with an area too. Glass and what alpha cuts
are drawn opaque, but light goes through holes: the sixteenth surface in a row hides it. Such shadows take four bytes a
pixel and light. Silhouettes of curved surfaces keep their corners.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..settings import option
from ..target.base import Array, Target, Unit
from ..trace.trace import TRACE_BLOCK, HitBuffer, Tracer
from .base import Color, EnvironmentOptions, PictureRow, RayType
from .frame_context import FrameContext
from .material_row import MaterialFeatures
from .materials import Materials
from .ray_counts import RayCounts

SHADING, SHADING_IN_PART = "gpu/shade/smooth.cu", "gpu/shade/smooth_holes.cu"
"""Where lights reach hits or do not, and where they may in part: few scenes need the latter."""

REGISTERS = 96
"""Room for a traversal that goes on behind holes."""


@dataclasses.dataclass(frozen=True)
class SmoothOptions(EnvironmentOptions):
    """Options of smooth shading."""

    ambient: Color = option(
        (0.12, 0.13, 0.15),
        "Linear light that reaches every surface from all sides.",
        minimum=0.0,
        maximum=10.0,
        is_color=True,
    )
    headlight: float = option(
        0.0, "Strength of a light at the eye; scenes without lights always have one of 1.", minimum=0.0, maximum=10.0
    )
    shadows: bool = option(True, "Trace a ray from every hit to every light, so that things cast shadows.")
    model: str = option(
        "blinn_phong",
        "The model of highlights: about the half vector between light and eye (blinn_phong), or about the mirrored "
        "light, as in Meister's thesis (phong).",
        choices=("blinn_phong", "phong"),
    )


@dataclasses.dataclass(frozen=True)
class SmoothRow(PictureRow):
    """The options as kernels read them."""

    ambient: Color
    headlight: float
    is_phong: float


class Smooth(RayType):
    """Primary rays, then a shadow ray per light and hit."""

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
        return self._has_shadows, self._has_shares, self._environment.tobytes()

    @property
    def _has_shares(self) -> bool:
        """Whether shadows are found as shares of light: through holes, and from spheres."""
        return bool(self.materials.features & MaterialFeatures.ALPHA) or self.materials.has_spheres

    def ray_counts(self) -> RayCounts | None:
        return self._counts if self._has_shadows else None

    def parameters(self, options: Any, context: FrameContext) -> SmoothRow:
        headlight = options.headlight if context.surface.light_count else max(options.headlight, 1.0)
        is_phong = float(options.model == "phong")
        return SmoothRow(options.background_below, options.background_above, options.ambient, headlight, is_phong)

    def prepare(self, options: Any, context: FrameContext) -> None:
        super().prepare(options, context)
        self._environment = self._environment_view(options)
        self._has_shadows = options.shadows and context.surface.light_count > 0

    def needs_structure(self, light_count: int) -> bool:
        return light_count > 0

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        context.compile_primary(tracer)
        if context.surface.light_count:
            if self._has_shares:
                self._shares_unit(tracer, context)
                self._unit(SHADING_IN_PART)
            else:
                tracer.compile_shadows(context.rays)
        self._unit(SHADING)

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        with self.target.phase("trace.primary"):
            hits = context.primary_hits(tracer)
        unit, kernel = SHADING, "shade_smooth"
        shadows: dict[str, Any] = {"shadowed": None}
        if self._has_shadows:
            with self.target.phase("trace.shadow"):
                self._counts.begin()
                if self._has_shares:
                    unit, kernel = SHADING_IN_PART, "shade_smooth_with_holes"
                    shadows = {"shares": self._trace_shares(tracer, context, hits)}
                else:
                    geometry = (
                        context.surface.positions,
                        context.surface.triangles,
                        context.surface.lights,
                        context.surface.light_count,
                    )
                    shadows = {"shadowed": tracer.trace_shadows(context.rays, hits, *geometry, self._counts.array)}
        with self.target.phase("shade"):
            packs = self._packs(context)
            self.target.launch(
                self._unit(unit),
                kernel,
                packs,
                surface=self._surface_view(context.surface),
                environment=self._environment,
                frame=context.frame,
                options=self._parameters,
                pack_count=packs,
                prim_id=hits.prim_id,
                u=hits.u,
                v=hits.v,
                sums=context.sums,
                **shadows,
            )

    def _shares_unit(self, tracer: Tracer, context: FrameContext) -> tuple[Unit, np.ndarray]:
        constants = self.materials.constants
        return tracer.unit("gpu/shade/smooth_shadow.cu", context.rays, constants=constants, registers=REGISTERS)

    def _trace_shares(self, tracer: Tracer, context: FrameContext, hits: HitBuffer) -> Array:
        """How much of each light reaches the hits, a plane of rays for each."""
        unit, view = self._shares_unit(tracer, context)
        shares = self.target.scratch(
            "smooth.shares", context.surface.light_count * context.rays.padded_count, np.float32
        )
        packs = tracer.packs(context.rays)
        self.target.launch(
            unit,
            "trace_shadow_shares",
            packs,
            input=view,
            surface=self._surface_view(context.surface),
            pack_count=packs,
            prim_id=hits.prim_id,
            u=hits.u,
            v=hits.v,
            shares=shares,
            ray_count=self._counts.array,
            block=TRACE_BLOCK,
        )
        return shares
