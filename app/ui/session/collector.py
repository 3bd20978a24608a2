"""Python's search for garbage that refers to itself, on the window's thread alone.

Left to itself Python searches on whichever thread makes the object too many, the one that draws as well as the
window's. What it finds it destroys there: of Qt's objects PySide (6.11.3) hands only widgets over to the window's
thread, so that timers, actions and the items of tables were destroyed beside an event loop that uses them. Long runs of
the window ended by a segmentation fault in one or another destructor of Qt's (docs/reliability.md).
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

from raygrove.app.system import starting

PAUSE_MS = 500
"""Between two looks."""
ALL = 2
"""The generation of all objects."""
DUE = (700, 3, 3)
"""So many objects more than were given back, searches among the youngest and among those that are older let the next
one be due. A window at rest makes none."""
MOST_OF_TIME = 0.01
"""What searches among all objects may take: they pause the window for longer the more objects a scene has."""


class Collector(QObject):
    """From its making on Python itself does not search, until `owner` is destroyed; from `begin` on this does."""

    def __init__(self, owner: QObject) -> None:
        super().__init__(owner)
        is_ours = gc.isenabled()  # not where the program's start has begun without
        gc.disable()
        owner.destroyed.connect(lambda: gc.enable() if is_ours else starting.forget())
        self._timer = QTimer(self, interval=PAUSE_MS)
        self._timer.timeout.connect(self._look)
        self._next_of_all = 0.0

    def begin(self) -> None:
        """The start is over: search now and then, though not among what it has made."""
        starting.end()
        self._timer.start()

    def _look(self) -> None:
        """Search as much as is due: among the youngest objects, those that are older, too, or all."""
        gc.disable()  # an import that began before the window ends by enabling it
        due = [
            generation for generation, (count, most) in enumerate(zip(gc.get_count(), DUE, strict=True)) if count > most
        ]
        began = time.monotonic()
        if not due:
            return
        if due[-1] < ALL or began < self._next_of_all:
            gc.collect(min(due[-1], ALL - 1))
            return
        gc.collect()
        took = time.monotonic() - began
        self._next_of_all = began + took / MOST_OF_TIME
