"""The text entries of a PNG file, read inside the importing child process: where pictures keep the state that they were
drawn from.

Only chunks whose keyword begins with `raygrove.` are unpacked, up to a limit; pixels are never decoded.
"""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO

from .errors import SceneError, display_path

SIGNATURE = b"\x89PNG\r\n\x1a\n"
PREFIX = b"raygrove."
TEXT_LIMIT = 4 << 20
"""Bytes that all entries together may have, packed and unpacked."""
CHUNK_LIMIT = 1_000_000
KEYWORD_BYTES = 80
"""A keyword has at most 79 bytes, then a zero."""


class DamagedError(ValueError):
    """The file is not a whole PNG; the text says why."""


def read_picture(path: str) -> dict[str, object]:
    """`width`, `height` and `texts`: the entries by keyword. `SceneError` with a sentence where the file is no whole
    PNG."""
    try:
        with open(path, "rb") as file:
            width, height = _header(file)
            return {"width": width, "height": height, "texts": _texts(file)}
    except DamagedError as error:
        raise SceneError(
            f"{display_path(path)} cannot be opened as a picture: {error}. Save or fetch it again.", path
        ) from error
    except OSError as error:
        raise SceneError(f"{display_path(path)} cannot be read: {error.strerror}. Check the file.", path) from error


def _header(file: BinaryIO) -> tuple[int, int]:
    if file.read(8) != SIGNATURE:
        raise DamagedError("it is named .png and does not begin like one")
    length, kind = _chunk_head(file)
    if kind != b"IHDR" or length != 13:
        raise DamagedError("its header is missing")
    width, height = struct.unpack(">II", _body(file, kind, length)[:8])
    return width, height


def _texts(file: BinaryIO) -> dict[str, str]:
    texts: dict[str, str] = {}
    room = TEXT_LIMIT
    for _ in range(CHUNK_LIMIT):
        length, kind = _chunk_head(file)
        if kind == b"IEND":
            _skip(file, length + 4)
            return texts
        if kind not in (b"tEXt", b"zTXt", b"iTXt"):
            _skip(file, length + 4)
            continue
        begin = file.read(min(length, KEYWORD_BYTES))
        keyword = begin.partition(b"\0")[0]
        file.seek(-len(begin), 1)
        if not keyword.startswith(PREFIX):
            _skip(file, length + 4)
            continue
        if length > room:
            raise DamagedError(f"its text entries have more than {TEXT_LIMIT >> 20} MiB")
        text = _text(kind, _body(file, kind, length), room)
        room -= len(text)
        try:
            texts[keyword.decode("ascii")] = text.decode("latin-1" if kind != b"iTXt" else "utf-8")
        except UnicodeDecodeError as error:
            raise DamagedError("a text entry is not Unicode") from error
    raise DamagedError("it has more chunks than a picture can have")


def _text(kind: bytes, body: bytes, room: int) -> bytes:
    """What an entry says: tEXt plain, zTXt packed, iTXt either, after a language and a translated keyword."""
    rest = body.partition(b"\0")[2]
    if kind == b"tEXt":
        return rest
    is_packed = True
    if kind == b"zTXt":
        rest = rest[1:]
    else:
        is_packed, rest = rest[:1] == b"\1", rest[2:].partition(b"\0")[2].partition(b"\0")[2]
    return _unpacked(rest, room) if is_packed else rest


def _unpacked(data: bytes, room: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, room + 1)
    except zlib.error as error:
        raise DamagedError(f"a text entry cannot be unpacked ({error})") from error
    if len(text) > room:
        raise DamagedError(f"its text entries unpack to more than {TEXT_LIMIT >> 20} MiB")
    if not unpacker.eof:
        raise DamagedError("a text entry is cut short")
    return text


def _chunk_head(file: BinaryIO) -> tuple[int, bytes]:
    head = file.read(8)
    if len(head) < 8:
        raise DamagedError("it is cut short")
    length, kind = struct.unpack(">I4s", head)
    return length, kind


def _body(file: BinaryIO, kind: bytes, length: int) -> bytes:
    body, check = file.read(length), file.read(4)
    if len(body) < length or len(check) < 4:
        raise DamagedError("it is cut short")
    if struct.unpack(">I", check)[0] != zlib.crc32(body, zlib.crc32(kind)):
        raise DamagedError("a chunk's check sum is wrong")
    return body


def _skip(file: BinaryIO, length: int) -> None:
    """Pass over what is not read; its last byte must be there."""
    if length:
        file.seek(length - 1, 1)
        if not file.read(1):
            raise DamagedError("it is cut short")
