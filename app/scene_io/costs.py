"""What reading a file will cost, looked at before a library is asked to read it."""

from __future__ import annotations

import contextlib
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from raygrove.gpu.linux import growth_within

from .errors import SceneError, display_path
from .gltf_costs import affordable as affordable_gltf
from .limits import ImportLimits
from .number_rows import numbers_of
from .references import References

GLTF = frozenset({"gltf", "glb", "vrm"})
ZIPPED = frozenset({"3mf"})
COLLADA, OFF = "dae", "off"
COMMENT = re.compile(rb"#[^\r\n]*")
NO_INDEX = re.compile(rb"(?:<(?=p|h|vcount)|</vcount>\s*<)(p|h|vcount|v)\b[^<>]*>[\s\d+-]*([^\s\d<+-][^\s<]{0,40})")
"""What is no whole number in a list of them; <v> elsewhere than behind <vcount> may be anything."""
NUMBERS = re.compile(rb"<(float_array|matrix|translate|rotate|scale|lookat)\b([^<>]*)>([^<]*)</")
NO_COUNT = re.compile(rb"<\w[^<>]*?\s(count|stride|offset)\s*=\s*[\"'](?!\s*\d+\s*[\"'])([^\"'<>]*)[\"']")
COUNT = re.compile(rb"\bcount\s*=\s*[\"'](\d{1,12})[\"']")
WIDTHS = {b"matrix": 16, b"translate": 3, b"rotate": 4, b"scale": 3, b"lookat": 9}
MOST_TIMES, FREE_BYTES = 100, 512 << 20
"""How much larger than the file what it unpacks to may be, and from how much on that is asked."""


def affordable(
    name: str, data: bytes | None, extension: str, limits: ImportLimits, references: References | None = None
) -> bytes | None:
    """`SceneError` where reading the file `name` (or `data` in its place) would cost more than `limits`; else what to
    read: `data`, or the same file in words that cost less."""
    try:
        if extension in GLTF:
            replaced = affordable_gltf(name, Path(name).read_bytes() if data is None else data, limits, references)
            return data if replaced is None else replaced
        if extension in ZIPPED and data is None:
            _check_zip(name)
        if extension == OFF:
            return _without_comments(Path(name).read_bytes() if data is None else data)
        if extension == COLLADA:
            _check_collada(name, Path(name).read_bytes() if data is None else data)
    except (OSError, zipfile.BadZipFile):
        pass  # whoever reads it says what is wrong
    return data


def _without_comments(data: bytes) -> bytes:
    """libassimp reads a comment of an OFF for ever where counts are to come. Lines stay where they are."""
    return COMMENT.sub(b"", data) if b"#" in data else data


def _check_collada(name: str, data: bytes) -> None:
    """libassimp reads a word among a Collada file's indices for ever, and a corner more each time; numbers too many
    among points move all that follow."""
    if wrong := NO_INDEX.search(data):
        line, word = data.count(b"\n", 0, wrong.start(2)) + 1, wrong[2].decode("utf-8", "replace")
        why = f"line {line:,} has {word!r} among the numbers of <{wrong[1].decode()}>"
        raise SceneError(f"{display_path(os.path.abspath(name))} is damaged: {why}. Export it again.", name)
    if wrong := NO_COUNT.search(data):
        line, word = data.count(b"\n", 0, wrong.start(2)) + 1, wrong[2][:40].decode("utf-8", "replace")
        why = f"line {line:,} has {word!r} for a {wrong[1].decode()}, which is a whole number"
        raise SceneError(f"{display_path(os.path.abspath(name))} is damaged: {why}. Export it again.", name)
    for found in NUMBERS.finditer(data):
        kind, count = found[1], COUNT.search(found[2])
        width = int(count[1]) if count else WIDTHS.get(kind)
        values = numbers_of(found[3])
        if width is not None and (values is None or len(values) != width):
            line = data.count(b"\n", 0, found.start(3)) + 1
            there = f"{len(values):,} are there" if values is not None else "something else stands there"
            why = f"<{kind.decode()}> at line {line:,} should hold {width:,} numbers, and {there}"
            raise SceneError(f"{display_path(os.path.abspath(name))} is damaged: {why}. Export it again.", name)


def _check_zip(name: str) -> None:
    with zipfile.ZipFile(name) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    check_growth(name, Path(name).stat().st_size, size)


def allowance(size: int) -> int:
    """Bytes that a file of `size` may unpack to, or a library take for it at once."""
    return max(FREE_BYTES, MOST_TIMES * size)


@contextlib.contextmanager
def asked_within_reason(size: int) -> Iterator[None]:
    """Let a library that believes what a file of `size` bytes says take no more memory for it in this block than its
    `allowance`; what asks for more fails in the library's own way, or by MemoryError."""
    with growth_within(allowance(size)):
        yield


def asks_too_much(size: int) -> str:
    """Why a file is not read for which that failed, as the rest of a sentence."""
    return f"its {size:,} bytes ask for more than {allowance(size) >> 20:,} MiB at once, as no whole file does"


def check_growth(name: str | Path, packed: int, unpacked: int) -> None:
    """`SceneError` where a file unpacks to so much more than it has that it holds nothing else."""
    if unpacked > allowance(packed):
        why = f"its {packed:,} bytes unpack to more than {allowance(packed) >> 20:,} MiB"
        raise SceneError(
            f"{display_path(name)} is not read: {why}, as no model does. If it is right, unpack it by hand.", str(name)
        )
