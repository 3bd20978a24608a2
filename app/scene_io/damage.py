"""Damage to texts that libassimp reads over in silence, so that its scene is another than the file's: it takes a zero
byte for the end, and a line too many for the next element."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from .file_kinds import ply_fault
from .index_damage import index_damage
from .number_rows import numbers_of, row_fault, rows_fault

CHUNKED = "3ds"
TEXTS = frozenset({"obj", "off", "ply", "stl"})
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
FACET = re.compile(rb"\bfacet[ \t]+normal\b", re.IGNORECASE)
STL_LINE = re.compile(rb"^[ \t]*vertex[ \t]+([^\r\n]*)", re.MULTILINE)
"""A corner that has its line, as nearly all have; found in a third of the time of the next."""
STL_VERTEX = re.compile(rb"^[ \t]*vertex[ \t]+([^\r\n]*?)[ \t]*(?:[\r\n]|$|\bvertex\b|\bendloop\b)", re.MULTILINE)
ENDED_FACET = re.compile(rb"^[ \t]*endfacet\b", re.IGNORECASE | re.MULTILINE)
PLY_END = re.compile(rb"^end_header[ \t]*\r?\n", re.MULTILINE)
PLY_ELEMENT = re.compile(rb"^element[ \t]+(\S+)[ \t]+(\d+)[ \t]*\r?$", re.MULTILINE)
PLY_ELEMENTS = re.compile(rb"^element[ \t]+(\S+)[ \t]+(\d+)[ \t]*\r?\n((?:(?!element\b)[^\n]*\n)*)", re.MULTILINE)
PLY_FRACTIONS = re.compile(rb"\b(?:float|double|float32|float64)\b")
NO_INDEX = re.compile(rb"[\d+-]*[^\s\d+-]\S*")
EMPTY_LINE, NEW_LINE = re.compile(rb"\n[ \t\r]*\n"), 10
ROW = re.compile(rb"^[ \t]*[^\s#]", re.MULTILINE)
MAX_HEADER = 1 << 16


def damage_of(name: str, data: bytes | None, extension: str) -> str:
    """What is wrong in the text of a file that was read (or of `data` in its place), with its place; empty where
    nothing is known to be. Of a file that is no text only the beginning is read."""
    if extension == CHUNKED:
        return index_damage(Path(name).read_bytes() if data is None else data, extension)
    if extension not in TEXTS:
        return ""
    if data is not None:
        if wrong := _header_damage(data, extension):
            return wrong
        return damage(data, extension) if _is_text(data, len(data), extension) else ""
    with open(name, "rb") as file:
        head = file.read(MAX_HEADER)
        if wrong := _header_damage(head, extension):
            return wrong
        if not _is_text(head, os.fstat(file.fileno()).st_size, extension):
            return ""
        return damage(head + file.read(), extension)


def facets_lost(name: str, data: bytes | None, count: int) -> str:
    """Of a text of an STL the facets that are there, where libassimp found only `count`: it ends at a word that it does
    not know, and reads over a facet whose first word it does not know."""
    if data is None:
        with open(name, "rb") as file:
            if not _is_text(file.read(MAX_HEADER), os.fstat(file.fileno()).st_size, "stl"):
                return ""
            file.seek(0)
            data = file.read()
    elif not _is_text(data, len(data), "stl"):
        return ""
    there = max(sum(1 for _ in words.finditer(data)) for words in (FACET, ENDED_FACET))
    return f"it has {there:,} facets, and {count:,} of them can be read" if count < there else ""


def damage(data: bytes, extension: str) -> str:
    """What is wrong in a text."""
    end = len(data.rstrip(b"\0 \t\r\n"))  # some programs fill up their files
    if (place := data.find(b"\0", 0, end)) >= 0:
        line = data.count(b"\n", 0, place) + 1
        return f"line {line:,} holds a zero byte, where a text has none"
    if extension == "ply":
        return _rows_too_many(data) or _no_whole_number(data) or _no_numbers(data)
    if extension == "stl":
        return _no_corners(data)
    return index_damage(data, extension)


def _header_damage(head: bytes, extension: str) -> str:
    """libassimp reads over lines of a PLY's header that it does not know: points without a z lie in a plane."""
    return (
        ply_fault(head[:MAX_HEADER])
        if extension == "ply" and head.startswith(b"ply") and PLY_END.search(head[:MAX_HEADER])
        else ""
    )


def _is_text(data: bytes, size: int, extension: str) -> bool:
    """By the beginning of a file, or all of it."""
    if data.startswith(UTF_16):
        return False  # where every second byte is zero
    if extension == "stl":
        count = int.from_bytes(data[80:84], "little")
        return data.lstrip()[:5].lower() == b"solid" and size != 84 + 50 * count
    if extension == "ply":
        return re.search(rb"^format[ \t]+ascii\b", data[:MAX_HEADER], re.MULTILINE) is not None
    return True


def _rows_too_many(data: bytes) -> str:
    """An element of a PLY takes a line of text."""
    end = PLY_END.search(data[:MAX_HEADER])
    if end is None:
        return ""
    wanted = sum(int(count) for _, count in PLY_ELEMENT.findall(data[: end.start()]))
    if data.count(b"\n", end.end()) + (not data.endswith(b"\n")) <= wanted:
        return ""  # which is told without a look at each line
    there = sum(1 for _ in ROW.finditer(data, end.end()))
    return f"its header says {wanted:,} lines of data, and {there:,} are there" if there > wanted else ""


def _no_corners(data: bytes) -> str:
    """The same of the corners of an STL's text."""
    for corners in (STL_LINE, STL_VERTEX):
        rows = corners.findall(data)
        found = numbers_of(b" ".join(rows))
        if found is not None and len(found) == 3 * len(rows):
            return ""
    wrong = next((one for one in STL_VERTEX.finditer(data) if row_fault(0, one[1], 3)), None)
    return row_fault(data.count(b"\n", 0, wrong.start(1)) + 1, wrong[1], 3) if wrong else ""


def _no_numbers(data: bytes) -> str:
    """libassimp takes 0 for 0x10 and two numbers for 1.2.3, and goes on in the next line where one has too few."""
    end = PLY_END.search(data[:MAX_HEADER])
    elements = PLY_ELEMENTS.findall(data[: end.start()] + b"\n") if end is not None else []
    if end is None or not elements or elements[0][0] != b"vertex" or EMPTY_LINE.search(data, end.end() - 1):
        return ""
    _, count, properties = elements[0]
    kinds = [line.split()[1:2] for line in properties.splitlines() if line.startswith(b"property")]
    if [b"list"] in kinds:
        return ""
    lines = data[end.end() :].split(b"\n", int(count))[: int(count)]
    if len(lines) < int(count) or not all(lines):
        return ""  # which is told as a file that is cut short
    line = data.count(b"\n", 0, end.end()) + 1
    return rows_fault([(line + number, row) for number, row in enumerate(lines)], len(kinds))


def _no_whole_number(data: bytes) -> str:
    """libassimp reads the digits that an index of a PLY's face begins with, and leaves out the rest: 1e-46 is 1."""
    end = PLY_END.search(data[:MAX_HEADER])
    if end is None or EMPTY_LINE.search(data, end.end() - 1):
        return ""  # where lines are no rows
    body = np.frombuffer(data, np.uint8)[end.end() :]
    starts = [end.end(), *(np.flatnonzero(body == NEW_LINE) + end.end() + 1).tolist(), len(data)]
    first = 0
    for name, count, properties in PLY_ELEMENTS.findall(data[: end.start()] + b"\n"):
        begin, after = (starts[min(row, len(starts) - 1)] for row in (first, first + int(count)))
        first += int(count)
        wrong = name == b"face" and not PLY_FRACTIONS.search(properties) and NO_INDEX.search(data, begin, after)
        if wrong:
            word, line = wrong[0].decode("utf-8", "replace"), data.count(b"\n", 0, wrong.start()) + 1
            return f"line {line:,} has {word!r} where the index of a vertex should be"
    return ""
