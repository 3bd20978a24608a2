"""The views of what is hit, a table of them: how the readings of each are shown, and what the pointer says. Each class
is a ray type; views.py is what they share, probes.cu has a kernel for each."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..animate.animate import Surface
from ..settings import option
from ..target.base import Array, Target
from ..trace.trace import CameraRays, HitBuffer
from .frame_context import FrameContext
from .materials import Materials
from .views import Shown, SurfaceViewType, brightest, colors, darkest, fitted

WEIGHTS_SHOWN = {
    "weights": Shown("weights of the corners"),
    "edge": Shown("smallest weight", 3, 0.0),
    "first": Shown("weight of the first corner", 0, 0.0),
    "second": Shown("weight of the second corner", 1, 0.0),
    "third": Shown("weight of the third corner", 2, 0.0),
}


@dataclasses.dataclass(frozen=True)
class BarycentricsOptions:
    """Options of the view of barycentric coordinates."""

    show: str = option(
        "weights",
        "All three weights as a colour, or one of them, or the smallest, as a heat map.",
        choices=tuple(WEIGHTS_SHOWN),
    )
    minimum: float = darkest()
    maximum: float = brightest(1.0)
    automatic: bool = fitted(False)
    colors: str = colors()


class Barycentrics(SurfaceViewType):
    """Barycentric coordinates: where in its triangle each ray hits.

    Idea: The weights of a triangle's three corners are red, green and blue at each hit, so that every triangle shows
    its corners, its size and its shape. The smallest of them as a heat map is a picture of the wires: dark along the
    edges.

    Paper: Moebius, Der barycentrische Calcul (1827); as hits carry them since Moeller and Trumbore, Fast, Minimum
    Storage Ray/Triangle Intersection (1997).

    Cost: One primary ray per pixel; the weights come with the hit.

    Limits: A triangle smaller than a pixel shows a mixture. The order of the corners is the file's.
    """

    name = "barycentrics"
    title = "Barycentric coordinates"
    Options = BarycentricsOptions
    SHOWN = WEIGHTS_SHOWN
    planes = 4
    text = "weights {0:.4f}, {1:.4f}, {2:.4f}"
    takes = ("u", "v")


DEPTH_SHOWN = {
    "distance": Shown("distance along the ray", 0, 0.0, is_length=True),
    "depth": Shown("depth along the view", 1, 0.0, is_length=True),
}


@dataclasses.dataclass(frozen=True)
class DepthOptions:
    """Options of the view of depth."""

    show: str = option(
        "distance", "The distance along the ray, or along the direction of view.", choices=tuple(DEPTH_SHOWN)
    )
    minimum: float = darkest()
    maximum: float = brightest(100.0)
    automatic: bool = fitted(True)
    colors: str = colors()


class Depth(SurfaceViewType):
    """Depth: how far away each pixel's hit is, as a heat map.

    Idea: The distance of each primary hit is a colour: along the ray, or along the direction of view, which is what a
    depth buffer holds. The nearest surface is dark.

    Paper: Catmull, A Subdivision Algorithm for Computer Display of Curved Surfaces (1974), who kept it in a buffer; the
    colours are van der Walt and Smith's Viridis (2015).

    Cost: One primary ray per pixel and a few operations.

    Limits: The histogram resolves a millionth of the scene's diagonal, and steps of a thirty-second of a distance; the
    value under the pointer is exact.
    """

    name = "depth"
    title = "Depth"
    Options = DepthOptions
    SHOWN = DEPTH_SHOWN
    planes = 2
    text = "distance {0:.6g}, depth {1:.6g}"
    takes = ("frame", "t")


IDS_SHOWN = {
    "primitive": Shown("primitive", 0, is_id=True),
    "object": Shown("object", 1, is_id=True),
    "material": Shown("material", 2, is_id=True),
}


@dataclasses.dataclass(frozen=True)
class IdsOptions:
    """Options of the view of ids."""

    show: str = option(
        "primitive", "What is numbered: triangles and spheres, objects, or materials.", choices=tuple(IDS_SHOWN)
    )


class Ids(SurfaceViewType):
    """Ids: which triangle or sphere, object or material each pixel shows, every one in a colour of its own.

    Idea: The number of what was hit is scrambled into a colour, so that neighbours look different: the triangles of a
    mesh, where one object ends and the next begins, which faces share a material. The pointer reads the numbers.

    Paper: Weghorst, Hooper and Greenberg, Improved Computational Methods for Ray Tracing (1984), whose item buffer
    holds the same numbers; scrambled by O'Neill's PCG after Jarzynski and Olano (2020).

    Cost: One primary ray per pixel, and for objects a search by halves in the list of them.

    Limits: Two numbers may look alike by chance. At pixels where several samples differ colours are mixed: take one
    sample to read them off the picture.
    """

    name = "ids"
    title = "Ids"
    Options = IdsOptions
    SHOWN = IDS_SHOWN
    planes = 3
    text = "primitive {0:,}, object {1:,}, material {2:,}"
    takes = ("surface", "prim_id", "first_of_object", "object_count")

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._objects: tuple[int, ...] = ()
        self._firsts: Array = target.zeros(1, np.int32, "shade")

    def prepare(self, options: Any, context: FrameContext) -> None:
        super().prepare(options, context)
        firsts = tuple(thing.first for thing in context.surface.objects)
        if firsts != self._objects:
            self._objects = firsts
            self._firsts = self.target.upload(np.array(firsts or (0,), np.int32), "shade")

    def kernel_arguments(self, surface: Surface, rays: CameraRays, hits: HitBuffer) -> dict[str, Any]:
        count = max(1, len(self._objects))
        return {**super().kernel_arguments(surface, rays, hits), "first_of_object": self._firsts, "object_count": count}


NORMALS_SHOWN = {
    "direction": Shown("normal", scale=0.5, offset=0.5),
    "cosine": Shown("cosine to the ray", 3, 0.0),
}


@dataclasses.dataclass(frozen=True)
class NormalsOptions:
    """Options of the view of normals."""

    show: str = option(
        "direction", "The normal as a colour, or its cosine to the ray as a heat map.", choices=tuple(NORMALS_SHOWN)
    )
    geometric: bool = option(False, "The triangles' own normals instead of those that shading uses.")
    minimum: float = darkest()
    maximum: float = brightest(1.0)
    automatic: bool = fitted(False)
    colors: str = colors()


class Normals(SurfaceViewType):
    """Normals: which way each surface looks, as colours or as a heat map.

    Idea: The normal at each primary hit becomes red, green and blue: x, y and z from -1 to 1. Wrong winding, broken
    vertex normals and normal maps show at once, where shading would hide them. By the cosine to the ray a heat map
    shows what is seen edge on.

    Paper: The usual debug view of renderers; shading normals after Phong, Illumination for Computer Generated Pictures
    (1975). The colours of the heat map are van der Walt and Smith's Viridis (2015).

    Cost: One primary ray per pixel, and for shading normals three vertices and a normal map at each hit.

    Limits: Normals are shown on the side that the ray came from, so a triangle's back looks like a front; negative
    components can be read under the pointer and in the colours, and have no heat map of their own.
    """

    name = "normals"
    title = "Normals"
    Options = NormalsOptions
    SHOWN = NORMALS_SHOWN
    planes = 4
    text = "normal ({0:.4f}, {1:.4f}, {2:.4f}), cosine to the ray {3:.4f}"
    takes = ("surface", "frame", "options", "prim_id", "u", "v")


COORDINATES_SHOWN = {
    "both": Shown("texture coordinates"),
    "u": Shown("u, repeating", 0, 0.0),
    "v": Shown("v, repeating", 1, 0.0),
}


@dataclasses.dataclass(frozen=True)
class TextureCoordinatesOptions:
    """Options of the view of texture coordinates."""

    show: str = option("both", "Both as a colour, or one of them as a heat map.", choices=tuple(COORDINATES_SHOWN))
    minimum: float = darkest()
    maximum: float = brightest(1.0)
    automatic: bool = fitted(False)
    colors: str = colors()


class TextureCoordinates(SurfaceViewType):
    """Texture coordinates: how textures lie on surfaces.

    Idea: What is left of each coordinate beyond a whole number is red (u) and green (v), so that every repetition of a
    texture looks alike and seams, stretched and mirrored parts show without any texture.

    Paper: Catmull's thesis (1974) has textures by coordinates of a surface; the view is every modeller's.

    Cost: One primary ray per pixel, and three vertices at each hit.

    Limits: A scene without coordinates is black. The pointer reads the coordinates as they are, beyond 0 to 1 too.
    """

    name = "texture_coordinates"
    title = "Texture coordinates"
    Options = TextureCoordinatesOptions
    SHOWN = COORDINATES_SHOWN
    planes = 5
    text = "u {3:.6g}, v {4:.6g}"
    takes = ("surface", "frame", "prim_id", "u", "v", "has_coordinates")
