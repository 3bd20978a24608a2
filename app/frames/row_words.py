"""How far a picture is that takes long and is drawn some rows at a time, in words: where each ray meets very many
triangles one may take a minute, and nothing moves meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from raygrove.gpu.brief import percent

LONG_MS = 2000.0
"""A picture that is whole sooner is not spoken of."""


def drawn_so_far(name: str, share: float) -> str:
    """The sentence."""
    return f"Drawing {name}: {percent(share)} of the picture"


class RowWords:
    """Says it to `say`, and an empty sentence once nothing is drawn so any more."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._has_said = say, False

    def hear(self, name: str, share: float, ms: float) -> None:
        """So much of a picture of that scene is there after `ms`."""
        if share >= 1.0:
            self.end()
        elif ms > LONG_MS:
            self._has_said = True
            self._say(drawn_so_far(name, share))

    def end(self) -> None:
        """It is whole, or not wanted any more."""
        if self._has_said:
            self._has_said = False
            self._say("")
