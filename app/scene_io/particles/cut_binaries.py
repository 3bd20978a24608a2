"""What is left of binary files that their libraries refuse where they are cut short: copies of GSD and LAZ files that
can be read up to the cut."""

from __future__ import annotations

import io
import os
import struct
from typing import Any, BinaryIO

import numpy as np

from .headers import GSD_ENTRY, GSD_HEADER, GSD_MAGIC

ENTRY = np.dtype(
    [
        *(("frame", "<u8"), ("rows", "<u8"), ("place", "<i8"), ("width", "<u4")),
        *(("name", "<u2"), ("kind", "u1"), ("flags", "u1")),
    ]
)
KIND_BYTES = np.array([0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1], np.float64)
"""Of a number of each kind of GSD's."""
PLACE = struct.Struct("<q")
ANY_SIZE = 0xFFFFFFFF
"""What LAZ says instead of how many points a chunk has, where each has its own number."""


def whole_gsd(data: bytes) -> bytes:
    """A GSD file whose index leaves out the first frame with data past the file's end, and those behind it; empty where
    that is the first of all, or the index itself is cut."""
    if len(data) < GSD_HEADER:
        return b""
    magic, start, count = struct.unpack_from("<3Q", data)
    if magic != GSD_MAGIC or start + count * GSD_ENTRY > len(data):
        return b""
    index = np.frombuffer(data, ENTRY, count, start).copy()
    there = index["place"] > 0
    bytes_each = KIND_BYTES[np.minimum(index["kind"], len(KIND_BYTES) - 1)]
    ends = index["place"] + index["rows"].astype(np.float64) * index["width"] * bytes_each
    cut = index["frame"][there & (ends > len(data))]
    if not len(cut) or not cut.min():
        return b""
    index[index["frame"] >= cut.min()] = 0
    return data[:start] + index.tobytes() + data[start + count * GSD_ENTRY :]


def is_cut_laz(file: BinaryIO, header: Any) -> bool:
    """Whether the table of a LAZ file's chunks would lie past the file's end. Chunks of any size need it."""
    import lazrs

    size, begin = file.seek(0, os.SEEK_END), int(header.offset_to_point_data)
    found = header.vlrs.get("LasZipVlr")
    if size < begin + PLACE.size or not found:
        return False
    file.seek(begin)
    chunk = lazrs.LazVlr(found[0].record_data).chunk_size()
    return bool(PLACE.unpack(file.read(PLACE.size))[0] >= size and chunk not in (0, ANY_SIZE))


def laz_with_table(data: bytes, header: Any) -> bytes:
    """Such a file with a table at its end: chunks are read one after another, and the table says no more than that
    there are some: it has one entry, however many points the header claims."""
    import lazrs

    begin = int(header.offset_to_point_data)
    vlr = lazrs.LazVlr(header.vlrs.get("LasZipVlr")[0].record_data)
    size, table = vlr.chunk_size(), io.BytesIO()
    lazrs.write_chunk_table(table, [(size, size)], vlr)
    return data[:begin] + PLACE.pack(len(data)) + data[begin + PLACE.size :] + table.getvalue()
