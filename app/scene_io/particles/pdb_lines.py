"""What the lines of a PDB say by their columns, looked at before chemfiles reads them: it takes what stands in its
columns, so that a line that lacks a letter is read as other numbers, and reads over lines of no record that it knows:
https://www.wwpdb.org/documentation/file-format-content/format33/v3.3.html
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from raygrove.app.scene_io.text_blocks import blocks, text_of

from . import elements
from .columns import shown
from .frame import ParticleError, Source

RECORDS = frozenset(
    b"ATOM HETATM ANISOU SIGATM SIGUIJ TER MODEL ENDMDL END MASTER CONECT CRYST1 ORIGX1 ORIGX2 ORIGX3 SCALE1 SCALE2 "
    b"SCALE3 MTRIX1 MTRIX2 MTRIX3 TVECT HEADER OBSLTE TITLE SPLIT CAVEAT COMPND SOURCE KEYWDS EXPDTA NUMMDL MDLTYP "
    b"AUTHOR REVDAT SPRSDE JRNL REMARK FTNOTE DBREF DBREF1 DBREF2 SEQADV SEQRES MODRES HET HETNAM HETSYN FORMUL HELIX "
    b"SHEET TURN SSBOND LINK LINKR HYDBND SLTBRG CISPEP SITE USER".split()
)
WIDTH = 80
RECORD = slice(0, 6)
FIELDS = tuple(slice(begin, begin + 8) for begin in (30, 38, 46))
"""Of x, y and z: numbers of eight letters with three behind the point."""
POINTS, ENDS, BEFORE, BEHIND, OCCUPANCY_POINT = (34, 42, 50), (37, 45, 53), 29, 54, 57
SYMBOL = slice(76, 78)
BLANK, MINUS, POINT, TAB = b" -.\t"

MOST_ELSEWHERE = (
    "The coordinates of most atoms do not stand as the format says, x in the columns 31 to 38, y to 46 and z to 54, "
    "with three digits behind the point: see whether the atoms are where they should be, from line {:,} on."
)


class _Seen(NamedTuple):
    """Of a block: the lines of atoms, which of them have their coordinates where they should, which hold numbers all
    the same, and which lines are of no record."""

    atoms: np.ndarray
    in_place: np.ndarray
    are_numbers: np.ndarray
    unknown: np.ndarray
    symbols: np.ndarray


class Atoms:
    """The atoms of a file's lines, one after another: `numbers` their elements by the columns for these, 0 where they
    are blank or say none. What is read over is remarked."""

    def __init__(self, source: Source) -> None:
        self.numbers = np.zeros(0, np.int64)
        self._fault, self._fault_at = "", 0
        symbols, wrong, unknown, unknown_count = [np.zeros(0, "S2")], b"", b"", 0
        wrong_line = unknown_line = line = count = in_place = 0
        with text_of(source.path, source.unpacked) as text:
            for _, block in blocks(text):
                rows = block.splitlines()
                seen = _seen(_table(rows))
                odd = np.flatnonzero(~(seen.in_place | seen.are_numbers))
                if len(odd) and not wrong_line:
                    row = int(seen.atoms[odd[0]])
                    wrong_line, wrong, self._fault_at = line + row + 1, rows[row], count + int(odd[0])
                if len(seen.unknown) and not unknown_count:
                    unknown_line, unknown = line + int(seen.unknown[0]) + 1, rows[seen.unknown[0]]
                symbols.append(seen.symbols)
                count, in_place = count + len(seen.atoms), in_place + int(seen.in_place.sum())
                unknown_count, line = unknown_count + len(seen.unknown), line + len(rows)
        self.numbers = _numbers(np.concatenate(symbols))
        if count and unknown_count:
            source.remark(_left_out(unknown_line, unknown), unknown_count)
        if wrong_line and 2 * in_place > count:
            self._fault = _moved(wrong_line, wrong)
        elif wrong_line:
            source.remark(MOST_ELSEWHERE.format(wrong_line))

    def check(self, begin: int, count: int) -> None:
        """`ParticleError` where the coordinates of one of so many atoms lie in other columns than those of the file's
        other atoms."""
        if self._fault and begin <= self._fault_at < begin + count:
            raise ParticleError(self._fault)


def _left_out(line: int, row: bytes) -> str:
    return f"Lines that begin with no record of a PDB were left out, the first is line {line:,}: {shown(row)}."


def _moved(line: int, row: bytes) -> str:
    there = shown(row[FIELDS[0].start : FIELDS[2].stop])
    return (
        f"line {line:,} has its coordinates in other columns than the format says and the file's other atoms have, 31 "
        f"to 54, where it has {there}: letters are missing in it, or too many"
    )


def _table(rows: list[bytes]) -> np.ndarray:
    """The lines (N, WIDTH) as bytes, with blanks behind those that are shorter."""
    return np.array([row[:WIDTH].ljust(WIDTH) for row in rows], f"S{WIDTH}").view(np.uint8).reshape(-1, WIDTH)


def _seen(table: np.ndarray) -> _Seen:
    words = np.ascontiguousarray(table[:, RECORD]).view("S6").reshape(-1)
    found, places = np.unique(words, return_inverse=True)
    names = [word.rstrip(b" \0") for word in found.tolist()]
    is_atom = np.array([name in (b"ATOM", b"HETATM") for name in names], bool)[places]
    is_unknown = np.array([bool(name) and name not in RECORDS for name in names], bool)[places]
    atoms = np.flatnonzero(is_atom)
    lines = table[atoms]
    fields = np.stack([lines[:, field] for field in FIELDS], axis=1)
    fits = (lines[:, POINTS] == POINT) & (lines[:, ENDS] != BLANK)
    is_full = (fields != BLANK).all(2) & ((fields == POINT).sum(2) == 1) & (fields[:, :, 1:] != MINUS).all(2)
    is_alone = lines[:, BEHIND] == BLANK
    is_apart = (lines[:, BEFORE] == BLANK) & (is_alone | (lines[:, OCCUPANCY_POINT] == POINT)) & (lines != TAB).all(1)
    symbols = np.ascontiguousarray(lines[:, SYMBOL]).view("S2").reshape(-1)
    are_numbers = (fits | is_full & is_alone[:, None]).all(1) & is_apart
    return _Seen(atoms, fits.all(1) & is_apart, are_numbers, np.flatnonzero(is_unknown), symbols)


def _numbers(symbols: np.ndarray) -> np.ndarray:
    found, places = np.unique(symbols, return_inverse=True)
    names = [name.decode("latin-1").strip() for name in found.tolist()]
    known = [number if name.isalpha() else 0 for name, number in zip(names, elements.numbers_of(names), strict=True)]
    return np.array(known, np.int64)[places]
