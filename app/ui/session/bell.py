"""A bell that any thread may ring, and the window's thread answers in the next turn of its event loop.

A queued signal for each thing that arrives would be answered within one turn: Qt goes on while there are posted events,
also those that were posted meanwhile. A thread that posts faster than the window takes would so keep the window from
its timers, its mouse and its keyboard for good. A timer of zero milliseconds runs once a turn, however often it rang.

Threads outlive windows: one that emits a signal of an object while Qt destroys it reads memory that is given back. So
no other thread emits a signal of the window's (tests/app/ui/session/test_bell.py): it rings a bell, which says nothing
any more once its owner goes.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from raygrove.app.document.jobs import Mailroom


class Bell(QObject):
    """`answer` is called on the thread that made the bell, at most once a turn. Who has more to do than one piece rings
    again before doing it: that piece may open a dialog, which keeps its caller waiting while the rest goes on. It ends
    with its owner `parent`, and is silent when it is rung later."""

    _rung = Signal()

    def __init__(self, answer: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._line = line = _Line()
        self._answer = answer
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._hear)
        self._rung.connect(self._turn.start, Qt.ConnectionType.QueuedConnection)
        parent.destroyed.connect(lambda: line.cut())  # which is said while its children are still whole

    def ring(self) -> None:
        """Ask for an answer, from any thread."""
        with self._line.lock:
            if not self._line.is_cut and not self._line.is_ringing:
                self._line.is_ringing = True
                self._rung.emit()

    def _hear(self) -> None:
        with self._line.lock:
            self._line.is_ringing = False
        self._answer()


class _Line:
    """Between those who ring and the bell: whoever rings holds `lock`, so that Qt's end of the bell waits for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_ringing = self.is_cut = False

    def cut(self) -> None:
        """Nobody rings from now on."""
        with self.lock:
            self.is_cut = True


class Letters(QObject):
    """What other threads tell this one, in their order, one a turn."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._waiting: collections.deque[tuple[Callable[..., object], tuple[object, ...]]] = collections.deque()
        self._bell = Bell(self._read, self)

    def post(self, take: Callable[..., object], *what: object, most: int | None = None) -> None:
        """Have `take(*what)` called, from any thread. Where `most` for the same `take` wait already, the oldest of them
        is dropped."""
        with self._lock:
            if most is not None and sum(one == take for one, _ in self._waiting) >= most:
                del self._waiting[next(place for place, (one, _) in enumerate(self._waiting) if one == take)]
            self._waiting.append((take, what))
        self._bell.ring()

    def _read(self) -> None:
        with self._lock:
            if not self._waiting:
                return
            take, what = self._waiting.popleft()
            has_more = bool(self._waiting)
        if has_more:
            self._bell.ring()
        take(*what)


class MailBell(QObject):
    """Has the calls of a document's mailroom made, one a turn."""

    def __init__(self, mailroom: Mailroom, parent: QObject) -> None:
        super().__init__(parent)
        self._mailroom, self._bell = mailroom, Bell(self._answer, self)
        mailroom.wake = self._bell.ring

    def _answer(self) -> None:
        if self._mailroom.has_more_than(1):
            self._bell.ring()
        self._mailroom.poll(most=1)
