"""Many objects of an OBJ, written as groups before libassimp reads them: it compares the name of each object with those
of all before it, 100,000 with five billion, and finds groups in a map, of which it makes the same parts."""

from __future__ import annotations

import re

from .text_blocks import Text

FEW = 2000
"""Fewer are compared two million times at most, which nobody waits for."""
NAMED = re.compile(rb"^([og])(?:[ \t]+([^\r\n]*))?(?=\r?$)", re.MULTILINE)
"""Lines that begin an object or a group; libassimp knows none that begin with a blank."""
OTHER = re.compile(rb"^[og](?![ \t\r\n])", re.MULTILINE)
CONTINUED = re.compile(rb"\\\r?\n[og]|^[og][^\r\n]*\\\r?$", re.MULTILINE)


def as_groups(text: Text) -> bytes | None:
    """The text with its objects as groups, line by line as they were. None where they are few, and where that could be
    another scene: names go on in the next line, or words begin like theirs.

    Groups that begin no part are put away, as one would after an object that is a group now. An object whose name was
    given before begins another part of that name (libassimp goes on with the part before that line); an object and
    a group of one name in a row are one part."""
    if text.find(b"\no") < 0:
        return None
    kinds = [one[1] for one in NAMED.finditer(text)]
    objects = kinds.count(b"o")
    if objects * len(kinds) <= FEW**2 or OTHER.search(text) or CONTINUED.search(text):
        return None
    return NAMED.sub(_Parts().line, text[:])


class _Parts:
    """What libassimp would know line by line: the group that it is in, and, of what is written here, the part."""

    def __init__(self) -> None:
        self._group = self._part = b""

    def line(self, found: re.Match[bytes]) -> bytes:
        """A line that begins an object or a group, as a group or put away."""
        name = found[2] or b""
        if found[1] == b"o":
            words = name.split(maxsplit=1)
            name = words[0] if words else self._part  # without a name it begins nothing
            begins = name != self._part
        else:
            begins, self._group = name not in (self._group, self._part), name
        if not begins:
            return b"#" + found[0]
        self._part = name
        return b"g " + name if name else b"g"
