"""The window of first_use.py: chooses a structure while pictures play, and says when what was painted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer

from raygrove.app.document.document import Document
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.measuring.job import MeasuredWindow, begin, live, open_measured
from raygrove.app.ui.window.application import make_window

PATIENCE_MS = 120_000
PICTURES_BEFORE = 20
"""Pictures of the first structure that play before another is chosen."""


class FirstUse:
    """Chooses the structure once pictures play, and closes the window once there is one of it."""

    def __init__(self, window: MeasuredWindow, structure: str) -> None:
        self._window, self._structure = window, structure
        self.problems: list[str] = []
        self.picture_at = window.first_picture.at if window.first_picture is not None else None
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


def measure(document: Document, structure: str, size: Sequence[int] | None) -> dict[str, Any]:
    """Open a window on a document, whose picture has `size` pixels, or whatever the window leaves it; close it once all
    is known. When the window and its first picture were painted, when all of the window was there, and what the first
    use of a structure took."""
    has_scene = bool(document.jobs) or document.scene is not None
    wanted = (size[0], size[1]) if size is not None else None
    application = begin()
    window = make_window(document, page_first=not has_scene, picture_first=has_scene, size=wanted)
    measured = FirstUse(window, structure)
    first = open_measured(window, size)
    whole_at = time.time()
    if measured.picture_at is not None and not structure:
        QTimer.singleShot(0, window.close)
    if not has_scene and first.at is not None:
        QTimer.singleShot(0, window.close)
    elif not has_scene:
        first.painted.connect(window.close)
    QTimer.singleShot(PATIENCE_MS, window.close)
    live(application, window)
    return {
        "shown_at": first.at,
        "picture_at": measured.picture_at,
        "whole_at": whole_at,
        "seconds": measured.seconds,
        "pictures_meanwhile": measured.meanwhile,
        "longest_gap_s": measured.longest_gap_s,
        "view": window.view.kind,
        "problems": measured.problems,
    }
