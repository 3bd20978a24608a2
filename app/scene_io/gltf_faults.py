"""Where a glTF file is wrong, found only after libassimp has refused it: the place in its JSON, and why."""

from __future__ import annotations

import base64
import binascii
import json
import os
import urllib.parse
from typing import Any

from .compressed import OPENERS
from .gltf_texts import MAX_JSON, parts_of

KNOWN = frozenset(
    {
        *("KHR_materials_pbrSpecularGlossiness", "KHR_materials_unlit", "KHR_materials_sheen", "KHR_lights_punctual"),
        *("KHR_materials_clearcoat", "KHR_materials_transmission", "KHR_materials_volume", "KHR_materials_ior"),
        *("KHR_texture_transform", "KHR_materials_specular", "KHR_materials_emissive_strength"),
        *("KHR_mesh_quantization", "EXT_mesh_gpu_instancing"),
    }
)
BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
NUMBERS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
PACKED = frozenset({"KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"})
LISTS = {
    "mesh": "meshes", "skin": "skins", "camera": "cameras", "material": "materials", "indices": "accessors",
    "bufferView": "bufferViews", "buffer": "buffers", "input": "accessors", "output": "accessors", "children": "nodes",
    "attributes": "accessors", "targets": "accessors", "joints": "nodes", "inverseBindMatrices": "accessors",
    "nodes": "nodes", "source": "images", "scene": "scenes",
}  # fmt: skip


def gltf_fault(data: bytes) -> str:
    """The first fault of a glTF's text, with its place; "" where none is found."""
    try:
        text, body = parts_of(data)
        document = json.loads(text or b"", parse_constant=_no_number)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno} of its JSON: {_plain(error.msg)}"
    except (ValueError, RecursionError) as error:
        return str(error)
    try:
        return _fault(document) or ("" if body else _bodiless(document))
    except (LookupError, TypeError, ValueError, AttributeError):
        return "a value of its JSON is of another kind than glTF's"


def unread_extension(data: bytes) -> str:
    """The first extension that a glTF which was read says it needs, though nobody reads it; "" where there is none."""
    try:
        text, _ = parts_of(data)
        if not text or len(text) > MAX_JSON or b'"extensionsRequired"' not in text:
            return ""
        return next((name for name in _foreign(json.loads(text)) if name not in PACKED), "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""  # it was read all the same


def _foreign(document: Any) -> list[str]:
    return [str(name)[:80] for name in document.get("extensionsRequired", ()) if name not in KNOWN]


def _no_number(word: str) -> float:
    raise ValueError(f"its JSON says {word}, which is no number of JSON's")


def _plain(words: str) -> str:
    return words[:1].lower() + words[1:]


def _fault(document: Any) -> str:
    if not isinstance(document, dict) or "asset" not in document:
        return "its JSON has no `asset`, which every glTF has"
    version = str(document["asset"].get("version", "none"))
    if not version.startswith("2."):
        return f"it is glTF of version {version[:20]}, and 2.0 is read"
    if foreign := _foreign(document):
        return f"it needs the extension {foreign[0]}, which is not read: export it without"
    if not document.get("meshes"):
        return "it has no meshes"
    if not document.get("scenes"):
        return "it has no scene that places its nodes"
    if document.get("scene", 0) >= len(document["scenes"]):
        return f"scene = {document['scene']}, and there are {len(document['scenes']):,} scenes"
    for look in (_wrong_index, _wrong_texture, _wrong_buffer, _wrong_accessor, _circle, _placeless, _valueless):
        if fault := look(document):
            return fault
    return ""


def _wrong_index(document: Any) -> str:
    """The first number that names nothing of its list."""
    stack: list[tuple[str, str, Any]] = [(name, "", document[name]) for name in reversed(document)]
    while stack:
        place, kind, value = stack.pop()
        if isinstance(value, dict):
            inner = kind if kind in ("attributes", "targets") else ""
            skipped = ("extras", "extensions")
            stack += [(f"{place}.{key}", inner or key, item) for key, item in value.items() if key not in skipped]
        elif isinstance(value, list):
            stack += [(f"{place}[{index}]", kind, item) for index, item in enumerate(value)][::-1]
        elif kind in LISTS and type(value) is int:
            known = len(document.get(LISTS[kind], ()))
            if not 0 <= value < known:
                return f"{place} = {value}, and there are {known:,} {LISTS[kind]}"
    return ""


def _wrong_texture(document: Any) -> str:
    """The first texture of a material that is not there, or picture that lies nowhere."""
    textures = len(document.get("textures", ()))
    for number, material in enumerate(document.get("materials", ())):
        surface = material.get("pbrMetallicRoughness", {})
        for name, one in (*material.items(), *surface.items()):
            if name.endswith("Texture") and not 0 <= one["index"] < textures:
                place = f"materials[{number}]{'.pbrMetallicRoughness' if name in surface else ''}.{name}.index"
                return f"{place} = {one['index']}, and there are {textures:,} textures"
    for number, picture in enumerate(document.get("images", ())):
        if "uri" not in picture and not {"bufferView", "mimeType"} <= set(picture):
            return f"images[{number}] has neither a uri, nor a bufferView with its mimeType"
    return ""


def _wrong_buffer(document: Any) -> str:
    for index, view in enumerate(document.get("bufferViews", ())):
        buffer = document["buffers"][view["buffer"]]
        end = view.get("byteOffset", 0) + view["byteLength"]
        if end > buffer["byteLength"]:
            return f"bufferViews[{index}] ends at byte {end:,}, and its buffer has {buffer['byteLength']:,}"
    for index, buffer in enumerate(document.get("buffers", ())):
        uri = str(buffer.get("uri", "data:"))
        path = urllib.parse.unquote(uri)
        if not uri.startswith("data:") and os.path.exists(path) and not os.path.isfile(path):
            return f"buffers[{index}] is {uri[:80]!r}, which is no regular file: put the file of that name there"
        if not uri.startswith("data:") and not os.path.exists(path):
            packed = next((ending for ending in OPENERS if os.path.exists(path + ending)), "")
            remedy = f"unpack the file {packed} of that name" if packed else "put it beside the model"
            return f"buffers[{index}] is the file {uri[:80]!r}, which is not there: {remedy}"
        if uri.startswith("data:") and "uri" in buffer and (fault := _wrong_data(uri, buffer["byteLength"])):
            return f"buffers[{index}]{fault}"
    return ""


def _bodiless(document: Any) -> str:
    """The first buffer that lies nowhere, where the file has no binary chunk; extensions say where theirs lie."""
    for index, buffer in enumerate(document.get("buffers", ())):
        if not {"uri", "extensions"} & set(buffer):
            return f"buffers[{index}] has no `uri`, and the file has no binary chunk: its data were left out"
    return ""


def _wrong_data(uri: str, length: int) -> str:
    """What is wrong with data that stand in the JSON."""
    words, _, text = uri.partition(",")
    if not words.endswith(";base64"):
        return ""
    try:
        found = len(base64.b64decode(text, validate=True))
    except binascii.Error:
        return " should be base64 by its `uri`, and is not"
    return f" has {found:,} bytes in its `uri`, and should have {length:,}" if found < length else ""


def _wrong_accessor(document: Any) -> str:
    """The first one that says what cannot be, or more than its view holds; those that extensions unpack have none, nor
    have those that are nothing but zeros."""
    views = document.get("bufferViews", ())
    is_packed = bool(PACKED & set(document.get("extensionsUsed", ())))
    for index, accessor in enumerate(document.get("accessors", ())):
        place, count, kind = f"accessors[{index}]", accessor["count"], accessor["type"]
        if type(count) is not int or count < 1:
            return f"{place}.count is {json.dumps(count)[:20]}, and it should be a whole number from 1"
        if accessor["componentType"] not in BYTES:
            return f"{place}.componentType is {json.dumps(accessor['componentType'])[:20]}, which glTF does not know"
        if kind not in NUMBERS:
            return f"{place}.type is {json.dumps(kind)[:20]}, which glTF does not know"
        if is_packed or "bufferView" not in accessor:
            continue
        view, size = views[accessor["bufferView"]], BYTES[accessor["componentType"]] * NUMBERS[kind]
        end = accessor.get("byteOffset", 0) + (count - 1) * view.get("byteStride", size) + size
        if end > view["byteLength"]:
            held = f"bufferViews[{accessor['bufferView']}] has {view['byteLength']:,}"
            return f"{place} takes {end:,} bytes, and its {held}"
    return ""


def _circle(document: Any) -> str:
    nodes = document.get("nodes", [])
    states = [0] * len(nodes)
    for root in range(len(nodes)):
        stack = [(root, False)]
        while stack:
            node, is_done = stack.pop()
            if is_done:
                states[node] = 2
            elif states[node] == 1:
                return f"nodes[{node}] hangs from itself"
            elif not states[node]:
                states[node] = 1
                stack.append((node, True))
                stack += [(child, False) for child in nodes[node].get("children", ()) if states[child] < 2]
    return ""


def _placeless(document: Any) -> str:
    """The first part of a mesh whose points are nowhere."""
    for number, mesh in enumerate(document["meshes"]):
        for place, primitive in enumerate(mesh.get("primitives", ())):
            if "POSITION" not in primitive.get("attributes", {}):
                return f"meshes[{number}].primitives[{place}] has no POSITION, so its points are nowhere"
    return ""


def _valueless(document: Any) -> str:
    """The first accessor that a mesh or a track uses and that has no values. It means zeros to glTF, so that what else
    is wrong is told before; libassimp refuses some of them."""
    if PACKED & set(document.get("extensionsUsed", ())):
        return ""
    parts = [part for mesh in document["meshes"] for part in mesh.get("primitives", ())]
    used = [one for part in parts for one in (part.get("indices"), *part.get("attributes", {}).values())]
    used += [one for part in parts for target in part.get("targets", ()) for one in target.values()]
    for animation in document.get("animations", ()):
        used += [sampler[name] for sampler in animation["samplers"] for name in ("input", "output")]
    for number in sorted(one for one in used if one is not None):
        if not {"bufferView", "sparse"} & set(document["accessors"][number]):
            return (
                f"accessors[{number}] has no bufferView, which means zeros, and is not read: export it with its values"
            )
    return ""
