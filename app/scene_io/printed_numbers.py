"""Numbers that are none as Microsoft's C library prints them, -1.#IND or 1.#QNAN: libassimp takes the -1 or 1 that they
begin with, and of an OFF the rest for a comment."""

from __future__ import annotations

import re

from .text_blocks import Text

PRINTED = re.compile(rb"(?<![^\s<>,])([-+]?)1\.#(?:(INF)|IND|QNAN|SNAN)\d*(?![^\s<>,])")
MARK = b"1.#"
"""By which nearly all texts are told to have none."""


def spelled_out(text: Text) -> tuple[bytes, int] | None:
    """The text with them as nan and inf, and how many there were; None where there is none."""
    if text.find(MARK) < 0:
        return None
    found, count = PRINTED.subn(lambda one: one[1] + b"inf" if one[2] else b"nan", text[:])
    return (found, count) if count else None
