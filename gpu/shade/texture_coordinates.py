"""Texture coordinates: how textures lie on surfaces.

Idea: What is left of each coordinate beyond a whole number is red (u) and green (v), so that every repetition of a texture looks alike and seams,
stretched and mirrored parts show without any texture.

Paper: Catmull's thesis (1974) has textures by coordinates of a surface; the view is every modeller's.

Cost: One primary ray a pixel, and three vertices at each hit.

Limits: A scene without coordinates is black. The pointer reads the coordinates as they are, beyond 0 to 1 too.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..animate.animate import Surface
from ..settings import option
from ..target.base import Array
from ..trace.trace import CameraRays, HitBuffer
from .color_maps import NAMES
from .views import Shown, SurfaceViewType

SHOWN = {
    "both": Shown("texture coordinates"),
    "u": Shown("u, repeating", 0, 0.0),
    "v": Shown("v, repeating", 1, 0.0),
}


@dataclasses.dataclass(frozen=True)
class TextureCoordinatesOptions:
    """Options of the view of texture coordinates."""

    show: str = option("both", "Both as a colour, or one of them as a heat map.", choices=tuple(SHOWN))
    minimum: float = option(0.0, "What gets the darkest colour; less looks the same.", minimum=0.0, maximum=1e30)
    maximum: float = option(1.0, "What gets the brightest colour; more looks the same.", minimum=0.0, maximum=1e30)
    automatic: bool = option(False, "Fit the range to each picture; the brightest colour is what one pixel in two hundred exceeds.")
    colors: str = option("viridis", "The colour map.", choices=NAMES)


class TextureCoordinates(SurfaceViewType):
    """u and v as red and green."""

    name = "texture_coordinates"
    title = "Texture coordinates"
    Options = TextureCoordinatesOptions
    SHOWN = SHOWN
    planes = 5

    def read(self, surface: Surface, rays: CameraRays, hits: HitBuffer, readings: Array) -> None:
        packs, has_coordinates = rays.padded_count // self.target.lane_count, int(len(surface.uvs) == len(surface.positions))
        arguments = (self._surface_view(surface), rays.frame, packs, hits.prim_id, hits.u, hits.v, has_coordinates, readings)
        self.target.launch(self._unit("gpu/shade/texture_coordinates.cu"), "read_texture_coordinates", packs, *arguments)

    def describe(self, readings: np.ndarray) -> str:
        return f"u {readings[3]:.6g}, v {readings[4]:.6g}"
