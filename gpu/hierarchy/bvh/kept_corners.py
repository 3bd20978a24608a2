"""The corners of triangles in the order of references, kept by refits: the next one reads 16 bytes that lie together, instead of a triangle's index
row that lies anywhere, which itself waits for the order.

Each row names its triangle. A refit takes a row where that is the reference's triangle still, and writes it anew where it is not: so a new order
needs no flag, a build knows nothing of this, and a captured build may come between captured refits. Only other indices are told of, by the host.
"""

from __future__ import annotations

import numpy as np

from ...target.base import Array, Target
from ..base import Primitives
from ..primitives import reserved

NOBODY = -1
KEEPS_CORNERS = {"cuda": True, "host": False}
"""On the host index rows are asked for ahead, and nothing waits for them."""


class KeptCorners:
    """See the module. Made by the first refit; trees that are always rebuilt have none."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._rows: Array | None = None
        self._of: tuple[object, int] | None = None

    def rows(self, primitives: Primitives, count: int) -> Array | None:
        """Room for `count` references; None where it gains nothing."""
        if primitives.kind != "triangle" or not KEEPS_CORNERS[self._target.kind]:
            return None
        rows = reserved(self._target, self._rows, (count, 4), np.int32, "scratch")
        if rows is not self._rows:
            self._target.fill(rows, NOBODY)
            self._rows = rows
        return rows

    def forget_others(self, primitives: Primitives) -> None:
        """Before a build or a refit of these: rows of other indices, or of these before they changed, are no more."""
        of = (primitives.keep_alive, primitives.topology_version)
        known, self._of = self._of, of
        if self._rows is not None and (known is None or not of[0] or known[0] is not of[0] or known[1] != of[1]):
            self._target.fill(self._rows, NOBODY)

    @property
    def bytes(self) -> int:
        """Reserved bytes."""
        return 0 if self._rows is None else int(self._rows.nbytes)
