"""LAMMPS dump files in text form, `dump atom` and `dump custom`: https://docs.lammps.org/dump.html.

    ITEM: TIMESTEP | ITEM: NUMBER OF ATOMS | ITEM: BOX BOUNDS [xy xz yz] pp pp pp | ITEM: ATOMS id type xs ys zs ...

Columns may be plain, unwrapped (xu), scaled by the box (xs) or both (xsu); boxes orthogonal, tilted or general
(`abc origin`). Ids are in no order, and atoms may come and go.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from raygrove.gpu.scene import PeriodicBox

from .columns import frame_of, is_number, read_rows, shown, strays
from .frame import Frame, ParticleError, Source, check_follows, usable

SCALED = ("xs", "ys", "zs"), ("xsu", "ysu", "zsu")
PLAIN = ("x", "y", "z"), ("xu", "yu", "zu")
EDGES = ("xy", "xz", "yz", "abc", "origin")
"""What stands before the flags of a box that is tilted, or general."""
MAX_LINE = 1 << 16
LEAST_LINE = len(b"0 0 0\n")


def read(source: Source) -> Iterator[Frame]:
    """The frames one after another."""
    with source.open() as opened:
        file = _Lines(opened)
        try:
            yield from _read(source, file)
        except ParticleError as error:
            said = str(error)
            raise ParticleError(said if said.startswith("line ") else f"line {file.number:,}: {said}") from error


class _Lines:
    """A file by its lines, which are counted."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.number = file, 0

    def next(self) -> bytes:
        """The next line; empty at the end."""
        line = self.file.readline(MAX_LINE)
        self.number += bool(line)
        return line

    def take(self, count: int) -> list[bytes]:
        """So many lines, or as many as there are."""
        lines = list(itertools.islice(self.file, count))
        self.number += len(lines)
        return lines


def _read(source: Source, file: _Lines) -> Iterator[Frame]:
    """The frames; what is wrong is where the lines are."""
    stamp: tuple[float, str] | None = None
    count, box, units, frames = -1, None, "", 0
    while line := file.next():
        words = line.decode("utf-8", "replace").split()
        if not words:
            continue
        if words[0] != "ITEM:":
            raise ParticleError(f"an ITEM should stand where {shown(line)} is")
        item = " ".join(words[1:])
        if item == "TIMESTEP":
            stamp, count, box = (_values(file, 1, "the time step")[0], "step"), -1, None
        elif item == "TIME":
            _values(file, 1, "the time")
        elif item == "UNITS":
            units = file.next().decode("utf-8", "replace").strip()
        elif item == "NUMBER OF ATOMS":
            atoms = _values(file, 1, "the number of atoms")[0]
            if atoms < 0 or atoms % 1:
                raise ParticleError(f"a number of {atoms:g} atoms cannot be")
            count = int(atoms)
            check_follows(file.file, count, LEAST_LINE)
            source.expect(count)
        elif item.startswith("BOX BOUNDS"):
            box = _box(source, file, words[3:])
        elif words[1] == "ATOMS":
            if count < 0:
                raise ParticleError("the number of atoms is missing before the atoms")
            first_line = file.number + 1
            yield _frame(file.take(count), words[2:], count, box, stamp, first_line)
            count, frames = -1, frames + 1
        elif words[1] == "ENTRIES":
            raise ParticleError("it is a dump of local entries, not of atoms")
    if count >= 0:
        raise ParticleError("the file ends before the atoms")
    source.check_end(frames)
    if units and units != "lj":
        source.remark(f"Lengths are in LAMMPS units {units!r}.")


def _values(file: _Lines, count: int, what: str) -> list[float]:
    line = file.next()
    words = line.split()
    values = [float(word) for word in words] if all(map(is_number, words)) else []
    if len(values) < count or not np.isfinite(values).all():
        raise ParticleError(f"{what} should stand where {shown(line)} is")
    return values


def _box(source: Source, file: _Lines, words: list[str]) -> PeriodicBox:
    """Bounds along the axes; of a tilted box they are those of the box around it."""
    rows = [_values(file, 2, "the bounds of the box") for _ in range(3)]
    flags = [word for word in words if len(word) == 2 and set(word) <= set("pfsm")]
    edges = [word for word in words if word in EDGES]
    if len(flags) not in (0, 3) or len(flags) + len(edges) < len(words):
        said = " ".join(words)[:40]
        source.remark(f'The box should say how it ends, as in "pp pp ff", and says "{said}": {_ends(flags)}.')
    x, y, z = (flag == "pp" for flag in flags) if len(flags) == 3 else (True, True, True)
    if words[:2] == ["abc", "origin"]:
        if any(len(row) < 4 for row in rows):
            raise ParticleError("the bounds of the box have no origin")
        return PeriodicBox(np.array([row[3] for row in rows]), np.array([row[:3] for row in rows]), (x, y, z))
    xy, xz, yz = (row[2] for row in rows) if all(len(row) > 2 for row in rows) else (0.0, 0.0, 0.0)
    lower = np.array([rows[0][0] - min(0.0, xy, xz, xy + xz), rows[1][0] - min(0.0, yz), rows[2][0]])
    upper = np.array([rows[0][1] - max(0.0, xy, xz, xy + xz), rows[1][1] - max(0.0, yz), rows[2][1]])
    sides = upper - lower
    vectors = np.array([[sides[0], 0.0, 0.0], [xy, sides[1], 0.0], [xz, yz, sides[2]]])
    return PeriodicBox(lower, vectors, (x, y, z))


def _ends(flags: list[str]) -> str:
    return "it is periodic along the axes with pp" if len(flags) == 3 else "it was taken as periodic along all axes"


def _frame(
    lines: list[bytes],
    names: list[str],
    count: int,
    box: PeriodicBox | None,
    stamp: tuple[float, str] | None,
    first_line: int,
) -> Frame:
    if not names:
        names = ["id", "type", "xs", "ys", "zs"]  # very old files say nothing
    first = lines[0].split() if lines else []
    texts = [index for index, word in enumerate(first[: len(names)]) if not is_number(word)]
    columns: dict[str, np.ndarray | list[str]] = dict(
        zip(names, read_rows(lines, count, len(names), texts, first_line), strict=True)
    )
    for index in texts:  # by the first row
        column = columns[names[index]]
        if not isinstance(column, np.ndarray) and (wrong := strays(column)):
            at = first_line + column.index(wrong[0])
            raise ParticleError(f"line {at:,} has {shown(wrong[0].encode())} where a number should be")
    if not any(all(name in columns for name in axes) for axes in PLAIN):
        for axes in SCALED:
            arrays = [values for name in axes if isinstance(values := columns.get(name), np.ndarray)]
            if len(arrays) == 3:
                if box is None or usable(box) is None:
                    why = "is missing" if box is None else "has no volume"
                    raise ParticleError(f"positions are scaled by a box that {why}")
                columns = {name: values for name, values in columns.items() if name not in axes}
                moved = np.stack(arrays, axis=1) @ box.vectors + box.origin
                columns |= {"x": moved[:, 0], "y": moved[:, 1], "z": moved[:, 2]}
                break
    try:
        return frame_of(columns, box, stamp=stamp)
    except ParticleError as error:  # what a column holds is seen in the first row, its name above that
        line = first_line if str(error).startswith("column ") else first_line - 1
        raise ParticleError(f"line {line:,}: {error}") from error
