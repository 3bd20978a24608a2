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
from .limits import ImportLimits

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
PIECE = 1 << 22
UNPACKED_FREE = 12 << 20
"""Bytes that every packed file may unpack to: a text of points takes twenty times its length once it is read."""


def is_packed(path: str | Path) -> bool:
    """Whether the name ends in .gz, .xz or .bz2."""
    return Path(path).suffix.lower() in OPENERS


def inner_name(path: str | Path) -> str:
    """The file's name without the packer's ending."""
    name = Path(path).name
    return name[: -len(Path(name).suffix)] if is_packed(name) else name


def unpacked_most(packed: int, limits: ImportLimits) -> int:
    """Bytes that a file of `packed` bytes may unpack to."""
    return max(UNPACKED_FREE, limits.unpacked_times * packed)


def check_growth(name: str | Path, packed: int, unpacked: int, limits: ImportLimits) -> None:
    """`SceneError` where a file unpacks to so much more than it has that it holds nothing else."""
    most = unpacked_most(packed, limits)
    if unpacked > most:
        why = f"its {packed:,} bytes unpack to more than {most >> 20:,} MiB, as hardly a model does"
        remedy = "Raise import.unpacked_times if that is right, or unpack it by hand."
        raise SceneError(f"{display_path(name)} is not read: {why}. {remedy}", str(name))


def unpack(path: str | Path, limits: ImportLimits) -> bytes:
    """The file's unpacked bytes; `SceneError` where it is damaged, cut short, or unpacks to more than the limits."""
    pieces, size, packed = [], 0, os.path.getsize(path)
    try:
        with OPENERS[Path(path).suffix.lower()](path, "rb") as file:
            while piece := file.read(PIECE):
                pieces.append(piece)
                size += len(piece)
                check_growth(path, packed, size, limits)
                if size > limits.file_mib << 20:
                    raise _too_large(path, limits)
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        why = f"it is damaged or cut short ({error})"
        raise SceneError(
            f"{display_path(path)} cannot be unpacked: {why}. Fetch it again, or unpack it by hand.", path
        ) from error
    if not size:
        raise SceneError(f"{display_path(path)} is empty once unpacked. Export or fetch it again.", path)
    return b"".join(pieces)


def unpack_to_the_cut(path: str | Path, limits: ImportLimits) -> tuple[bytes, bool]:
    """The same, and whether the file is cut short: of such a one the bytes before the cut, where there are some."""
    try:
        return unpack(path, limits), False
    except SceneError as error:
        if not isinstance(error.__cause__, EOFError):
            raise
        there = b"".join(_before_the_cut(path))
        if not there:
            raise
        if len(there) > limits.file_mib << 20:
            raise _too_large(path, limits) from error
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


def _too_large(path: str | Path, limits: ImportLimits) -> SceneError:
    return SceneError(
        f"{display_path(path)} unpacks to more than {limits.file_mib:,} MiB, which is the limit. Raise "
        f"import.file_mib if that is right.",
        path,
    )
