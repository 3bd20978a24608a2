"""What of an OBJ is written otherwise before libassimp reads it. Many objects become groups: it compares the name of
each object with those of all before it, 100,000 with five billion, and finds groups in a map, of which it makes the
same parts. Lines that go on in an empty one end."""

from __future__ import annotations

import re

from .text_blocks import Text

FEW = 2000
"""Fewer are compared two million times at most, which nobody waits for."""
LETTERS = re.compile(rb"[og](?<![^\n\r].)")
"""Those of NAMED, and those of lines that are more of the line before: found in a fraction of the time."""
NAMED = re.compile(rb"(?:^|(?<=[\n\r]))(?<!\\\n)(?<!\\\r\n)([og](?:[^\n\r\\]|\\(?!\r?\n)|\\\r?\n[^\n\r])*)")
"""Lines that begin an object or a group, by their first letter alone, with what they go on in: behind a backslash at
the end of a line, of the next line its first letter whatever that is. libassimp knows none that begin with a blank."""
CONTINUED = re.compile(rb"\\\r?\n")
IN_NOTHING = re.compile(rb"\\(?:(?=\r?\n\r?\n)|(?<=\\\n\\)(?=\r?\n)|(?<=\\\r\n\\)(?=\r?\n))")
OTHER = re.compile(rb"[\0\f]|\\\r(?!\n)|\\\r?\n\r")
"""What ends lines otherwise than above."""


def ended_lines(text: Text) -> bytes | None:
    """The text with a blank for each backslash by which a line goes on in an empty one: libassimp takes the line behind
    that for more of it, a vertex behind a comment too. None where there is none."""
    return IN_NOTHING.sub(b" ", text[:]) if IN_NOTHING.search(text) else None


def as_groups(text: Text) -> bytes | None:
    """The text with its objects as groups, line by line as they were. None where they are few, and where that could be
    another scene, as lines end otherwise than they do in texts.

    Groups that begin no part are put away, as one would after an object that is a group now. An object whose name was
    given before begins another part of that name (libassimp goes on with the part before that line); an object and
    a group of one name in a row are one part."""
    if text.find(b"\no") < 0 and text.find(b"\ro") < 0:
        return None
    if _are_few(LETTERS.findall(text)) or _are_few([one[1][:1] for one in NAMED.finditer(text)]):
        return None
    if OTHER.search(text):
        return None
    return NAMED.sub(_Parts().line, text[:])


def _are_few(letters: list[bytes]) -> bool:
    return letters.count(b"o") * len(letters) <= FEW**2


class _Parts:
    """What libassimp would know line by line: the group that it is in, and, of what is written here, the part."""

    def __init__(self) -> None:
        self._group = self._part = b""

    def line(self, found: re.Match[bytes]) -> bytes:
        """A line that begins an object or a group, as a group or put away; with as many ends of lines as it had."""
        whole = CONTINUED.sub(b"", found[1])
        ends = found[0].count(b"\n")
        behind = _behind_first_word(whole)
        name = behind
        if whole[:1] == b"o":
            words = name.split(maxsplit=1)
            name = words[0] if words else self._part  # without a name it begins nothing
            begins = name != self._part
        else:
            begins, self._group = name not in (self._group, self._part), name
        if not begins:
            return b"#" + whole + b"\n" * ends
        self._part = name
        return (b"g " + name if name else b"g") + b"\n" * ends


def _behind_first_word(line: bytes) -> bytes:
    """The rest of a line behind its first word and the blanks that follow."""
    words = re.split(rb"[ \t]+", line, maxsplit=1)
    return words[1] if len(words) > 1 else b""
