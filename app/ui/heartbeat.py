"""How long the window's thread is away at a time: a timer beats every few milliseconds, and the longest pause between beats is kept by name."""

from __future__ import annotations

import dataclasses
import time

from PySide6.QtCore import QObject, Qt, QTimer

BEAT_MS = 5


@dataclasses.dataclass
class Pause:
    """The longest pause under one name: milliseconds by the wall clock, and how many of them this thread computed (the rest it waited)."""

    wall_ms: float = 0.0
    cpu_ms: float = 0.0


class Heartbeat(QObject):
    """Beats from when it is made. `name` is what the window does now."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.name = "start"
        self.worst: dict[str, Pause] = {}
        self._wall, self._cpu = time.perf_counter(), time.thread_time()
        self._timer = QTimer(self, interval=BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.beat)
        self._timer.start()

    def begin(self, name: str) -> None:
        """What the window does from here on."""
        if self._timer.isActive():
            self.beat()
        else:
            self._wall, self._cpu = time.perf_counter(), time.thread_time()
            self._timer.start()
        self.name = name

    def rest(self) -> None:
        """Beat no more until the next `begin`: a beating window is not idle."""
        self._timer.stop()

    def beat(self) -> None:
        """Take the time since the last beat."""
        wall, cpu = time.perf_counter(), time.thread_time()
        pause = self.worst.setdefault(self.name, Pause())
        if (wall - self._wall) * 1e3 > pause.wall_ms:
            pause.wall_ms, pause.cpu_ms = (wall - self._wall) * 1e3, (cpu - self._cpu) * 1e3
        self._wall, self._cpu = wall, cpu
