"""Damage to the text of an FBX that libassimp reads over: of 0.9%5 among numbers it takes 0.9, of a list that is
shorter than it says what is there; and 0 for a number of more than 31 letters, which is mended. A binary FBX is
unpacked by it, and what does not fit is told (assimp_log.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from .number_rows import numbers_of, shown
from .text_blocks import Text, line_of

BINARY, TEXT = b"Kaydara FBX Binary", b"FBXHeaderExtension"
HEAD = 1 << 12
LIST = re.compile(rb"\*[ \t]*(\d{1,12})[ \t]*\{\s*a:([^{}\"]*)\}")
VALUES = re.compile(rb"^[ \t]*(?:P|Property):([^\n]*)", re.MULTILINE)
LINKS = re.compile(rb"^[ \t]*(?:C|Connect):([^\n]*)", re.MULTILINE)
NUMBER_LIKE = re.compile(rb"[-+.\d\x80-\xff]")
"""How a word begins that is no word of the format's."""
QUOTED = re.compile(rb"\"[^\"]*\"")
LONG = re.compile(rb"(?<=[\s,])(?=[-+\d.eE]{32})[-+]?[\d.][\d.eE+-]*(?=[\s,}])")
"""A number that libassimp takes 0 for; the sign is one of its letters."""


def is_text_fbx(text: Text) -> bool:
    """Whether it is the text of an FBX, not the binary form."""
    head = text[:HEAD]
    return not head.startswith(BINARY) and TEXT in head


def without_long_numbers(text: Text) -> bytes | None:
    """The text with numbers as long as they need to be; None where all are."""
    if LONG.search(text) is None:
        return None
    return LONG.sub(lambda found: _short(found[0]), text[:])


def _short(word: bytes) -> bytes:
    value = numbers_of(word)
    return word if value is None or len(value) != 1 else repr(float(value[0])).encode()


def fbx_damage(text: Text) -> str:
    """The first wrong number of a list, a value or a link, with its line; "" where there is none."""
    return next(_found(text), "")


def _found(text: Text) -> Iterator[str]:
    for found in LIST.finditer(text):
        values, count = _numbers(found[2]), int(found[1])
        if values is None:
            word, place = _wrong_word(found[2])
            yield f"line {line_of(text, found.start(2) + place):,}: {shown(word)} is not a number"
        elif len(values) != count:
            line = line_of(text, found.start(1))
            yield f"the list at line {line:,} should hold {count:,} numbers, and {len(values):,} are there"
    for pattern in (VALUES, LINKS):
        for found in pattern.finditer(text):
            rest = QUOTED.sub(lambda quoted: b" " * len(quoted[0]), found[1]).partition(b";")[0]
            word, _ = _wrong_word(rest) if _numbers(rest) is None else (b"", 0)
            if NUMBER_LIKE.match(word):
                yield f"line {line_of(text, found.start(1)):,}: {shown(word)} is not a number"


def _numbers(row: bytes) -> np.ndarray | None:
    """Numbers with commas between them."""
    return numbers_of(row.replace(b",", b" "))


def _wrong_word(row: bytes) -> tuple[bytes, int]:
    """The first word that is no number, and where it stands."""
    words = re.finditer(rb"[^\s,]+", row)
    return next(((word[0], word.start()) for word in words if numbers_of(word[0]) is None), (row, 0))
