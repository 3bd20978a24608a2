"""What pictures can be drawn by here, in words: the line at the foot of the first page. Found beside the window's
thread, as drivers may take their time; what really draws is a field of the status bar."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, QTimer, Signal

from raygrove.app.system import machine
from raygrove.app.ui.session.bell import Letters

DELAY_MS = 400
"""The page is drawn before."""


class MachineLine(QObject):
    """See the module. `found` carries the names of the NVIDIA GPUs, or of the processor where there is none."""

    found = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._letters = Letters(self)
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(
            lambda: threading.Thread(target=self._look, name="machine line", daemon=True).start()
        )

    def look(self) -> None:
        """Begin."""
        self._timer.start()

    def _look(self) -> None:
        self._letters.post(self._tell, machine_sentence())

    def _tell(self, sentence: str) -> None:
        self.found.emit(sentence)


def machine_sentence() -> str:
    """The names, the same one counted."""
    names = [gpu["name"] for gpu in machine.nvidia_gpus()]
    counted = [f"{names.count(name)} x {name}" if names.count(name) > 1 else name for name in dict.fromkeys(names)]
    return ", ".join(counted) or f"{machine.processor()}, {machine.cores()} cores"
