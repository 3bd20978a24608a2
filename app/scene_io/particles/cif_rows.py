"""The rows of an mmCIF's atoms as chemfiles can read them: it leaves out, without a word, what stands behind an empty
line or a comment among them, and crashes where no row stands right behind the names of their columns."""

from __future__ import annotations

import re

from .frame import ParticleError, Source

_GAP = rb"[ \t]*(?:#[^\n]*|\r)?\n"
_NAME = rb"^_atom_site\.[^\s#]+[ \t]*\r?(?:\n|\Z)"
NAMES = re.compile(rb"(?:^loop_[ \t]*\r?\n(?:" + _GAP + rb")*)?(?:" + _NAME + rb"(?:" + _GAP + rb")*)+", re.MULTILINE)
"""Names of columns that stand alone in their lines, one behind another."""
GAP = re.compile(rb"^" + _GAP, re.MULTILINE)
BEGIN = re.compile(rb"^[ \t]*[^\s#]", re.MULTILINE)
"""Of a line that says something."""
ENDED = re.compile(rb"^[ \t]*(?:_|loop_|data_|save_|global_|stop_)", re.MULTILINE | re.IGNORECASE)
"""What no row begins with."""


def together(source: Source) -> Source:
    """An mmCIF without empty lines and comments among the rows of its atoms and the names of their columns. Raises
    `ParticleError` where there is no row."""
    data = source.read()
    names = NAMES.search(data)
    if names is None:
        return source  # of which chemfiles says what it lacks
    first = BEGIN.search(data, names.end())
    ended = ENDED.search(data, names.end())
    if first is None or (ended is not None and ended.start() <= first.start()):
        raise ParticleError("no row of an atom follows the names of their columns, so it may be cut short")
    end = _last_row_end(data, len(data) if ended is None else ended.start())
    rows = data[names.start() : end]
    if not GAP.search(rows):
        return source
    return source.replaced(data[: names.start()] + GAP.sub(b"", rows) + data[end:])


def _last_row_end(data: bytes, end: int) -> int:
    """The place behind the last line before `end` that says something."""
    while True:
        begin = data.rfind(b"\n", 0, end - 1) + 1
        line = data[begin:end].strip()
        if line and not line.startswith(b"#"):
            return end
        end = begin
