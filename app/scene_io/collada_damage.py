"""Damage to a Collada file that libassimp reads over, so that its scene is another than the file's, or reads for ever:
a word among indices, numbers too many among points, an index below 0, which it takes for the first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .number_rows import numbers_of

NO_INDEX = re.compile(rb"(?:<(?=p|h|vcount)|</vcount>\s*<)(p|h|vcount|v)\b[^<>]*>[\s\d+-]*([^\s\d<+-][^\s<]{0,40})")
"""What is no whole number in a list of them; <v> elsewhere than behind <vcount> may be anything."""
BELOW_0 = re.compile(rb"<(p|h)\b[^<>]*>[\s\d+]*(-\d+)")
NO_COUNT = re.compile(rb"<\w[^<>]*?\s(count|stride|offset)\s*=\s*[\"'](?!\s*\d+\s*[\"'])([^\"'<>]*)[\"']")
NUMBERS = re.compile(rb"<(float_array|matrix|translate|rotate|scale|lookat)\b([^<>]*)>([^<]*)</")
ACCESSOR = re.compile(rb"<accessor\b([^<>]*[^<>/])>((?:\s*<param\b[^<>]*(?:/>|>\s*</param>))+)\s*</accessor>")
COUNT, STRIDE = (re.compile(rb"\b" + name + rb"\s*=\s*[\"'](\d{1,12})[\"']") for name in (b"count", b"stride"))
UNREAD = re.compile(rb"<!--.*?-->|<extra\b(?:[^<>]*[^<>/])?>.*?</extra\s*>", re.DOTALL)
"""What libassimp does not look for these in: comments, and what a program adds for itself, which may be anything."""
NO_NEW_LINE = re.compile(rb"[^\n]")
WIDTHS = {b"matrix": 16, b"translate": 3, b"rotate": 4, b"scale": 3, b"lookat": 9}


def collada_damage(data: bytes) -> str:
    """The first thing that is wrong, of each kind in turn, with its line; "" where there is none."""
    return next(_found(without_unread(data)), "")


def without_unread(data: bytes) -> bytes:
    """The file with spaces for what libassimp does not look at, so that each place stays what it is."""
    return UNREAD.sub(lambda found: NO_NEW_LINE.sub(b" ", found[0]), data)


def _found(data: bytes) -> Iterator[str]:
    def line_at(place: int) -> str:
        number = data.count(b"\n", 0, place) + 1
        return f"line {number:,}"

    for pattern in (NO_INDEX, BELOW_0):
        if wrong := pattern.search(data):
            word = wrong[2].decode("utf-8", "replace")
            yield f"{line_at(wrong.start(2))} has {word!r} among the numbers of <{wrong[1].decode()}>"
    if wrong := NO_COUNT.search(data):
        word = wrong[2][:40].decode("utf-8", "replace")
        yield f"{line_at(wrong.start(2))} has {word!r} for a {wrong[1].decode()}, which is a whole number"
    for found in ACCESSOR.finditer(data):
        stride, columns = STRIDE.search(found[1]), found[2].count(b"<param")
        if columns > (int(stride[1]) if stride else 1):
            told = stride[1].decode() if stride else "1"
            yield f"<accessor> at {line_at(found.start())} has {columns:,} columns and the stride {told}"
    for found in NUMBERS.finditer(data):
        kind, count = found[1], COUNT.search(found[2])
        width = int(count[1]) if count else WIDTHS.get(kind)
        values = numbers_of(found[3])
        if width is not None and (values is None or len(values) != width):
            there = f"{len(values):,} are there" if values is not None else "something else stands there"
            yield f"<{kind.decode()}> at {line_at(found.start(3))} should hold {width:,} numbers, and {there}"
