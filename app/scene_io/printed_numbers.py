"""Numbers that are none as Microsoft's C library prints them, -1.#IND or 1.#QNAN: libassimp takes the -1 or 1 that they
begin with, and of an OFF the rest for a comment."""

from __future__ import annotations

import re

from .text_blocks import Text

PRINTED = rb"(?<![^\s<>,])([-+]?)1\.#(?:(INF)|IND|QNAN|SNAN)\d*(?:[eE][-+]?\d+)?(?![^\s<>,])"
COMMENTS = {
    "dae": rb"<!--.*?(?:-->|\Z)", "fbx": rb"^[ \t]*;[^\r\n]*", "obj": rb"(?<!\S)#[^\r\n]*", "off": rb"(?<!\S)#[^\r\n]*",
    "ply": rb"^(?:comment|obj_info)\b[^\r\n]*", "stl": rb"^[ \t]*solid\b[^\r\n]*",
}  # fmt: skip
"""What holds words and no numbers, by the format."""
MARK = b"1.#"
"""By which nearly all texts are told to have none."""


def spelled_out(text: Text, extension: str) -> tuple[bytes, int] | None:
    """The text with them as nan and inf, but for its comments, and how many there were; None where there is none."""
    if text.find(MARK) < 0:
        return None
    count = 0

    def spelt(one: re.Match[bytes]) -> bytes:
        nonlocal count
        if one["comment"] is not None:
            return one[0]
        count += 1
        return one[2] + b"inf" if one[3] else b"nan"

    pattern = re.compile(rb"(?P<comment>" + COMMENTS[extension] + rb")|" + PRINTED, re.MULTILINE | re.DOTALL)
    found = pattern.sub(spelt, text[:])
    return (found, count) if count else None
