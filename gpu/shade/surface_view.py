"""SurfaceView of shading.cuh: the surface of an instant, its materials and its lights as one by-value struct."""

from __future__ import annotations

import numpy as np

from ..animate.animate import Surface
from ..target.structs import make_struct, struct_dtype
from .materials import HAS_ALPHA, Materials

_ARRAYS = (
    "positions",
    "normals",
    "uvs",
    "triangles",
    "material_ids",
    "materials",
    "textures",
    "texels",
    "decode",
    "lights",
    "emitters",
    "emitter_cdf",
    "gloss",
)
_NUMBERS = ("light_count", "has_textures", "emitter_count", "features")
SURFACE_VIEW = struct_dtype([*((name, "pointer") for name in _ARRAYS), *((name, "int") for name in _NUMBERS)])


def surface_view(surface: Surface, materials: Materials) -> np.ndarray:
    """The struct. Its pointers stay while the surface is the same and `materials.generation` is."""
    return make_struct(
        SURFACE_VIEW,
        positions=surface.positions,
        normals=surface.normals,
        uvs=surface.uvs,
        triangles=surface.triangles,
        material_ids=surface.material_ids,
        materials=materials.records,
        textures=materials.textures,
        texels=materials.texels,
        decode=materials.decode,
        lights=surface.lights,
        emitters=materials.emitters,
        emitter_cdf=materials.emitter_cdf,
        gloss=materials.gloss,
        light_count=surface.light_count,
        has_textures=int(materials.has_textures or bool(materials.features & HAS_ALPHA)),
        emitter_count=materials.emitter_count,
        features=materials.features,
    )
