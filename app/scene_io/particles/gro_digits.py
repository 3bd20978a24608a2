"""GRO files of other digits behind the point than three: their numbers take as many letters as two points lie apart.

Chemfiles takes each number from eight letters. It reads names, residues, times and boxes of a file with zeros in the
place of the numbers, and these are read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import numpy as np

from .frame import ParticleError, Source

NAMES, USUAL_WIDTH, MOST_WIDTH = 20, 8, 40
"""Letters before an atom's numbers, those that a number takes with three digits behind the point, and the most: wider
ones say nothing more, and each short line would be filled up to their width."""
MOST_DIGITS = 12
"""Of a count of atoms."""
POINT, LONGEST_LINE = ord("."), 1 << 10
LETTERS_OF_NUMBERS = b"0123456789+-. "
ANGSTROM = 10.0
"""A nanometre."""
ZEROS = b"   0.000" * 3, b"  0.0000" * 3
"""A position and a velocity of usual width."""


def width_of(atom: bytes) -> int:
    """How many letters a number of an atom's line takes; the usual ones where no two have a point, or that is more than
    MOST_WIDTH."""
    points = [place for place, letter in enumerate(atom[:LONGEST_LINE]) if letter == POINT and place >= NAMES]
    width = points[1] - points[0] if len(points) > 1 else USUAL_WIDTH
    return width if width <= MOST_WIDTH else USUAL_WIDTH


def count_of(line: bytes) -> int:
    """How many atoms a line says; -1 where it holds no count."""
    text = line.strip()
    return int(text) if text.isdigit() and len(text) <= MOST_DIGITS else -1


def has_usual_width(source: Source) -> bool:
    """Whether chemfiles reads the numbers of a file, by its first atom."""
    with source.open() as file:
        return width_of([file.readline(LONGEST_LINE) for _ in range(3)][-1]) == USUAL_WIDTH


def stand_in(source: Source) -> Source:
    """The same file with zeros for numbers, each of the usual width; from where it is no whole frame on as it is."""
    made = bytearray()
    with source.open() as file:
        for head, atoms, box in _parts(file):
            has_velocities = bool(atoms) and len(atoms[0].rstrip()) > NAMES + 3 * width_of(atoms[0])
            zeros = b"".join(ZEROS[: 1 + has_velocities]) + b"\n"
            made += head
            for atom in atoms:
                made += atom.rstrip(b"\r\n")[:NAMES].ljust(NAMES) + zeros
            made += box
        made += file.read()
    return source.replaced(bytes(made))


def numbers(source: Source) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """The positions (N, 3) in angstrom of each whole frame, and its velocities (N, 3) in angstrom a picosecond, where
    it has them. Raises ParticleError where something else stands in their place."""
    line = 1
    with source.open() as file:
        for _, atoms, _ in _parts(file):
            width = width_of(atoms[0]) if atoms else USUAL_WIDTH
            end = NAMES + 3 * width
            positions = _table(atoms, NAMES, width, line + 2)
            is_faster = bool(atoms) and len(atoms[0].rstrip()) > end
            yield positions, _table(atoms, end, width, line + 2) if is_faster else None
            line += len(atoms) + 3


def _parts(file: BinaryIO) -> Iterator[tuple[bytes, list[bytes], bytes]]:
    """The whole frames of a file: title and count, the lines of atoms, the box, which may be missing after the last one
    as for chemfiles. The file is left where they end."""
    while True:
        begin = file.tell()
        title, count = file.readline(), file.readline()
        size = count_of(count)
        atoms = list(islice(file, max(size, 0)))
        box = file.readline()
        if size < 0 or len(atoms) < size or not (box or b"".join(atoms[-1:]).endswith(b"\n")):
            file.seek(begin)
            return
        yield title + count, atoms, box


def _table(atoms: list[bytes], begin: int, width: int, line: int) -> np.ndarray:
    """Three numbers of each line, from a place in it on, in ten times the file's unit; `line` is the number of the
    first one, from 1."""
    cut = [atom[begin : begin + 3 * width].rstrip(b"\r\n").ljust(3 * width) for atom in atoms]
    fields = np.array(cut, f"S{3 * width}").view(f"S{width}").reshape(len(cut), 3)
    try:
        if b"".join(cut).translate(None, LETTERS_OF_NUMBERS) or _moved(fields).any():
            raise ValueError("a letter that is of no number, or a number at another place")
        return fields.astype(np.float64) * ANGSTROM
    except ValueError as error:
        raise ParticleError(_fault(fields.tolist(), line)) from error


def _moved(fields: np.ndarray) -> np.ndarray:
    """Of which rows a number has its point elsewhere in its letters than the first number of all."""
    points = np.char.find(fields, b".")
    return np.asarray((points != points[:1, :1]).any(axis=1))


def _fault(rows: list[list[bytes]], line: int) -> str:
    """Where the first row is that holds something else than three numbers at their places, and what it holds."""
    for number, row in enumerate(rows, line):
        for text in row:
            shown = text.decode("latin-1").strip()
            if text.translate(None, LETTERS_OF_NUMBERS) or not _is_number(text):
                return f'line {number:,} has "{shown}" where a number should be'
            if text.find(b".") != rows[0][0].find(b"."):
                return f'line {number:,} has "{shown}" at another place than the line before: letters of it have moved'
    return "a number of it is none"


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
