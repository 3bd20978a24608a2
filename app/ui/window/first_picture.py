"""The first picture of a window that begins with a scene: it is drawn and shown before panels, menus and bars are
imported and made, in the place that they will leave it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEventLoop, QMargins, QObject, QSize, QTimer
from PySide6.QtWidgets import QMainWindow, QStackedWidget

from raygrove.app.frames.contestants import as_drawn
from raygrove.app.frames.switching import COMPILING
from raygrove.app.problems.problem import Problem
from raygrove.app.ui.session.bell import Bell
from raygrove.app.ui.session.session import Session
from raygrove.gpu.scene import Scene

if TYPE_CHECKING:
    from raygrove.app.frames.maker import FrameMaker

SCENE_MS, PICTURE_MS, COMPILING_MS = 1000, 2000, 4000
"""How long a scene may be waited for before the rest of the window is made, and then its first picture, which takes
longer where kernels are compiled for it: they come sooner while nothing else is made."""

NARROW, LOW_BELOW = 960, 1100
"""Pixels of a window's width below which no panel is at the right, and the chips above the picture are low."""


class FirstPicture(QObject):
    """See the module. `view` shows it, in `stack`; `parent` says what is done meanwhile; `at` is when it was painted,
    in seconds as time.time() has them, None where it did not come in time."""

    def __init__(
        self,
        session: Session,
        make_view: Callable[[str], Any],
        stack: QStackedWidget,
        parent: QMainWindow,
    ) -> None:
        super().__init__(parent)
        document = session.document
        self._document, self._loop = document, session.loop
        self.view = make_view(document.state.settings.display.view)
        self.at: float | None = None
        self._ends, self._had_scene = False, document.scene is not None
        self._heard = len(document.on_scene), len(document.on_problem)
        self._missed: list[Problem] = []
        self._missed_pictures: list[Problem] = []
        self._missed_copies: list[str] = []
        self._busy, self._drawing, self._compiles, self._say = "", "", False, parent.statusBar().showMessage
        self._timer = QTimer(self, singleShot=True)
        stack.insertWidget(0, self.view)
        stack.setCurrentIndex(0)
        self._loop.set_view(self.view)

    def wait(self) -> None:
        """Open what is being opened and have it drawn, for a while at most; mouse and keyboard wait until later. What
        cannot be opened is left to the whole window, which says why."""
        bell, timer = Bell(self._open, self), self._timer
        timer.setInterval(SCENE_MS)

        def begin_anew(scene: Scene | None) -> None:
            self._ends |= len(as_drawn(self._document.state).views) != 1  # a race has a view of its own
            timer.start(PICTURE_MS)

        self._document.on_scene.append(begin_anew)
        self._document.on_problem.append(self._missed.append)
        self._loop.problem.connect(self._fail)
        self._loop.busy.connect(self._hear)
        self._loop.drawing.connect(self._hear_drawing)
        self.view.painted.connect(self._keep)
        self.view.interop_failed.connect(self._missed_copies.append)
        self._document.mailroom.wake = bell.ring
        self._loop.start()
        self._loop.ask("ready", self._make_ready, lambda made: None)
        bell.ring()
        timer.start()
        flags = QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents | QEventLoop.ProcessEventsFlag.WaitForMoreEvents
        while not self._ends and timer.isActive():
            QCoreApplication.processEvents(flags)
        self._ends = True
        timer.stop()
        self._say("")
        self._document.mailroom.wake = lambda: None
        self._document.on_scene.remove(begin_anew)
        self._document.on_problem.remove(self._missed.append)
        self._loop.problem.disconnect(self._fail)
        self._loop.busy.disconnect(self._hear)
        self.view.painted.disconnect(self._keep)
        self.view.interop_failed.disconnect(self._missed_copies.append)

    def _make_ready(self, maker: FrameMaker) -> None:
        """Have made ready while the scene is read what can be."""
        from raygrove.app.frames.compile_job import make_ready  # with the engine, on the render thread

        make_ready(maker, self._document.state)

    def tell(self) -> None:
        """Tell those who were made later what they have missed."""
        scene, (scenes, problems) = self._document.scene, self._heard
        if scene is not None and not self._had_scene:
            for hear in self._document.on_scene[scenes:]:
                hear(scene)
        for problem in self._missed:
            for say in self._document.on_problem[problems:]:
                say(problem)
        for problem in self._missed_pictures:
            self._loop.problem.emit(problem)
        if self._loop.last_frame is not None:
            self._loop.frame_arrived.emit(self._loop.last_frame)
        for sentence in self._missed_copies:
            self.view.interop_failed.emit(sentence)
        self._loop.drawing.disconnect(self._hear_drawing)
        if self._drawing:
            self._loop.drawing.emit(self._drawing)
        if self._busy:
            self._loop.busy.emit(self._busy)

    def _open(self) -> None:
        if self._ends:
            return
        if any(job.problem is not None for job in self._document.jobs):
            self._ends = True
        else:
            self._document.mailroom.poll()

    def _keep(self) -> None:
        frame = self._loop.last_frame  # after the first one a GPU's view lends other slots, and paints none of it
        if frame is not None and self._loop.shows_scene and frame.request.exchanges == self.view.exchanges:
            self.at, self._ends = time.time(), True

    def _hear(self, busy: str) -> None:
        if busy.startswith(COMPILING) and not self._compiles:
            self._compiles = True
            self._timer.start(COMPILING_MS)
        self._busy = busy
        self._say(busy)

    def _hear_drawing(self, sentence: str) -> None:
        """Until those who show it are there: it may be over by then."""
        self._drawing = sentence
        if not self._ends:
            self._say(sentence)

    def _fail(self, problem: Problem) -> None:
        self._missed_pictures.append(problem)
        self._ends = True


def first_place(width: int) -> QMargins:
    """What will be around the picture, between menus and status bar, in a window so wide whose panels nobody has
    arranged."""
    return QMargins(40, 48 if width < LOW_BELOW else 68, 0 if width < NARROW else 336, 39)


def place_of(window: Any, picture: Any) -> tuple[QSize, QMargins]:
    """A window's size, and what is around the picture there between its menus and its status bar."""
    menus, status = window.menuBar().height(), window.statusBar().height()
    corner, size = picture.mapTo(window, picture.rect().topLeft()), window.size()
    return size, QMargins(
        corner.x(),
        corner.y() - menus,
        size.width() - corner.x() - picture.width(),
        size.height() - status - corner.y() - picture.height(),
    )
