"""A scene as one flat file between the importing child and the program: arrays as raw bytes, everything else as JSON.

    arrays, each at a multiple of 64 | JSON | trailer: offset and length of the JSON, magic (24 bytes)

Nothing is unpickled. The reader trusts no number: types follow the dataclasses of `gpu.scene`, every array must lie
inside the file, and
`check` looks at what kernels will index with. What does not fit raises `ExchangeError`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import struct
import types
import typing
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from raygrove.gpu.glyph_shapes import Glyphs, check_glyphs
from raygrove.gpu.linux import main_memory
from raygrove.gpu.scene import Mesh, Object, Scene, Spheres
from raygrove.printable import printable

ALIGNMENT = 64
TRAILER = struct.Struct("<QQ8s")
MAGIC = b"RGSCENE1"
DTYPES: dict[str, np.dtype[Any]] = {
    "f4": np.dtype("<f4"),
    "i4": np.dtype("<i4"),
    "u1": np.dtype("u1"),
    "i8": np.dtype("<i8"),
}
MAX_JSON = 1 << 30
PLAIN = frozenset({str, int, float, bool, type(None)})
MOST_COPIES = 64


class ExchangeError(ValueError):
    """The file is not what `write` writes."""


def write(scene: Scene, file: BinaryIO) -> None:
    """Write a sanitised scene (arrays float32, int32 or uint8) to an empty file."""
    arrays: list[tuple[str, tuple[int, ...], int]] = []
    seen: dict[int, int] = {}

    def put(array: np.ndarray) -> dict[str, int]:
        if id(array) not in seen:
            data = np.ascontiguousarray(array)
            name = next(name for name, dtype in DTYPES.items() if dtype == data.dtype)
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            arrays.append((name, data.shape, file.tell()))
            file.write(data.reshape(-1).view(np.uint8).data)
            seen[id(array)] = len(arrays) - 1
        return {"array": seen[id(array)]}

    document = _encoded(scene, put)
    text = json.dumps({"scene": document, "arrays": arrays}).encode()
    start = file.tell()
    file.write(text)
    file.write(TRAILER.pack(start, len(text), MAGIC))
    file.flush()


def read(file: BinaryIO) -> Scene:
    """The scene of such a file, its arrays mapped from it (copy on write); `ExchangeError` where anything does not
    fit."""
    size = os.fstat(file.fileno()).st_size
    if size < TRAILER.size:
        raise ExchangeError("it is too short")
    # What may be written counts as memory that is promised: a trajectory larger than that is mapped to be read alone.
    mapped = np.memmap(file, np.uint8, mode="r" if 0 < main_memory()[1] < 2 * size else "c", shape=(size,))
    start, length, magic = TRAILER.unpack(bytes(mapped[-TRAILER.size :]))
    if magic != MAGIC or length > MAX_JSON or start + length + TRAILER.size != size:
        raise ExchangeError("its end is not where it should be")
    try:
        document = json.loads(bytes(mapped[start : start + length]))
        arrays = [_mapped_array(mapped, start, entry) for entry in document["arrays"]]
        scene = _decoder(Scene)(document["scene"], arrays)
    except (LookupError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise ExchangeError(f"its description does not fit ({error})") from error
    check(scene)
    return scene


def check(scene: Scene) -> None:
    """What kernels rely on: shapes that agree, indices in range, finite positions. Raises `ExchangeError`."""
    node_count, texture_count = len(scene.nodes), len(scene.textures)
    _require(
        node_count > 0 and all(-1 <= node.parent < index for index, node in enumerate(scene.nodes)), "a node's parent"
    )
    _require(
        all(0 <= thing.node < node_count and _places_one(thing, scene) for thing in scene.objects),
        "an object's node, mesh, spheres or glyphs",
    )
    _require(len(scene.materials) > 0, "the materials")
    _require(
        all(-1 <= texture < texture_count for m in scene.materials for texture in m.texture_ids), "a material's texture"
    )
    _require(
        all(t.pixels.ndim == 3 and t.pixels.shape[2] == 4 and t.pixels.dtype == np.uint8 for t in scene.textures),
        "a texture's shape",
    )
    sky = None if scene.environment is None else scene.environment.pixels
    _require(
        sky is None or (sky.ndim == 3 and sky.shape[2] == 3 and sky.size > 0 and sky.dtype == np.float32),
        "the environment",
    )
    _require(sky is None or (float(sky.min()) >= 0.0 and math.isfinite(float(sky.max()))), "the environment")
    _require(all(-1 <= light.node < node_count for light in scene.lights), "a light's node")
    _require(all(0 <= camera.node < node_count for camera in scene.cameras), "a camera's node")
    for clip in scene.clips:
        for channel in clip.channels:
            track = channel.track
            _require(0 <= channel.node < node_count and 0 < len(track.times) == len(track.values), "a track")
    for mesh in scene.meshes:
        _check_mesh(mesh, node_count, len(scene.materials))
    for spheres in scene.spheres:
        _check_spheres(spheres, len(scene.materials))
    for glyphs in scene.glyphs:
        _check_glyphs(glyphs, [len(spheres.centres) for spheres in scene.spheres], len(scene.materials))
    kinds = [0 if thing.mesh >= 0 else 1 if thing.spheres >= 0 else 2 for thing in scene.objects]
    _require(kinds == sorted(kinds), "the order of the objects")


def _places_one(thing: Object, scene: Scene) -> bool:
    """Whether an object places a mesh, spheres or glyphs that are there, and one alone."""
    places = ((thing.mesh, scene.meshes), (thing.spheres, scene.spheres), (thing.glyphs, scene.glyphs))
    chosen = [0 <= index < len(things) for index, things in places if index != -1]
    return chosen == [True]


def _check_glyphs(glyphs: Glyphs, sphere_counts: list[int], material_count: int) -> None:
    try:
        check_glyphs(glyphs, sphere_counts)
    except ValueError as error:
        raise ExchangeError(str(error)) from error
    keys = glyphs.key_frames
    arrays = [glyphs.centres, glyphs.sizes, glyphs.turns, glyphs.colours]
    arrays += [] if keys is None else [keys.centres, keys.sizes, keys.turns, keys.colours]
    for array in arrays:
        _require(array is None or array.dtype == np.float32, "glyphs' numbers")
        _require(array is None or math.isfinite(float(np.abs(array).max(initial=0.0))), "glyphs' numbers")
    _require(glyphs.links is None or glyphs.links.pairs.dtype == np.int32, "glyphs' links")
    _require(0 <= glyphs.material_id < material_count, "glyphs' material")


def _check_mesh(mesh: Mesh, node_count: int, material_count: int) -> None:
    count, keys, skin, morph = len(mesh.positions), mesh.key_frames, mesh.skin, mesh.morph_targets
    _require(mesh.positions.shape == (count, 3) and mesh.positions.dtype == np.float32, "a mesh's positions")
    _require(math.isfinite(float(np.abs(mesh.positions).max(initial=0.0))), "a mesh's positions")
    _require(
        mesh.triangles.shape == (len(mesh.triangles), 3) and mesh.triangles.dtype == np.int32, "a mesh's triangles"
    )
    _require(_is_within(mesh.triangles, count), "a mesh's indices")
    _require(
        mesh.material_ids.shape == (len(mesh.triangles),) and _is_within(mesh.material_ids, material_count),
        "a mesh's materials",
    )
    _require(mesh.normals is None or mesh.normals.shape == (count, 3), "a mesh's normals")
    _require(mesh.uvs is None or mesh.uvs.shape == (count, 2), "a mesh's texture coordinates")
    if keys is not None:
        _require(keys.positions.shape == (len(keys.times), count, 3) and len(keys.times) > 0, "a mesh's key frames")
        _require(keys.normals is None or keys.normals.shape == keys.positions.shape, "a mesh's key frames")
    if skin is not None:
        fits = skin.joint_ids.shape == skin.weights.shape == (count, 4) and skin.inverse_bind.shape == (
            len(skin.joints),
            4,
            4,
        )
        _require(
            fits and _is_within(skin.joints, node_count) and _is_within(skin.joint_ids, len(skin.joints)),
            "a mesh's skin",
        )
    if morph is not None:
        fits = morph.positions.shape == (len(morph.weights), count, 3)
        _require(
            fits and (morph.normals is None or morph.normals.shape == morph.positions.shape), "a mesh's morph targets"
        )


def _check_spheres(spheres: Spheres, material_count: int) -> None:
    count, keys, box = len(spheres.centres), spheres.key_frames, spheres.box
    _require(_is_finite(spheres.centres, (count, 3)), "the centres of spheres")
    _require(_is_finite(spheres.radii, (count,)), "the radii of spheres")
    _require(spheres.colours is None or _is_finite(spheres.colours, (count, 3)), "the colours of spheres")
    _require(0 <= spheres.material_id < material_count, "the material of spheres")
    ids = spheres.ids
    _require(ids is None or (ids.shape == (count,) and ids.dtype == np.int64), "the ids of spheres")
    key_count = 0 if keys is None else len(keys.times)
    if keys is not None:
        _require(keys.times.shape == (key_count,) and key_count > 0, "the key frames of spheres")
        _require(_is_finite(keys.centres, (key_count, count, 3)), "the key frames of spheres")
        _require(keys.radii is None or _is_finite(keys.radii, (key_count, count)), "the key frames of spheres")
        _require(keys.colours is None or _is_finite(keys.colours, (key_count, count, 3)), "the key frames of spheres")
    for attribute in spheres.attributes:
        shape = attribute.values.shape
        fits = len(shape) in (1, 2, 3) and (shape[0] == count or shape[:2] == (key_count, count))
        _require(fits and attribute.values.dtype == np.float32, "an attribute of spheres")
    _require(spheres.gravity is None, "the gravity of spheres, which no file has")
    if box is not None:
        leading = ((), (key_count,))
        _require(_is_finite(box.origin) and box.origin.shape in [(*one, 3) for one in leading], "a periodic box")
        _require(_is_finite(box.vectors) and box.vectors.shape in [(*one, 3, 3) for one in leading], "a periodic box")
        _require(all(1 <= copies <= MOST_COPIES for copies in box.copies), "a periodic box")


def _is_finite(values: np.ndarray, shape: tuple[int, ...] | None = None) -> bool:
    return (
        (shape is None or values.shape == shape)
        and values.dtype == np.float32
        and (not values.size or (math.isfinite(float(values.min())) and math.isfinite(float(values.max()))))
    )


def _is_within(ids: np.ndarray, count: int) -> bool:
    return ids.dtype == np.int32 and (not ids.size or bool(ids.min() >= 0 and ids.max() < count))


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ExchangeError(f"{what} does not fit")


def _encoded(value: Any, put: Any) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is tuple or kind is list:
        return [item if type(item) in PLAIN else _encoded(item, put) for item in value]
    if isinstance(value, np.ndarray):
        return put(value)
    return {name: _encoded(getattr(value, name), put) for name in _hints(typing.cast(type, kind))}


def _mapped_array(mapped: np.ndarray, end: int, entry: Any) -> np.ndarray:
    name, shape, offset = entry
    dtype = DTYPES[name]
    if not all(isinstance(n, int) and 0 <= n < 1 << 40 for n in (*shape, offset)) or len(shape) > 4:
        raise ExchangeError("an array's shape does not fit")
    size = math.prod(shape) * dtype.itemsize
    if offset % ALIGNMENT or offset + size > end:
        raise ExchangeError("an array lies outside the file")
    return np.asarray(mapped[offset : offset + size]).view(dtype).reshape(shape)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


@functools.cache
def _decoder(hint: Any) -> Callable[[Any, list[np.ndarray]], Any]:
    """What makes a value that fits the type that `hint` names, or raises TypeError; made once a type, as scenes may
    have a million values."""
    if isinstance(hint, types.UnionType):
        of_inner = _decoder(next(part for part in typing.get_args(hint) if part is not type(None)))
        return lambda value, arrays: None if value is None else of_inner(value, arrays)
    if hint is np.ndarray:
        return lambda value, arrays: arrays[value["array"]]
    if dataclasses.is_dataclass(hint):
        return _dataclass_decoder(typing.cast(Any, hint))
    if typing.get_origin(hint) is tuple:
        return _tuple_decoder(typing.get_args(hint))
    if hint is float:
        return lambda value, _: float(value) if type(value) in (float, int) and math.isfinite(value) else _misfit(value)
    if hint is str:
        return lambda value, _: printable(value) if type(value) is str else _misfit(value)
    if hint in (int, bool):
        return lambda value, _: value if type(value) is hint else _misfit(value)
    raise TypeError(f"{hint} is no type of a scene's values")


def _dataclass_decoder(kind: Any) -> Callable[[Any, list[np.ndarray]], Any]:
    decoders = {name: _decoder(hint) for name, hint in _hints(kind).items()}

    def decode(value: Any, arrays: list[np.ndarray]) -> Any:
        if type(value) is not dict:
            _misfit(value)
        return kind(**{name: decoders[name](item, arrays) for name, item in value.items()})

    return decode


def _tuple_decoder(parts: tuple[Any, ...]) -> Callable[[Any, list[np.ndarray]], Any]:
    if len(parts) == 2 and parts[1] is Ellipsis:
        of_item = _decoder(parts[0])
        return lambda value, arrays: tuple(of_item(item, arrays) for item in _listed(value))
    decoders = [_decoder(part) for part in parts]
    return lambda value, arrays: tuple(
        decode(item, arrays) for decode, item in zip(decoders, _listed(value), strict=True)
    )


def _listed(value: Any) -> list[Any]:
    return value if type(value) is list else _misfit(value)


def _misfit(value: Any) -> Any:
    raise TypeError(f"{value!r:.60} stands where another kind of value is expected")
