"""Flat shading (Meister 2014, 6.2.5): every triangle by its own normal, without materials, lit from the eye.

Idea: The nearest hit of each primary ray gets one colour, darker the more its triangle turns away from the eye. What is seen is the shape of the
triangles and nothing else.

Paper: Bouknight, A Procedure for Generation of Three-dimensional Half-toned Computer Graphics Presentations (1970); as a ray type in Meister,
section 6.2.5 (2014).

Cost: One ray a pixel and a few operations: the picture to compare structures on primary rays with.

Limits: No materials, no textures, no lights of the scene, no shadows; curved surfaces show their facets.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..animate.animate import Surface
from ..settings import option
from ..trace.trace import Tracer
from .base import Color, PictureOptions, RayType
from .film import Film


@dataclasses.dataclass(frozen=True)
class FlatOptions(PictureOptions):
    """Options of flat shading."""

    color: Color = option((0.75, 0.75, 0.75), "Linear colour of every surface.", minimum=0.0, maximum=1.0)
    ambient: float = option(0.1, "Share of the light that reaches surfaces seen edge on.", minimum=0.0, maximum=1.0)


class Flat(RayType):
    """One kind of ray, one colour: the shape of the triangles and nothing else."""

    name = "flat"
    title = "Flat"
    Options = FlatOptions

    def parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        return (*options.background_below, *options.background_above, *options.color, options.ambient)

    def compile(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        tracer.compile(film.rays)
        self._unit("gpu/shade/flat.cu")

    def render(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        with self.target.phase("trace.primary"):
            hits = tracer.trace(film.rays)
        with self.target.phase("shade"):
            packs = self._packs(film)
            arguments = (self._surface_view(surface), film.frame, self._parameters, packs, hits.prim_id, film.sums)
            self.target.launch(self._unit("gpu/shade/flat.cu"), "shade_flat", packs, *arguments)
