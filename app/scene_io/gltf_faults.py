"""Where a glTF file is wrong, found only after libassimp has refused it: the place in its JSON, and why."""

from __future__ import annotations

import json
import os
import urllib.parse
from typing import Any

from .gltf_texts import parts_of

KNOWN = frozenset(
    {
        *("KHR_materials_pbrSpecularGlossiness", "KHR_materials_unlit", "KHR_materials_sheen", "KHR_lights_punctual"),
        *("KHR_materials_clearcoat", "KHR_materials_transmission", "KHR_materials_volume", "KHR_materials_ior"),
        *("KHR_texture_transform", "KHR_materials_specular", "KHR_materials_emissive_strength"),
        *("KHR_mesh_quantization", "EXT_mesh_gpu_instancing"),
    }
)
LISTS = {
    "mesh": "meshes", "skin": "skins", "camera": "cameras", "material": "materials", "indices": "accessors",
    "bufferView": "bufferViews", "buffer": "buffers", "input": "accessors", "output": "accessors", "children": "nodes",
    "attributes": "accessors", "targets": "accessors", "joints": "nodes", "inverseBindMatrices": "accessors",
    "nodes": "nodes", "source": "images", "scene": "scenes",
}  # fmt: skip


def gltf_fault(data: bytes) -> str:
    """The first fault of a glTF's text, with its place; "" where none is found."""
    try:
        text, _ = parts_of(data)
        document = json.loads(text or b"", parse_constant=_no_number)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno} of its JSON: {_plain(error.msg)}"
    except (ValueError, RecursionError) as error:
        return str(error)
    try:
        return _fault(document)
    except (LookupError, TypeError, ValueError, AttributeError):
        return "a value of its JSON is of another kind than glTF's"


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
    foreign = [name for name in document.get("extensionsRequired", ()) if name not in KNOWN]
    if foreign:
        return f"it needs the extension {foreign[0]}, which is not read: export it without"
    if not document.get("meshes"):
        return "it has no meshes"
    if not document.get("scenes"):
        return "it has no scene that places its nodes"
    if document.get("scene", 0) >= len(document["scenes"]):
        return f"scene = {document['scene']}, and there are {len(document['scenes']):,} scenes"
    return _wrong_index(document) or _wrong_buffer(document) or _circle(document) or _placeless(document)


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


def _wrong_buffer(document: Any) -> str:
    for index, view in enumerate(document.get("bufferViews", ())):
        buffer = document["buffers"][view["buffer"]]
        end = view.get("byteOffset", 0) + view["byteLength"]
        if end > buffer["byteLength"]:
            return f"bufferViews[{index}] ends at byte {end:,}, and its buffer has {buffer['byteLength']:,}"
    for index, buffer in enumerate(document.get("buffers", ())):
        uri = str(buffer.get("uri", "data:"))
        if not uri.startswith("data:") and not os.path.exists(urllib.parse.unquote(uri)):
            return f"buffers[{index}] is the file {uri[:80]!r}, which is not there: put it beside the model"
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
