"""Ids: which triangle, object or material each pixel shows, every one in a colour of its own.

Idea: The number of what was hit is scrambled into a colour, so that neighbours look different: the triangles of a mesh, where one object ends and
the next begins, which faces share a material. The pointer reads the numbers.

Paper: Weghorst, Hooper and Greenberg, Improved Computational Methods for Ray Tracing (1984), whose item buffer holds the same numbers; scrambled by
O'Neill's PCG after Jarzynski and Olano (2020).

Cost: One primary ray a pixel, and for objects a search by halves in the list of them.

Limits: Two numbers may look alike by chance. At pixels where several samples differ colours are mixed: take one sample to read them off the
picture.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..animate.animate import Surface
from ..settings import option
from ..target.base import Array, Target
from ..trace.trace import CameraRays, HitBuffer
from .materials import Materials
from .views import Shown, SurfaceViewType

SHOWN = {
    "triangle": Shown("triangle", 0, is_id=True),
    "object": Shown("object", 1, is_id=True),
    "material": Shown("material", 2, is_id=True),
}


@dataclasses.dataclass(frozen=True)
class IdsOptions:
    """Options of the view of ids."""

    show: str = option("triangle", "What is numbered.", choices=tuple(SHOWN))


class Ids(SurfaceViewType):
    """Whole numbers as colours."""

    name = "ids"
    title = "Ids"
    Options = IdsOptions
    SHOWN = SHOWN
    planes = 3

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._objects: tuple[int, ...] = ()
        self._firsts: Array = target.zeros(1, np.int32, "shade")

    def prepare(self, options: Any, surface: Surface) -> None:
        super().prepare(options, surface)
        firsts = tuple(thing.first for thing in surface.objects)
        if firsts != self._objects:
            self._objects = firsts
            self._firsts = self.target.upload(np.array(firsts or (0,), np.int32), "shade")

    def read(self, surface: Surface, rays: CameraRays, hits: HitBuffer, readings: Array) -> None:
        packs = rays.padded_count // self.target.lane_count
        arguments = (self._surface_view(surface), packs, hits.prim_id, self._firsts, max(1, len(self._objects)), readings.view("i4"))
        self.target.launch(self._unit("gpu/shade/ids.cu"), "read_ids", packs, *arguments)

    def describe(self, readings: np.ndarray) -> str:
        triangle, thing, material = readings.view(np.int32)
        return f"triangle {triangle:,}, object {thing:,}, material {material:,}"
