"""Measures opening; bench's case `opening` starts it.

A window opens each file in turn, some times over, and takes the seconds from the command to the first painted picture;
beside them the longest pause of the window's thread. Without files it only opens its welcome page, and says when that
was painted.
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
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.measuring.heartbeat import Heartbeat
from raygrove.app.ui.measuring.job import MeasuredWindow, begin, live, open_measured, read_job
from raygrove.app.ui.window.application import make_window

PATIENCE_MS = 120_000


class OpeningMeasurement:
    """Opens the files one after the other, `repeat` times each, and quits."""

    def __init__(self, window: MeasuredWindow, files: list[str], repeat: int) -> None:
        self._window, self._left = window, [path for path in files for _ in range(repeat + 1)]
        self.heartbeat = Heartbeat(window.loop)
        self.seconds: dict[str, list[float]] = {path: [] for path in files}
        self.triangles: dict[str, int] = {}
        self.problems: list[str] = []
        self.progress: dict[str, int] = {}
        self._begin, self._path, self._is_drawn = 0.0, "", False
        self._seen: set[str] = set()
        window.loop.frame_arrived.connect(self._take)
        window.view.painted.connect(self._painted)
        window.document.on_problem.append(self._fail)
        window.loop.problem.connect(self._fail)

    def next(self) -> None:
        """Open the next file, from the welcome page."""
        if not self._left:
            self._window.close()
            return
        self._path = self._left.pop(0)
        self._window.document.close_scene()
        self._is_drawn = False
        QTimer.singleShot(200, self._open)

    def _open(self) -> None:
        self.heartbeat.begin(self._path if self._path in self._seen else "first time")
        self._begin = time.perf_counter()
        self._window.open_files([self._path])
        self._count_progress()

    def _count_progress(self) -> None:
        texts = {job.message for job in self._window.document.jobs}
        if texts:
            self.progress[self._path] = self.progress.get(self._path, 0) + 1
            QTimer.singleShot(100, self._count_progress)

    def _take(self, frame: FinishedFrame) -> None:
        self._is_drawn = self._is_drawn or frame.request.scene is self._window.document.scene

    def _painted(self) -> None:
        if not self._is_drawn or self._begin == 0.0:
            return
        seconds, self._begin = time.perf_counter() - self._begin, 0.0
        self.heartbeat.begin("between")
        scene = self._window.document.scene
        self.triangles[self._path] = scene.triangle_count if scene is not None else 0
        if self._path in self._seen:  # the first time warms the caches of files and kernels
            self.seconds[self._path].append(seconds)
        self._seen.add(self._path)
        QTimer.singleShot(300, self.next)

    def _fail(self, problem: Any) -> None:
        self.problems.append(f"{problem.title}: {problem.sentence}")
        QTimer.singleShot(0, self._window.close)


@dataclasses.dataclass(frozen=True)
class OpeningJob:
    """What is opened, how often, and in pictures of how many pixels."""

    files: Sequence[str] = ()
    repeat: int = 5
    device: str = "auto"
    size: Sequence[int] = (1024, 768)


def main() -> int:
    """Open, measure, print."""
    job = read_job(OpeningJob)
    settings = set_option(set_option(Settings(), "render.device", job.device), "timeline.autoplay", False)
    application, window = begin(), make_window(Document(settings), page_first=not job.files)
    measured = OpeningMeasurement(window, list(job.files), job.repeat)
    first = open_measured(window, job.size if job.files else None)
    QTimer.singleShot(PATIENCE_MS, window.close)
    if first.at is not None:
        QTimer.singleShot(0, measured.next)
    else:
        first.painted.connect(measured.next)
    live(application, window)
    pauses = {name: pause.figures() for name, pause in measured.heartbeat.worst.items()}
    answer = {
        "shown_at": first.at,
        "seconds": measured.seconds,
        "triangles": measured.triangles,
        "pauses": pauses,
    }
    print(
        json.dumps({**answer, "progress": measured.progress, "view": window.view.kind, "problems": measured.problems})
    )
    return 1 if measured.problems else 0


if __name__ == "__main__":
    sys.exit(main())
