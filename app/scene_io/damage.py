"""Damage to texts that libassimp reads over in silence, so that its scene is another than the file's: it takes a zero
byte for the end, and a line too many for the next element."""

from __future__ import annotations

import re

from .fbx_damage import fbx_damage, is_text_fbx
from .file_kinds import ply_fault
from .index_damage import index_damage
from .number_rows import numbers_of, row_fault, rows_fault
from .obj_faults import number_fault
from .text_blocks import Text, behind_lines, blocks, line_of, text_of

CHUNKED = "3ds"
TEXTS = frozenset({"fbx", "obj", "off", "ply", "stl"})
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
EMPTY_LINE = re.compile(rb"\n[ \t\r]*\n")
ROW = re.compile(rb"^[ \t]*[^\s#]", re.MULTILINE)
FILLING = re.compile(rb"[\0\s]*\Z")
"""What some programs fill their files up with, at the end."""
MAX_HEADER = 1 << 16


def damage_of(name: str, data: bytes | None, extension: str) -> str:
    """What is wrong in the text of a file that was read (or of `data` in its place), with its place; empty where
    nothing is known to be. Of a file that is no text only the beginning is read."""
    if extension not in TEXTS and extension != CHUNKED:
        return ""
    with text_of(name, data) as text:
        if extension == CHUNKED:
            return index_damage(text[:], extension)
        if wrong := _header_damage(text[:MAX_HEADER], extension):
            return wrong
        return damage(text, extension) if is_text(text, extension) else ""


def facets_lost(name: str, data: bytes | None, count: int) -> str:
    """Of a text of an STL the facets that are there, where libassimp found only `count`: it ends at a word that it does
    not know, and reads over a facet whose first word it does not know."""
    with text_of(name, data) as text:
        if not is_text(text, "stl"):
            return ""
        there = max(sum(1 for _ in words.finditer(text)) for words in (FACET, ENDED_FACET))
    return f"it has {there:,} facets, and {count:,} of them can be read" if count < there else ""


def damage(text: Text, extension: str) -> str:
    """What is wrong in a text."""
    place = text.find(b"\0")
    if place >= 0 and not FILLING.match(text, place):
        return f"line {line_of(text, place):,} holds a zero byte, where a text has none"
    if extension == "ply":
        return _rows_too_many(text) or _no_whole_number(text) or _no_numbers(text)
    if extension == "stl":
        return _no_corners(text)
    if extension == "fbx":
        return fbx_damage(text)
    return number_fault(text) if extension == "obj" else index_damage(text, extension)


def _header_damage(head: bytes, extension: str) -> str:
    """libassimp reads over lines of a PLY's header that it does not know: points without a z lie in a plane."""
    return (
        ply_fault(head[:MAX_HEADER])
        if extension == "ply" and head.startswith(b"ply") and PLY_END.search(head[:MAX_HEADER])
        else ""
    )


def is_text(text: Text, extension: str) -> bool:
    """Whether a file of one of TEXTS is one, by its beginning; some formats have two forms."""
    head = text[:MAX_HEADER]
    if head.startswith(UTF_16):
        return False  # where every second byte is zero
    if extension == "fbx":
        return is_text_fbx(text)
    if extension == "stl":
        count = int.from_bytes(head[80:84], "little")
        return head.lstrip()[:5].lower() == b"solid" and len(text) != 84 + 50 * count
    if extension == "ply":
        return re.search(rb"^format[ \t]+ascii\b", head, re.MULTILINE) is not None
    return True


def _rows_too_many(text: Text) -> str:
    """An element of a PLY takes a line of text."""
    end = PLY_END.search(text[:MAX_HEADER])
    if end is None:
        return ""
    wanted = sum(int(count) for _, count in PLY_ELEMENT.findall(text[: end.start()]))
    last = behind_lines(text, end.end(), wanted)
    there = wanted + sum(1 for _, block in blocks(text, last) for _ in ROW.finditer(block))
    if there == wanted:
        return ""  # which is told without a look at each line
    there = sum(1 for _, block in blocks(text, end.end()) for _ in ROW.finditer(block))
    return f"its header says {wanted:,} lines of data, and {there:,} are there" if there > wanted else ""


def _no_corners(text: Text) -> str:
    """The same of the corners of an STL's text."""
    for place, block in blocks(text):
        if not any(_are_corners(corners.findall(block)) for corners in (STL_LINE, STL_VERTEX)):
            wrong = next((one for one in STL_VERTEX.finditer(block) if row_fault(0, one[1], 3)), None)
            if wrong:
                return row_fault(line_of(text, place + wrong.start(1)), wrong[1], 3)
    return ""


def _are_corners(rows: list[bytes]) -> bool:
    found = numbers_of(b" ".join(rows))
    return found is not None and len(found) == 3 * len(rows)


def _no_numbers(text: Text) -> str:
    """libassimp takes 0 for 0x10 and two numbers for 1.2.3, and goes on in the next line where one has too few."""
    end = PLY_END.search(text[:MAX_HEADER])
    elements = PLY_ELEMENTS.findall(text[: end.start()] + b"\n") if end is not None else []
    if end is None or not elements or elements[0][0] != b"vertex" or EMPTY_LINE.search(text, end.end() - 1):
        return ""
    _, count, properties = elements[0]
    kinds = [line.split()[1:2] for line in properties.splitlines() if line.startswith(b"property")]
    last = behind_lines(text, end.end(), int(count))
    if [b"list"] in kinds or text[last - 1 : last] != b"\n":
        return ""  # one that is cut short is told as that
    line = line_of(text, end.end())
    for _, block in blocks(text, end.end(), last):
        rows = block.split(b"\n")[:-1]
        if wrong := rows_fault([(line + number, row) for number, row in enumerate(rows)], len(kinds)):
            return wrong
        line += len(rows)
    return ""


def _no_whole_number(text: Text) -> str:
    """libassimp reads the digits that an index of a PLY's face begins with, and leaves out the rest: 1e-46 is 1."""
    end = PLY_END.search(text[:MAX_HEADER])
    if end is None or EMPTY_LINE.search(text, end.end() - 1):
        return ""  # where lines are no rows
    begin = end.end()
    for name, count, properties in PLY_ELEMENTS.findall(text[: end.start()] + b"\n"):
        after = behind_lines(text, begin, int(count))
        wrong = name == b"face" and not PLY_FRACTIONS.search(properties) and NO_INDEX.search(text, begin, after)
        if wrong:
            word, line = wrong[0].decode("utf-8", "replace"), line_of(text, wrong.start())
            return f"line {line:,} has {word!r} where the index of a vertex should be"
        begin = after
    return ""
