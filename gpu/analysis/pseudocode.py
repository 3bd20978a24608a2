"""A traversal in pseudocode, and the line that each of its events stands for: data files beside the traversals.

A line of such a file is a line of pseudocode; behind ` | ` are the events that it is the line of. A file of one line,
`like NAME`, says that the traversal goes as another one does.
"""

from __future__ import annotations

import dataclasses
import functools

from ..errors import Error
from ..hierarchy.base import Traversal
from ..target.base import CompileError
from ..target.translation_unit import read_source
from .ray_log import Event

LIKE = "like "


@dataclasses.dataclass(frozen=True)
class Pseudocode:
    """The `lines`, and the number of the line of each event that the traversal tells."""

    lines: tuple[str, ...]
    line_of: dict[Event, int]


def pseudocode(traversal: Traversal) -> Pseudocode | None:
    """That of a traversal; None where there is none beside it, as of structures in other packages. Error where the
    file breaks the form."""
    return _of_file(traversal.tree.header.removesuffix(".cuh") + ".txt")


@functools.lru_cache(maxsize=64)
def _of_file(path: str) -> Pseudocode | None:
    try:
        text = read_source(path)
    except CompileError:
        return None
    if text.startswith(LIKE):
        return _of_file(f"{path.rpartition('/')[0]}/{text.removeprefix(LIKE).strip()}.txt")
    lines, line_of = [], {}
    for number, line in enumerate(text.splitlines()):
        words, _, names = line.partition(" | ")
        lines.append(words.rstrip())
        for name in names.split():
            if name not in Event.__members__ or Event[name] in line_of:
                what = "no event" if name not in Event.__members__ else "the event of two lines"
                raise Error(
                    f"{name} is {what}", f"line {number + 1} of {path}", "name each event of the traversal once"
                )
            line_of[Event[name]] = number
    return Pseudocode(tuple(lines), line_of)
