"""Small readers of our own for OBJ, PLY, STL and RAW: the second try where libassimp dies of a file or refuses it, and
the first for RAW, of which it keeps one group of triangles alone.

They know positions and faces (RAW: colours, too), nothing else, and are strict: what does not fit the format is a
`PlainError`, so that the sentence about the first try stands.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from raygrove.gpu.scene import Material, Mesh, Node, Object, Remark, Scene

from .number_rows import real, reals, whole

STL_HEADER, STL_RECORD = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
STL_VERTEX = re.compile(rb"\bvertex[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)", re.IGNORECASE)
STL_FACET = re.compile(rb"(?<!\S)facet(?!\S)", re.IGNORECASE)
STL_END = re.compile(rb"^[ \t]*endsolid[^\n]*$", re.MULTILINE | re.IGNORECASE)
PLY_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
MOST_COLOURS, LEVELS = 4096, 16
"""Colours that are told apart; where there are more, levels of each channel."""
TRIANGLE, COLOURED = 9, 12
Columns = list[tuple[str, ...]]


class PlainError(ValueError):
    """A file that is not as its format says; the text says where."""


def read_plain(name: str, data: bytes, extension: str) -> Scene:
    """The scene of the file's bytes; `PlainError` where they are not as the format says."""
    try:
        return READERS[extension](name, data)
    except PlainError:
        raise
    except (ValueError, LookupError, TypeError, OverflowError, UnicodeDecodeError) as error:
        raise PlainError(f"it is no plain {extension} ({error})") from error


def scene_of(name: str, meshes: list[Mesh], materials: tuple[Material, ...] = (Material(),)) -> Scene:
    """Meshes at one node. `PlainError` where no triangle is in them."""
    if not any(len(mesh.triangles) for mesh in meshes):
        raise PlainError("it has no faces")
    objects = tuple(Object(0, index) for index in range(len(meshes)))
    return Scene(name=name, nodes=(Node(),), meshes=tuple(meshes), objects=objects, materials=materials)


def _mesh(name: str, positions: np.ndarray, triangles: np.ndarray) -> Mesh:
    if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(positions)):
        raise PlainError("a face names a vertex that is not there")
    return Mesh(name, positions, triangles.astype(np.int32), np.zeros(len(triangles), np.int32))


def _loose(name: str, corners: np.ndarray) -> Mesh:
    """Triangles (T, 3, 3) that share no vertices."""
    return _mesh(name, corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def fans(polygons: list[list[int]]) -> np.ndarray:
    """Polygons as fans of triangles from their first corners, (T, 3)."""
    triangles = [(face[0], face[i], face[i + 1]) for face in polygons for i in range(1, len(face) - 1)]
    return np.array(triangles, np.int64).reshape(-1, 3)


class Palette(NamedTuple):
    """Colours (C, 3), which of them each thing has (N,) int32, and a sentence where they were rounded."""

    colours: np.ndarray
    ids: np.ndarray
    remark: str


def palette_of(colours: np.ndarray) -> Palette:
    """Colours (N, 3) as at most `MOST_COLOURS`; what is not 0 to 1 is made so."""
    colours = np.clip(np.nan_to_num(np.asarray(colours, np.float64)), 0.0, 1.0)
    few, ids = np.unique(colours, axis=0, return_inverse=True)
    remark = ""
    if len(few) > MOST_COLOURS:
        remark = f"Faces have {len(few):,} colours, which were rounded to at most {MOST_COLOURS:,}."
        few, ids = np.unique(np.round(colours * (LEVELS - 1)) / (LEVELS - 1), axis=0, return_inverse=True)
    return Palette(few, ids.reshape(-1).astype(np.int32), remark)


def materials_of(palette: Palette, base: Material) -> tuple[Material, ...]:
    """A material for each colour, otherwise as `base`."""
    rows = palette.colours.tolist()
    return tuple(dataclasses.replace(base, base_color=(red, green, blue, 1.0)) for red, green, blue in rows)


# STL ---------------------------------------------------------------------------------------------------------------


def _stl(name: str, data: bytes) -> Scene:
    """Binary where the length is what the count says, else the text of any number of solids, also empty ones."""
    if len(data) >= STL_HEADER:
        count = int.from_bytes(data[80:84], "little")
        if len(data) == STL_HEADER + count * STL_RECORD.itemsize:
            records = np.frombuffer(data, STL_RECORD, count, STL_HEADER)
            return scene_of(name, [_loose("", records["corners"].astype(np.float32))])
    if not data.lstrip()[:5].lower() == b"solid":
        raise PlainError("it is neither the text nor the records of an STL")
    meshes = []
    for solid in STL_END.split(data):
        vertices = STL_VERTEX.findall(solid)
        if len(vertices) != 3 * len(STL_FACET.findall(solid)):
            raise PlainError("a facet has not three vertices")
        if vertices:
            title = solid.lstrip().partition(b"\n")[0][5:].strip().decode("utf-8", "replace")
            meshes.append(_loose(title, reals([word for row in vertices for word in row]).reshape(-1, 3, 3)))
    return scene_of(name, meshes)


# PLY ---------------------------------------------------------------------------------------------------------------


class PlyHeader(NamedTuple):
    """How the data are written, where they begin, and the elements: name, count, and the words of each column."""

    form: str
    begin: int
    elements: list[tuple[str, int, Columns]]


def ply_header(data: bytes) -> PlyHeader:
    """What a PLY's first lines say; `PlainError`, or what damage does to who reads it, where it has none."""
    end = re.search(rb"^end_header[ \t]*\r?\n", data, re.MULTILINE)
    if not data.startswith(b"ply") or end is None:
        raise PlainError("it has no PLY header")
    lines = [words for line in data[: end.start()].decode("ascii").splitlines() if (words := line.split())]
    form = next((words[1] for words in lines if words[0] == "format"), "")
    elements: list[tuple[str, int, Columns]] = []
    for words in lines:
        if words[0] == "element":
            elements.append((words[1], whole(words[2].encode()), []))
        elif words[0] == "property":
            elements[-1][2].append(tuple(words[1:]))
    return PlyHeader(form, end.end(), elements)


def _ply(name: str, data: bytes) -> Scene:
    form, begin, elements = ply_header(data)
    if not form:
        raise PlainError("its header names no form")
    body = data[begin:]
    source = _Words(body.split()) if form == "ascii" else _Bytes(body, "<" if form.endswith("little_endian") else ">")
    positions, faces = np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    for kind, count, columns in elements:
        if kind == "vertex":
            table = source.table(count, columns)
            positions = np.stack([table[axis] for axis in "xyz"], axis=1)
        elif kind == "face":
            faces = _faces(source, count, columns)
        else:
            break
    else:
        if source.has_more:
            raise PlainError("it has more data than its header says")
    return scene_of(name, [_mesh("", positions, faces)])


def _faces(source: _Words | _Bytes, count: int, columns: Columns) -> np.ndarray:
    if not columns:
        raise PlainError("its faces have no columns")
    polygons = []
    for _ in range(count):
        for column in columns:
            length = int(source.one(column[1])) if column[0] == "list" else 1
            values = [source.one(column[2] if column[0] == "list" else column[0]) for _ in range(length)]
            if column[-1] in ("vertex_indices", "vertex_index"):
                polygons.append([int(value) for value in values])
    return fans(polygons)


class _Words:
    """The values of a PLY's text."""

    def __init__(self, words: list[bytes]) -> None:
        self.words, self.place = words, 0

    @property
    def has_more(self) -> bool:
        """Whether any is left."""
        return self.place < len(self.words)

    def one(self, kind: str) -> float:
        """The next value; of a type of whole numbers nothing else is taken."""
        self.place += 1
        word = self.words[self.place - 1]
        return real(word) if PLY_TYPES[kind].startswith("f") else whole(word)

    def table(self, count: int, columns: Columns) -> dict[str, np.ndarray]:
        """The next `count` rows, by column."""
        size = count * len(columns)
        rows = reals(self.words[self.place : self.place + size]).reshape(count, len(columns))
        self.place += size
        return {column[-1]: rows[:, index] for index, column in enumerate(columns)}


class _Bytes:
    """The values of a binary PLY."""

    def __init__(self, data: bytes, order: str) -> None:
        self.data, self.order, self.place = data, order, 0

    @property
    def has_more(self) -> bool:
        """Whether any is left but an end of line."""
        return bool(self.data[self.place :].strip())

    def one(self, kind: str) -> float:
        """The next value."""
        dtype = np.dtype(self.order + PLY_TYPES[kind])
        value = np.frombuffer(self.data, dtype, 1, self.place)[0]
        self.place += dtype.itemsize
        return float(value)

    def table(self, count: int, columns: Columns) -> dict[str, np.ndarray]:
        """The next `count` rows, by column."""
        dtype = np.dtype([(column[1], self.order + PLY_TYPES[column[0]]) for column in columns])
        rows = np.frombuffer(self.data, dtype, count, self.place)
        self.place += rows.nbytes
        return {column[-1]: rows[column[1]].astype(np.float64) for column in columns}


# OBJ and RAW -------------------------------------------------------------------------------------------------------


def _obj(name: str, data: bytes) -> Scene:
    positions: list[tuple[float, float, float]] = []
    polygons: list[list[int]] = []
    for line in data.replace(b"\\\n", b" ").replace(b"\\\r\n", b" ").splitlines():
        words = line.partition(b"#")[0].split()
        if words[:1] == [b"v"]:
            positions.append(_obj_vertex(words[1:]))
        elif words[:1] == [b"f"]:
            corners = [whole(word.partition(b"/")[0]) for word in words[1:]]
            polygons.append([corner - 1 if corner > 0 else len(positions) + corner for corner in corners])
            if len(corners) < 3 or min(polygons[-1]) < 0 or 0 in corners:
                raise PlainError("a face names a vertex that is not there")
    return scene_of(name, [_mesh("", np.array(positions, np.float64).reshape(-1, 3), fans(polygons))])


def _obj_vertex(words: list[bytes]) -> tuple[float, float, float]:
    """Three coordinates; behind them a weight, by which libassimp divides them, or a colour of three or four."""
    x, y, z, *rest = map(real, words)
    if len(rest) == 1:
        if not rest[0]:
            raise PlainError("a vertex has the weight 0")
        return x / rest[0], y / rest[0], z / rest[0]
    if len(rest) == 2:
        raise PlainError("a vertex has 5 numbers")
    return x, y, z


def _raw(name: str, data: bytes) -> Scene:
    """Lines of 9 numbers, or a colour before them, and perhaps a texture's name behind; words alone begin a group."""
    groups: list[tuple[str, list[list[float]]]] = [("", [])]
    for line in data.splitlines():
        words = line.split()
        numbers = _numbers(words)
        if len(numbers) in (TRIANGLE, COLOURED) and len(words) - len(numbers) <= 1:
            groups[-1][1].append([0.8] * 3 + numbers if len(numbers) == TRIANGLE else numbers)
        elif words and not any(_numbers([word]) for word in words):
            groups.append((b" ".join(words).decode("utf-8", "replace"), []))
        elif words:
            raise PlainError(f"a line holds {len(numbers)} numbers, not 9 or 12")
    filled = [(title, np.array(rows, np.float64)) for title, rows in groups if rows]
    if not filled:
        raise PlainError("it has no triangles")
    palette = palette_of(np.concatenate([rows[:, :3] for _, rows in filled]))
    meshes, first = [], 0
    for title, rows in filled:
        mesh = _loose(title, rows[:, 3:].reshape(-1, 3, 3))
        meshes.append(Mesh(title, mesh.positions, mesh.triangles, palette.ids[first : first + len(rows)]))
        first += len(rows)
    scene = scene_of(name, meshes, materials_of(palette, Material()))
    return dataclasses.replace(scene, remarks=(Remark(1, palette.remark),)) if palette.remark else scene


def _numbers(words: list[bytes]) -> list[float]:
    """The numbers that a line begins with."""
    found: list[float] = []
    for word in words:
        try:
            found.append(real(word))
        except ValueError:
            break
    return found


READERS: dict[str, Callable[[str, bytes], Scene]] = {"stl": _stl, "ply": _ply, "obj": _obj, "raw": _raw}
