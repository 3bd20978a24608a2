"""How long the window's thread is away at a time: a timer beats every few milliseconds, and the longest pause between
beats is kept by name.

A pause has three parts: what the thread computed, what it stood in the queue for a processor (others on the machine;
where the system tells), and the rest, in which it waited for something of ours (Python's lock, another lock) or of the
system's (the display, a file).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer

from raygrove.app.ui.measuring.late_stacks import LateStacks
from raygrove.gpu.linux import open_queue_times

BEAT_MS = 5
LATE_MS = 50.0


@dataclasses.dataclass
class Pause:
    """The longest pause under one name: milliseconds by the wall clock, how many of them this thread computed, and how
    many it was ready to compute and had no processor (0 where the system does not tell)."""

    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    queue_ms: float = 0.0

    def figures(self) -> dict[str, float]:
        """All of them, by name; `waited_ms` is the rest."""
        return {**dataclasses.asdict(self), "waited_ms": max(self.wall_ms - self.cpu_ms - self.queue_ms, 0.0)}


class QueueClock:
    """Milliseconds that the thread which made it was ready to run and had no processor; Linux counts them for each
    thread."""

    def __init__(self) -> None:
        self._file = -1
        with contextlib.suppress(OSError):
            self._file = open_queue_times()

    def __call__(self) -> float:
        """So far; 0 where it is not counted."""
        return int(os.pread(self._file, 128, 0).split()[1]) * 1e-6 if self._file >= 0 else 0.0

    def close(self) -> None:
        """Give the file back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


@dataclasses.dataclass(frozen=True)
class LatePause:
    """A pause over LATE_MS: what the window did, and where its thread stood then, the innermost call first."""

    name: str
    pause: Pause
    stack: Sequence[str]

    def told(self) -> dict[str, Any]:
        """As one keeps it in a file."""
        return {"name": self.name, **self.pause.figures(), "stack": list(self.stack)}


class Heartbeat(QObject):
    """Beats from when it is made. `name` is what the window does now. With `watches` all pauses are kept, and where the
    thread stood in those over LATE_MS."""

    def __init__(self, parent: QObject | None = None, *, watches: bool = False) -> None:
        super().__init__(parent)
        self.name = "start"
        self.worst: dict[str, Pause] = {}
        self.all_ms: list[float] = []
        self.late: list[LatePause] = []
        self._stacks = LateStacks(LATE_MS / 1000.0) if watches else None
        self._queue = QueueClock()
        self.destroyed.connect(self._queue.close)
        if self._stacks is not None:
            self.destroyed.connect(self._stacks.close)
        self._last = self._now()
        self._timer = QTimer(self, interval=BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.beat)
        self._timer.start()

    def begin(self, name: str) -> None:
        """What the window does from here on."""
        if self._timer.isActive():
            self.beat()
        else:
            self._last = self._now()
            self._timer.start()
        self.name = name

    def rest(self) -> None:
        """Beat no more until the next `begin`: a beating window is not idle."""
        self._timer.stop()
        if self._stacks is not None:
            self._stacks.take()

    def beat(self) -> None:
        """Take the time since the last beat."""
        now = self._now()
        pause = Pause(*(new - old for new, old in zip(now, self._last, strict=True)))
        if pause.wall_ms > self.worst.setdefault(self.name, Pause()).wall_ms:
            self.worst[self.name] = pause
        if self._stacks is not None:
            self._watch(pause, self._stacks)
        self._last = now

    def pass_over(self) -> None:
        """What the thread did since the last beat is none of the window's."""
        if self._timer.isActive():
            self._last = self._now()
            if self._stacks is not None:
                self._stacks.arm()

    def _watch(self, pause: Pause, stacks: LateStacks) -> None:
        self.all_ms.append(pause.wall_ms)
        if pause.wall_ms > LATE_MS:
            self.late.append(LatePause(self.name, pause, stacks.take()))
        stacks.arm()

    def _now(self) -> tuple[float, float, float]:
        return time.perf_counter() * 1e3, time.thread_time() * 1e3, self._queue()
