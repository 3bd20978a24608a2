"""Recursive ray tracing (Whitted 1980): mirrors, glass and shadows, by one ray for each thing that is seen.

Idea: Where a ray hits, light of all lights that a shadow ray finds free is added; a ray goes on into the mirrored
direction and, where the surface is glass, another into the refracted one. How light is shared between them is Fresnel's
law; glass takes light away on the way through it (Beer's law), holes that alpha cuts let rays pass. No recursion: rays
that wait lie on a stack, each with its weight.

Paper: Whitted, An Improved Illumination Model for Shaded Display (1980); rays too weak to be seen end as in Hall and
Greenberg, A Testbed for Realistic Image Synthesis (1983). As the picture of a dynamic scene in Kolodzey, section 7.2
(2014), and in Chang, Seo and Ihm (2013).

Cost: A ray for every light and every hit, and up to twice as many rays at each depth where everything is glass; mirrors
alone have one more each. A wavefront keeps 208 bytes per pixel in opaque scenes and 516 in others, at every depth.

Limits: Mirrors and glass are sharp, whatever their roughness; what is rougher than 0.5 mirrors nothing but lights. No
light from other surfaces. The scene's environment is seen, mirrored and through glass, but lights nothing besides:
rough surfaces have `ambient` and the lights. Light goes straight through glass to a surface: no caustics. Rays remember
two bodies that they are inside of. A surface that alpha covers in part is no glass besides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

from ..settings import option
from ..target.base import Target, Unit
from ..trace.trace import TRACE_BLOCK, HitBuffer, Tracer
from .base import Color, EnvironmentOptions, PictureRow, RayType
from .frame_context import FrameContext
from .material_row import MaterialFeatures
from .materials import Materials
from .ray_counts import RayCounts
from .whitted_wavefront import Wavefront, WavefrontTracer, compile_wavefront

MOST_DEPTH = 12
REGISTERS = 128
NO_HITS = dict.fromkeys(("t", "prim_id", "u", "v"))
STRATEGIES = ("auto", "megakernel", "wavefront")
FASTER = {"cuda": "megakernel", "host": "megakernel"}
"""What auto is on each kind of target."""


@dataclasses.dataclass(frozen=True)
class WhittedOptions(EnvironmentOptions):
    """Options of recursive ray tracing."""

    depth: int = option(
        4,
        "How often light is followed from surface to surface, by mirrors and through glass; 0 shows lights alone.",
        minimum=0,
        maximum=MOST_DEPTH,
    )
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
    light_samples: int = option(
        4,
        "Rays to each light that has an area, in one sample of the picture: more make softer shadows at once.",
        minimum=1,
        maximum=256,
    )
    strategy: str = option(
        "auto",
        "One kernel that traces on the way, or one depth of rays after the other through a queue; the picture is "
        "the same but for rounding.",
        choices=STRATEGIES,
    )
    threshold: float = option(
        0.02, "Rays of less weight are not followed: of 1, the light of the whole pixel.", minimum=0.0, maximum=1.0
    )


@dataclasses.dataclass(frozen=True)
class WhittedRow(PictureRow):
    """The options as kernels read them."""

    ambient: Color
    headlight: float
    depth: int
    threshold: float
    light_samples: int
    casts_shadows: bool
    is_glossy: bool
    """Whether mirrored and refracted rays are spread by roughness."""
    lens_radius: float
    focus: float


class Whitted(RayType):
    """One kernel that traces on the way; counts rays by kind and depth."""

    name = "whitted"
    title = "Whitted"
    Options = WhittedOptions

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        kinds = (
            name if depth == 0 else f"{name} {depth}"
            for depth in range(MOST_DEPTH + 1)
            for name in ("shadow", "reflection", "refraction")
        )
        self._counts = RayCounts(target, tuple(kinds))
        self._wavefront: Wavefront | None = None
        self._has_lens = False
        self._environment = materials.environment.view()

    @property
    def shape(self) -> Hashable:
        return self._is_opaque, self._wavefront, self._has_lens, self._environment.tobytes()

    @property
    def _is_opaque(self) -> bool:
        return not self.materials.features & (MaterialFeatures.ALPHA | MaterialFeatures.GLASS)

    def ray_counts(self) -> RayCounts | None:
        return self._counts

    def takes_other_kernels(self, options: Any) -> bool:
        chosen = FASTER[self.target.kind] if options.strategy == "auto" else options.strategy
        before, self._wavefront = self._wavefront, None
        if chosen == "wavefront":
            self._wavefront = Wavefront(options.depth, options.light_samples, options.shadows)
        had_lens, self._has_lens = self._has_lens, self.has_lens(options)
        if before is None or self._wavefront is None:
            return before is not self._wavefront or had_lens != self._has_lens
        return before.may_overflow != self._wavefront.may_overflow or had_lens != self._has_lens

    def prepare(self, options: Any, context: FrameContext) -> None:
        super().prepare(options, context)
        self._environment = self._environment_view(options)

    def parameters(self, options: Any, context: FrameContext) -> WhittedRow:
        headlight = options.headlight if context.surface.light_count else max(options.headlight, 1.0)
        is_glossy, lens_radius, focus = self.spread(options, context)
        return WhittedRow(
            options.background_below,
            options.background_above,
            options.ambient,
            headlight,
            options.depth,
            options.threshold,
            options.light_samples,
            options.shadows,
            is_glossy,
            lens_radius,
            focus,
        )

    def spread(self, options: Any, context: FrameContext) -> tuple[bool, float, float]:
        """Whether mirrored and refracted rays are spread by roughness, the lens's radius, and the distance in focus."""
        return (False, 0.0, 1.0)

    def has_lens(self, options: Any) -> bool:
        """Whether the first rays go through a lens, and not where the camera sends them."""
        return False

    def _has_primary_hits(self, context: FrameContext) -> bool:
        """Whether the first hits are given. Rays through a lens are the structure's, whoever gives the others."""
        return context.primary is not None and not self._has_lens

    def _traced_unit(self, tracer: Tracer, context: FrameContext) -> tuple[Unit, Any]:
        constants = (*self._constants, ("HAS_PRIMARY_HITS", self._has_primary_hits(context)))
        return tracer.unit("gpu/shade/whitted.cu", context.rays, constants=constants, registers=REGISTERS)

    @property
    def _constants(self) -> tuple[tuple[str, int], ...]:
        return (("IS_OPAQUE", self._is_opaque), *self.materials.constants)

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        has_primary_hits = self._has_primary_hits(context)
        if has_primary_hits:
            context.compile_primary(tracer)
        if self._wavefront is None:
            self._traced_unit(tracer, context)
        else:
            compile_wavefront(self.target, tracer, self._wavefront, self._constants, has_primary_hits)

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        primary: HitBuffer | None = None
        if self._has_primary_hits(context):
            with self.target.phase("trace.primary"):
                primary = context.primary_hits(tracer)
        with self.target.phase("trace.whitted"):
            self._counts.begin()
            if self._wavefront is not None:
                scene = (context.surface.light_count, self._surface_view(context.surface), self._environment)
                WavefrontTracer(
                    self.target,
                    tracer,
                    self._wavefront,
                    self._constants,
                    context,
                    self._parameters,
                    self._counts.array,
                    *scene,
                ).trace(primary)
                return
            unit, view = self._traced_unit(tracer, context)
            packs = tracer.packs(context.rays)
            self.target.launch(
                unit,
                "trace_whitted",
                packs,
                input=view,
                surface=self._surface_view(context.surface),
                environment=self._environment,
                options=self._parameters,
                pack_count=packs,
                ray_counts=self._counts.array,
                sums=context.sums,
                **(primary.arrays() if primary is not None else NO_HITS),
                block=TRACE_BLOCK,
            )
