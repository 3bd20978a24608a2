"""Measures a start and the first use of a structure; bench's case `first_use` starts it.

A window opens, on its first page or with a built-in scene, and says when it was first painted. With a structure that is
chosen it then takes the seconds from the choice to the first painted picture of it, how many pictures of the structure
before came meanwhile, and the longest time without any.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer

from raygrove.app.document.document import Document
from raygrove.app.frames.render_thread import FinishedFrame
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.measuring.job import MeasuredWindow, begin, live, open_measured, read_job
from raygrove.app.ui.window.application import make_window

PATIENCE_MS = 120_000
PICTURES_BEFORE = 20
"""Pictures of the first structure that play before another is chosen."""


@dataclasses.dataclass(frozen=True)
class FirstUseJob:
    """The built-in scene that is opened, "" for the first page; the structure that is chosen once it plays, "" for
    none; and the picture's pixels."""

    demo: str = ""
    structure: str = ""
    device: str = "auto"
    size: Sequence[int] = (640, 480)


class FirstUse:
    """Chooses the structure once pictures play, and closes the window once there is one of it."""

    def __init__(self, window: MeasuredWindow, structure: str) -> None:
        self._window, self._structure = window, structure
        self.problems: list[str] = []
        self.picture_at: float | None = None
        self.seconds: float | None = None
        self.meanwhile = 0
        self.longest_gap_s = 0.0
        self._pictures = 0
        self._chosen_at = self._last_at = 0.0
        self._shown = ""
        window.loop.frame_arrived.connect(self._take)
        window.view.painted.connect(self._painted)
        window.document.on_problem.append(self._fail)
        window.loop.problem.connect(self._fail)

    def _take(self, frame: FinishedFrame) -> None:
        self._shown = frame.request.state.settings.render.hierarchy

    def _painted(self) -> None:
        now = time.perf_counter()
        if self._window.document.scene is None or not self._shown:
            return
        if self.picture_at is None:
            self.picture_at = time.time()
        self._pictures += 1
        if not self._structure:
            QTimer.singleShot(0, self._window.close)
        elif self._chosen_at == 0.0:
            if self._pictures >= PICTURES_BEFORE:
                self._chosen_at = self._last_at = now
                QTimer.singleShot(0, lambda: self._window.session.choices.choose_hierarchy(self._structure))
        elif self.seconds is None:
            self.longest_gap_s, self._last_at = max(self.longest_gap_s, now - self._last_at), now
            if self._shown == self._structure:
                self.seconds = now - self._chosen_at
                QTimer.singleShot(0, self._window.close)
            else:
                self.meanwhile += 1

    def _fail(self, problem: Any) -> None:
        self.problems.append(f"{problem.title}: {problem.sentence}")
        QTimer.singleShot(0, self._window.close)


def main() -> int:
    """Start, choose, measure, print."""
    job = read_job(FirstUseJob)
    settings = set_option(set_option(Settings(), "render.device", job.device), "window.compile_ahead", False)
    application, window = begin(), make_window(Document(settings))
    measured = FirstUse(window, job.structure)
    first = open_measured(window, job.size)
    if job.demo:
        window.open_demo(job.demo)
    elif first.at is not None:
        QTimer.singleShot(0, window.close)
    else:
        first.painted.connect(window.close)
    QTimer.singleShot(PATIENCE_MS, window.close)
    live(application, window)
    answer = {
        "shown_at": first.at,
        "picture_at": measured.picture_at,
        "seconds": measured.seconds,
        "pictures_meanwhile": measured.meanwhile,
        "longest_gap_s": measured.longest_gap_s,
    }
    print(json.dumps({**answer, "view": window.view.kind, "problems": measured.problems}))
    return 1 if measured.problems else 0


if __name__ == "__main__":
    sys.exit(main())
