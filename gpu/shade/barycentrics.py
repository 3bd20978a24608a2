"""Barycentric coordinates: where in its triangle each ray hits.

Idea: The weights of a triangle's three corners are red, green and blue at each hit, so that every triangle shows its corners, its size and its
shape. The smallest of them as a heat map is a picture of the wires: dark along the edges.

Paper: Moebius, Der barycentrische Calcul (1827); as hits carry them since Moeller and Trumbore, Fast, Minimum Storage Ray/Triangle Intersection
(1997).

Cost: One primary ray a pixel; the weights come with the hit.

Limits: A triangle smaller than a pixel shows a mixture. The order of the corners is the file's.
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
    "weights": Shown("weights of the corners"),
    "edge": Shown("smallest weight", 3, 0.0),
    "first": Shown("weight of the first corner", 0, 0.0),
    "second": Shown("weight of the second corner", 1, 0.0),
    "third": Shown("weight of the third corner", 2, 0.0),
}


@dataclasses.dataclass(frozen=True)
class BarycentricsOptions:
    """Options of the view of barycentric coordinates."""

    show: str = option("weights", "All three weights as a colour, or one of them, or the smallest, as a heat map.", choices=tuple(SHOWN))
    minimum: float = option(0.0, "What gets the darkest colour; less looks the same.", minimum=0.0, maximum=1e30)
    maximum: float = option(1.0, "What gets the brightest colour; more looks the same.", minimum=0.0, maximum=1e30)
    automatic: bool = option(False, "Fit the range to each picture; the brightest colour is what one pixel in two hundred exceeds.")
    colors: str = option("viridis", "The colour map.", choices=NAMES)


class Barycentrics(SurfaceViewType):
    """The corners' weights as red, green and blue."""

    name = "barycentrics"
    title = "Barycentric coordinates"
    Options = BarycentricsOptions
    SHOWN = SHOWN
    planes = 4

    def read(self, surface: Surface, rays: CameraRays, hits: HitBuffer, readings: Array) -> None:
        packs = rays.padded_count // self.target.lane_count
        self.target.launch(self._unit("gpu/shade/barycentrics.cu"), "read_barycentrics", packs, packs, hits.u, hits.v, readings)

    def describe(self, readings: np.ndarray) -> str:
        first, second, third = readings[:3]
        return f"weights {first:.4f}, {second:.4f}, {third:.4f}"
