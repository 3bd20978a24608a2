"""Whether a file is shorter than it says itself. Assimp's words for that are of buffers and tokens; these are of the
file.

Nothing is believed: numbers only serve a sentence. What the text of a format does not tell (Collada, FBX as text) is
left to Assimp.
"""

from __future__ import annotations

import json
import os
import re
import struct
import urllib.parse
from collections.abc import Callable

from .errors import SceneError, display_path
from .number_rows import whole

GLB_HEADER = struct.Struct("<4sII")
PLY_BYTES = {"char": 1, "uchar": 1, "int8": 1, "uint8": 1, "short": 2, "ushort": 2, "int16": 2, "uint16": 2, "int": 4,
"uint": 4, "int32": 4,
             "uint32": 4, "float": 4, "float32": 4, "double": 8, "float64": 8}  # fmt: skip
FBX_MAGIC, FBX_HEADER = b"Kaydara FBX Binary  \0\x1a\0", 27
FBX_WIDE = 7500
"""From this version on numbers of bytes have 8 bytes."""
MAX_HEADER = 1 << 16
LEAST_CORNERS = 3
OTHER_FILE = re.compile(rb'"uri"\s*:\s*"(?!data:)')
OBJ_VERTEX = re.compile(rb"^[ \t]*v[ \t]", re.MULTILINE)
OBJ_WORD = re.compile(rb"^[ \t]*(#|[vfoglps][ \t]|v[tnp][ \t]|usemtl|mtllib)", re.MULTILINE)
OBJ_FACE = re.compile(rb"^[ \t]*f[ \t]([^\r\n]*)", re.MULTILINE)
OBJ_CORNER = re.compile(rb"(-?\d+)[^ \t]*")


def shortfall(data: bytes, extension: str) -> str:
    """How the file contradicts its length ("its header says ..."); "" where nothing is known to be missing. The
    current folder is the file's."""
    check = CHECKS.get(extension)
    try:
        return check(data) if check is not None else ""
    except (ValueError, LookupError, TypeError, AttributeError, struct.error, OverflowError, RecursionError):
        return ""


def is_alone(data: bytes, extension: str) -> bool:
    """Whether a file that was read as a glTF names no other: then nothing of it is missing."""
    return extension == "gltf" and b"\\u" not in data and not OTHER_FILE.search(data)


def cut_short(name: str, missing: str) -> SceneError:
    """What a file gets of which a part is missing."""
    return SceneError(
        f"{display_path(os.path.abspath(name))} is cut short: {missing}. Fetch it again, or export it once more.", name
    )


def _glb(data: bytes) -> str:
    if len(data) < GLB_HEADER.size:
        return (
            f"a GLB file has a header of 12 bytes, and {len(data)} are there"
            if data[:4] == b"glTF"[: len(data)]
            else ""
        )
    magic, _, length = GLB_HEADER.unpack_from(data)
    return (
        f"its header says {length:,} bytes, and {len(data):,} are there"
        if magic == b"glTF" and length > len(data)
        else ""
    )


def _gltf(data: bytes) -> str:
    try:
        document = json.loads(data)
    except json.JSONDecodeError as error:
        is_end = not data.rstrip().endswith(b"}") or error.pos >= len(error.doc.rstrip())
        return (
            f"its text ends in the middle, at line {error.lineno}, column {error.colno}"
            if is_end and data.lstrip()[:1] == b"{"
            else ""
        )
    for buffer in document.get("buffers", ()):
        name = urllib.parse.unquote(str(buffer.get("uri", "")))
        if (
            name
            and not name.startswith("data:")
            and os.path.isfile(name)
            and os.path.getsize(name) < int(buffer["byteLength"])
        ):
            return (
                f"its buffer {name!r} should have {int(buffer['byteLength']):,} bytes, and "
                f"{os.path.getsize(name):,} are there"
            )
    return ""


def _ply(data: bytes) -> str:
    end = re.search(rb"^end_header[ \t]*\r?\n", data[:MAX_HEADER], re.MULTILINE)
    if not data.startswith(b"ply"):
        return ""
    if end is None:
        return "its header has no end" if len(data) < MAX_HEADER else ""
    lines = [line.split() for line in data[: end.start()].decode("ascii", "replace").splitlines()]
    is_ascii = any(words[:2] == ["format", "ascii"] for words in lines)
    elements: list[tuple[str, int, list[list[str]]]] = []
    for words in filter(None, lines):
        if words[0] == "element":
            elements.append((words[1], whole(words[2].encode()), []))
        elif words[0] == "property":
            elements[-1][2].append(words[1:])
    return _ply_rows(data, end.end(), elements) if is_ascii else _ply_bytes(len(data) - end.end(), elements)


def _ply_rows(data: bytes, start: int, elements: list[tuple[str, int, list[list[str]]]]) -> str:
    """An element takes a line of text."""
    rows = data.count(b"\n", start) + (not data.endswith(b"\n"))
    for name, count, _ in elements:
        if rows < count:
            return f"it should list {count:,} of the element {name!r}, and {max(rows, 0):,} are there"
        rows -= count
    return ""


def _ply_bytes(size: int, elements: list[tuple[str, int, list[list[str]]]]) -> str:
    """Of a list the least that can be: a face has three corners, any other list may be empty."""
    least = 0
    for name, count, properties in elements:
        for words in properties:
            corners = LEAST_CORNERS if name == "face" and words[-1].startswith("vertex_ind") else 0
            least += count * (
                PLY_BYTES[words[1]] + corners * PLY_BYTES[words[2]] if words[0] == "list" else PLY_BYTES[words[0]]
            )
    return (
        f"what its header lists takes {least:,} bytes at least, and {max(size, 0):,} are there" if least > size else ""
    )


def _stl(data: bytes) -> str:
    if len(data) < 84 or data[:5].lower() == b"solid":
        return ""
    (count,) = struct.unpack_from("<I", data, 80)
    return (
        f"it should list {count:,} triangles, and {(len(data) - 84) // 50:,} are there"
        if 84 + 50 * count > len(data)
        else ""
    )


def _obj(data: bytes) -> str:
    """A text that ends within a line, if it is of this format at all. Some whole files end without a line break:
    vertices that no face uses tell more, where there are any."""
    if data.endswith((b"\n", b"\r")) or not OBJ_WORD.search(data):
        return ""
    vertices, line = len(OBJ_VERTEX.findall(data)), data.count(b"\n") + 1
    corners = {int(corner) for face in OBJ_FACE.findall(data) for corner in OBJ_CORNER.findall(face)}
    unused = vertices - len({corner if corner > 0 else vertices + 1 + corner for corner in corners if corner})
    if vertices and not corners:
        return f"it ends within line {line:,}, after {vertices:,} vertices and before any face"
    return f"it ends within line {line:,}" + (
        f", and no face uses {unused:,} of its {vertices:,} vertices" if unused > 0 else ""
    )


def _fbx(data: bytes) -> str:
    """A binary file's records name the byte at which they end; the last one is of zeros."""
    if not data.startswith(FBX_MAGIC):
        return ""
    (version,) = struct.unpack_from("<I", data, len(FBX_MAGIC))
    kind, place = "<Q" if version >= FBX_WIDE else "<I", FBX_HEADER
    while True:
        if place + struct.calcsize(kind) > len(data):
            return f"its records go on at byte {place:,}, and {len(data):,} are there"
        (end,) = struct.unpack_from(kind, data, place)
        if end > len(data):
            return f"a record of it ends at byte {end:,}, and {len(data):,} are there"
        if end <= place:
            return ""
        place = end


CHECKS: dict[str, Callable[[bytes], str]] = {
    "glb": _glb,
    "vrm": _glb,
    "gltf": _gltf,
    "ply": _ply,
    "stl": _stl,
    "obj": _obj,
    "fbx": _fbx,
}
