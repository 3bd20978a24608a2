"""Errors that nobody expected, in what Qt calls on the window's thread: they are told, and the window goes on."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType

from PySide6.QtCore import QTimer

from raygrove.app.problems.problems import problem_of
from raygrove.app.ui.session.notices import Notices

TOPIC = "unexpected"


@contextlib.contextmanager
def unexpected_told(notices: Notices) -> Iterator[None]:
    """Show the first error of each place as a notice, with what a report needs. What the functions that broke off had
    is let go: a QPainter that stays active on a widget ends the process by a segmentation fault some paintings later
    (PySide 6.11 keeps the last error, and the error keeps them)."""
    before, places = sys.excepthook, set[tuple[str, int]]()

    def tell(error: BaseException, trace: TracebackType | None) -> None:
        place = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)][-1:]
        if isinstance(error, Exception) and places.isdisjoint(place):
            places.update(place)
            problem = problem_of(error)
            sentence = f"An error that nobody expected: {problem.sentence} The window goes on; please report it."
            # In a turn of its own: a painting may be under way.
            QTimer.singleShot(0, notices, lambda: notices.show("error", sentence, problem.details, TOPIC))

    def hear(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        try:
            before(kind, error, trace)
            tell(error, trace)
        finally:  # an error that cannot be put into words holds as much
            traceback.clear_frames(trace)
            _let_go(error)

    sys.excepthook = hear
    try:
        yield
    finally:
        sys.excepthook = before


def _let_go(error: BaseException) -> None:
    """Let go of what the functions have that broke off by an error, and by those that it came of."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        seen.add(id(one))
        traceback.clear_frames(one.__traceback__)
        waiting += [of for of in (one.__cause__, one.__context__) if of is not None and id(of) not in seen]
