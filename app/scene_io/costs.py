"""What reading a file will cost, looked at before a library is asked to read it."""

from __future__ import annotations

import contextlib
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from raygrove.gpu.linux import growth_within

from .collada_damage import collada_damage
from .collada_words import ColladaWordError, in_known_words
from .compressed import check_growth
from .damage import TEXTS, is_text
from .errors import SceneError, display_path
from .fbx_damage import without_long_numbers
from .gltf_costs import affordable as affordable_gltf
from .limits import ImportLimits
from .obj_objects import as_groups, ended_lines
from .printed_numbers import spelled_out
from .references import References
from .text_blocks import text_of

GLTF = frozenset({"gltf", "glb", "vrm"})
ZIPPED = frozenset({"3mf"})
COLLADA, FBX, OBJ, OFF = "dae", "fbx", "obj", "off"
COMMENT = re.compile(rb"#[^\r\n]*")
PRINTED = "Numbers like -1.#IND, which some programs write for what is none, were taken for that."
MOST_TIMES, FREE_BYTES = 100, 512 << 20
"""How much more than a file's size a library may take for it at once, and from how much on that is asked."""


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
            _check_zip(name, limits)
        if extension == COLLADA or extension in TEXTS:
            data = _with_numbers(name, data, extension, references or References())
        if extension == OBJ:
            return _in_known_lines(name, data)
        if extension == FBX:
            return _without_long_numbers(name, data)
        if extension == OFF:
            replaced = _without_comments(Path(name).read_bytes() if data is None else data)
            return data if replaced is None else replaced
        if extension == COLLADA:
            raw = Path(name).read_bytes() if data is None else data
            return _collada(name, raw, references or References())
    except (OSError, zipfile.BadZipFile):
        pass  # whoever reads it says what is wrong
    return data


def _without_comments(data: bytes) -> bytes | None:
    """libassimp reads a comment of an OFF for ever where counts are to come. Lines stay where they are; None where
    there is none."""
    return COMMENT.sub(b"", data) if b"#" in data else None


def _without_long_numbers(name: str, data: bytes | None) -> bytes | None:
    with text_of(name, data) as text:
        replaced = without_long_numbers(text) if is_text(text, FBX) else None
    return data if replaced is None else replaced


def _in_known_lines(name: str, data: bytes | None) -> bytes | None:
    for rewritten in (ended_lines, as_groups):
        with text_of(name, data) as text:
            replaced = rewritten(text) if is_text(text, OBJ) else None
        data = data if replaced is None else replaced
    return data


def _with_numbers(name: str, data: bytes | None, extension: str, references: References) -> bytes | None:
    """What is to be read where numbers are printed in a way that libassimp does not know; else `data` as it was."""
    with text_of(name, data) as text:
        found = spelled_out(text, extension) if extension == COLLADA or is_text(text, extension) else None
    if found is None:
        return data
    references.leave_out(found[1], PRINTED)
    return found[0]


def _collada(name: str, data: bytes, references: References) -> bytes:
    try:
        if wrong := collada_damage(data):
            raise ColladaWordError(wrong)
        data, said = in_known_words(data)
    except ColladaWordError as error:
        raise SceneError(f"{display_path(os.path.abspath(name))} is damaged: {error}. Export it again.", name) from None
    for count, sentence in said:
        references.leave_out(count, sentence)
    return data


def _check_zip(name: str, limits: ImportLimits) -> None:
    with zipfile.ZipFile(name) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    check_growth(name, Path(name).stat().st_size, size, limits)


def allowance(size: int) -> int:
    """Bytes that a library may take at once for a file of `size`."""
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
