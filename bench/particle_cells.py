"""What `bench particles` measures, a cell at a time, so that a run that was cut short goes on where it ended."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

Row = dict[str, Any]
Figures = Iterator[Row]
"""Rows of one cell: `figure` (None: there is none, and `why` says it), `unit` and whatever is told beside it."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One thing to measure: the part it belongs to, what, on what, and how."""

    part: str
    what: str
    on: str
    measure: Callable[[], Figures]

    @property
    def key(self) -> str:
        """What its rows are kept under."""
        return f"{self.part}: {self.what}; {self.on}"


def millions(count: int) -> str:
    """10M, 125K, 60."""
    for size, letter in ((1_000_000, "M"), (1_000, "K")):
        if count >= size:
            return f"{count / size:g}{letter}"
    return str(count)
