"""Python's search for garbage that refers to itself, on the window's thread alone.

Left to itself Python searches on whichever thread makes the object too many, the one that draws as well as the
window's. What it finds it destroys there: of Qt's objects PySide (6.11.3) hands only widgets over to the window's
thread, so that timers, actions and the items of tables were destroyed beside an event loop that uses them. Long runs of
the window ended by a segmentation fault in one or another destructor of Qt's (docs/reliability.md).
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

from raygrove.app.system import starting

PAUSE_MS = 500
"""Between two looks. Python would search whenever 700 objects more were made than given back; a window at rest makes
none."""


class Collector(QObject):
    """From its making on Python itself does not search, until `owner` is destroyed; from `begin` on this does."""

    def __init__(self, owner: QObject) -> None:
        super().__init__(owner)
        is_ours = gc.isenabled()  # not where the program's start has begun without
        gc.disable()
        owner.destroyed.connect(lambda: gc.enable() if is_ours else starting.forget())
        self._timer = QTimer(self, interval=PAUSE_MS)
        self._timer.timeout.connect(self._look)

    def begin(self) -> None:
        """The start is over: search now and then, though not among what it has made."""
        starting.end()
        self._timer.start()

    def _look(self) -> None:
        """Search as much as is due by Python's own thresholds: among the youngest objects, or older ones, too."""
        gc.disable()  # an import that began before the window ends by enabling it
        counts = zip(gc.get_count(), gc.get_threshold(), strict=True)
        due = [generation for generation, (count, most) in enumerate(counts) if count > most]
        if due:
            gc.collect(due[-1])
