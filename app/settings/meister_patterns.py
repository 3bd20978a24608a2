"""Meister's filefilter: his table calls it a regular expression, his example (f*.obj) is a glob. Both are
understood."""

from __future__ import annotations

import glob
import os
import re

from raygrove.gpu.settings import OptionError

PIECES = (
    (r"\\d[+*]|\[0-9\][+*]|\.[+*]", "*"),
    (r"\\d|\[0-9\]", "[0-9]"),
    (r"\\\.", "."),
    (r"\.", "?"),
)
"""Pieces of a regular expression, and the glob for each; the first that fits counts."""


def scene_pattern(path: str) -> str:
    """The glob of a filter: itself where it finds files, or is no regular expression; else what a glob can say of the
    regular expression.

    Raises OptionError for an expression that no glob can say.
    """
    folder, name = os.path.split(path)
    if glob.glob(path) or not re.search(r"\\|\.[*+]|[()|^$+]|\{\d", name):
        return path
    rest, found = name.removeprefix("^").removesuffix("$"), ""
    while rest:
        match = next(((hit, text) for piece, text in PIECES if (hit := re.match(piece, rest))), None)
        if match is not None:
            found, rest = found + match[1], rest[match[0].end() :]
        elif re.match(r"[\w \-]", rest):
            found, rest = found + rest[0], rest[1:]
        else:
            raise OptionError(
                "start.scene",
                name,
                "a glob such as f*.obj, or a regular expression of letters, digits, \\d, [0-9], ., + and *",
            )
    return os.path.join(glob.escape(folder), found)
