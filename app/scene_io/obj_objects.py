"""Many objects of an OBJ, written as groups before libassimp reads them: it compares the name of each object with those
of all before it, 100,000 with five billion, and finds groups in a map, of which it makes the same parts."""

from __future__ import annotations

import re

from .text_blocks import Text

FEW = 2000
"""Fewer are compared two million times at most, which nobody waits for."""
OBJECT = re.compile(rb"^o[ \t]+(\S+)[^\r\n]*", re.MULTILINE)
NAMED = re.compile(rb"^[ \t]*[og]", re.MULTILINE)
CONTINUED = (b"\\\n", b"\\\r")


def as_groups(text: Text) -> bytes | None:
    """The text with its objects as groups, line by line as they were; None where that could be another scene (a name
    comes twice, which goes on with the object of that name; there are groups, too; lines go on in the next one), and
    where they are few."""
    if text.find(b"\no") < 0 or any(text.find(mark) >= 0 for mark in CONTINUED):
        return None
    names = [one[1] for one in OBJECT.finditer(text)]
    if len(names) <= FEW or len(set(names)) < len(names) or sum(1 for _ in NAMED.finditer(text)) > len(names):
        return None
    return OBJECT.sub(rb"g \1", text[:])
