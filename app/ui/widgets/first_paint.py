"""When a widget was first painted."""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget


class FirstPaint(QObject):
    """Keeps when a widget was first painted, in seconds as time.time() has them: `at`, None until then; `painted` says
    when it is there."""

    painted = Signal()

    def __init__(self, watched: QWidget) -> None:
        super().__init__(watched)
        self.at: float | None = None
        self._watched = watched
        watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look on."""
        if event.type() == QEvent.Type.Paint and self.at is None:
            QTimer.singleShot(0, self, self._keep)  # after this painting
        return False

    def _keep(self) -> None:
        if self.at is None:
            self.at = time.time()
            self._watched.removeEventFilter(self)
            self.painted.emit()

    def wait(self, most_ms: int) -> None:
        """Let Qt paint, for so many milliseconds at most; mouse and keyboard wait until later."""
        timer = QTimer(self, singleShot=True, interval=most_ms)
        timer.start()
        flags = QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents | QEventLoop.ProcessEventsFlag.WaitForMoreEvents
        while self.at is None and timer.isActive():
            QCoreApplication.processEvents(flags)
        timer.deleteLater()
