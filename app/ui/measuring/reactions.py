"""Measures how soon the window does what a person does; bench's case `reactions` starts it.

Structures: in a paused scene each is chosen, and later again in turns: the milliseconds from the choice to the first
painted picture of it, the first time with its kernels in the cache, where an earlier run has put them, and again.
Drags: a still picture is being refined by path tracing, and the camera is dragged: the milliseconds from the event of
the mouse until the render thread has left the still picture and begins one of the drag, and until that is painted.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QDeadlineTimer, QEvent, QEventLoop, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.pixel_slots import PixelSlot
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.settings import option_tables
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.measuring.job import MeasuredWindow, begin, read_job
from raygrove.app.ui.session import frame_loop
from raygrove.app.ui.window.application import make_window, open_window
from raygrove.gpu.scene import Moment, Scene

PATIENCE_S, WAKE_MS = 120.0, 5
LOOK_S = 0.4
"""A person looks at a picture, which rests, before the next choice."""
REFINED = 3
"""Samples that a still picture has before it is dragged: by then it is being refined."""
PHASES_S = (0.0, 0.013, 0.029, 0.041, 0.057, 0.071, 0.083, 0.097)
"""Seconds that a drag begins later, in turns, so that it meets pictures at their beginning and in their midst."""


@dataclasses.dataclass(frozen=True)
class ReactionsJob:
    """The scene in which structures change, those that are chosen (none: all), the scene that is dragged, which of
    both is done and how often, and the picture's pixels."""

    demo: str = "explode"
    structures: Sequence[str] = ()
    still: str = "room"
    parts: Sequence[str] = ("switch", "drag")
    repeat: int = 5
    device: str = "auto"
    size: Sequence[int] = (640, 480)


class TimedMaker(FrameMaker):
    """Notes when a picture of what moves is begun."""

    began_moving: list[float] = []

    def draw(self, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot], is_moving: bool) -> Outcome:
        """One frame."""
        if is_moving:
            TimedMaker.began_moving.append(time.perf_counter())
        return super().draw(scene, state, moment, slots, is_moving)


class Reactions:
    """Does it in one window."""

    def __init__(self, window: MeasuredWindow, job: ReactionsJob) -> None:
        self._window, self._job = window, job
        self._arrived: FinishedFrame | None = None
        self._painted: list[tuple[float, FinishedFrame]] = []
        self.problems: list[str] = []
        self._waker = QTimer(interval=WAKE_MS)
        self._waker.start()
        window.loop.frame_arrived.connect(self._take)
        window.view.painted.connect(self._paint)
        window.loop.problem.connect(self._fail)
        window.document.on_problem.append(self._fail)

    def _take(self, frame: FinishedFrame) -> None:
        self._arrived = frame

    def _paint(self) -> None:
        if self._arrived is not None:
            self._painted.append((time.perf_counter(), self._arrived))

    def _fail(self, problem: Any) -> None:
        self.problems.append(f"{problem.title}: {problem.sentence}")

    def _until(self, is_done: Callable[[], Any], what: str) -> Any:
        """Let the window live until something is so, which is returned; TimeoutError names `what` never was."""
        deadline = QDeadlineTimer(round(PATIENCE_S * 1000))
        flags = QEventLoop.ProcessEventsFlag.AllEvents | QEventLoop.ProcessEventsFlag.WaitForMoreEvents
        while not (found := is_done()):
            QApplication.processEvents(flags)  # asleep in between: the processors are the render thread's
            if self.problems or deadline.hasExpired():
                raise TimeoutError(f"{what} never came. {' '.join(self.problems)}")
        return found

    def _rest(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        self._until(lambda: time.perf_counter() >= end, "a rest")

    def _open(self, name: str) -> None:
        document = self._window.document
        self._arrived = None
        self._window.open_demo(name)
        self._until(lambda: document.scene is not None and not document.jobs, f"the scene {name}")
        if document.state.timeline.is_playing:
            document.toggle_play()
        self._until(lambda: self._arrived is not None and self._arrived.request.scene is document.scene, "its picture")

    # -- structures -----------------------------------------------------------------------------------------------
    def switch(self) -> dict[str, dict[str, list[float]]]:
        """Milliseconds from the choice of each structure to its first painted picture: of the `first` choice in this
        process, and `again`."""
        self._open(self._job.demo)
        present = self._window.document.state.settings.render.hierarchy
        names = [name for name in self._job.structures or sorted(option_tables.builders()) if name != present]
        found: dict[str, dict[str, list[float]]] = {name: {"first": [], "again": []} for name in names}
        for turn in range(self._job.repeat + 1):
            for name in names:
                found[name]["again" if turn else "first"].append(self._choose(name))
                self._rest(LOOK_S)
            self._choose(present)
        return found

    def _choose(self, name: str) -> float:
        self._painted.clear()
        begin = time.perf_counter()
        self._window.session.choices.choose_hierarchy(name)
        at: float = self._until(lambda: self._first_of(name), f"a picture by {name}")
        return (at - begin) * 1000.0

    def _first_of(self, name: str) -> float | None:
        return next((at for at, frame in self._painted if frame.request.state.settings.render.hierarchy == name), None)

    # -- drags ----------------------------------------------------------------------------------------------------
    def drag(self) -> dict[str, list[float]]:
        """Milliseconds from the mouse's event until refining has stopped, and until a picture of the drag is
        painted."""
        self._open(self._job.still)
        self._window.document.change("settings.render.ray_type", "path")
        found: dict[str, list[float]] = {"stopped": [], "painted": []}
        for turn in range(self._job.repeat):
            self._until(self._is_refining, "a picture that is being refined")
            self._rest(PHASES_S[turn % len(PHASES_S)])
            stopped, painted = self._drag_once(20.0 if turn % 2 else -20.0)
            found["stopped"].append(stopped)
            found["painted"].append(painted)
        return found

    def _is_refining(self) -> bool:
        frame = self._arrived
        if frame is None or frame.request.state.cameras != self._window.document.state.cameras:
            return False
        is_path = frame.request.state.settings.render.ray_type == "path"
        return is_path and not frame.request.is_moving and REFINED <= frame.samples < frame.samples_wanted

    def _drag_once(self, pixels: float) -> tuple[float, float]:
        view = self._window.view
        middle = QPointF(view.width() / 2.0, view.height() / 2.0)
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        send_mouse(view, QEvent.Type.MouseButtonPress, middle, left, left)
        TimedMaker.began_moving.clear()
        self._painted.clear()
        begin = time.perf_counter()
        send_mouse(view, QEvent.Type.MouseMove, middle + QPointF(pixels, 4.0), none, left)
        self._until(lambda: TimedMaker.began_moving, "the end of refining")
        at: float = self._until(
            lambda: next((at for at, frame in self._painted if frame.request.is_moving), None), "a picture of the drag"
        )
        send_mouse(view, QEvent.Type.MouseButtonRelease, middle + QPointF(pixels, 4.0), left, none)
        return (TimedMaker.began_moving[0] - begin) * 1000.0, (at - begin) * 1000.0


def send_mouse(view: Any, kind: QEvent.Type, place: QPointF, button: Qt.MouseButton, buttons: Qt.MouseButton) -> None:
    """An event of the mouse over a widget."""
    at = QPointF(view.mapToGlobal(place.toPoint()))
    event = QMouseEvent(kind, place, at, button, buttons, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view, event)


def main() -> int:
    """Measure, print."""
    job = read_job(ReactionsJob)
    settings = set_option(set_option(Settings(), "render.device", job.device), "window.compile_ahead", False)
    settings = set_option(settings, "timeline.autoplay", False)
    setattr(frame_loop, "RenderThread", functools.partial(RenderThread, make_maker=TimedMaker))  # noqa: B010
    begin()
    window = make_window(Document(settings))
    open_window(window, (job.size[0], job.size[1]))
    measured = Reactions(window, job)
    answer: dict[str, Any] = {}
    try:
        if "switch" in job.parts:
            answer["structures_ms"] = measured.switch()
        if "drag" in job.parts:
            answer["drags_ms"] = measured.drag()
    except TimeoutError as error:
        measured.problems.append(str(error))
    window.close()
    print(json.dumps({**answer, "view": window.view.kind, "problems": measured.problems}))
    return 1 if measured.problems else 0


if __name__ == "__main__":
    sys.exit(main())
