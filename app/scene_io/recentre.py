"""Far-away OBJ and PLY files moved to their centre in float64 before Assimp rounds them to float32.

Only these two text-like formats carry more digits than float32; glTF and most others store float32 and lose nothing
here.
"""

from __future__ import annotations

import re

import numpy as np

from raygrove.gpu.scene import Scene

from .origin import far_centre
from .portions import portions, together

OBJ_VERTEX = re.compile(rb"^([ \t]*v[ \t]+)(\S+)[ \t]+(\S+)[ \t]+(\S+)", re.MULTILINE)
PLY_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4", "double": "f8",
    "float64": "f8",
}  # fmt: skip
HUGE = 1e18
MOST_AT_ONCE = 1 << 16
"""Vertices of small meshes that are looked at together."""


def far_origin(scene: Scene, extension: str) -> np.ndarray | None:
    """Where an OBJ's or PLY's scene should have its origin when it lies far from zero, in whole units (float64); else
    None."""
    if extension not in ("obj", "ply") or not scene.meshes:
        return None
    boxes = []
    for some in portions(scene.meshes, [len(mesh.positions) for mesh in scene.meshes], MOST_AT_ONCE):
        positions = together([mesh.positions for mesh in some])
        good = positions[(np.abs(positions) <= HUGE).all(axis=1)].astype(np.float64)
        boxes += [good.min(axis=0), good.max(axis=0)] if len(good) else []
    return far_centre(np.min(boxes, axis=0), np.max(boxes, axis=0)) if boxes else None


def shifted(data: bytes, extension: str, origin: np.ndarray) -> bytes | None:
    """The file's bytes with `origin` subtracted from every vertex in float64; None where its form is not understood."""
    try:
        return _shifted_obj(data, origin) if extension == "obj" else _shifted_ply(data, origin)
    except (ValueError, IndexError, KeyError, UnicodeDecodeError):
        return None


def _shifted_obj(data: bytes, origin: np.ndarray) -> bytes:
    x, y, z = (float(value) for value in origin)

    def moved(match: re.Match[bytes]) -> bytes:
        a, b, c = float(match[2]) - x, float(match[3]) - y, float(match[4]) - z
        return b"%s%r %r %r" % (match[1], a, b, c)

    return OBJ_VERTEX.sub(moved, data)


def _shifted_ply(data: bytes, origin: np.ndarray) -> bytes | None:
    end = data.index(b"end_header")
    end = data.index(b"\n", end) + 1
    lines = [line.split() for line in data[:end].decode("ascii").splitlines()]
    elements = [line for line in lines if line[:1] == ["element"]]
    form = next(line[1] for line in lines if line[:1] == ["format"])
    if elements[0][1] != "vertex":
        return None
    first = lines.index(elements[0]) + 1
    properties = []
    for line in lines[first:]:
        if line[:1] != ["property"]:
            break
        properties.append((line[2], PLY_TYPES[line[1]]))
    count, names = int(elements[0][2]), [name for name, _ in properties]
    columns = [names.index(axis) for axis in "xyz"]
    if form == "ascii":
        return data[:end] + _shifted_rows(data[end:], count, columns, origin)
    order = "<" if form == "binary_little_endian" else ">"
    table = np.frombuffer(data, np.dtype([(name, order + kind) for name, kind in properties]), count, end).copy()
    for axis, name in enumerate("xyz"):
        table[name] = table[name].astype(np.float64) - origin[axis]
    return data[:end] + table.tobytes() + data[end + table.nbytes :]


def _shifted_rows(body: bytes, count: int, columns: list[int], origin: np.ndarray) -> bytes:
    rows = body.split(b"\n", count)
    for index in range(count):
        row = rows[index].split()
        for axis, column in enumerate(columns):
            row[column] = b"%r" % (float(row[column]) - float(origin[axis]))
        rows[index] = b" ".join(row)
    return b"\n".join(rows)
