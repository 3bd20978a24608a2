"""The two forms of a glTF file, taken apart and put together: JSON alone, and GLB with its chunks; and the
buffers that it names."""

from __future__ import annotations

import base64
import json
import os
import struct
import urllib.parse
from pathlib import Path
from typing import Any

import numpy as np

from .references import References

GLB = b"glTF"
MAX_JSON = 256 << 20
"""A longer text is not looked at: what it asks for is no multiple of its length."""
COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
VERSION = 2
HEADER, CHUNK = struct.Struct("<4sII"), struct.Struct("<I4s")


class GlbError(ValueError):
    """A GLB whose chunks do not fit its length; the text says why."""


def parts_of(raw: bytes) -> tuple[bytes | None, bytes]:
    """The JSON's text (None for another version of GLB), and the binary chunk. Raises `GlbError`."""
    if raw[:4] != GLB:
        return raw, b""
    if len(raw) < HEADER.size + CHUNK.size:
        raise GlbError(f"a GLB has a header of {HEADER.size + CHUNK.size} bytes, and {len(raw)} are there")
    if HEADER.unpack_from(raw)[1] != VERSION:
        return None, b""
    length, kind = CHUNK.unpack_from(raw, HEADER.size)
    start = HEADER.size + CHUNK.size
    if kind != b"JSON":
        raise GlbError(f"its first chunk should be JSON and is {kind!r}")
    if length > len(raw) - start:
        raise GlbError(f"its JSON chunk should have {length:,} bytes, and {len(raw) - start:,} are there")
    rest = start + length
    if len(raw) - rest < CHUNK.size:
        return raw[start:rest], b""
    size = CHUNK.unpack_from(raw, rest)[0]
    if size > len(raw) - rest - CHUNK.size:
        raise GlbError(f"its binary chunk should have {size:,} bytes, and {len(raw) - rest - CHUNK.size:,} are there")
    return raw[start:rest], raw[rest + CHUNK.size : rest + CHUNK.size + size]


class Buffers:
    """The bytes of a document's buffers, each read once: the chunk of a GLB, a data URI, a file that may be read."""

    def __init__(self, document: Any, body: bytes, references: References) -> None:
        self._document, self._body, self._references = document, body, references
        self._read: dict[int, bytes] = {}

    def bytes_of(self, index: int) -> bytes:
        """A buffer's bytes; ValueError where it may not be read."""
        if index not in self._read:
            uri = self._document["buffers"][index].get("uri")
            if uri is None:
                self._read[index] = self._body
            elif uri.startswith("data:"):
                self._read[index] = base64.b64decode(uri.partition(",")[2])
            else:
                path = os.path.normpath(urllib.parse.unquote(uri))
                if why := self._references.refusal(path):
                    raise ValueError(f"{uri}: {why}")
                self._read[index] = Path(path).read_bytes()
        return self._read[index]

    def add(self, data: bytes) -> int:
        """Give the document one more buffer; returns its number."""
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        self._document.setdefault("buffers", []).append({"byteLength": len(data), "uri": uri})
        self._read[len(self._document["buffers"]) - 1] = data
        return len(self._document["buffers"]) - 1

    def accessor(self, index: int) -> np.ndarray:
        """An accessor's values as they are stored, (count, width); ValueError where it has none, or others apart."""
        if type(index) is not int or index < 0:
            raise ValueError("there is something else in the place of an accessor's number")
        accessor = self._document["accessors"][index]
        if "sparse" in accessor or "bufferView" not in accessor:
            raise ValueError("it has sparse accessors")
        view = self._document["bufferViews"][accessor["bufferView"]]
        dtype, width = np.dtype(COMPONENTS[accessor["componentType"]]), WIDTHS[accessor["type"]]
        count, offset = accessor["count"], accessor.get("byteOffset", 0)
        stride = view.get("byteStride") or width * dtype.itemsize
        start = view.get("byteOffset", 0) + offset
        data = self.bytes_of(view["buffer"])
        if (
            view.get("byteOffset", 0) + view["byteLength"] > len(data)
            or offset + stride * (count - 1) > view["byteLength"]
        ):
            raise ValueError("an accessor lies outside its buffer")
        if count < 1 or start < 0 or start + stride * (count - 1) + width * dtype.itemsize > len(data):
            raise ValueError("an accessor lies outside its buffer")
        return np.ndarray((count, width), dtype, data, start, (stride, dtype.itemsize))


def put_together(document: Any, body: bytes, is_binary: bool) -> bytes:
    """The file of a document and its binary chunk."""
    text = json.dumps(document, check_circular=False, separators=(",", ":")).encode()
    if not is_binary:
        return text
    chunks = [(b"JSON", text + b" " * (-len(text) % 4))]
    chunks += [(b"BIN\0", body + b"\0" * (-len(body) % 4))] if body else []
    length = HEADER.size + sum(CHUNK.size + len(data) for _, data in chunks)
    return HEADER.pack(GLB, VERSION, length) + b"".join(CHUNK.pack(len(data), kind) + data for kind, data in chunks)
