"""Ctrl+C, SIGTERM and SIGHUP where an exception, or an end without a word, would do harm: they are noted, and acted
upon where that is safe. All end the window as a quit does, with what it remembers.

Python raises KeyboardInterrupt between any two of its instructions. Amid the imports of PySide6 that aborts the
process, in a call that Qt makes it is printed and forgotten, and a window that is closed before Qt's loop runs does not
end that loop.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What ends a process beside Ctrl+C: a system that shuts down, and a terminal that is closed, where there is such."""
_noted = threading.Event()
_came: list[int] = []
"""Those of ENDS that came, in their order."""


def are_noted() -> bool:
    """Whether Ctrl+C was pressed, or one of ENDS came, since the outermost `noted` began."""
    return _noted.is_set()


def check() -> None:
    """Raise KeyboardInterrupt here, where it is safe, if Ctrl+C was pressed, and SystemExit, with what a shell says of
    a process that it ended, if one of ENDS came."""
    if _came:
        raise SystemExit(128 + _came[0])
    if _noted.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def noted() -> Iterator[None]:
    """Inside, Ctrl+C and ENDS raise nothing; at the end they do, however often they came. A process that was told to
    ignore them goes on ignoring them, and so does a thread that hears no signals."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDS)}
    if _note in before.values() or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [number for number, handler in before.items() if _is_ours(number, handler)]
    for number in heard:
        signal.signal(number, _note)
    try:
        yield
        check()
    finally:
        for number in heard:
            signal.signal(number, before[number])
        _noted.clear()
        _came.clear()


def _is_ours(number: int, handler: object) -> bool:
    """Whether nobody else decides what comes of a signal."""
    return handler == signal.SIG_DFL if number in ENDS else handler != signal.SIG_IGN


def _note(number: int, _frame: object) -> None:
    if number in ENDS:
        _came.append(number)
    _noted.set()
