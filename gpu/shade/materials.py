"""Materials and textures of a scene as kernels read them: an array of records, an atlas of texels, a table that decodes
bytes, and what shines."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ..scene import Material, Scene, Texture
from ..target.base import Array, Target
from . import srgb
from .emitters import emitter_table
from .environment import EnvironmentMap
from .gloss import gloss_table
from .material_row import ALPHA_IS_A_SHARE, ALPHA_IS_IGNORED, NO_TEXTURE, MaterialFeatures, MaterialRow

MOST_TEXELS = 2**31 - 1
MEDIUM_BITS = 15
"""Rays remember so what they are inside of."""
MOST_GLASS = (1 << MEDIUM_BITS) - 1
"""Materials past these are never glass."""
DARKEST = 1e-4
"""What is left at least of light after the attenuation distance: a colour of 0 would absorb without end."""


class Materials:
    """On the target: `records` (M, MaterialRow.floats()) float32, `textures` (X, 4) int32 (first texel, width, height,
    is_srgb), `texels` (N,) uint32 RGBA8, `decode` (512,) float32, `gloss` gloss.py's table; `emitters` (E,) int32 and
    `emitter_cdf` (E,) float32, the triangles and spheres that shine. `has_textures` is whether any material uses one,
    `features` what else they need; `generation` grows when arrays are others than before, `version` when anything
    is."""

    def __init__(self, target: Target, scene: Scene) -> None:
        self._target, self._scene = target, scene
        places, texels = texture_atlas(scene.textures)
        self.textures = target.upload(places, "textures")
        self.texels = target.upload(texels, "textures")
        self.decode = target.upload(srgb.decode_table(), "textures")
        self.gloss = target.upload(gloss_table(), "materials")
        self.generation = self.version = 0
        self.records: Array = None
        self.emitters: Array = None
        self.emitter_cdf: Array = None
        self.emitter_count = 0
        self._hidden: Collection[int] = ()
        self.environment = EnvironmentMap(target, scene.environment)
        self.has_spheres, self.has_glyphs = scene.sphere_count + scene.glyph_count > 0, scene.glyph_count > 0
        self.change(scene.materials)

    @property
    def constants(self) -> tuple[tuple[str, int], ...]:
        """Unit constants of every kernel file that includes shading.cuh."""
        return (("SURFACE_KIND", 2 if self.has_glyphs else int(self.has_spheres)),)

    def change(self, materials: tuple[Material, ...]) -> None:
        """Take other materials, as many as the scene has. Between two frames."""
        materials = materials or (Material(),)
        self.materials, self.count = materials, len(materials)
        rows = material_rows(materials, len(self._scene.textures))
        records = np.array([row.numbers() for row in rows], np.float32)
        if self.records is None:
            self.records = self._target.upload(records, "materials")
        else:
            self._target.write(self.records, records)
        maps = MaterialFeatures.NORMAL_MAPS | MaterialFeatures.OTHER_MAPS
        self._choose_emitters(materials)
        features = features_of(rows)
        self.has_textures = bool(features & maps) or any(row.base_color_texture != NO_TEXTURE for row in rows)
        self.generation += features != getattr(self, "features", features)
        self.features = features
        self.version += 1

    def hide(self, objects: Collection[int]) -> None:
        """Let these objects shine no more, and of no others. Between two frames."""
        self._hidden = objects
        self._choose_emitters(self.materials)

    def _choose_emitters(self, materials: tuple[Material, ...]) -> None:
        ids, cdf = emitter_table(self._scene, materials, self._hidden)
        if self.emitters is None or len(ids) != self.emitter_count:
            self.emitter_count = len(ids)
            self.emitters = self._target.upload(ids if len(ids) else np.zeros(1, np.int32), "materials")
            self.emitter_cdf = self._target.upload(cdf if len(cdf) else np.ones(1, np.float32), "materials")
            self.generation += 1
        elif len(ids):
            self._target.write(self.emitters, ids)
            self._target.write(self.emitter_cdf, cdf)


def material_rows(materials: tuple[Material, ...], texture_count: int) -> list[MaterialRow]:
    """A texture index beyond `texture_count` counts as none (the reader has said so)."""
    return [_row(index, material, texture_count) for index, material in enumerate(materials)]


def _row(index: int, material: Material, texture_count: int) -> MaterialRow:
    base, rough, normal, emission = (
        texture if 0 <= texture < texture_count else NO_TEXTURE for texture in material.texture_ids
    )
    rules = {"opaque": ALPHA_IS_IGNORED, "blend": ALPHA_IS_A_SHARE, "mask": max(material.alpha_cutoff, 1e-6)}
    red, green, blue, alpha = material.base_color
    return MaterialRow(
        base_color=(red, green, blue),
        alpha=1.0 if material.alpha_mode == "opaque" else alpha,
        emission=material.emission,
        base_color_texture=base,
        metallic=material.metallic,
        roughness=material.roughness,
        transmission=material.transmission if index < MOST_GLASS - 1 else 0.0,
        ior=material.ior,
        absorption=absorption(material),
        alpha_rule=rules[material.alpha_mode],
        roughness_texture=rough,
        normal_texture=normal,
        emission_texture=emission,
        normal_scale=material.normal_scale,
        is_thin=material.is_thin,
        is_double_sided=material.is_double_sided,
    )


def absorption(material: Material) -> tuple[float, float, float]:
    """Absorption per unit of length, by Beer's law: what is left after a distance d is exp(-absorption d)."""
    if material.attenuation_distance <= 0.0:
        return (0.0, 0.0, 0.0)
    left = np.clip(np.array(material.attenuation_color, np.float64), DARKEST, 1.0)
    red, green, blue = np.minimum(-np.log(left) / material.attenuation_distance, 1e30).tolist()
    return (red, green, blue)


def features_of(rows: Sequence[MaterialRow]) -> MaterialFeatures:
    """What any of the materials needs."""
    needs = {
        MaterialFeatures.ALPHA: lambda row: row.alpha_rule != ALPHA_IS_IGNORED,
        MaterialFeatures.GLASS: lambda row: row.transmission > 0.0,
        MaterialFeatures.NORMAL_MAPS: lambda row: row.normal_texture != NO_TEXTURE,
        MaterialFeatures.OTHER_MAPS: lambda row: (row.roughness_texture, row.emission_texture) != (NO_TEXTURE,) * 2,
        MaterialFeatures.ONE_SIDED_LAMPS: lambda row: max(row.emission) > 0.0 and not row.is_double_sided,
    }
    found = MaterialFeatures(0)
    for feature, is_needed in needs.items():
        if any(map(is_needed, rows)):
            found |= feature
    return found


def texture_atlas(textures: tuple[Texture, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Places (X, 4) int32 and texels (N,) uint32, one texture after the other; one white texel where there is none.
    Raises ValueError where they are too many for 31 bits."""
    total = sum(texture.pixels.shape[0] * texture.pixels.shape[1] for texture in textures)
    if total > MOST_TEXELS:
        raise ValueError(
            f"The textures have {total:,} texels and {MOST_TEXELS:,} can be told apart: open the scene with a "
            f"smaller import.texture_size."
        )
    places = np.zeros((max(1, len(textures)), 4), np.int32)
    places[:, 1:3] = 1
    first, parts = 0, []
    for place, texture in zip(places, textures, strict=False):
        height, width = texture.pixels.shape[:2]
        place[:] = (first, width, height, int(texture.is_srgb))
        parts.append(np.ascontiguousarray(texture.pixels, np.uint8).reshape(-1, 4).view(np.uint32)[:, 0])
        first += width * height
    return places, np.concatenate(parts) if parts else np.full(1, 0xFFFFFFFF, np.uint32)
