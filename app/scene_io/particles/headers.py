"""Where the headers of binary files of particles are wrong, by the byte that says what cannot be: for files that a
library reads, whose words for it name no place."""

from __future__ import annotations

import math
import os
import re
import struct
from typing import BinaryIO

LAS_HEADER = 227
LAS_POINT_BYTES = (20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67)
"""The least bytes of a point of each format."""

GSD_HEADER, GSD_MAGIC = 256, 0x65DF65DF65DF65DF
GSD_ENTRY, GSD_NAME = 32, 64


MOST_LETTERS = 200


def in_brackets(error: Exception, path: str = "") -> str:
    """What a library said of a file, as the end of a sentence, with a space before it: without its name for the kind of
    error and the path that it was given. Empty where no word is left."""
    said = " ".join(str(error).split())
    said = said.replace(path, "") if path else said
    said = re.sub(r"^(\w*(Error|Exception): *)+", "", said).strip(" .:")[:MOST_LETTERS]
    return f" ({said})" if re.search(r"[^\W\d]{3}", said) else ""


def las_fault(file: BinaryIO, said: str = "") -> str:
    """What the header of a LAS or LAZ file says that cannot be, and at which byte; where all of that can be, what is
    left, the records between header and points, and what the library `said`."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(LAS_HEADER)
    if head[:4] != b"LASF"[: len(head)]:
        return "it does not begin with LASF"
    if len(head) < LAS_HEADER:
        return f"its header ends after {len(head)} of {LAS_HEADER} bytes"
    major, minor = head[24:26]
    header, begin, records = struct.unpack_from("<HII", head, 94)
    form, length = head[104] & 0x3F, struct.unpack_from("<H", head, 105)[0]
    if major != 1 or minor > 4:
        return f"byte 24 of its header says version {major}.{minor}, and 1.0 to 1.4 are known"
    if not LAS_HEADER <= header <= size:
        return f"byte 94 of its header says that the header has {header:,} bytes, of {size:,} of the file"
    if not header <= begin <= size:
        return f"byte 96 of its header says that points begin at byte {begin:,}, of {size:,} of the file"
    if records * 54 > begin - header:
        return f"byte 100 of its header says {records:,} records, for which there are {begin - header:,} bytes"
    if form >= len(LAS_POINT_BYTES):
        return f"byte 104 of its header says point format {form}, and 0 to {len(LAS_POINT_BYTES) - 1} are known"
    if length < LAS_POINT_BYTES[form]:
        return f"byte 105 of its header says {length} bytes a point, and format {form} has {LAS_POINT_BYTES[form]}"
    scales = struct.unpack_from("<3d", head, 131)
    if not all(math.isfinite(scale) and scale for scale in scales):
        return f"byte 131 of its header says the scales {', '.join(f'{scale:g}' for scale in scales)}"
    return f"the records between its header and its points, bytes {header:,} to {begin:,}, are damaged{said}"


def gsd_fault(file: BinaryIO, said: str = "") -> str:
    """What the header of a GSD file says that cannot be, and at which byte; where all of that can be, what is left, its
    index, and what the library `said`."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(GSD_HEADER)
    if len(head) < GSD_HEADER:
        return f"its header ends after {len(head)} of {GSD_HEADER} bytes"
    magic, index, entries, names, name_count = struct.unpack_from("<5Q", head)
    schema = head[112:176].split(b"\0")[0].decode("latin-1")
    if magic != GSD_MAGIC:
        return "it does not begin as GSD files do"
    if index + entries * GSD_ENTRY > size:
        return f"byte 8 says that {entries:,} entries of its index begin at byte {index:,}, of {size:,} of the file"
    if names + name_count * GSD_NAME > size:
        return f"byte 24 says that {name_count:,} names begin at byte {names:,}, of {size:,} of the file"
    if schema != "hoomd":
        return f"byte 112 says that it holds {schema!r}, and particles are in files that hold 'hoomd'"
    return f"its index, at bytes {index:,} to {index + entries * GSD_ENTRY:,}, or its names are damaged{said}"
