"""PLY without faces: its vertices are particles. With faces it is a mesh, which Assimp reads."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

from ..number_rows import whole
from .columns import as_kind, frame_of, read_rows, without_cut_row
from .frame import Frame, ParticleError, Source

TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
FORMS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
MAX_HEADER = 1 << 16
FACES = ("face", "tristrips")


@dataclasses.dataclass
class Element:
    """A part of the file: how many records, and the name and type of each property ("" for a list)."""

    name: str
    count: int
    properties: list[tuple[str, str]]


def is_points(head: bytes) -> bool:
    """Whether the first bytes of a PLY file speak of vertices and of no faces."""
    try:
        elements, _, _ = _header(head)
    except ParticleError:
        return False
    counts = {element.name: element.count for element in elements}
    return counts.get("vertex", 0) > 0 and not any(counts.get(name) for name in FACES)


def read(source: Source) -> Iterator[Frame]:
    """One frame; of a file that is cut, the whole vertices before the cut."""
    with source.open() as file:
        head = file.read(MAX_HEADER)
        elements, order, start = _header(head)
        vertex = next((element for element in elements if element.name == "vertex"), None)
        if vertex is None:
            raise ParticleError("it has no vertices")
        if any(not kind for _, kind in vertex.properties):
            raise ParticleError("its vertices hold lists")
        before = elements[: elements.index(vertex)]
        if any(not kind for element in before for _, kind in element.properties):
            raise ParticleError("an element with lists stands before its vertices")
        source.expect(vertex.count, floats=len(vertex.properties))
        file.seek(start)
        if order:
            columns = _binary(source, file.read(), vertex, before, order)
        else:
            skipped = sum(element.count for element in before)
            lines = [line for line in itertools.islice(file, skipped, skipped + vertex.count) if line.strip()]
            columns = _text(source, lines, vertex)
            source.check_end()
    yield frame_of(columns)


def _header(data: bytes) -> tuple[list[Element], str, int]:
    """The elements, the byte order ("" for text) and where the data start; `ParticleError` where it is none."""
    end = data.find(b"end_header")
    stop = data.find(b"\n", end)
    if not data.startswith(b"ply") or end < 0 or stop < 0:
        raise ParticleError("its header has no end" if data.startswith(b"ply") else "it does not begin with ply")
    elements: list[Element] = []
    order: str | None = None
    for line in data[:end].decode("latin-1").splitlines():
        words = line.split()
        try:
            if words[:1] == ["format"]:
                order = FORMS[words[1]]
            elif words[:1] == ["element"]:
                elements.append(Element(words[1], whole(words[2].encode("latin-1")), []))
            elif words[:1] == ["property"]:
                elements[-1].properties.append((words[-1], "" if words[1] == "list" else TYPES[words[1]]))
        except (KeyError, ValueError, IndexError) as error:
            raise ParticleError(f"its header has the line {line[:60]!r}") from error
    if order is None or any(element.count < 0 for element in elements):
        raise ParticleError("its header names no form")
    return elements, order, stop + 1


def _binary(source: Source, data: bytes, vertex: Element, before: list[Element], order: str) -> dict[str, np.ndarray]:
    skipped = sum(e.count * sum(np.dtype(kind).itemsize for _, kind in e.properties) for e in before)
    dtype = _record(vertex.properties, order)
    count = min(vertex.count, max(len(data) - skipped, 0) // max(dtype.itemsize, 1))
    _say_cut(source, vertex.count, count)
    table = np.frombuffer(data, dtype, count, skipped)
    return {name: np.ascontiguousarray(table[name]) for name, _ in vertex.properties}


def _record(properties: list[tuple[str, str]], order: str) -> np.dtype:
    if len({name for name, _ in properties}) < len(properties) or not properties:
        raise ParticleError("two properties of its vertices have one name, or there are none")
    return np.dtype([(name, order + kind) for name, kind in properties])


def _text(source: Source, lines: list[bytes], vertex: Element) -> dict[str, np.ndarray]:
    width = len(vertex.properties)
    lines = without_cut_row(lines, width)
    _say_cut(source, vertex.count, len(lines))
    _record(vertex.properties, "<")
    columns = read_rows(lines, len(lines), width)
    return {
        name: np.asarray(as_kind(np.asarray(values), kind, name)).astype(np.uint8 if kind == "u1" else np.float64)
        for (name, kind), values in zip(vertex.properties, columns, strict=True)
    }


def _say_cut(source: Source, count: int, whole: int) -> None:
    if not whole:
        raise ParticleError(f"its header says {count:,} vertices, and none is there")
    if whole < count:
        source.remark(f"The header says {count:,} vertices, and {whole:,} are there: the file is cut short.")
