"""Ctrl+C and SIGTERM where an exception, or an end without a word, would do harm: they are noted, and acted upon where
that is safe. Both end the window as a quit does, with what it remembers.

Python raises KeyboardInterrupt between any two of its instructions. Amid the imports of PySide6 that aborts the
process, in a call that Qt makes it is printed and forgotten, and a window that is closed before Qt's loop runs does not
end that loop.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_noted, _terminated = threading.Event(), threading.Event()


EXIT_TERMINATED = 128 + signal.SIGTERM
"""What a shell says of a process that SIGTERM ended."""


def are_noted() -> bool:
    """Whether Ctrl+C was pressed, or SIGTERM came, since the outermost `noted` began."""
    return _noted.is_set()


def check() -> None:
    """Raise KeyboardInterrupt here, where it is safe, if Ctrl+C was pressed, and SystemExit if SIGTERM came."""
    if _terminated.is_set():
        raise SystemExit(EXIT_TERMINATED)
    if _noted.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def noted() -> Iterator[None]:
    """Inside, Ctrl+C and SIGTERM raise nothing; at the end they do, however often they came. A process that was told to
    ignore them goes on ignoring them, and so does a thread that hears no signals."""
    before = signal.getsignal(signal.SIGINT)
    if before in (signal.SIG_IGN, _note) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _note)
    ends = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if ends:
        signal.signal(signal.SIGTERM, _note)
    try:
        yield
        check()
    finally:
        signal.signal(signal.SIGINT, before)
        if ends:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _noted.clear()
        _terminated.clear()


def _note(number: int, _frame: object) -> None:
    if number == signal.SIGTERM:
        _terminated.set()
    _noted.set()
