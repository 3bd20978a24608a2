"""The arrays of an .npz that is cut short: its directory, which stands at its end, is missing, and what is there of
each array is told by the head before it."""

from __future__ import annotations

import dataclasses
import io
import struct
import zlib
from collections.abc import Iterator

LOCAL = struct.Struct("<4s5H3I2H")
"""The head of a member: mark, version, flags, method, time, date, checksum, packed size, size, lengths of name and
further fields."""
MARK, STORED, DEFLATED = b"PK\x03\x04", 0, 8
LONG_SIZES, NO_SIZE = 1, 0xFFFFFFFF
IS_LOCKED, IS_SIZED_BEHIND = 1, 8
"""Flags."""


@dataclasses.dataclass(frozen=True)
class Member:
    """A file in the archive, or what is there of it."""

    name: str
    data: io.BytesIO
    is_whole: bool


def before_the_cut(data: bytes, limit: int) -> Iterator[Member]:
    """The members one after another up to the one that is cut, or damaged; none of more than `limit` bytes."""
    place = 0
    while place + LOCAL.size <= len(data):
        mark, _, flags, method, _, _, checksum, packed, size, name_length, more_length = LOCAL.unpack_from(data, place)
        begin = place + LOCAL.size + name_length + more_length
        if mark != MARK or method not in (STORED, DEFLATED) or flags & (IS_LOCKED | IS_SIZED_BEHIND):
            return
        if begin > len(data):
            return
        name = data[place + LOCAL.size : begin - more_length].decode("utf-8", "replace")
        if NO_SIZE in (packed, size):
            sizes = _long_sizes(data[begin - more_length : begin])
            if sizes is None:
                return
            size, packed = sizes
        body = data[begin : begin + packed]
        if method == DEFLATED:
            try:
                body = zlib.decompressobj(-zlib.MAX_WBITS).decompress(body, limit)
            except zlib.error:
                return
        is_whole = begin + packed <= len(data)
        if is_whole and (len(body) != size or zlib.crc32(body) != checksum):
            return
        yield Member(name, io.BytesIO(body), is_whole)
        place = begin + packed


def _long_sizes(fields: bytes) -> tuple[int, int] | None:
    """The size and the packed size, where they take more than four bytes; None where no field has them."""
    at = 0
    while at + 4 <= len(fields):
        kind, length = struct.unpack_from("<2H", fields, at)
        if kind == LONG_SIZES and length >= 16 and at + 20 <= len(fields):
            size, packed = struct.unpack_from("<2Q", fields, at + 4)
            return size, packed
        at += 4 + length
    return None
