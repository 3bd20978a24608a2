"""What is called a while later, for as long as somebody lives.

Not by `QTimer.singleShot`, for which Qt makes a timer and destroys it when it has rung: three long runs of the window
ended by a segmentation fault there, in what PySide (6.11.3) does about such a timer. With 0 ms Qt makes none, so that
`singleShot(0, ...)` is harmless; a timer that is needed again and again is made once, by who needs it.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def call_once(owner: QObject, milliseconds: int, answer: Callable[[], object]) -> None:
    """Call `answer` on the owner's thread so much later, unless the owner is gone by then. The timer stays until then:
    for what comes once in an owner's life."""
    timer = QTimer(owner, singleShot=True, interval=milliseconds)
    timer.timeout.connect(answer)
    timer.start()
