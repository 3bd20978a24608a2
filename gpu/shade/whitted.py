"""Recursive ray tracing (Whitted 1980): mirrors, glass and shadows, by one ray for each thing that is seen.

Idea: Where a ray hits, light of all lights that a shadow ray finds free is added; a ray goes on into the mirrored direction and, where the surface is
glass, another into the refracted one. How light is shared between them is Fresnel's law; glass takes light away on the way through it (Beer's
law), holes that alpha cuts let rays pass. No recursion: rays that wait lie on a stack, each with its weight.

Paper: Whitted, An Improved Illumination Model for Shaded Display (1980); rays too weak to be seen end as in Hall and Greenberg, A Testbed for
Realistic Image Synthesis (1983). As the picture of a dynamic scene in Kolodzey, section 7.2 (2014), and in Chang, Seo and Ihm (2013).

Cost: A ray for every light and every hit, and up to twice as many rays at each depth where everything is glass; mirrors alone have one more each.

Limits: Mirrors and glass are sharp, whatever their roughness; what is rougher than 0.5 mirrors nothing but lights. No light from other surfaces.
The scene's environment is seen, mirrored and through glass, but lights nothing besides: rough surfaces have `ambient` and the lights.
Light goes straight through glass to a surface: no caustics. Rays remember two bodies that they are inside of. A surface that alpha covers in part
is no glass besides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

from ..animate.animate import Surface
from ..settings import option
from ..target.base import Target, Unit
from ..trace.trace import TRACE_BLOCK, Tracer
from .base import Color, EnvironmentOptions, RayType
from .film import Film
from .materials import HAS_ALPHA, HAS_GLASS, Materials
from .ray_counts import RayCounts
from .whitted_waves import Waves, WaveTracer, compile_waves

MOST_DEPTH = 12
"""As whitted.cu has it."""
REGISTERS = 128
ORGANISATIONS = ("auto", "megakernel", "wavefront")
FASTER = {"cuda": "megakernel", "host": "megakernel"}
"""What auto is on each kind of target."""


@dataclasses.dataclass(frozen=True)
class WhittedOptions(EnvironmentOptions):
    """Options of recursive ray tracing."""

    depth: int = option(
        4, "How often light is followed from surface to surface, by mirrors and through glass; 0 shows lights alone.", minimum=0, maximum=MOST_DEPTH
    )
    ambient: Color = option((0.12, 0.13, 0.15), "Linear light that reaches every surface from all sides.", minimum=0.0, maximum=10.0)
    headlight: float = option(0.0, "Strength of a light at the eye; scenes without lights always have one of 1.", minimum=0.0, maximum=10.0)
    shadows: bool = option(True, "Trace a ray from every hit to every light, so that things cast shadows.")
    light_samples: int = option(
        4, "Rays to each light that has an area, in one sample of the picture: more make softer shadows at once.", minimum=1, maximum=256
    )
    organisation: str = option(
        "auto",
        "One kernel that traces on the way, or one wave of rays after the other through queues; the picture is the same.",
        choices=ORGANISATIONS,
    )
    threshold: float = option(0.02, "Rays of less weight are not followed: of 1, the light of the whole pixel.", minimum=0.0, maximum=1.0)


class Whitted(RayType):
    """One kernel that traces on the way; counts rays by kind and depth."""

    name = "whitted"
    title = "Whitted"
    Options = WhittedOptions

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        kinds = (name if depth == 0 else f"{name} {depth}" for depth in range(MOST_DEPTH + 1) for name in ("shadow", "reflection", "refraction"))
        self._counts = RayCounts(target, tuple(kinds))
        self._waves: Waves | None = None
        self._environment = materials.environment.view()

    @property
    def shape(self) -> Hashable:
        return self._is_opaque, self._waves, self._environment.tobytes()

    @property
    def _is_opaque(self) -> bool:
        return not self.materials.features & (HAS_ALPHA | HAS_GLASS)

    def ray_counts(self) -> RayCounts | None:
        return self._counts

    def prepare(self, options: Any, surface: Surface) -> None:
        super().prepare(options, surface)
        self._environment = self._environment_view(options)
        chosen = FASTER[self.target.kind] if options.organisation == "auto" else options.organisation
        self._waves = Waves(options.depth, options.light_samples, options.shadows) if chosen == "wavefront" else None

    def parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        headlight = options.headlight if surface.light_count else max(options.headlight, 1.0)
        common = (*options.background_below, *options.background_above, *options.ambient, headlight)
        return (*common, options.depth, options.threshold, options.light_samples, options.shadows, *self.spread(options))

    def spread(self, options: Any) -> tuple[float, float, float]:
        """Whether mirrored and refracted rays are spread by roughness, the lens's radius, and the distance in focus."""
        return (0.0, 0.0, 1.0)

    def _traced_unit(self, tracer: Tracer, film: Film) -> tuple[Unit, Any]:
        return tracer.unit("gpu/shade/whitted.cu", film.rays, constants=(("IS_OPAQUE", self._is_opaque),), registers=REGISTERS)

    def compile(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        if self._waves is None:
            self._traced_unit(tracer, film)
        else:
            compile_waves(self.target, tracer, self._is_opaque)

    def render(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        with self.target.phase("trace.whitted"):
            self._counts.begin()
            if self._waves is not None:
                scene = (surface.light_count, self._surface_view(surface), self._environment)
                WaveTracer(self.target, tracer, self._waves, self._is_opaque, film, self._parameters, self._counts.array, *scene).trace()
                return
            unit, view = self._traced_unit(tracer, film)
            packs = tracer.packs(film.rays)
            arguments = (view, self._surface_view(surface), self._environment, self._parameters, packs, self._counts.array, film.sums)
            self.target.launch(unit, "trace_whitted", packs, *arguments, block=TRACE_BLOCK)
