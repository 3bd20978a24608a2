"""Whether a trajectory ends within a frame: chemfiles leaves it out of XTC, TRR, DCD and PDB files without a word, and
reads nothing of such a GRO file."""

from __future__ import annotations

import os
import re
import struct
from typing import BinaryIO

from .frame import Source
from .gro_digits import count_of

XTC_MAGIC, TRR_MAGIC = 1995, 1993
XTC_HEAD, XTC_PACKED, XTC_FEW = 56, 92, 9
XTC_ATOMS_AGAIN, XTC_MOST_A_BYTE = 52, 8
"""Where a frame says a second time how many atoms it has; a packed atom takes a bit at least."""
DCD_COUNT = 8
BOX_NUMBERS = (3, 9)
NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
LONGEST_LINE = 1 << 10
BETWEEN = {"mol2": (b"@<TRIPOS>MOLECULE", False), "sdf": (b"$$$$\n", True), "cif": (b"\ndata_", False)}
"""What stands between frames, and whether it ends one; of a CIF its blocks."""
TEXTS = ("gro", "mol2", "sdf")
"""Texts whose last value may be cut short without a word of chemfiles."""

COLUMN = re.compile(rb"^_atom_site\.(\w+)", re.MULTILINE)
MODEL_COLUMN, ATOMS, CUT_ROW = b"pdbx_PDB_model_num", (b"ATOM", b"HETATM"), b"the_row_is_cut"
MODEL = re.compile(rb"^MODEL\b", re.MULTILINE)
MODEL_END = re.compile(rb"^ENDMDL\b", re.MULTILINE)


def ends_within_a_frame(source: Source, steps: int) -> bool:
    """Whether more follows the `steps` whole frames than there should."""
    with source.open() as file:
        size = file.seek(0, os.SEEK_END)
        try:
            if source.form in WALKED:
                return WALKED[source.form](file, size)[1] != size
            if source.form == "dcd":
                return _dcd_frames(file) > steps
            if source.form in ("pdb", "ent"):
                data = file.read() if file.seek(0) == 0 else b""
                return len(MODEL.findall(data)) > len(MODEL_END.findall(data))
        except (struct.error, OSError):
            return True
    return False


def whole_frames(source: Source) -> int | None:
    """How many whole frames an XTC or TRR has before the first that is none: chemfiles believes the lengths in that one
    and takes gigabytes for it. None for other forms."""
    if source.form not in WALKED:
        return None
    with source.open() as file:
        size = file.seek(0, os.SEEK_END)
        try:
            return WALKED[source.form](file, size)[0]
        except (struct.error, OSError):
            return 0


def before_the_cut(source: Source) -> bytes:
    """The whole frames of a text of which chemfiles reads nothing where its last frame is cut; none of other forms."""
    data = source.read() if source.form in ("gro", *BETWEEN) else b""
    if source.form == "gro":
        return whole_gro(data)
    mark, is_end = BETWEEN.get(source.form, (b"\n", True))
    place = data.rfind(mark)
    has_more = is_end or data.startswith(mark.lstrip()) or data.find(mark) < place
    whole = place + (len(mark) if is_end else mark.startswith(b"\n"))
    return data[:whole] if place > 0 and has_more else b""


def without_cut_row(source: Source) -> Source:
    """An mmCIF without its last row, where the file ends within it, of which chemfiles reads memory that is none of its
    own; where it has several models, with a row that chemfiles refuses in the place of that, so that the model ends."""
    data = source.read()
    columns = COLUMN.findall(data)
    before, _, last = data.rpartition(b"\n")
    row = before[before.rfind(b"\n") + 1 :].split()
    if len(last.split()) >= len(columns) or not _is_begun_row(last.split(), row):
        return source
    refused = [CUT_ROW] * (len(columns) - 1)
    if row[0] not in ATOMS:  # of a file without any row chemfiles crashes
        return source.replaced(before + b"\n" + b" ".join([ATOMS[0], *refused]) + b"\n")
    at = columns.index(MODEL_COLUMN) if MODEL_COLUMN in columns else len(columns)
    first = next((line.split() for line in before.splitlines() if line.startswith(ATOMS)), [])
    if len(row) != len(columns) or at >= len(first) or first[at] == row[at]:
        source.remark("The last row is cut short and was left out.")
        return source.replaced(before + b"\n")
    words = [row[0], *refused]
    words[at] = row[at]
    return source.replaced(before + b"\n" + b" ".join(words) + b"\n")


def _is_begun_row(words: list[bytes], before: list[bytes]) -> bool:
    """Whether words are the begin of a row of an atom: behind such a row or the names of its columns they begin as one,
    and a single word may be part of that begin. What closes a whole file, as #, is none."""
    if not words or not before or not (before[0] in ATOMS or before[0].startswith(b"_atom_site.")):
        return False
    return words[0] in ATOMS or (len(words) == 1 and any(atom.startswith(words[0]) for atom in ATOMS))


def whole_gro(data: bytes) -> bytes:
    """The whole frames of a .gro: a title, a count, as many lines, the box."""
    lines = data.splitlines(keepends=True)
    at = 0
    while at + 1 < len(lines) and (count := count_of(lines[at + 1])) >= 0:
        after = at + 3 + count
        if after > len(lines) or len(lines[after - 1].split()) < BOX_NUMBERS[0]:
            break
        at = after
    return b"".join(lines[:at])


def lacks_last_box(source: Source) -> bool:
    """Whether the last line of a .gro is no box, of three numbers or nine: of that frame chemfiles reads none."""
    with source.open() as file:
        file.seek(-min(file.seek(0, os.SEEK_END), LONGEST_LINE), os.SEEK_END)
        words = file.read().rstrip().rpartition(b"\n")[2].split()
    return len(words) not in BOX_NUMBERS or not all(NUMBER.fullmatch(word) for word in words)


def _at(file: BinaryIO, form: str, offset: int) -> tuple[int, ...]:
    file.seek(offset)
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _xtc_end(file: BinaryIO, size: int) -> tuple[int, int]:
    """How many whole frames there are, and where the last ends: magic, atoms, step, time, box, atoms; of few atoms
    plain numbers follow, else a packed block with its length before it, padded to four bytes."""
    count = place = 0
    while place + XTC_HEAD <= size:
        magic, atoms = _at(file, ">2i", place)
        if magic != XTC_MAGIC or atoms < 0 or (atoms,) != _at(file, ">i", place + XTC_ATOMS_AGAIN):
            break
        if atoms <= XTC_FEW:
            after = place + XTC_HEAD + 12 * atoms
        elif place + XTC_PACKED > size:
            break
        else:
            (length,) = _at(file, ">i", place + XTC_PACKED - 4)
            after = place + XTC_PACKED + (length + 3) // 4 * 4
            if atoms > XTC_MOST_A_BYTE * length:
                break
        if not place < after <= size:
            break
        count, place = count + 1, after
    return count, place


def _trr_end(file: BinaryIO, size: int) -> tuple[int, int]:
    """How many whole frames there are, and where the last ends: magic, a version string, ten lengths, atoms, step, nre,
    time and lambda, and then as many bytes as the lengths say."""
    count = place = 0
    while place + 84 <= size:
        magic, _, text = _at(file, ">3i", place)
        if magic != TRR_MAGIC or not 0 <= text < 64:
            break
        head = place + 12 + (text + 3) // 4 * 4
        if head + 52 > size:
            break
        *lengths, atoms, _, _ = _at(file, ">13i", head)
        box, positions, velocities, forces = lengths[2], lengths[7], lengths[8], lengths[9]
        width = box // 9 if box else max(positions, velocities, forces) // max(3 * atoms, 1)
        after = head + 52 + 2 * width + sum(lengths)
        if not place < after <= size:
            break
        count, place = count + 1, after
    return count, place


WALKED = {"xtc": _xtc_end, "trr": _trr_end}
"""Forms whose frames are walked through by their lengths."""


def _dcd_frames(file: BinaryIO) -> int:
    """The count of frames in the header, of either byte order."""
    (length,) = _at(file, "<i", 0)
    (count,) = _at(file, "<i" if length == 84 else ">i", DCD_COUNT)
    return count
