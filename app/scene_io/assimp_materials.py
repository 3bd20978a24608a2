"""Assimp's materials and textures -> metallic-roughness materials and RGBA8 textures.

Colours are taken as linear, as glTF defines its factors and renderers take Kd. A Phong exponent n becomes the roughness
sqrt(2 / (n + 2)) (Walter 2007, Beckmann width of a Phong lobe).
"""

from __future__ import annotations

import ctypes
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from gpu.scene import Material, Remark, Texture

from . import assimp
from .assimp_file import AssimpFile
from .errors import shown
from .images import ImageError, decode, find

DIFFUSE, BASE_COLOR = 1, 12
EMISSION_MAPS = (4, 14)  # of old formats and of glTF
GLTF = frozenset({"gltf", "glb", "vrm"})
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


@dataclasses.dataclass(frozen=True, eq=False)
class Placement:
    """How a texture lies on a mesh: the set of texture coordinates, and a (2, 3) matrix for them (v downwards) or None."""

    uv_set: int = 0
    matrix: np.ndarray | None = None


class MaterialReader:
    """Reads the materials of one file and fills `textures`, `placements` and `missing`. Texture files are looked for beside the model."""

    def __init__(self, file: AssimpFile, folder: Path, texture_size: int) -> None:
        self.library, self.scene, self.folder, self.texture_size = file.library, file.pointer, folder, texture_size
        self.is_gltf = file.extension in GLTF
        self.placements: list[Placement] = []
        self.textures: list[Texture] = []
        self.texture_ids: dict[str, int] = {}
        self.missing: dict[str, str] = {}
        self.unlit_maps = 0

    def read(self) -> tuple[Material, ...]:
        """All materials in the file's order; one plain material where it has none."""
        scene = self.scene.contents
        materials = [self._material(scene.materials[i].contents) for i in range(scene.material_count)]
        return tuple(materials) or (Material(),)

    def remarks(self) -> list[Remark]:
        """The textures that could not be had, each with its reason, and the emission maps that are not read."""
        maps = []
        if self.unlit_maps:
            sentence = "materials shine by an emission map, which is not read yet: they do not shine."
            maps.append(Remark(self.unlit_maps, f"{self.unlit_maps} {sentence}"))
        if not self.missing:
            return maps
        inside = {name: reason for name, reason in self.missing.items() if self._is_embedded(name)}
        beside = {name: reason for name, reason in self.missing.items() if name not in inside}
        if beside:
            advice = "Put them beside the model and open it again"
            maps.append(Remark(len(beside), f"Textures missing, drawn in a plain colour: {self._listed(beside)}. {advice}."))
        if inside:
            advice = "Export the model again, or give it textures as PNG or JPEG"
            maps.append(Remark(len(inside), f"Textures inside the file that are drawn in a plain colour: {self._listed(inside)}. {advice}."))
        return maps

    def _listed(self, missing: dict[str, str]) -> str:
        listed = [f"{shown(self._shown_name(name))} ({reason})" for name, reason in list(missing.items())[:20]]
        return ", ".join(listed) + (f" and {len(missing) - 20} more" if len(missing) > 20 else "")

    def _is_embedded(self, name: str) -> bool:
        return bool(self.library.aiGetEmbeddedTexture(self.scene, name.encode("utf-8", "surrogateescape")))

    def _material(self, material: assimp.Material) -> Material:
        values = properties_of(material)
        texture, placement = self._texture(values)
        self.placements.append(placement)
        return Material(
            name=_text(values, "?mat.name"),
            base_color=self._base_color(values),
            metallic=_number(values, "$mat.metallicFactor", 0.0),
            roughness=_roughness(values),
            emission=self._emission(values),
            base_color_texture=texture,
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

    def _emission(self, values: dict[Key, Any]) -> tuple[float, float, float]:
        """Without its map the factor alone, mostly white, would drown everything else."""
        color = _color(values, "$clr.emissive")
        if color is None or not color[:3].max() > 0.0:
            return 0.0, 0.0, 0.0
        if any(values.get(("$tex.file", semantic, 0)) for semantic in EMISSION_MAPS):
            self.unlit_maps += 1
            return 0.0, 0.0, 0.0
        strength = _number(values, "$mat.emissiveIntensity", 1.0)
        return float(color[0]) * strength, float(color[1]) * strength, float(color[2]) * strength

    def _texture(self, values: dict[Key, Any]) -> tuple[int, Placement]:
        """Index of the base colour texture, -1 for none, and how it lies on the mesh."""
        for semantic in (BASE_COLOR, DIFFUSE):
            name = values.get(("$tex.file", semantic, 0), "")
            if isinstance(name, str) and name:
                return self._texture_id(name), self._placement(values, semantic)
        return -1, Placement()

    def _placement(self, values: dict[Key, Any], semantic: int) -> Placement:
        uv_set = values.get(("$tex.uvwsrc", semantic, 0), np.zeros(1))
        number = int(uv_set[0]) if len(uv_set) and 0 <= uv_set[0] < assimp.CHANNELS else 0
        parts = values.get(("$tex.uvtrafo", semantic, 0))
        if parts is None or len(parts) != 5 or not np.isfinite(parts).all() or tuple(parts) == (0.0, 0.0, 1.0, 1.0, 0.0):
            return Placement(number)
        tx, ty, sx, sy, turn = (float(part) for part in parts)
        if not self.is_gltf:
            return Placement(number, np.array([[sx, 0.0, tx], [0.0, sy, 1.0 - sy - ty]]))
        # Assimp turned glTF's transform (about the upper left corner, v downwards) into one about the middle: take that back.
        c, s = np.cos(-turn), np.sin(-turn)
        ox, oy = tx - 0.5 * sx * (1.0 + s - c), 0.5 * sy * (s + c - 1.0) + 1.0 - sy - ty
        return Placement(number, np.array([[sx * c, sy * s, ox], [-sx * s, sy * c, oy]]))

    def _texture_id(self, name: str) -> int:
        if name not in self.texture_ids:
            try:
                pixels = self._pixels(name)
                self.texture_ids[name] = len(self.textures)
                self.textures.append(Texture(self._shown_name(name), pixels))
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

    def _shown_name(self, name: str) -> str:
        """Embedded textures are called *0, *1 ...; they may have a name of their own."""
        if not name.startswith("*"):
            return name
        embedded = self.library.aiGetEmbeddedTexture(self.scene, name.encode("utf-8", "surrogateescape"))
        return (embedded.contents.file_name.text if embedded else "") or f"image {name[1:]}"

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
