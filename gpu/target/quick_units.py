"""Units of the host that a first picture is drawn by in haste, and the code that then takes their place.

Nothing stands in for a first picture while its kernels are compiled, so that its owner may have them compiled at a
level that takes two thirds of the time, and anew at the full one while pictures are drawn by them already. A launch
that was recorded looks its kernel up when it is replayed: it runs the new code from then on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .base import UnitSource
from .host_compiler import FULL, QUICK, compile_library, ready_file
from .translation_unit import UnitText


def entries_of(library: ctypes.CDLL, text: UnitText) -> dict[str, Any]:
    """Where the kernels of a library begin, by their names."""
    return {name: ctypes.cast(getattr(library, f"host_entry_{name}"), ctypes.c_void_p) for name in text.kernels}


class QuickUnits:
    """See the module. `takes` says whether units of the quick level may be loaded at all."""

    def __init__(self) -> None:
        self.takes = False
        self._loaded: dict[UnitSource, tuple[UnitText, bool, dict[str, Any]]] = {}

    @property
    def sources(self) -> tuple[UnitSource, ...]:
        """The units that are loaded from the quick level: while there are any, nothing is measured that stays."""
        return tuple(self._loaded)

    def library(
        self, source: UnitSource, text: UnitText, contraction: bool, check: Callable[[], None]
    ) -> tuple[ctypes.CDLL, dict[str, Any]]:
        """The library of a unit and its entries: of the quick level where that may be taken, is there, and the other is
        not."""
        digest, level = text.digest, FULL
        ready = ready_file(digest, contraction)
        if ready is None and self.takes and (quick := ready_file(digest, contraction, QUICK)) is not None:
            ready, level = quick, QUICK
        library = compile_library(text.text, digest, contraction, check=check, level=level, ready=ready)
        entries = entries_of(library, text)
        if level == QUICK:
            self._loaded[source] = text, contraction, entries
        return library, entries

    def exchange(self) -> None:
        """Let the kernels of units that are compiled at the full level by now be those. Between two frames."""
        for source, (text, contraction, entries) in list(self._loaded.items()):
            if (ready := ready_file(text.digest, contraction)) is not None:
                entries.update(entries_of(compile_library(text.text, text.digest, contraction, ready=ready), text))
                del self._loaded[source]
