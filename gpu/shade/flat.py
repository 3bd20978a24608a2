"""Flat shading (Meister 2014, 6.2.5): every triangle by its own normal, without materials, lit from the eye.

Idea: The nearest hit of each primary ray gets one colour, darker the more its triangle turns away from the eye. What is
seen is the shape of the triangles and nothing else.

Paper: Bouknight, A Procedure for Generation of Three-dimensional Half-toned Computer Graphics Presentations (1970); as
a ray type in Meister, section 6.2.5 (2014).

Cost: One ray per pixel and a few operations: the picture to compare structures on primary rays with.

Limits: No materials, no textures, no lights of the scene, no shadows; curved surfaces show their facets. Spheres are
round, and have a colour of their own only where an attribute gives it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..settings import option
from ..target.base import Array
from ..trace.trace import Tracer
from .base import Color, PictureOptions, PictureRow, RayType
from .frame_context import FrameContext


@dataclasses.dataclass(frozen=True)
class FlatOptions(PictureOptions):
    """Options of flat shading."""

    color: Color = option(
        (0.75, 0.75, 0.75), "Linear colour of every surface.", minimum=0.0, maximum=1.0, is_color=True
    )
    ambient: float = option(0.1, "Share of the light that reaches surfaces seen edge on.", minimum=0.0, maximum=1.0)


@dataclasses.dataclass(frozen=True)
class FlatRow(PictureRow):
    """The options as kernels read them."""

    color: Color
    ambient: float


class Flat(RayType):
    """One kind of ray, one colour: the shape of the triangles and nothing else."""

    name = "flat"
    title = "Flat"
    Options = FlatOptions

    def parameters(self, options: Any, context: FrameContext) -> FlatRow:
        return FlatRow(options.background_below, options.background_above, options.color, options.ambient)

    def needs_structure(self, light_count: int) -> bool:
        return False

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        context.compile_primary(tracer)
        self._unit(self._file)

    @property
    def _file(self) -> str:
        return "gpu/shade/flat_spheres.cu" if self.materials.has_spheres else "gpu/shade/flat.cu"

    def _colours(self, context: FrameContext) -> Array | None:
        """Those of spheres where they stand for an attribute; other colours are not shown."""
        spheres = context.surface.spheres
        return spheres.colours if spheres is not None and spheres.are_colored else None

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        with self.target.phase("trace.primary"):
            hits = context.primary_hits(tracer)
        with self.target.phase("shade"):
            packs, has_spheres = self._packs(context), self.materials.has_spheres
            where = {"u": hits.u, "v": hits.v, "colours": self._colours(context)} if has_spheres else {}
            self.target.launch(
                self._unit(self._file),
                "shade_flat_with_spheres" if has_spheres else "shade_flat",
                packs,
                surface=self._surface_view(context.surface),
                frame=context.frame,
                options=self._parameters,
                pack_count=packs,
                prim_id=hits.prim_id,
                sums=context.sums,
                **where,
            )
