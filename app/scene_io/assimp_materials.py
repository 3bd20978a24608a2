"""Assimp's materials and textures -> metallic-roughness materials and RGBA8 textures.

Colours are taken as linear, as glTF defines its factors and renderers take Kd. A Phong exponent n becomes the roughness
sqrt(2 / (n + 2)) (Walter 2007, Beckmann width of a Phong lobe).
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from gpu.scene import Material, Remark, Texture

from . import assimp
from .errors import shown
from .images import ImageError, decode, find

DIFFUSE, EMISSIVE, BASE_COLOR, UNKNOWN = 1, 4, 12, 18
Key = tuple[str, int, int]


def properties_of(material: assimp.Material) -> dict[Key, Any]:
    """Every property by (key, texture type, index): float arrays or texts."""
    result: dict[Key, Any] = {}
    for index in range(material.property_count):
        entry = material.properties[index].contents
        raw = ctypes.string_at(entry.data, entry.byte_count) if entry.data and entry.byte_count <= 1 << 20 else b""
        key = (entry.key.text, entry.semantic, entry.index)
        if entry.kind == 1:
            result[key] = np.frombuffer(raw[: len(raw) // 4 * 4], np.float32).astype(np.float64)
        elif entry.kind == 2:
            result[key] = np.frombuffer(raw[: len(raw) // 8 * 8], np.float64)
        elif entry.kind == 4:
            result[key] = np.frombuffer(raw[: len(raw) // 4 * 4], np.int32)
        elif entry.kind == 3:
            result[key] = raw[4:].split(b"\0")[0].decode("utf-8", "surrogateescape")
    return result


class MaterialReader:
    """Reads the materials of one file; `textures` and `remarks` fill as they are met. Texture files are looked for beside the model."""

    def __init__(self, library: ctypes.CDLL, scene: Any, folder: Path, texture_size: int) -> None:
        self.library, self.scene, self.folder, self.texture_size = library, scene, folder, texture_size
        self.textures: list[Texture] = []
        self.texture_ids: dict[str, int] = {}
        self.missing: dict[str, str] = {}

    def read(self) -> tuple[Material, ...]:
        """All materials in the file's order; one plain material where it has none."""
        scene = self.scene.contents
        materials = [self._material(scene.materials[i].contents) for i in range(scene.material_count)]
        return tuple(materials) or (Material(),)

    def remarks(self) -> list[Remark]:
        """The textures that could not be had, each with its reason."""
        if not self.missing:
            return []
        listed = [f"{shown(name)} ({reason})" for name, reason in list(self.missing.items())[:20]]
        more = f" and {len(self.missing) - 20} more" if len(self.missing) > 20 else ""
        sentence = f"Textures missing, drawn in a plain colour: {', '.join(listed)}{more}. Put them beside the model and open it again."
        return [Remark(len(self.missing), sentence)]

    def _material(self, material: assimp.Material) -> Material:
        values = properties_of(material)
        texture, uv_set = self._texture(values)
        return Material(
            name=_text(values, "?mat.name"),
            base_color=self._base_color(values),
            metallic=_number(values, "$mat.metallicFactor", 0.0),
            roughness=_roughness(values),
            emission=_emission(values),
            base_color_texture=texture if uv_set == 0 else -1,
        )

    @staticmethod
    def _base_color(values: dict[Key, Any]) -> tuple[float, float, float, float]:
        color = _color(values, "$clr.base")
        color = _color(values, "$clr.diffuse") if color is None else color
        if color is None:
            return Material().base_color
        alpha = float(color[3]) if len(color) > 3 else 1.0
        alpha = min(alpha, _number(values, "$mat.opacity", 1.0))
        return float(color[0]), float(color[1]), float(color[2]), alpha

    def _texture(self, values: dict[Key, Any]) -> tuple[int, int]:
        """Index of the base colour texture, -1 for none, and the set of texture coordinates that it uses."""
        for semantic in (BASE_COLOR, DIFFUSE):
            name = values.get(("$tex.file", semantic, 0), "")
            if isinstance(name, str) and name:
                uv_set = values.get(("$tex.uvwsrc", semantic, 0), np.zeros(1))
                return self._texture_id(name), int(uv_set[0]) if len(uv_set) else 0
        return -1, 0

    def _texture_id(self, name: str) -> int:
        if name not in self.texture_ids:
            try:
                pixels = self._pixels(name)
                self.texture_ids[name] = len(self.textures)
                self.textures.append(Texture(name, pixels))
            except ImageError as error:
                self.missing[name] = str(error)
                self.texture_ids[name] = -1
        return self.texture_ids[name]

    def _pixels(self, name: str) -> np.ndarray:
        encoded = name.encode("utf-8", "surrogateescape")
        embedded = self.library.aiGetEmbeddedTexture(self.scene, encoded)
        if embedded:
            return self._embedded(embedded.contents)
        path = find(name, self.folder)
        if path is None:
            raise ImageError("not found")
        return decode(path, self.texture_size)

    def _embedded(self, texture: assimp.Texture) -> np.ndarray:
        if texture.height == 0:
            return decode(ctypes.string_at(texture.data, texture.width), self.texture_size)
        texels = assimp.view(texture.data, np.uint8, (texture.height, texture.width, 4))
        return texels[:, :, [2, 1, 0, 3]]


def _text(values: dict[Key, Any], key: str) -> str:
    value = values.get((key, 0, 0), "")
    return value if isinstance(value, str) else ""


def _color(values: dict[Key, Any], key: str) -> np.ndarray | None:
    value = values.get((key, 0, 0))
    return value if isinstance(value, np.ndarray) and len(value) >= 3 else None


def _number(values: dict[Key, Any], key: str, default: float) -> float:
    value = values.get((key, 0, 0))
    return float(value[0]) if isinstance(value, np.ndarray) and len(value) else default


def _roughness(values: dict[Key, Any]) -> float:
    exponent, specular = _number(values, "$mat.shininess", 0.0), _color(values, "$clr.specular")
    if ("$mat.roughnessFactor", 0, 0) in values or exponent <= 0.0 or specular is None or not specular[:3].max() > 0.0:
        return _number(values, "$mat.roughnessFactor", Material().roughness)
    return float(np.sqrt(2.0 / (exponent + 2.0)))


def _emission(values: dict[Key, Any]) -> tuple[float, float, float]:
    color = _color(values, "$clr.emissive")
    if color is None:
        return 0.0, 0.0, 0.0
    strength = _number(values, "$mat.emissiveIntensity", 1.0)
    return float(color[0]) * strength, float(color[1]) * strength, float(color[2]) * strength
