"""SurfaceView of shading.cuh: the surface of an instant, its materials and its lights as one by-value struct."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from ..animate import glyphs, spheres
from ..animate.animate import Surface
from ..rows import Floats, Int, Ints, Struct
from ..target.base import Array
from ..target.structs import pack
from .material_row import MaterialFeatures
from .materials import Materials


@dataclasses.dataclass(frozen=True)
class TriangleSurface(Struct):
    """What every scene has."""

    positions: Floats
    normals: Floats
    uvs: Floats
    triangles: Ints
    material_ids: Ints
    materials: Floats
    """A MaterialRow each."""
    textures: Annotated[Array, "const int4*"]
    texels: Annotated[Array, "const unsigned*"]
    decode: Floats
    lights: Floats
    """A LightRow each."""
    emitters: Ints
    """Triangles and spheres that shine, ascending."""
    emitter_cdf: Floats
    """The share of all up to and with each: emitters.py."""
    gloss: Floats
    """The table of gloss.py."""
    light_count: Int
    has_textures: Int
    emitter_count: Int
    features: Int
    """MaterialFeatures."""


@dataclasses.dataclass(frozen=True)
class SphereArrays(Struct):
    """Spheres, the first of which is the scene's primitive `first_id`."""

    centres: Floats
    previous: Floats
    """Centres of the instant before."""
    radii: Floats
    colours: Floats
    """Null, or negative where a sphere has none of its own."""
    first_id: Int
    count: Int


@dataclasses.dataclass(frozen=True)
class SphereSurface(TriangleSurface):
    """What scenes with spheres have."""

    spheres: SphereArrays


@dataclasses.dataclass(frozen=True)
class GlyphArrays(Struct):
    """Glyphs as gpu/device/glyph.cuh has them, the first of which is the scene's primitive `first_id`."""

    rows: Annotated[Array, "const float4*"]
    previous: Annotated[Array, "const float4*"]
    """Those of the instant before."""
    colours: Floats
    """Null, or negative where a glyph has none of its own."""
    first_id: Int
    count: Int


@dataclasses.dataclass(frozen=True)
class GlyphSurface(SphereSurface):
    """What scenes with glyphs have; without spheres those are none."""

    glyphs: GlyphArrays


def surface_view(surface: Surface, materials: Materials) -> np.ndarray:
    """The struct, with the spheres behind where the scene has some. Its pointers stay while the surface is the same and
    `materials.generation` is."""
    triangles = {
        "positions": surface.positions,
        "normals": surface.normals,
        "uvs": surface.uvs,
        "triangles": surface.triangles,
        "material_ids": surface.material_ids,
        "materials": materials.records,
        "textures": materials.textures,
        "texels": materials.texels,
        "decode": materials.decode,
        "lights": surface.lights,
        "emitters": materials.emitters,
        "emitter_cdf": materials.emitter_cdf,
        "gloss": materials.gloss,
        "light_count": surface.light_count,
        "has_textures": int(materials.has_textures or bool(materials.features & MaterialFeatures.ALPHA)),
        "emitter_count": materials.emitter_count,
        "features": materials.features,
    }
    if surface.glyphs is not None:
        return pack(GlyphSurface(**triangles, spheres=_spheres_or_none(surface), glyphs=_glyph_arrays(surface.glyphs)))
    if surface.spheres is None:
        return pack(TriangleSurface(**triangles))
    return pack(SphereSurface(**triangles, spheres=_sphere_arrays(surface.spheres)))


def _sphere_arrays(of: spheres.SphereSurface) -> SphereArrays:
    return SphereArrays(of.centres, of.previous, of.radii, of.colours, of.first_id, of.count)


def _glyph_arrays(of: glyphs.GlyphSurface) -> GlyphArrays:
    return GlyphArrays(of.rows, of.previous, of.colours, of.first_id, of.count)


def _spheres_or_none(surface: Surface) -> SphereArrays:
    """Where there are none, rows that lanes which look at nothing may read."""
    if surface.spheres is not None:
        return _sphere_arrays(surface.spheres)
    assert surface.glyphs is not None
    rows = surface.glyphs.rows
    return SphereArrays(rows, rows, rows, None, surface.glyphs.first_id, 0)
