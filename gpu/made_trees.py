"""What a view remembers of how its tree came to be, and of how it came to have none."""

from __future__ import annotations

from typing import NamedTuple, Self

from .update.history import Decision

BORROWED = Decision("nothing", "the tree by which kernels were found shows this instant, too")

LEFT_ASIDE = Decision("nothing", "tiles give all that the picture shows")

TORN = object()
"""The choice of a structure whose build was stopped: nobody's, so that it is made anew before it is used again."""


class MadeTree(NamedTuple):
    """A tree by the number of updates that made it, the instant of the animation it was made for, and the update mode
    then."""

    number: int
    time: float
    mode: str

    def next(self, time: float, mode: str) -> Self:
        """The tree that takes its place."""
        return type(self)(self.number + 1, time, mode)
