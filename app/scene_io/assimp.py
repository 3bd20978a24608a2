"""libassimp as it lies in memory: its C structs, sizes asserted, and numpy views of its arrays.

The library is the one of the `cmeel-assimp` wheel (Assimp 6), found below the site packages; the structs follow its
headers (assimp/scene.h, mesh.h, anim.h, material.h, texture.h, light.h, camera.h). Assimp's own binding, pyassimp, is
wrong for bones and rotation keys in its newest release (docs/decisions/assimp-binding.md): so this one, whose sizes are
checked when it is imported. Only the importing child process uses it.
"""

from __future__ import annotations

import ctypes
import math
import site
import sys
from ctypes import POINTER, Structure, c_char, c_double, c_float, c_int, c_uint, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from .assimp_io import AiFileIO
from .assimp_log import LogStream

CHANNELS = 8
STRINGS = 8192
"""Texts that are copied together: each may have 1,023 letters."""
TRIANGULATE, JOIN, VALIDATE, SORT_BY_TYPE = 0x8, 0x2, 0x400, 0x8000


class String(Structure):
    """aiString: a length and bytes, UTF-8 where the importer knew."""

    _fields_ = [("length", c_uint), ("data", c_char * 1024)]

    @property
    def text(self) -> str:
        """The string, with what is not UTF-8 kept as surrogates (as in file names)."""
        raw = ctypes.string_at(ctypes.addressof(self) + String.data.offset, min(self.length, 1023))
        return raw.split(b"\0")[0].decode("utf-8", "surrogateescape")


Vector3, Color3, Vector2, Matrix = c_float * 3, c_float * 3, c_float * 2, c_float * 16


class Node(Structure):
    """aiNode."""


Node._fields_ = [
    ("name", String), ("transformation", Matrix), ("parent", POINTER(Node)), ("child_count", c_uint), ("children",
    POINTER(POINTER(Node))),
    ("mesh_count", c_uint), ("meshes", POINTER(c_uint)), ("metadata", c_void_p),
]  # fmt: skip


class Bone(Structure):
    """aiBone; `weights` points to `count` pairs of vertex id and weight."""

    _fields_ = [
        ("name", String), ("count", c_uint), ("armature", c_void_p), ("node", c_void_p), ("weights", c_void_p),
        ("offset", Matrix),
    ]  # fmt: skip


class AnimMesh(Structure):
    """aiAnimMesh: a morph target with absolute positions."""

    _fields_ = [
        ("name", String), ("vertices", c_void_p), ("normals", c_void_p), ("tangents", c_void_p), ("bitangents",
        c_void_p),
        ("colors", c_void_p * CHANNELS), ("uvs", c_void_p * CHANNELS), ("vertex_count", c_uint), ("weight", c_float),
    ]  # fmt: skip


class Mesh(Structure):
    """aiMesh."""

    _fields_ = [
        ("primitive_types", c_uint), ("vertex_count", c_uint), ("face_count", c_uint), ("vertices", c_void_p),
        ("normals", c_void_p),
        ("tangents", c_void_p), ("bitangents", c_void_p), ("colors", c_void_p * CHANNELS), ("uvs", c_void_p * CHANNELS),
        ("uv_components", c_uint * CHANNELS), ("faces", c_void_p), ("bone_count", c_uint), ("bones",
        POINTER(POINTER(Bone))),
        ("material", c_uint), ("name", String), ("anim_mesh_count", c_uint), ("anim_meshes",
        POINTER(POINTER(AnimMesh))),
        ("morph_method", c_int), ("aabb", c_float * 6), ("uv_names", c_void_p),
    ]  # fmt: skip


class MaterialProperty(Structure):
    """aiMaterialProperty; `kind` 1 float, 2 double, 3 string, 4 integer, 5 buffer."""

    _fields_ = [
        ("key", String), ("semantic", c_uint), ("index", c_uint), ("byte_count", c_uint), ("kind", c_int), ("data",
        c_void_p),
    ]  # fmt: skip


class Material(Structure):
    """aiMaterial."""

    _fields_ = [("properties", POINTER(POINTER(MaterialProperty))), ("property_count", c_uint), ("allocated", c_uint)]


class NodeAnim(Structure):
    """aiNodeAnim; key arrays are read by `VECTOR_KEY` and `QUATERNION_KEY`."""

    _fields_ = [
        ("name", String), ("position_count", c_uint), ("positions", c_void_p), ("rotation_count", c_uint), ("rotations",
        c_void_p),
        ("scaling_count", c_uint), ("scalings", c_void_p), ("before", c_int), ("after", c_int),
    ]  # fmt: skip


class MeshMorphKey(Structure):
    """aiMeshMorphKey."""

    _fields_ = [("time", c_double), ("values", c_void_p), ("weights", c_void_p), ("count", c_uint)]


class MeshMorphAnim(Structure):
    """aiMeshMorphAnim."""

    _fields_ = [("name", String), ("key_count", c_uint), ("keys", POINTER(MeshMorphKey))]


class Animation(Structure):
    """aiAnimation; times are ticks."""

    _fields_ = [
        ("name", String), ("duration", c_double), ("ticks_per_second", c_double), ("channel_count", c_uint),
        ("channels", POINTER(POINTER(NodeAnim))), ("mesh_channel_count", c_uint), ("mesh_channels", c_void_p),
        ("morph_channel_count", c_uint), ("morph_channels", POINTER(POINTER(MeshMorphAnim))),
    ]  # fmt: skip


class Texture(Structure):
    """aiTexture: a file in memory of `width` bytes where `height` is 0, else BGRA texels."""

    _fields_ = [("width", c_uint), ("height", c_uint), ("hint", c_char * 9), ("data", c_void_p), ("file_name", String)]


class Light(Structure):
    """aiLight; `kind` 1 directional, 2 point, 3 spot, 4 ambient, 5 area."""

    _fields_ = [
        ("name", String), ("kind", c_int), ("position", Vector3), ("direction", Vector3), ("up", Vector3), ("constant",
        c_float),
        ("linear", c_float), ("quadratic", c_float), ("diffuse", Color3), ("specular", Color3), ("ambient", Color3),
        ("inner_cone", c_float), ("outer_cone", c_float), ("size", Vector2),
    ]  # fmt: skip


class Camera(Structure):
    """aiCamera; angles in radians, relative to the node of the same name."""

    _fields_ = [
        ("name", String), ("position", Vector3), ("up", Vector3), ("look_at", Vector3), ("horizontal_fov", c_float),
        ("near", c_float),
        ("far", c_float), ("aspect", c_float), ("orthographic_width", c_float),
    ]  # fmt: skip


class Scene(Structure):
    """aiScene."""

    _fields_ = [
        ("flags", c_uint), ("root", POINTER(Node)), ("mesh_count", c_uint), ("meshes", POINTER(POINTER(Mesh))),
        ("material_count", c_uint), ("materials", POINTER(POINTER(Material))), ("animation_count", c_uint),
        ("animations", POINTER(POINTER(Animation))), ("texture_count", c_uint), ("textures", POINTER(POINTER(Texture))),
        ("light_count", c_uint), ("lights", POINTER(POINTER(Light))), ("camera_count", c_uint), ("cameras",
        POINTER(POINTER(Camera))),
        ("metadata", c_void_p), ("name", String), ("skeleton_count", c_uint), ("skeletons", c_void_p), ("private",
        c_void_p),
    ]  # fmt: skip


VECTOR_KEY = np.dtype(
    {
        "names": ["time", "value", "interpolation"],
        "formats": ["f8", ("f4", 3), "i4"],
        "offsets": [0, 8, 20],
        "itemsize": 24,
    }
)
QUATERNION_KEY = np.dtype(
    {
        "names": ["time", "value", "interpolation"],
        "formats": ["f8", ("f4", 4), "i4"],
        "offsets": [0, 8, 24],
        "itemsize": 32,
    }
)
VERTEX_WEIGHT = np.dtype([("vertex", "u4"), ("weight", "f4")])
FACE = np.dtype({"names": ["count", "indices"], "formats": ["u4", "u8"], "offsets": [0, 8], "itemsize": 16})

SIZES: dict[type[Structure], int] = {
    Node: 1144, Bone: 1120, AnimMesh: 1200, Mesh: 1320, MaterialProperty: 1056, NodeAnim: 1080, Animation: 1096,
    Texture: 1064, Light: 1132,
    Camera: 1084, Scene: 1168, MeshMorphKey: 32,
}  # fmt: skip
for _struct, _size in SIZES.items():
    if ctypes.sizeof(_struct) != _size:
        raise ImportError(
            f"Assimp's struct {_struct.__name__} is {ctypes.sizeof(_struct)} bytes here and {_size} in libassimp 6."
        )


def library_path() -> Path:
    """Where the wheel's libassimp lies; FileNotFoundError with the line that installs it."""
    folders = [Path(folder) for folder in (*site.getsitepackages(), site.getusersitepackages(), *sys.path) if folder]
    for folder in folders:
        for name in ("libassimp.so.6", "libassimp.so", "libassimp.dylib"):
            if (path := folder / "cmeel.prefix" / "lib" / name).exists():
                return path
    raise FileNotFoundError("Assimp's library is not installed. Install it with: pip install cmeel-assimp")


def load_library() -> ctypes.CDLL:
    """libassimp with the signatures of the calls made here."""
    library = ctypes.CDLL(str(library_path()))
    library.aiImportFileEx.argtypes = [ctypes.c_char_p, c_uint, POINTER(AiFileIO)]
    library.aiImportFileEx.restype = POINTER(Scene)
    library.aiApplyPostProcessing.argtypes, library.aiApplyPostProcessing.restype = (
        [POINTER(Scene), c_uint],
        POINTER(Scene),
    )
    library.aiReleaseImport.argtypes, library.aiReleaseImport.restype = [POINTER(Scene)], None
    library.aiGetErrorString.argtypes, library.aiGetErrorString.restype = [], ctypes.c_char_p
    library.aiGetExtensionList.argtypes, library.aiGetExtensionList.restype = [POINTER(String)], None
    for name in ("aiAttachLogStream", "aiDetachLogStream"):
        getattr(library, name).argtypes = [POINTER(LogStream)]
    library.aiGetEmbeddedTexture.argtypes, library.aiGetEmbeddedTexture.restype = (
        [POINTER(Scene), ctypes.c_char_p],
        POINTER(Texture),
    )
    return library


def view(address: int | None, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An array over memory that Assimp owns; valid until its scene is released, so copy what is kept."""
    dtype = np.dtype(dtype)
    count = math.prod(shape)
    if not address or count == 0:
        return np.zeros(shape, dtype)
    memory: Any = (c_char * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape)


def triangles_of(mesh: Mesh) -> np.ndarray:
    """Corners of the faces with three of them: (T, 3) uint32. Each aiFace points to its own little array."""
    faces = view(mesh.faces, FACE, (mesh.face_count,))
    pointers = faces["indices"][(faces["count"] == 3) & (faces["indices"] != 0)].astype(np.int64)
    return gather((pointers[:, None] + 4 * np.arange(3)).reshape(-1)).reshape(-1, 3)


def gather(addresses: np.ndarray) -> np.ndarray:
    """The uint32 at each address, (N,)."""
    if not len(addresses):
        return np.zeros(0, np.uint32)
    # One array over everything between the lowest and the highest address lets numpy gather; the gaps are never
    # touched.
    first, last = int(addresses.min()), int(addresses.max())
    words = view(first, np.uint32, ((last - first) // 4 + 1,))
    return words[(addresses - first) >> 2]


def blocks(addresses: np.ndarray, word_counts: np.ndarray) -> np.ndarray:
    """The uint32 of many blocks one after another: so many from each address."""
    if len(addresses) == 1:
        return view(int(addresses[0]), np.uint32, (int(word_counts[0]),)).copy()
    starts = np.cumsum(word_counts) - word_counts
    return gather(np.repeat(addresses - 4 * starts, word_counts) + 4 * np.arange(int(word_counts.sum())))


def addresses_of(pointers: Any, count: int) -> np.ndarray:
    """(N,) int64: where the structs lie that an array of `count` pointers leads to."""
    return view(ctypes.cast(pointers, c_void_p).value, np.int64, (count,))


def field(addresses: np.ndarray, struct: type[Structure], name: str) -> np.ndarray:
    """One field of many structs, as uint32; as int64 where it is a pointer; (N, K) of several."""
    where = getattr(struct, name)
    width = where.size // 4
    words = gather((addresses[:, None] + where.offset + 4 * np.arange(width)).reshape(-1)).reshape(-1, width)
    kind = dict(_fields(struct))[name]
    is_pointer = kind is c_void_p or getattr(kind, "_type_", None) is c_void_p or issubclass(kind, ctypes._Pointer)
    found = np.ascontiguousarray(words).view(np.int64) if is_pointer else words
    return found[:, 0] if found.shape[1] == 1 else found


def doubles(addresses: np.ndarray, struct: type[Structure], name: str) -> np.ndarray:
    """(N,) float64: a field of many structs that is a double."""
    return np.ascontiguousarray(field(addresses, struct, name)).view(np.float64)[:, 0]


def _fields(struct: type[Structure]) -> list[tuple[str, Any]]:
    return [(entry[0], entry[1]) for entry in struct._fields_]


def texts(addresses: np.ndarray) -> list[str]:
    """The Strings at the addresses, as `String.text` gives each."""
    parts = (addresses[start : start + STRINGS] for start in range(0, len(addresses), STRINGS))
    return [text for part in parts for text in _texts(part)]


def _texts(addresses: np.ndarray) -> list[str]:
    """The same of one or more."""
    lengths = np.minimum(field(addresses, String, "length"), 1023).astype(np.int64)
    starts, first = np.cumsum(lengths) - lengths, int(addresses.min()) + String.data.offset
    letters = view(first, np.uint8, (int(addresses.max()) + String.data.offset + 1024 - first,))
    shifts = np.repeat(addresses + String.data.offset - first - starts, lengths)
    whole = letters[shifts + np.arange(len(shifts))].tobytes()
    ends = (starts + lengths).tolist()
    if b"\0" in whole or not whole.isascii():
        raw = [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        return [data.split(b"\0")[0].decode("utf-8", "surrogateescape") for data in raw]
    text = whole.decode("ascii")
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def matrix(values: Any) -> np.ndarray:
    """A Matrix as (4, 4) float64, row-major, column vectors."""
    return np.array(values, np.float64).reshape(4, 4)
