"""Normals: which way each surface looks, as colours or as a heat map.

Idea: The normal at each primary hit becomes red, green and blue: x, y and z from -1 to 1. Wrong winding, broken vertex normals and normal maps show
at once, where shading would hide them. By the cosine to the ray a heat map shows what is seen edge on.

Paper: The usual debug view of renderers; shading normals after Phong, Illumination for Computer Generated Pictures (1975). The colours of the heat
map are van der Walt and Smith's Viridis (2015).

Cost: One primary ray a pixel, and for shading normals three vertices and a normal map at each hit.

Limits: Normals are shown on the side that the ray came from, so a triangle's back looks like a front; negative components can be read under the
pointer and in the colours, and have no heat map of their own.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..animate.animate import Surface
from ..settings import option
from ..target.base import Array
from ..trace.trace import CameraRays, HitBuffer
from .color_maps import NAMES
from .views import Shown, SurfaceViewType

SHOWN = {
    "direction": Shown("normal", scale=0.5, offset=0.5),
    "cosine": Shown("cosine to the ray", 3, 0.0),
}


@dataclasses.dataclass(frozen=True)
class NormalsOptions:
    """Options of the view of normals."""

    show: str = option("direction", "The normal as a colour, or its cosine to the ray as a heat map.", choices=tuple(SHOWN))
    geometric: bool = option(False, "The triangles' own normals instead of those that shading uses.")
    minimum: float = option(0.0, "What gets the darkest colour; less looks the same.", minimum=0.0, maximum=1e30)
    maximum: float = option(1.0, "What gets the brightest colour; more looks the same.", minimum=0.0, maximum=1e30)
    automatic: bool = option(False, "Fit the range to each picture; the brightest colour is what one pixel in two hundred exceeds.")
    colors: str = option("viridis", "The colour map.", choices=NAMES)


class Normals(SurfaceViewType):
    """x, y and z as red, green and blue."""

    name = "normals"
    title = "Normals"
    Options = NormalsOptions
    SHOWN = SHOWN
    planes = 4

    def more_parameters(self, options: Any) -> tuple[float, ...]:
        return (float(options.geometric),)

    def read(self, surface: Surface, rays: CameraRays, hits: HitBuffer, readings: Array) -> None:
        packs = rays.padded_count // self.target.lane_count
        arguments = (self._surface_view(surface), rays.frame, self._parameters, packs, hits.prim_id, hits.u, hits.v, readings)
        self.target.launch(self._unit("gpu/shade/normals.cu"), "read_normals", packs, *arguments)

    def describe(self, readings: np.ndarray) -> str:
        x, y, z, cosine = readings
        return f"normal ({x:.4f}, {y:.4f}, {z:.4f}), cosine to the ray {cosine:.4f}"
