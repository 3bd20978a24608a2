"""Tables of text: CSV, TSV and columns between blanks, with or without a line of names.

Without names the first three columns are x, y, z, and a fourth the radius. A column `frame`, `step`, `timestep` or
`time` (in seconds) makes key frames: rows of one value are one instant.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

import numpy as np

from .columns import frame_of, is_number, plain, shown, strays
from .frame import Frame, ParticleError, Source

INSTANTS = ("frame", "step", "timestep", "time")
UNNAMED = ("x", "y", "z", "radius")
COMMENTS = (b"#", b"//", b"%")
QUOTED = re.compile(rb'"[^"]*"')
BLANKS = b"\r\n\v\f "
MISSING = ("", "nan", "na", "n/a", "null", "none", "-")


def read(source: Source) -> Iterator[Frame]:
    """One frame, or those that a column of instants tells apart, in ascending order."""
    if source.read()[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ParticleError("it is text in UTF-16, and tables are read in UTF-8")
    lines = [line for line in source.read().lstrip(b"\xef\xbb\xbf").splitlines() if line.strip()]
    names, rows = _header(lines)
    if not rows:
        raise ParticleError("no rows of numbers are in it")
    source.expect(len(rows), floats=max(len(names), 4))
    separator = _separator(rows[0])
    if separator == "\t":
        rows = [_fitted(row, len(names)) for row in rows]
    columns = _columns(source, rows, names, separator)
    is_cut = any(len(column) < len(rows) for column in columns.values())
    instant = next((name for name in columns if plain(name) in INSTANTS), None)
    values = columns.get(instant) if instant is not None else None
    if instant is None or not isinstance(values, np.ndarray):
        source.check_end()
        yield frame_of(columns)
        return
    del columns[instant]
    if not np.isfinite(values).all():
        raise ParticleError(f"the column {instant!r} has values that are no numbers")
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=np.nan) != 0.0)
    parts = np.split(order, starts[1:])
    is_cut = is_cut and len(parts) > 1 and bool(parts[-1][-1] == order.max())
    for part in parts[:-1] if is_cut else parts:
        at = float(values[part[0]])
        picked = {
            name: column[part] if isinstance(column, np.ndarray) else [column[index] for index in part]
            for name, column in columns.items()
        }
        is_time = plain(instant) == "time"
        yield frame_of(picked, time=at if is_time else None, stamp=None if is_time else (at, plain(instant)))
    if is_cut:
        raise ParticleError("the file ends within a row of it")
    source.check_end(len(parts), ", and more of it may be missing" if len(parts) > 1 else "")


def _separator(line: bytes) -> str | None:
    """What stands between values; None for blanks. Within quotes it is a part of the value."""
    bare = QUOTED.sub(b"", line)
    return next((mark.decode() for mark in (b",", b";", b"\t") if mark in bare), None)


def _words(line: bytes, separator: str | None) -> list[str]:
    text = line.decode("utf-8", "replace").strip(BLANKS.decode() if separator == "\t" else None)  # a tab ends in a gap
    if separator is None:
        return text.split()
    return [word.strip() for word in next(csv.reader([text], delimiter=separator))]


def _has_outer_tabs(line: bytes) -> bool:
    return line.strip(BLANKS) != line.strip()


def _outer_tabs(line: bytes) -> tuple[int, int, int]:
    """How many tabs are before a line, how many columns are between them, and how many tabs are behind."""
    begun = line.lstrip()
    inner = begun.rstrip()
    count = len(_words(inner, "\t")) if b'"' in inner else inner.count(b"\t") + 1
    return line[: len(line) - len(begun)].count(b"\t"), count, begun[len(inner) :].count(b"\t")


def _width(rows: list[bytes]) -> int:
    """How many columns rows between tabs have, without outer ones that are empty in all of them. Where some rows have
    more tabs than others, those at the ends are no columns."""
    if not any(map(_has_outer_tabs, rows)):
        return _outer_tabs(rows[0])[1]
    spans = [_outer_tabs(row) for row in rows]
    if len({sum(span) for span in spans}) == 1:
        return max(before + count for before, count, _ in spans) - min(before for before, *_ in spans)
    return max(count for _, count, _ in spans)


def _fitted(line: bytes, width: int) -> bytes:
    """A line without the tabs at its ends, first behind it, that make more columns than there are."""
    if not _has_outer_tabs(line):
        return line
    before, count, behind = _outer_tabs(line)
    more = max(before + count + behind - width, 0)
    behind, more = max(behind - more, 0), max(more - behind, 0)
    return b"\t" * max(before - more, 0) + line.strip() + b"\t" * behind


def _header(lines: list[bytes]) -> tuple[list[str], list[bytes]]:
    """The names of the columns, and the lines below. Names may stand in a comment."""
    start, said = 0, b""
    while start < len(lines) and lines[start].lstrip().startswith(COMMENTS):
        said = lines[start].lstrip().lstrip(b"#/%")
        start += 1
    if start == len(lines):
        return [], []
    separator, rows = _separator(lines[start]), lines[start:]
    words = _words(lines[start].strip(), separator)
    if not all(is_number(word.encode()) or word.lower() in MISSING for word in words):
        texts = [not is_number(word.encode()) for word in words]
        if all(texts) or not _is_row(words):
            line, rows = rows[0], rows[1:]
            if separator == "\t" and rows:
                line = _fitted(line, _width(rows))
            return _distinct(_words(line, separator)), rows
    if separator == "\t":
        words = _words(_fitted(rows[0], _width(rows)), separator)
    if _separator(said) == "\t":
        said = _fitted(said, len(words))
    named = _words(said, _separator(said)) if said else []
    if len(named) == len(words) and not any(is_number(word.encode()) for word in named):
        return _distinct(named), rows
    first_text = 0 if is_number(words[0].encode()) else 1
    unnamed = ["species"] * first_text + list(UNNAMED)
    rest = [f"column {index + 1}" for index in range(len(unnamed), len(words))]
    return (unnamed + rest)[: len(words)], rows


def _is_row(words: list[str]) -> bool:
    """Whether a line with a text in it is data: a name and then numbers."""
    return len(words) >= 4 and all(is_number(word.encode()) for word in words[1:4])


def _distinct(names: list[str]) -> list[str]:
    """Names without a second of the same."""
    result: list[str] = []
    for index, name in enumerate(names):
        result.append(name if name and name not in result else f"{name or 'column'} {index + 1}")
    return result


def _columns(
    source: Source, rows: list[bytes], names: list[str], separator: str | None
) -> dict[str, np.ndarray | list[str]]:
    try:
        table = np.loadtxt(rows, np.float64, comments=None, delimiter=separator, ndmin=2)
    except ValueError:
        return _mixed_columns(source, rows, names, separator)
    if table.shape[1] != len(names):
        raise ParticleError(f"{len(names)} columns are named, and the rows have {table.shape[1]}")
    return {name: np.ascontiguousarray(table[:, index]) for index, name in enumerate(names)}


def _ends_within_a_row(source: Source, table: list[list[str]], width: int) -> bool:
    """Whether the last row has too few values, or ends, without a line break, in what is neither a number nor a
    gap, where the row before has a number."""
    before, last = table[-2:]
    if len(last) < width:
        return True
    if last[-1] and last[-1].lower() in MISSING:
        return False
    return source.is_open() and is_number(before[-1].encode()) and not is_number(last[-1].encode())


def _mixed_columns(
    source: Source, rows: list[bytes], names: list[str], separator: str | None
) -> dict[str, np.ndarray | list[str]]:
    """Columns of which some are texts or have gaps: a gap is NaN."""
    table = [_words(row, separator) for row in rows]
    if len(table) > 1 and _ends_within_a_row(source, table, len(names)):
        source.remark("The last row is cut short and was left out.")
        table.pop()
    wrong = next((number for number, row in enumerate(table) if len(row) != len(names)), None)
    if wrong is not None:
        where = source.line_with(rows[wrong]) or f"row {wrong + 1:,}"
        raise ParticleError(
            f"{where} has {len(table[wrong])} columns, and {len(names)} are named: {shown(rows[wrong])}"
        )
    result: dict[str, np.ndarray | list[str]] = {}
    for index, name in enumerate(names):
        words = [row[index] for row in table]
        filled = ["nan" if word.lower() in MISSING else word for word in words]
        if all(is_number(word.encode()) for word in filled):
            result[name] = np.array(filled).astype(np.float64)
            continue
        result[name] = words
        if not (odd := strays(filled)):
            continue
        if plain(name) in INSTANTS:
            raise ParticleError(f"column {name} holds {shown(odd[0].encode())}, which is no number")
        words_there = f"{len(odd):,} of {len(words):,} values of the column {name} are no numbers"
        source.remark(f"{words_there}, the first {shown(odd[0].encode())}: all were taken for names.", len(odd))
    return result
