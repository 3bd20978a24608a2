"""What libassimp says while it reads and does not fail by: of an FBX it leaves out each part that it cannot read, a
whole mesh for one wrong index, and only its log tells of it."""

from __future__ import annotations

import contextlib
import ctypes
import re
from collections.abc import Iterator
from typing import Any

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
LOST = re.compile(r"Error,\s+T\d+:\s*(?!\s|FBX: )(?:FBX-\w+(?: \((?:TOK_\w+, )?(.*?)\))?:? )?(.*)", re.DOTALL)
"""An error about a part of the file: its place, where there is one, and the reason. What begins otherwise is about what
was read: a mesh without a material."""
LONGEST = 120


class LogStream(ctypes.Structure):
    """aiLogStream."""

    _fields_ = [("callback", CALLBACK), ("user", ctypes.c_void_p)]


@contextlib.contextmanager
def parts_left_out(library: Any) -> Iterator[list[str]]:
    """The parts of an FBX that libassimp leaves out within this block: why, and where."""
    said: list[str] = []

    def note(words: bytes | None, user: Any) -> None:
        if found := LOST.match((words or b"").decode("utf-8", "replace")):
            place = (found[1] or "").replace("col ", "column ").replace("offset 0x", "byte 0x")
            said.append(found[2].strip()[:LONGEST].rstrip(".") + (f" ({place})" if place else ""))

    stream = LogStream(CALLBACK(note), None)
    library.aiAttachLogStream(ctypes.byref(stream))
    try:
        yield said
    finally:
        library.aiDetachLogStream(ctypes.byref(stream))
