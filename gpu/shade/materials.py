"""Materials and textures of a scene as kernels read them: one array of records, one atlas of texels, one table that decodes bytes."""

from __future__ import annotations

import numpy as np

from ..scene import Material, Scene, Texture
from ..target.base import Target
from . import srgb

MATERIAL_FLOATS = 12
"""A record of shading.cuh: base colour and alpha, emission and texture index (-1: none), metallic, roughness, two unused."""


class Materials:
    """On the target: `records` (M, 12) float32, `textures` (X, 4) int32 (first texel, width, height, is_srgb), `texels` (N,) uint32 RGBA8,
    `decode` (512,) float32. `has_textures` is whether any material of the scene uses one."""

    def __init__(self, target: Target, scene: Scene) -> None:
        records = material_records(scene.materials or (Material(),), len(scene.textures))
        places, texels = texture_atlas(scene.textures)
        self.count = len(records)
        self.records = target.upload(records, "materials")
        self.textures = target.upload(places, "textures")
        self.texels = target.upload(texels, "textures")
        self.decode = target.upload(srgb.decode_table(), "textures")
        self.has_textures = bool(np.any(records[:, 7] >= 0.0))


def material_records(materials: tuple[Material, ...], texture_count: int) -> np.ndarray:
    """(M, 12) float32; a texture index beyond `texture_count` counts as none (the reader has said so)."""
    rows = np.zeros((len(materials), MATERIAL_FLOATS), np.float32)
    for row, material in zip(rows, materials, strict=True):
        texture = material.base_color_texture if 0 <= material.base_color_texture < texture_count else -1
        row[:] = (*material.base_color, *material.emission, texture, material.metallic, material.roughness, 0.0, 0.0)
    return rows


def texture_atlas(textures: tuple[Texture, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Places (X, 4) int32 and texels (N,) uint32, one texture after the other; one white texel where there is none."""
    places = np.zeros((max(1, len(textures)), 4), np.int32)
    places[:, 1:3] = 1
    first, parts = 0, []
    for place, texture in zip(places, textures, strict=False):
        height, width = texture.pixels.shape[:2]
        place[:] = (first, width, height, int(texture.is_srgb))
        parts.append(np.ascontiguousarray(texture.pixels, np.uint8).reshape(-1, 4).view(np.uint32)[:, 0])
        first += width * height
    return places, np.concatenate(parts) if parts else np.full(1, 0xFFFFFFFF, np.uint32)
