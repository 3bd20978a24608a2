"""The triangles of one instant as a file of a model: GLB with materials and textures, or PLY with a colour a face."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from raygrove.gpu.scene import Material, Texture
from raygrove.gpu.shade import srgb

from .whole_files import write_bytes

SCENE_ENDINGS = (".glb", ".ply")
GENERATOR = "Raygrove"
_FLOAT, _UINT = 5126, 5125
_VERTEX_BUFFER, _INDEX_BUFFER = 34962, 34963


@dataclasses.dataclass(frozen=True, eq=False)
class Instant:
    """Triangles (T, 3) int32 into V vertices: `positions` and `normals` (V, 3), `uvs` (V, 2) float32, v downwards, or
    None; `material_ids` (T,) into the materials. Positions are relative to `origin`."""

    name: str
    positions: np.ndarray
    normals: np.ndarray
    uvs: np.ndarray | None
    triangles: np.ndarray
    material_ids: np.ndarray
    materials: Sequence[Material]
    textures: Sequence[Texture]
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)


def is_scene_file(out: str) -> bool:
    """Whether a name means the file of a model."""
    return Path(out).suffix.lower() in SCENE_ENDINGS


def save_scene(instant: Instant, path: Path) -> None:
    """Write it as the ending says; the file appears whole or not at all. Raises OSError."""
    write_bytes(path, glb_of(instant) if path.suffix.lower() == ".glb" else ply_of(instant))


def _with_its_corners(instant: Instant) -> Instant:
    """The same triangles, without vertices that none of them has."""
    corners, places = np.unique(instant.triangles, return_inverse=True)
    uvs = None if instant.uvs is None else instant.uvs[corners]
    return dataclasses.replace(instant, positions=instant.positions[corners], normals=instant.normals[corners],
                               uvs=uvs, triangles=places.reshape(-1, 3))  # fmt: skip


# -- GLB ---------------------------------------------------------------------------------------------------------------
def glb_of(instant: Instant) -> bytes:
    """A file of glTF 2.0: one mesh with a part for each material that has triangles; textures are PNG inside."""
    made, instant = _Buffers(), _with_its_corners(instant)
    attributes = {"POSITION": made.accessor(instant.positions, "VEC3", with_range=True)}
    lengths = np.linalg.norm(instant.normals, axis=1)
    if len(lengths) and (lengths > 0.5).all():
        attributes["NORMAL"] = made.accessor(instant.normals / lengths[:, None], "VEC3")
    if instant.uvs is not None:
        attributes["TEXCOORD_0"] = made.accessor(instant.uvs, "VEC2")
    parts, materials, numbers = [], _Materials(instant, made), dict[int, int]()
    for material in np.unique(instant.material_ids).tolist():
        indices = instant.triangles[instant.material_ids == material].reshape(-1).astype(np.uint32)
        numbers.setdefault(material, len(numbers))
        part = {"attributes": attributes, "indices": made.accessor(indices, "SCALAR"), "material": numbers[material]}
        parts.append(part)
    node: dict[str, Any] = {"mesh": 0, "name": instant.name}
    if any(instant.origin):
        node["translation"] = list(instant.origin)
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": GENERATOR},
        "scene": 0,
        "scenes": [{"nodes": [0] if parts else []}],
        "materials": [materials.entry(instant.materials[one]) for one in numbers],
    }
    if parts:
        document |= {"nodes": [node], "meshes": [{"name": instant.name, "primitives": parts}]}
    if materials.images:
        document |= {"images": materials.images, "textures": materials.textures, "samplers": [{}]}
    if materials.extensions:
        document["extensionsUsed"] = sorted(materials.extensions)
    document |= made.document()
    return _packed(document, made.data())


class _Buffers:
    """One binary chunk, its views and accessors."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._length = 0

    def view(self, data: bytes, target: int = 0) -> int:
        """A part of the chunk; its number."""
        view = {"buffer": 0, "byteOffset": self._length, "byteLength": len(data)}
        self._views.append({**view, "target": target} if target else view)
        padded = data + b"\0" * (-len(data) % 4)
        self._parts.append(padded)
        self._length += len(padded)
        return len(self._views) - 1

    def accessor(self, values: np.ndarray, kind: str, *, with_range: bool = False) -> int:
        """An array in a view of its own; its number."""
        is_index = values.dtype.kind == "u"
        rows = np.ascontiguousarray(values, "<u4" if is_index else "<f4")
        made: dict[str, Any] = {
            "bufferView": self.view(rows.tobytes(), _INDEX_BUFFER if is_index else _VERTEX_BUFFER),
            "componentType": _UINT if is_index else _FLOAT,
            "count": len(rows),
            "type": kind,
        }
        if with_range and len(rows):
            made |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self._accessors.append(made)
        return len(self._accessors) - 1

    def document(self) -> dict[str, Any]:
        """What the document says of the chunk."""
        if not self._views:
            return {}
        return {"buffers": [{"byteLength": self._length}], "bufferViews": self._views, "accessors": self._accessors}

    def data(self) -> bytes:
        """The chunk."""
        return b"".join(self._parts)


class _Materials:
    """Materials as glTF spells them, and the pictures that they need."""

    def __init__(self, instant: Instant, buffers: _Buffers) -> None:
        self._instant, self._buffers = instant, buffers
        self._numbers: dict[int, int] = {}
        self.images: list[dict[str, Any]] = []
        self.textures: list[dict[str, Any]] = []
        self.extensions: set[str] = set()

    def entry(self, material: Material) -> dict[str, Any]:
        """One material."""
        surface: dict[str, Any] = {
            "baseColorFactor": list(material.base_color),
            "metallicFactor": material.metallic,
            "roughnessFactor": material.roughness,
        }
        made: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": surface}
        made |= {"doubleSided": material.is_double_sided, "alphaMode": material.alpha_mode.upper()}
        if material.alpha_mode == "mask":
            made["alphaCutoff"] = material.alpha_cutoff
        strength = max(*material.emission, 1.0)
        if any(material.emission):
            made["emissiveFactor"] = [part / strength for part in material.emission]
        if strength > 1.0:
            self._extend(made, "KHR_materials_emissive_strength", {"emissiveStrength": strength})
        if material.transmission > 0.0:
            self._extend(made, "KHR_materials_transmission", {"transmissionFactor": material.transmission})
            self._extend(made, "KHR_materials_ior", {"ior": material.ior})
            self._extend(made, "KHR_materials_volume", _volume_of(material))
        for owner, key, texture, more in (
            (surface, "baseColorTexture", material.base_color_texture, {}),
            (surface, "metallicRoughnessTexture", material.metallic_roughness_texture, {}),
            (made, "normalTexture", material.normal_texture, {"scale": material.normal_scale}),
            (made, "emissiveTexture", material.emission_texture, {}),
        ):
            if texture >= 0 and self._instant.uvs is not None:
                owner[key] = {"index": self._texture(texture), **more}
        return made

    def _extend(self, made: dict[str, Any], name: str, values: dict[str, Any]) -> None:
        made.setdefault("extensions", {})[name] = values
        self.extensions.add(name)

    def _texture(self, number: int) -> int:
        if number not in self._numbers:
            texture, file = self._instant.textures[number], io.BytesIO()
            Image.fromarray(np.ascontiguousarray(texture.pixels), "RGBA").save(file, "PNG", compress_level=6)
            view = self._buffers.view(file.getvalue())
            self.images.append({"bufferView": view, "mimeType": "image/png", "name": texture.name})
            self.textures.append({"source": len(self.images) - 1, "sampler": 0})
            self._numbers[number] = len(self.textures) - 1
        return self._numbers[number]


def _volume_of(material: Material) -> dict[str, Any]:
    """The inside of a surface that lets light in; one without an inside has no thickness."""
    made: dict[str, Any] = {"thicknessFactor": 0.0 if material.is_thin else 1.0}
    if material.attenuation_distance > 0.0:
        made["attenuationDistance"] = material.attenuation_distance
        made["attenuationColor"] = list(material.attenuation_color)
    return made


def _packed(document: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = len(text).to_bytes(4, "little") + b"JSON" + text
    if data:
        chunks += len(data).to_bytes(4, "little") + b"BIN\0" + data
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(chunks)).to_bytes(4, "little") + chunks


# -- PLY ---------------------------------------------------------------------------------------------------------------
def ply_of(instant: Instant) -> bytes:
    """A binary file: vertices with normals and, where there are some, texture coordinates (t upwards); faces with the
    base colours of their materials."""
    instant = _with_its_corners(instant)
    vertices, faces = len(instant.positions), len(instant.triangles)
    number = "<f8" if any(instant.origin) else "<f4"
    fields = [(name, number) for name in "xyz"] + [(name, "<f4") for name in ("nx", "ny", "nz")]
    fields += [("s", "<f4"), ("t", "<f4")] if instant.uvs is not None else []
    rows = np.zeros(vertices, fields)
    for axis, name in enumerate("xyz"):
        rows[name] = instant.positions[:, axis].astype(np.float64) + instant.origin[axis]
        rows[f"n{name}"] = instant.normals[:, axis]
    if instant.uvs is not None:
        rows["s"], rows["t"] = instant.uvs[:, 0], 1.0 - instant.uvs[:, 1]
    colors = np.array([_shown(one) for one in instant.materials], np.uint8)
    sides = np.zeros(faces, [("count", "u1"), ("corners", "<i4", 3), ("color", "u1", 3)])
    sides["count"], sides["corners"], sides["color"] = 3, instant.triangles, colors[instant.material_ids]
    kinds = {"<f8": "double", "<f4": "float"}
    head = [
        "ply", "format binary_little_endian 1.0", f"comment {GENERATOR}", f"element vertex {vertices}",
        *(f"property {kinds[kind]} {name}" for name, kind in fields), f"element face {faces}",
        "property list uchar int vertex_indices", *(f"property uchar {name}" for name in ("red", "green", "blue")),
        "end_header", "",
    ]  # fmt: skip
    return "\n".join(head).encode() + rows.tobytes() + sides.tobytes()


def _shown(material: Material) -> list[int]:
    """A base colour as screens show it, in bytes."""
    return [int(part) for part in np.round(255.0 * srgb.encode(np.array(material.base_color[:3])))]
