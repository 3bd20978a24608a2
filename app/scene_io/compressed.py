"""Files packed by gzip, xz or bzip2, unpacked into memory up to a limit."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .errors import SceneError, display_path

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
PIECE = 1 << 22


def is_packed(path: str | Path) -> bool:
    """Whether the name ends in .gz, .xz or .bz2."""
    return Path(path).suffix.lower() in OPENERS


def inner_name(path: str | Path) -> str:
    """The file's name without the packer's ending."""
    name = Path(path).name
    return name[: -len(Path(name).suffix)] if is_packed(name) else name


def unpack(path: str | Path, limit: int) -> bytes:
    """The file's unpacked bytes; `SceneError` where it is damaged, cut short, or unpacks to more than `limit` bytes."""
    from .costs import check_growth  # with the first such file, not with the program

    pieces, size, packed = [], 0, os.path.getsize(path)
    try:
        with OPENERS[Path(path).suffix.lower()](path, "rb") as file:
            while piece := file.read(PIECE):
                pieces.append(piece)
                size += len(piece)
                check_growth(path, packed, size)
                if size > limit:
                    raise _too_large(path, limit)
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        why = f"it is damaged or cut short ({error})"
        raise SceneError(
            f"{display_path(path)} cannot be unpacked: {why}. Fetch it again, or unpack it by hand.", path
        ) from error
    if not size:
        raise SceneError(f"{display_path(path)} is empty once unpacked. Export or fetch it again.", path)
    return b"".join(pieces)


def unpack_to_the_cut(path: str | Path, limit: int) -> tuple[bytes, bool]:
    """The same, and whether the file is cut short: of such a one the bytes before the cut, where there are some."""
    try:
        return unpack(path, limit), False
    except SceneError as error:
        if not isinstance(error.__cause__, EOFError):
            raise
        there = b"".join(_before_the_cut(path))
        if not there:
            raise
        if len(there) > limit:
            raise _too_large(path, limit) from error
        return there, True


def first_unpacked(path: str | Path, count: int) -> bytes:
    """The first bytes, so many where they are there; what a damaged file raises."""
    found = b""
    for piece in _before_the_cut(path, count):
        found += piece
        if len(found) >= count:
            break
    return found[:count]


def _before_the_cut(path: str | Path, most: int = PIECE) -> Iterator[bytes]:
    """What comes out, piece by piece, to the file's end: reading many bytes at once loses those before a cut."""
    with OPENERS[Path(path).suffix.lower()](path, "rb") as file:
        try:
            while piece := file.read1(most):
                yield piece
        except EOFError:
            return


def _too_large(path: str | Path, limit: int) -> SceneError:
    return SceneError(
        f"{display_path(path)} unpacks to more than {limit >> 20:,} MiB, which is the limit. Raise "
        f"import.file_mib if that is right.",
        path,
    )
