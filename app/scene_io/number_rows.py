"""Whether rows of text hold as many numbers as they should: libassimp takes 0 for 0x10 and two numbers for 1.2.3."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

LONGEST = 60


def rows_fault(rows: Sequence[tuple[int, bytes]], width: int, is_least: bool = False) -> str:
    """The first of numbered rows that does not hold `width` numbers, as `row_fault` says it; "" where there is none."""
    found = numbers_of(b" ".join(row for _, row in rows))
    if found is not None and {len(row.split()) for _, row in rows} <= {width}:
        return ""
    return next((wrong for line, row in rows if (wrong := row_fault(line, row, width, is_least))), "")


def row_fault(line: int, row: bytes, width: int, is_least: bool = False) -> str:
    """Why a row does not hold `width` numbers (or more, where that is the least), with its line; "" where it does. A
    comma may stand for the point, as some languages write it."""
    words = row.replace(b",", b".").split()
    if bad := next((word for word in words if not is_number(word)), b""):
        return f"line {line:,}, {shown(row)}: {shown(bad)} is not a number"
    if len(words) < width or (len(words) > width and not is_least):
        least = " or more" if is_least else ""
        return f"line {line:,}, {shown(row)}: it should hold {width:,} numbers{least}, and {len(words):,} are there"
    return ""


def numbers_of(text: bytes) -> np.ndarray | None:
    """All numbers of a text that holds nothing else, None where it does; as fast as long lists want it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text.replace(b",", b"."), np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def is_number(word: bytes) -> bool:
    """Whether a word is a number, or nan(ind) and the like, as some programs write what is none."""
    return numbers_of(word) is not None


def real(word: bytes) -> float:
    """A number as formats write it: Python alone takes 1_5 for one."""
    return float(_checked(word))


def whole(word: bytes) -> int:
    """The same of a whole number."""
    return int(_checked(word))


def reals(words: Sequence[bytes]) -> np.ndarray:
    """Many of them."""
    _checked(b" ".join(words))
    return np.array(words, np.float64)


def _checked(words: bytes) -> bytes:
    if b"_" in words:
        raise ValueError(f"{shown(words)} is no number")
    return words


def shown(words: bytes) -> str:
    """The beginning of a line, or a word of it, as sentences have it."""
    text = words.strip().decode("ascii", "backslashreplace")
    return f"`{text if len(text) <= LONGEST else text[:LONGEST] + '...'}`"
