"""Depth: how far away each pixel's hit is, as a heat map.

Idea: The distance of each primary hit is a colour: along the ray, or along the direction of view, which is what a depth buffer holds. The nearest
surface is dark.

Paper: Catmull, A Subdivision Algorithm for Computer Display of Curved Surfaces (1974), who kept it in a buffer; the colours are van der Walt and
Smith's Viridis (2015).

Cost: One primary ray a pixel and a few operations.

Limits: The histogram resolves a millionth of the scene's diagonal, and steps of a thirty-second of a distance; the value under the pointer is
exact.
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
    "distance": Shown("distance along the ray", 0, 0.0, is_length=True),
    "depth": Shown("depth along the view", 1, 0.0, is_length=True),
}


@dataclasses.dataclass(frozen=True)
class DepthOptions:
    """Options of the view of depth."""

    show: str = option("distance", "The distance along the ray, or along the direction of view.", choices=tuple(SHOWN))
    minimum: float = option(0.0, "What gets the darkest colour; less looks the same.", minimum=0.0, maximum=1e30)
    maximum: float = option(100.0, "What gets the brightest colour; more looks the same.", minimum=0.0, maximum=1e30)
    automatic: bool = option(True, "Fit the range to each picture; the brightest colour is what one pixel in two hundred exceeds.")
    colors: str = option("viridis", "The colour map.", choices=NAMES)


class Depth(SurfaceViewType):
    """Distances in scene units."""

    name = "depth"
    title = "Depth"
    Options = DepthOptions
    SHOWN = SHOWN
    planes = 2

    def read(self, surface: Surface, rays: CameraRays, hits: HitBuffer, readings: Array) -> None:
        packs = rays.padded_count // self.target.lane_count
        self.target.launch(self._unit("gpu/shade/depth.cu"), "read_depth", packs, rays.frame, packs, hits.t, readings)

    def describe(self, readings: np.ndarray) -> str:
        return f"distance {readings[0]:.6g}, depth {readings[1]:.6g}"
