"""PCD, the files of the Point Cloud Library, as text, binary, and binary_compressed (LZF, a field after another):
https://pointclouds.org/documentation/tutorials/pcd_file_format.html
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from .columns import as_kind, frame_of, read_rows, shown, without_cut_row
from .frame import Frame, ParticleError, Source

MAX_HEADER = 1 << 16
KINDS = {"F": "f", "I": "i", "U": "u"}
PADDING = "_ "
"""What the names of bytes between fields begin with here: in files all of them are called _."""

SIZES = (1, 2, 4, 8)
WORDS = (
    "VERSION", "FIELDS", "COLUMNS", "SIZE", "TYPE", "COUNT", "WIDTH", "HEIGHT", "VIEWPOINT", "POINTS", "DATA",
)  # fmt: skip
"""What lines of a header begin with."""

LZF_TIMES = 88
"""What LZF can pack at most: a copy of 264 bytes takes three."""


def read(source: Source) -> Iterator[Frame]:
    """One frame; of a file that is cut, the whole points before the cut."""
    with source.open() as file:
        facts, lines = _header(source, file)
        fields = _fields(facts)
        count = _count(source, facts)
        form = facts["DATA"][0].lower() if facts["DATA"] else ""
        source.expect(count, floats=sum(size for _, _, size in fields))
        if form == "ascii":
            columns = _text(source, list(itertools.islice(file, count)), fields, count, lines + 1)
            source.check_end()
        elif form in ("binary", "binary_compressed"):
            columns = _binary(source, file.read(), fields, count, form == "binary_compressed")
        else:
            raise ParticleError(f"its data are in the form {form!r}, which is not known")
    yield frame_of(_unpacked_colours({n: values for n, values in columns.items() if not n.startswith(PADDING)}))


def _header(source: Source, file: BinaryIO) -> tuple[dict[str, list[str]], int]:
    """What each line of the header says, by its first word, and how many lines it takes; others are remarked."""
    facts: dict[str, list[str]] = {}
    for number in itertools.count(1):
        line = file.readline(MAX_HEADER)
        if not line or file.tell() > MAX_HEADER:
            raise ParticleError("its header has no line DATA")
        words = line.decode("latin-1").split()
        if words and not words[0].startswith("#"):
            facts[words[0].upper()] = words[1:]
            if words[0].upper() not in WORDS:
                source.remark(f"Line {number:,} begins with no word of a PCD's header and was left out: {shown(line)}.")
        if "DATA" in facts:
            return facts, number
    raise AssertionError


def _fields(facts: dict[str, list[str]]) -> list[tuple[str, str, int]]:
    """Name, numpy type and count of each field."""
    names = facts.get("FIELDS", facts.get("COLUMNS", []))
    sizes, kinds, counts = facts.get("SIZE", []), facts.get("TYPE", []), facts.get("COUNT", ["1"] * len(names))
    if not names or not len(names) == len(sizes) == len(kinds) == len(counts):
        raise ParticleError("FIELDS, SIZE, TYPE and COUNT of its header do not agree")
    result = []
    for index, (name, size, kind, count) in enumerate(zip(names, sizes, kinds, counts, strict=True)):
        try:
            dtype = np.dtype(f"<{KINDS[kind.upper()]}{int(size)}")
            title = f"{PADDING}{index}" if name == "_" else name
            result.append((title, dtype.str, int(count)))
        except (KeyError, ValueError, TypeError) as error:
            raise ParticleError(f"its field {name!r} has the type {kind} of {size} bytes") from error
    if any(not 0 < count < 1 << 16 for _, _, count in result) or len({name for name, _, _ in result}) < len(result):
        raise ParticleError("its fields have no usable counts or names")
    return result


def _count(source: Source, facts: dict[str, list[str]]) -> int:
    """How many points there are by POINTS, else by WIDTH and HEIGHT."""
    try:
        sides = [int(facts[word][0]) for word in ("WIDTH", "HEIGHT") if word in facts]
        count = int(facts["POINTS"][0]) if "POINTS" in facts else sides[0] * sides[1]
    except (KeyError, ValueError, IndexError) as error:
        raise ParticleError("its header does not say how many points there are") from error
    if count <= 0:
        raise ParticleError("no points are in it")
    if len(sides) == 2 and sides[0] * sides[1] != count:
        source.remark(
            f"The header says {count:,} points, and {sides[0]:,} times {sides[1]:,} for width and height: {count:,} "
            "were taken."
        )
    return count


def _text(
    source: Source, lines: list[bytes], fields: list[tuple[str, str, int]], count: int, first_line: int
) -> dict[str, np.ndarray]:
    width = sum(size for _, _, size in fields)
    lines = [line for line in lines if line.strip()]
    lines = without_cut_row(lines, width)
    _say_cut(source, count, len(lines))
    columns = read_rows(lines, len(lines), width, first_line=first_line)
    result, at = {}, 0
    for name, kind, size in fields:
        part = np.stack([as_kind(np.asarray(each), kind, name) for each in columns[at : at + size]], axis=1)
        at += size
        result[name] = part[:, 0] if size == 1 else part
    return result


def _binary(
    source: Source, data: bytes, fields: list[tuple[str, str, int]], count: int, is_packed: bool
) -> dict[str, np.ndarray]:
    if not is_packed:
        dtype = np.dtype([(name, kind, (size,) if size > 1 else ()) for name, kind, size in fields])
        whole = min(count, len(data) // dtype.itemsize)
        _say_cut(source, count, whole)
        table = np.frombuffer(data, dtype, whole)
        return {name: np.ascontiguousarray(table[name]) for name, _, _ in fields}
    if len(data) < 8:
        raise ParticleError("its packed data are cut short")
    packed, size = (int(value) for value in np.frombuffer(data, "<u4", 2))
    if size != count * sum(np.dtype(kind).itemsize * width for _, kind, width in fields):
        raise ParticleError(f"its packed data of {size:,} bytes do not fit its {count:,} points")
    source.expect_unpacked(min(size, LZF_TIMES * len(data)))
    is_cut = len(data) < 8 + packed
    plain, at, result = lzf(data[8 : 8 + packed], size, is_cut), 0, dict[str, np.ndarray]()
    for name, kind, width in fields:
        after = at + count * width * np.dtype(kind).itemsize
        if after > len(plain):
            _say_fields_cut(source, fields[len(result) :], count)
            break
        values = np.frombuffer(plain, kind, count * width, at)
        result[name] = values if width == 1 else values.reshape(count, width)
        at = after
    return result


def _say_fields_cut(source: Source, fields: list[tuple[str, str, int]], count: int) -> None:
    """A field lies behind another in packed data: where the file is cut, all points lack the last of them."""
    names = [name for name, _, _ in fields]
    if lost := [axis for axis in ("x", "y", "z") if axis in names]:
        raise ParticleError(f"it is cut short before the {lost[0]} of its {count:,} points")
    source.remark(f"The file is cut short: the points have no {', '.join(names)}.")


def lzf(data: bytes, size: int, is_cut: bool = False) -> bytes:
    """The `size` bytes that LZF packed: runs of literals, and copies of what came before. `ParticleError` where they do
    not come out; of data that the file's end cuts, those before it."""
    out = bytearray()
    at, end = 0, len(data)
    try:
        while at < end and len(out) < size:
            control = data[at]
            at += 1
            if control < 32:
                out += data[at : at + control + 1]
                at += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += data[at]
                at += 1
            back = ((control & 31) << 8 | data[at]) + 1
            at += 1
            start = len(out) - back
            if start < 0:
                raise ParticleError("its packed data are damaged")
            length += 2
            piece = out[start : start + length]
            out += piece if back >= length else (piece * (length // back + 1))[:length]
    except IndexError as error:
        if not is_cut:
            raise ParticleError("its packed data are cut short") from error
    if len(out) != size and not (is_cut and len(out) < size):
        raise ParticleError(f"its packed data give {len(out):,} bytes and not {size:,}")
    return bytes(out)


def _unpacked_colours(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The field rgb (or rgba), one float or integer whose bytes are blue, green and red, as (N, 3) bytes."""
    for name in ("rgb", "rgba"):
        values = columns.get(name)
        if values is None or values.ndim != 1:
            continue
        bits = values.astype(np.float32).view(np.uint32) if values.dtype.kind == "f" else values.astype(np.uint32)
        del columns[name]
        columns["rgb"] = np.stack([(bits >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.uint8)
    return columns


def _say_cut(source: Source, count: int, whole: int) -> None:
    if not whole:
        raise ParticleError(f"its header says {count:,} points, and none is there")
    if whole < count:
        source.remark(f"The header says {count:,} points, and {whole:,} are there: the file is cut short.")
