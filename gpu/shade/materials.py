"""Materials and textures of a scene as kernels read them: an array of records, an atlas of texels, a table that decodes bytes, and what shines."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..scene import Material, Scene, Texture
from ..target.base import Array, Target
from . import srgb
from .emitters import emitter_table
from .environment import EnvironmentMap
from .gloss import gloss_table

MATERIAL_FLOATS = 24
"""A record of shading.cuh: base colour and alpha | emission, base colour texture | metallic, roughness, transmission, index of refraction |
absorption a unit of length, alpha rule | textures of metalness and roughness, normals, emission, normal scale | whether it
is thin, whether its back shines as well, two unused.
A texture is -1 for none. The alpha rule is -1 where alpha does not count, 0 where it is a share, else what it must reach."""
HAS_ALPHA, HAS_GLASS, HAS_NORMAL_MAPS, HAS_OTHER_MAPS, HAS_ONE_SIDED_LAMPS = 1, 2, 4, 8, 16
"""Bits of `features`: what no material of the scene has costs nothing."""
MOST_TEXELS = 2**31 - 1
MOST_GLASS = 32767
"""Rays remember what they are inside of in 15 bits: materials past these are never glass."""
DARKEST = 1e-4
"""What is left at least of light after the attenuation distance: a colour of 0 would absorb without end."""


class Materials:
    """On the target: `records` (M, 24) float32, `textures` (X, 4) int32 (first texel, width, height, is_srgb), `texels` (N,) uint32 RGBA8,
    `decode` (512,) float32, `gloss` gloss.py's table; `emitters` (E,) int32 and `emitter_cdf` (E,) float32, the triangles that shine.
    `has_textures` is whether any material uses one, `features` what else they need; `generation` grows when arrays are others than before,
    `version` when anything is."""

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
        self.change(scene.materials)

    def change(self, materials: tuple[Material, ...]) -> None:
        """Take other materials, as many as the scene has. Between two frames."""
        materials = materials or (Material(),)
        self.materials, self.count = materials, len(materials)
        records = material_records(materials, len(self._scene.textures))
        if self.records is None:
            self.records = self._target.upload(records, "materials")
        else:
            self._target.write(self.records, records)
        self.has_textures = bool((records[:, [7, 16, 17, 18]] >= 0.0).any())
        self._choose_emitters(materials)
        features = features_of(records)
        self.generation += features != getattr(self, "features", features)
        self.features = features
        self.version += 1

    def hide(self, objects: Collection[int]) -> None:
        """Let the triangles of these objects shine no more, and of no others. Between two frames."""
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


def material_records(materials: tuple[Material, ...], texture_count: int) -> np.ndarray:
    """(M, 24) float32; a texture index beyond `texture_count` counts as none (the reader has said so)."""
    rows = np.zeros((len(materials), MATERIAL_FLOATS), np.float32)
    for index, (row, material) in enumerate(zip(rows, materials, strict=True)):
        base, rough, normal, emission = (texture if 0 <= texture < texture_count else -1 for texture in material.texture_ids)
        is_opaque = material.alpha_mode == "opaque"
        alpha, rule = (
            (1.0, -1.0) if is_opaque else (material.base_color[3], 0.0 if material.alpha_mode == "blend" else max(material.alpha_cutoff, 1e-6))
        )
        transmission = material.transmission if index < MOST_GLASS - 1 else 0.0
        row[:8] = (*material.base_color[:3], alpha, *material.emission, base)
        row[8:16] = (material.metallic, material.roughness, transmission, material.ior, *absorption(material), rule)
        row[16:22] = (rough, normal, emission, material.normal_scale, float(material.is_thin), float(material.is_double_sided))
    return rows


def absorption(material: Material) -> tuple[float, float, float]:
    """Shares absorbed a unit of length, by Beer's law: what is left after a distance d is exp(-absorption d)."""
    if material.attenuation_distance <= 0.0:
        return (0.0, 0.0, 0.0)
    left = np.clip(np.array(material.attenuation_color, np.float64), DARKEST, 1.0)
    red, green, blue = np.minimum(-np.log(left) / material.attenuation_distance, 1e30).tolist()
    return (red, green, blue)


def features_of(records: np.ndarray) -> int:
    """The bits of what any of the records needs."""
    needs = {
        HAS_ALPHA: records[:, 15] >= 0.0,
        HAS_GLASS: records[:, 10] > 0.0,
        HAS_NORMAL_MAPS: records[:, 17] >= 0.0,
        HAS_OTHER_MAPS: (records[:, [16, 18]] >= 0.0).any(axis=1),
        HAS_ONE_SIDED_LAMPS: (records[:, 4:7] > 0.0).any(axis=1) & (records[:, 21] == 0.0),
    }
    return sum(bit for bit, is_needed in needs.items() if is_needed.any())


def texture_atlas(textures: tuple[Texture, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Places (X, 4) int32 and texels (N,) uint32, one texture after the other; one white texel where there is none. Raises ValueError where they are
    too many for 31 bits."""
    total = sum(texture.pixels.shape[0] * texture.pixels.shape[1] for texture in textures)
    if total > MOST_TEXELS:
        raise ValueError(
            f"The textures have {total:,} texels and {MOST_TEXELS:,} can be told apart: open the scene with a smaller import.texture_size."
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
