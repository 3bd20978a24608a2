"""Assimp's materials and textures -> metallic-roughness materials and RGBA8 textures.

Colours are taken as linear, as glTF defines its factors and renderers take Kd. A Phong exponent n becomes the roughness
sqrt(2 / (n + 2)) (Walter 2007, Beckmann width of a Phong lobe).
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from raygrove.gpu.scene import Material, Remark

from . import assimp
from .assimp_file import AssimpFile
from .assimp_textures import Placement, TextureReader
from .texture_table import packed, packed_metalness, packed_roughness, with_opacity

# Kinds of textures; where there are two, those of glTF and of old formats.
BASE_COLOR_MAPS = (12, 1)
EMISSION_MAPS = (4, 14)
NORMAL_MAPS = (6, 13)
BUMP_MAP, OPACITY_MAP, METALNESS_MAP, ROUGHNESS_MAP, GLTF_METALLIC_ROUGHNESS = 5, 8, 15, 16, 18
REFRACTING = (4, 6, 7, 9)
"""Wavefront's models of illumination (illum) in which what is not opaque is glass."""
GLTF = frozenset({"gltf", "glb", "vrm"})
Key = tuple[str, int, int]


def properties_of(material: assimp.Material) -> dict[Key, Any]:
    """Every property by (key, texture type, index): arrays of numbers or bytes, or texts."""
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
        elif entry.kind == 5:
            result[key] = np.frombuffer(raw, np.uint8)
        elif entry.kind == 3:
            result[key] = raw[4:].split(b"\0")[0].decode("utf-8", "surrogateescape")
    return result


COATS = ("$mat.clearcoat.factor", "$mat.anisotropyFactor", "$clr.sheen.factor")
WITHOUT_MATERIALS = frozenset({"ply", "stl", "off"})
UNSAID = (0.6, 0.6, 0.6, 1.0)
"""The colour where a file says none: Assimp's of OBJ files. Its white of the others is burnt out by any light."""


class MaterialReader:
    """Reads the materials of one file and fills `textures` and `placements`."""

    def __init__(self, file: AssimpFile, folder: Path, texture_size: int) -> None:
        self.scene = file.pointer
        self.is_gltf, self._is_plain = file.extension in GLTF, file.extension in WITHOUT_MATERIALS
        self.placements: list[Placement] = []
        self._pictures = TextureReader(file, folder, texture_size)
        self.textures = self._pictures.textures
        self._lone_opacities = self._bump_maps = self._unseen = self._apart = self._coated = 0

    def read(self) -> tuple[Material, ...]:
        """All materials in the file's order; one plain material where it has none."""
        scene = self.scene.contents
        materials = [self._material(scene.materials[i].contents) for i in range(scene.material_count)]
        return tuple(materials) or (Material(),)

    def remarks(self) -> list[Remark]:
        """The textures that could not be had, and what of the materials is not read."""
        counted = [
            (self._bump_maps, "Materials have a bump map, which is not drawn; normal maps are."),
            (
                self._lone_opacities,
                "Materials have a map of opacity and none of colour: it is not drawn. Give them both.",
            ),
            (
                self._unseen,
                "Materials of opacity 0 are drawn opaque: programs write that by mistake, and nothing would be seen.",
            ),
            (self._coated, "Materials have a clear coat, a sheen or a brushed surface, which are not drawn."),
            (self._apart, "Materials have textures that lie apart from one another: all are placed as the first."),
        ]
        return [Remark(count, sentence) for count, sentence in counted if count] + self._pictures.remarks()

    def _material(self, material: assimp.Material) -> Material:
        values = properties_of(material)
        self._coated += any(_number(values, key, 0.0) > 0.0 for key in COATS)
        self._bump_maps += bool(_file(values, BUMP_MAP))
        self.placements.append(self._common_placement(values))
        base_color = self._base_color(values)
        alpha_mode, base_color, transmission = self._openness(values, base_color)
        opacity, color = _file(values, OPACITY_MAP), _first_file(values, BASE_COLOR_MAPS)
        if opacity and color and not self.is_gltf:
            texture = (
                self._pictures.take((color, opacity), "color", with_opacity)
                if opacity != color
                else self._texture(color)
            )
            alpha_mode = "mask" if texture >= 0 and alpha_mode == "opaque" else alpha_mode
            texture = texture if texture >= 0 else self._texture(color)
        else:
            self._lone_opacities += bool(opacity) and not color
            texture = self._texture(color)
        distance = _number(values, "$mat.volume.attenuationDistance", 0.0)
        tint = _color(values, "$mat.volume.attenuationColor")
        return Material(
            name=_text(values, "?mat.name"),
            base_color=base_color,
            metallic=_number(values, "$mat.metallicFactor", 1.0 if _file(values, METALNESS_MAP) else 0.0),
            roughness=_roughness(values),
            emission=self._emission(values),
            base_color_texture=texture,
            transmission=transmission,
            ior=self._ior(values, transmission),
            attenuation_color=(float(tint[0]), float(tint[1]), float(tint[2])) if tint is not None else (1.0, 1.0, 1.0),
            attenuation_distance=distance if 0.0 < distance < 1e18 else 0.0,
            is_thin=self.is_gltf and not _number(values, "$mat.volume.thicknessFactor", 0.0) > 0.0,
            # glTF alone says that a surface has a front; what others call two-sided says how their programs cull.
            is_double_sided=not self.is_gltf or _number(values, "$mat.twosided", 0.0) > 0.0,
            alpha_mode=alpha_mode,
            alpha_cutoff=_number(values, "$mat.gltf.alphaCutoff", 0.5),
            normal_texture=self._texture(_first_file(values, NORMAL_MAPS), "data"),
            normal_scale=_number(values, "$tex.scale", 1.0, NORMAL_MAPS[0]),
            metallic_roughness_texture=self._metallic_roughness(values),
            emission_texture=self._texture(_first_file(values, EMISSION_MAPS)),
        )

    def _texture(self, name: str, use: str = "color") -> int:
        return self._pictures.take((name,), use) if name else -1

    def _base_color(self, values: dict[Key, Any]) -> tuple[float, float, float, float]:
        color = _color(values, "$clr.base")
        color = _color(values, "$clr.diffuse") if color is None else color
        if color is None:
            return Material().base_color
        if self._is_plain and min(color[:3]) >= 1.0:
            return UNSAID  # Assimp's own: the file has no materials
        alpha = float(color[3]) if len(color) > 3 else 1.0
        alpha = min(alpha, _number(values, "$mat.opacity", 1.0))
        return float(color[0]), float(color[1]), float(color[2]), alpha

    def _openness(
        self, values: dict[Key, Any], color: tuple[float, float, float, float]
    ) -> tuple[str, tuple[float, float, float, float], float]:
        """Alpha mode, base colour and transmission. What old formats call opacity is a share that is covered, or glass
        where they say so."""
        if self.is_gltf:
            mode = _text(values, "$mat.gltf.alphaMode").lower()
            return (
                mode if mode in ("mask", "blend") else "opaque",
                color,
                _number(values, "$mat.transmission.factor", 0.0),
            )
        alpha, opaque = color[3], (*color[:3], 1.0)
        if alpha <= 0.0:
            self._unseen += 1
            return "opaque", opaque, 0.0
        if alpha < 1.0 and int(_number(values, "$mat.illum", 0.0)) in REFRACTING:
            return "opaque", opaque, 1.0 - alpha
        return "blend" if alpha < 1.0 else "opaque", color, 0.0

    def _ior(self, values: dict[Key, Any], transmission: float) -> float:
        """Programs write 1 into materials that nothing is known of: only what light goes through may be like air."""
        ior = _number(values, "$mat.refracti", Material.ior)
        return ior if self.is_gltf or transmission > 0.0 or ior > 1.0 else Material.ior

    @staticmethod
    def _emission(values: dict[Key, Any]) -> tuple[float, float, float]:
        color = _color(values, "$clr.emissive")
        if color is None:
            return 0.0, 0.0, 0.0
        strength = _number(values, "$mat.emissiveIntensity", 1.0)
        return float(color[0]) * strength, float(color[1]) * strength, float(color[2]) * strength

    def _metallic_roughness(self, values: dict[Key, Any]) -> int:
        """glTF's has both in one picture; other formats have one each."""
        rough, metal = _file(values, ROUGHNESS_MAP), _file(values, METALNESS_MAP)
        if self.is_gltf:
            return self._texture(metal or rough or _file(values, GLTF_METALLIC_ROUGHNESS), "data")
        if rough and metal:
            return (
                self._pictures.take((rough, metal), "data", packed) if rough != metal else self._texture(rough, "data")
            )
        if rough or metal:
            return self._pictures.take((rough or metal,), "data", packed_roughness if rough else packed_metalness)
        return -1

    def _common_placement(self, values: dict[Key, Any]) -> Placement:
        """How the material's first texture lies; all share one set of coordinates."""
        kinds = (*BASE_COLOR_MAPS, *EMISSION_MAPS, *NORMAL_MAPS, METALNESS_MAP, ROUGHNESS_MAP)
        placements = [self._placement(values, kind) for kind in kinds if _file(values, kind)]
        self._apart += any(placements[0].differs(other) for other in placements[1:])
        return placements[0] if placements else Placement()

    def _placement(self, values: dict[Key, Any], semantic: int) -> Placement:
        uv_set = values.get(("$tex.uvwsrc", semantic, 0), np.zeros(1))
        number = int(uv_set[0]) if len(uv_set) and 0 <= uv_set[0] < assimp.CHANNELS else 0
        parts = values.get(("$tex.uvtrafo", semantic, 0))
        if (
            parts is None
            or len(parts) != 5
            or not np.isfinite(parts).all()
            or tuple(parts) == (0.0, 0.0, 1.0, 1.0, 0.0)
        ):
            return Placement(number)
        tx, ty, sx, sy, turn = (float(part) for part in parts)
        if not self.is_gltf:
            return Placement(number, np.array([[sx, 0.0, tx], [0.0, sy, 1.0 - sy - ty]]))
        # Assimp turned glTF's transform (about the upper left corner, v downwards) into one about the middle: take that
        # back.
        c, s = np.cos(-turn), np.sin(-turn)
        ox, oy = tx - 0.5 * sx * (1.0 + s - c), 0.5 * sy * (s + c - 1.0) + 1.0 - sy - ty
        return Placement(number, np.array([[sx * c, sy * s, ox], [-sx * s, sy * c, oy]]))


def _text(values: dict[Key, Any], key: str) -> str:
    value = values.get((key, 0, 0), "")
    return value if isinstance(value, str) else ""


def _color(values: dict[Key, Any], key: str) -> np.ndarray | None:
    value = values.get((key, 0, 0))
    return value if isinstance(value, np.ndarray) and len(value) >= 3 else None


def _file(values: dict[Key, Any], kind: int) -> str:
    value = values.get(("$tex.file", kind, 0), "")
    return value if isinstance(value, str) else ""


def _first_file(values: dict[Key, Any], kinds: tuple[int, ...]) -> str:
    return next((name for kind in kinds if (name := _file(values, kind))), "")


def _number(values: dict[Key, Any], key: str, default: float, kind: int = 0) -> float:
    value = values.get((key, kind, 0))
    return float(value[0]) if isinstance(value, np.ndarray) and len(value) else default


def _roughness(values: dict[Key, Any]) -> float:
    if _file(values, ROUGHNESS_MAP) and ("$mat.roughnessFactor", 0, 0) not in values:
        return 1.0  # the picture says it
    exponent, specular = _number(values, "$mat.shininess", 0.0), _color(values, "$clr.specular")
    if ("$mat.roughnessFactor", 0, 0) in values or exponent <= 0.0 or specular is None or not specular[:3].max() > 0.0:
        return _number(values, "$mat.roughnessFactor", Material().roughness)
    return float(np.sqrt(2.0 / (exponent + 2.0)))
