"""Large texts looked at half a MiB of lines at a time, so that the look costs no memory that grows as the file does."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator

import numpy as np

Text = bytes | mmap.mmap
BLOCK_BYTES = 1 << 19
NEW_LINE = 10


@contextlib.contextmanager
def text_of(name: str, data: bytes | None = None) -> Iterator[Text]:
    """The bytes of the file `name`, or `data` in its place; what is looked at is read, and no more."""
    if data is not None:
        yield data
        return
    with open(name, "rb") as file:
        try:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # of an empty file
            yield b""
            return
        with mapped:
            yield mapped


def blocks(text: Text, begin: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Whole lines, BLOCK_BYTES and the rest of the last line at a time, each block with the place where it begins."""
    end = len(text) if end is None else end
    while begin < end:
        cut = begin + BLOCK_BYTES
        cut = (text.find(b"\n", cut, end) + 1 if cut < end else end) or end
        yield begin, text[begin:cut]
        begin = cut


def line_of(text: Text, place: int) -> int:
    """The number of the line that a place lies in, counted from 1."""
    return 1 + sum(block.count(b"\n") for _, block in blocks(text, 0, place))


def behind_lines(text: Text, begin: int, count: int) -> int:
    """The place behind `count` lines from `begin` on; the end, where there are fewer."""
    for place, block in blocks(text, begin):
        there = block.count(b"\n")
        if there >= count:
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == NEW_LINE)
            return place + int(ends[count - 1]) + 1 if count else begin
        count -= there
    return len(text)
