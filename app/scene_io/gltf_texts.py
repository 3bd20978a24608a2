"""The two forms of a glTF file, taken apart and put together: JSON alone, and GLB with its chunks."""

from __future__ import annotations

import json
import struct
from typing import Any

GLB = b"glTF"
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


def put_together(document: Any, body: bytes, is_binary: bool) -> bytes:
    """The file of a document and its binary chunk."""
    text = json.dumps(document).encode()
    if not is_binary:
        return text
    chunks = [(b"JSON", text + b" " * (-len(text) % 4))]
    chunks += [(b"BIN\0", body + b"\0" * (-len(body) % 4))] if body else []
    length = HEADER.size + sum(CHUNK.size + len(data) for _, data in chunks)
    return HEADER.pack(GLB, VERSION, length) + b"".join(CHUNK.pack(len(data), kind) + data for kind, data in chunks)
