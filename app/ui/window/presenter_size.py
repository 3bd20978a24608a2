"""Presenter size: everything in the window 1.5 times as large, pictures as sharp as the screen.

Qt scales a whole program, at its start alone: for another size the window and Qt are ended and begun anew around the
same document, which knows nothing of Qt (`run` in application.py). Scene, steps of undo and the playing head stay as
they are. What was chosen in the window is remembered as the theme is.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator

from PySide6.QtCore import QPoint, QSize, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
from shiboken6 import delete

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.ui.session.session import Session

PRESENTER_KEY = "settings.window.presenter"
VARIABLE, FACTOR = "QT_SCALE_FACTOR", 1.5


def presenter_size(is_larger: bool, given: str | None = None) -> None:
    """Scale what Qt is going to show, on top of what the user's environment says, `given`. Before Qt starts."""
    if not is_larger:
        os.environ.pop(VARIABLE, None)
        if given is not None:
            os.environ[VARIABLE] = given
        return
    try:
        before = float(given or "1")
    except ValueError:  # Qt takes no heed of it, either
        before = 1.0
    os.environ[VARIABLE] = f"{FACTOR * before:g}"


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a window was on the screen, in the screen's own pixels."""

    corner: QPoint
    size: QSize
    is_maximized: bool

    def give(self, window: QMainWindow) -> None:
        """Put another window there, whatever it is scaled by."""
        ratio = window.devicePixelRatioF()
        window.resize(self.size / ratio)
        window.move(self.corner / ratio)
        if self.is_maximized:
            window.showMaximized()


def place_of(window: QMainWindow) -> Place:
    """Where a window is."""
    ratio = window.devicePixelRatioF()
    return Place(window.pos() * ratio, window.size() * ratio, window.isMaximized())


class PresenterSize:
    """Remembers the choice of a session whose settings began with `first`, and closes the window for another one of the
    chosen size: `next_place` is where, None for as long as none is wanted. What runs in the background is waited
    for."""

    def __init__(self, session: Session, first: bool, window: QMainWindow) -> None:
        self._session, self._first, self._window = session, first, window
        self._size = session.document.state.settings.window.presenter
        self.next_place: Place | None = None
        session.document.observe(self._changed)
        session.document.on_jobs.append(self._follow)

    @property
    def _is_other(self) -> bool:
        return self._session.document.state.settings.window.presenter != self._size

    def _changed(self, before: State, after: State) -> None:
        if before.settings.window.presenter == after.settings.window.presenter:
            return
        self._session.memory.keep_presenter(after.settings.window.presenter, self._first)
        self._session.notices.clear("presenter")
        jobs = self._session.document.jobs
        if self._is_other and jobs:
            sentence = QApplication.translate("PresenterSize", "The presenter size changes when {job} is done.")
            self._session.notices.show("information", sentence.format(job=jobs[-1].title), topic="presenter")
        self._follow()

    def _follow(self) -> None:
        if self._is_other:
            QTimer.singleShot(0, self._window, self._close)  # behind the click that it was chosen by

    def _close(self) -> None:
        if not self._is_other or self._session.document.jobs or self.next_place is not None:
            return
        self.next_place = place_of(self._window)
        self._window.close()


def end_qt(window: QMainWindow, application: QApplication) -> None:
    """End a window that is closed, and Qt: the next QApplication reads how it is to scale."""
    delete(window)
    application.shutdown()


@contextlib.contextmanager
def visiting(document: Document) -> Iterator[None]:
    """Whoever begins to listen to a document meanwhile is not called any more behind it."""
    lists = (document.observers, document.on_scene, document.on_problem, document.on_jobs)
    before = [list(one) for one in lists]
    yield
    for one, kept in zip(lists, before, strict=True):
        one[:] = kept  # type: ignore[index]
