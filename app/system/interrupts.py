"""Ctrl+C where an exception would do harm: it is noted, and acted upon where that is safe.

Python raises KeyboardInterrupt between any two of its instructions. Amid the imports of PySide6 that aborts the
process, in a call that Qt makes it is printed and forgotten, and a window that is closed before Qt's loop runs does not
end that loop.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_noted = threading.Event()


def are_noted() -> bool:
    """Whether Ctrl+C was pressed since the outermost `noted` began."""
    return _noted.is_set()


def check() -> None:
    """Raise KeyboardInterrupt here, where it is safe, if Ctrl+C was pressed."""
    if _noted.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def noted() -> Iterator[None]:
    """Inside, Ctrl+C raises nothing; at the end it does, however often it was pressed. A process that was told to
    ignore it goes on ignoring it, and so does a thread that hears no signals."""
    before = signal.getsignal(signal.SIGINT)
    if before in (signal.SIG_IGN, _note) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _note)
    try:
        yield
        check()
    finally:
        signal.signal(signal.SIGINT, before)
        _noted.clear()


def _note(_number: int, _frame: object) -> None:
    _noted.set()
