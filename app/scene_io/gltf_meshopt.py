"""What EXT_meshopt_compression packed: views of a glTF's buffers, unpacked by the package meshopt where it is
installed. Sizes are looked at before it is asked; it runs in the importing child like every other decoder."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .gltf_texts import Buffers

MESHOPT = "EXT_meshopt_compression"
NOTHING = "data:application/octet-stream;base64,AAAAAA=="
"""In place of a buffer that only stood for what was packed."""


class PackedError(ValueError):
    """Why views cannot be unpacked; the text goes on behind "FILE is not read:"."""


def is_needed(document: Any) -> bool:
    """Whether some view is compressed and has no other bytes."""
    views = [view for view in document.get("bufferViews", ()) if MESHOPT in view.get("extensions", {})]
    own = [document["buffers"][view["buffer"]].get("extensions", {}).get(MESHOPT, {}) for view in views]
    return MESHOPT in document.get("extensionsRequired", ()) or any(one.get("fallback") for one in own)


def unpack_views(document: Any, buffers: Buffers, most_bytes: int) -> int:
    """Write what is packed out as views of a buffer of its own; returns how many there were. Raises PackedError where
    the package is missing, the data is damaged, or its numbers take more than `most_bytes`."""
    packed = [view for view in document.get("bufferViews", ()) if MESHOPT in view.get("extensions", {})]
    if not packed:
        return 0
    try:
        library = importlib.import_module("meshopt")
    except ImportError as error:
        why = f"its data is compressed by {MESHOPT}, which the package meshopt reads, and that is not installed"
        raise PackedError(f"{why}. Install it (pip install meshopt), or unpack the file by gltf-transform") from error
    given = [view["extensions"].pop(MESHOPT) for view in packed]
    sizes = [(one["count"], one["byteStride"]) for one in given]
    if any(type(number) is not int or number < 0 for pair in sizes for number in pair):
        raise PackedError("what meshopt packed in it is damaged (a count or byteStride is no whole number from 0 on)")
    if sum(count * stride for count, stride in sizes) > most_bytes:
        raise PackedError("unpacked, its numbers take more than an import may use. Raise import.memory_mib")
    parts, size = [], 0
    for view, one in zip(packed, given, strict=True):
        raw = _unpacked(library, one, buffers)
        view |= {"buffer": len(document["buffers"]), "byteOffset": size, "byteLength": len(raw)}
        parts += [raw, bytes(-len(raw) % 4)]
        size += len(raw) + -len(raw) % 4
    for buffer in document["buffers"]:
        if buffer.get("extensions", {}).get(MESHOPT, {}).get("fallback"):
            buffer |= {"byteLength": 4, "uri": NOTHING, "extensions": {}}
    buffers.add(b"".join(parts))
    return len(packed)


def _unpacked(library: Any, one: Any, buffers: Buffers) -> bytes:
    start, count, stride = one.get("byteOffset", 0), one["count"], one["byteStride"]
    data = buffers.bytes_of(one["buffer"])[start : start + one["byteLength"]]
    try:
        found = library.decode_gltf_buffer(data, count, stride, one["mode"], one.get("filter", "NONE"))
    except (MemoryError, LookupError):
        raise
    except Exception as error:  # of the library's own, and whatever damage does to it
        raise PackedError(f"what meshopt packed in it is damaged ({str(error).rstrip('.')})") from error
    raw = np.ascontiguousarray(found).tobytes()
    if len(raw) != count * stride:
        raise PackedError(f"what meshopt packed in it is damaged (it unpacks to {len(raw):,} bytes)")
    return raw
