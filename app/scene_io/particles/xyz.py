"""XYZ: a count, a line of words, then a line for each atom; in the extended form the words name the columns, the cell
and the time. Without a count it is a table of points.

Extended XYZ: https://github.com/libAtoms/extxyz (the form that ASE and OVITO write): Lattice="..." holds the edges one
after another, Properties=species:S:1:pos:R:3:... a name, a kind (R, I, S, L) and how many columns.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from raygrove.gpu.scene import PeriodicBox

from ..number_rows import whole
from . import separated
from .columns import frame_of, is_number, plain, read_rows, shown
from .frame import Frame, ParticleError, Source, check_follows, usable

WORD = re.compile(r"""([A-Za-z_][\w:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|\{([^}]*)\}|(\S+))""")
BARE = [("species", "S", 1), ("pos", "R", 3)]
MAX_COUNT_LINE = 64
LEAST_LINE = len(b"0 0 0\n")


def read(source: Source) -> Iterator[Frame]:
    """The frames one after another; a table of points is one."""
    count = 0
    with source.open() as file:
        first, number = _next_line(file, 0)
        if not _is_count(first):
            yield from _table(source, first)
            return
        while first:
            yield _frame(source, file, first, number)
            count += 1
            first, number = _next_line(file, number + 1 + int(first))
    source.check_end(count)


def _next_line(file: BinaryIO, before: int) -> tuple[bytes, int]:
    """The next line that is not empty, and its number where `before` lines have been read; an empty one at the end."""
    for number, line in enumerate(file, before + 1):
        if line.strip():
            return line, number
    return b"", before


def _table(source: Source, first: bytes) -> Iterator[Frame]:
    """A table of points, which has no count; with a sentence about the first line where it is none either."""
    words = first.split()
    if len(words) == 1 and is_number(words[0]):
        raise ParticleError(f"its first line should say how many atoms follow, and says {shown(first)}")
    try:
        yield from separated.read(source)
    except ParticleError as error:
        if any(is_number(word) for word in words):
            raise
        raise ParticleError(
            f"its first line should be a count of atoms, or a row x y z of a table of points, and is {shown(first)}"
        ) from error


def _is_count(line: bytes) -> bool:
    return line.split()[:1] == [line.strip()] and line.strip().isdigit() and len(line) < MAX_COUNT_LINE


def _frame(source: Source, file: BinaryIO, first: bytes, number: int) -> Frame:
    """The frame whose count is the line of that number."""
    if not _is_count(first):
        raise ParticleError(f"line {number:,} should be a count of atoms, and is {shown(first)}")
    count = int(first)
    check_follows(file, count, LEAST_LINE)
    source.expect(count)
    words = file.readline().decode("utf-8", "replace")
    lines = list(itertools.islice(file, count))
    facts = {match[1].lower(): next(filter(None, match.groups()[1:]), "") for match in WORD.finditer(words)}
    said = facts.get("properties", "")
    stated = _stated_layout(said)
    if said and not stated:
        source.remark(
            f"Properties={said[:60]} does not name columns by threes (name, kind R, I, S or L, width): an element and "
            f"a position are taken."
        )
    layout = stated or _usual_layout(lines[0] if lines else b"", bool(said))
    try:
        columns = _columns(lines, count, layout, number + 2, may_go_on=not stated)
    except ParticleError:
        if said or layout == BARE:
            raise
        layout = BARE  # what follows the position is not the same in all lines
        columns = _columns(lines, count, layout, number + 2, may_go_on=True)
    named: dict[str, np.ndarray | list[str]] = {}
    at = 0
    for name, _, size in layout:
        part = columns[at : at + size]
        at += size
        numeric = [values for values in part if isinstance(values, np.ndarray)]
        if size == 1:
            named.setdefault(name, part[0])
        elif len(numeric) == size:
            named.setdefault(name, np.stack(numeric, axis=1))
    _numbered_elements(named)
    return frame_of(named, _box(source, facts), stamp=_stamp(facts))


def _columns(
    lines: list[bytes], count: int, layout: list[tuple[str, str, int]], first_line: int, may_go_on: bool
) -> list[np.ndarray | list[str]]:
    width = sum(size for _, _, size in layout)
    return read_rows(lines, count, width, _text_columns(layout), first_line, may_go_on)


def _numbered_elements(named: dict[str, np.ndarray | list[str]]) -> None:
    """A species that is a number is a kind of particle, not an element."""
    species = named.get("species")
    if isinstance(species, list) and species and all(is_number(text.encode()) for text in set(species)):
        named["type"] = np.array([float(text) for text in named.pop("species")])


def _stated_layout(properties: str) -> list[tuple[str, str, int]]:
    """Name, kind and width of each group of columns, as they are said; none where they cannot be understood."""
    parts = properties.split(":")
    if len(parts) < 3 or len(parts) % 3 != 0:
        return []
    try:
        found = [(parts[i], parts[i + 1].upper()[:1], whole(parts[i + 2].encode())) for i in range(0, len(parts), 3)]
    except ValueError:
        return []
    return found if all(1 <= size <= 64 and kind in ("R", "I", "S", "L") for _, kind, size in found) else []


def _usual_layout(line: bytes, are_named: bool) -> list[tuple[str, str, int]]:
    """An element and a position, and what a line has beside them; a velocity where nothing was named."""
    words = line.split()
    if len(words) >= 7 and all(is_number(word) for word in words[1:7]) and not are_named:
        return [*BARE, ("velocity", "R", 3), *_others(words[7:])]
    return [*BARE, *_others(words[4:])]


def _others(words: list[bytes]) -> list[tuple[str, str, int]]:
    return [(f"column {index + 1}", "R" if is_number(word) else "S", 1) for index, word in enumerate(words)]


def _text_columns(layout: list[tuple[str, str, int]]) -> list[int]:
    result: list[int] = []
    at = 0
    for _, kind, size in layout:
        result += range(at, at + size) if kind in "SL" else ()
        at += size
    return result


def _box(source: Source, facts: dict[str, str]) -> PeriodicBox | None:
    if "lattice" not in facts:
        return None
    values = _numbers(facts["lattice"])
    origin = _numbers(facts.get("origin", ""))
    flags = [word.lower() in ("t", "true", "1") for word in facts.get("pbc", "T T T").split()]
    x, y, z = flags if len(flags) == 3 else (True, True, True)
    corner = np.array(origin if len(origin) == 3 else [0.0, 0.0, 0.0])
    edges = np.array(values if len(values) == 9 else [0.0] * 9).reshape(3, 3)
    box = usable(PeriodicBox(corner, edges, (x, y, z)))
    if box is None:
        source.remark("Lattice is not nine numbers, three edges that enclose a volume: there is no periodic box.")
    return box


def _stamp(facts: dict[str, str]) -> tuple[float, str] | None:
    for name in ("time", "step", "timestep", "frame"):
        values = _numbers(facts.get(name, ""))
        if len(values) == 1:
            return values[0], plain(name)
    return None


def _numbers(text: str) -> list[float]:
    words = text.split()
    return [float(word) for word in words] if all(is_number(word.encode()) for word in words) else []
