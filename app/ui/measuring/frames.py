"""Measures the window itself; bench's case `window` starts it.

The window opens as the program opens it, with its docks, draws the scene at the size asked for, plays it, and counts.
It prints one JSON object.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer

from raygrove.app.document.document import Document
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.settings.settings import Settings, set_option, set_text
from raygrove.app.ui.measuring.job import MeasuredWindow, begin, read_job
from raygrove.app.ui.window.application import gl_renderer, make_window, open_window

PATIENCE_MS = 240_000


@dataclasses.dataclass(frozen=True)
class FramesJob:
    """What is measured: `frames` pictures of `size` pixels after `warmup` others, of the `files` or of a built-in
    scene; `set` are KEY=VALUE of settings; `alone` hides docks and bars, since a virtual display copies the whole
    window every frame."""

    files: Sequence[str] = ()
    demo: str = "orbit"
    size: Sequence[int] = (1024, 768)
    frames: int = 500
    warmup: int = 60
    view: str = "auto"
    screenshot: str = ""
    set: Sequence[str] = ()
    device: str = "auto"
    alone: bool = False


class Measurement:
    """Takes frames from a window until there are enough; then saves a screenshot and closes the window."""

    def __init__(self, window: MeasuredWindow, job: FramesJob) -> None:
        self.window, self._job = window, job
        self.render_ms: list[float] = []
        self.paint_ms: list[float] = []
        self.last: FinishedFrame | None = None
        self.problems: list[str] = []
        self.outcome: dict[str, Any] = {}
        self._skipped = 0
        self._begin = self._end = 0.0
        window.loop.frame_arrived.connect(self._take)
        window.loop.problem.connect(self._fail)
        window.document.on_problem.append(self._fail)

    def result(self) -> dict[str, Any]:
        """The figures, medians in milliseconds."""
        view, frame = self.window.view, self.last
        count = len(self.render_ms)
        has_frames = frame is not None and count > 1
        shown = frame.statistics if frame is not None else None
        phases = {**shown.views[0].phases_ms, "animate": shown.animate_ms} if shown is not None and shown.views else {}
        return {
            "frames": count,
            "frames_per_second": (count - 1) / (self._end - self._begin) if has_frames else 0.0,
            "render_thread_ms": statistics.median(self.render_ms) if count else 0.0,
            "paint_ms": statistics.median(self.paint_ms) if count else 0.0,
            "target_frame_ms": shown.frame_ms if shown is not None else 0.0,
            "phases_ms": phases,
            "drawn": list(frame.drawn) if frame is not None else [],
            "view": view.kind,
            "interop": bool(getattr(view, "has_interop", False)),
            "way": view.way,
            "target": frame.target_name if frame is not None else "",
            "device": frame.device_name if frame is not None else "",
            "gl_renderer": gl_renderer(),
            "banners": [banner.sentence for banner in self.window.toasts.messages()],
            "problems": self.problems,
        }

    def _take(self, frame: FinishedFrame) -> None:
        self._skipped += 1
        self.last = frame
        if self._skipped <= self._job.warmup:
            self._begin = time.perf_counter()
            return
        self._end = time.perf_counter()
        self.render_ms.append(frame.frame_ms)
        self.paint_ms.append(self.window.view.paint_ms)
        if len(self.render_ms) == self._job.frames:
            QTimer.singleShot(0, self.finish)

    def _fail(self, problem: Any) -> None:
        self.problems.append(f"{problem.title}: {problem.sentence}\n{problem.details}")
        QTimer.singleShot(0, self.finish)

    def finish(self) -> None:
        """Save the screenshot and close."""
        self.window.stats_panel.show_latest()
        self.outcome = self.result()
        if self._job.screenshot:
            self.window.window().grab().save(self._job.screenshot)
        self.window.close()


def settings_of(job: FramesJob) -> Settings:
    """The settings of a measurement: full size, no waiting for the screen."""
    settings = Settings()
    fixed = {
        "display.swap_interval": 0,
        "display.adapt_resolution": False,
        "display.view": job.view,
        "render.device": job.device,
    }
    for name, value in fixed.items():
        settings = set_option(settings, name, value)
    for assignment in job.set:
        key, _, text = assignment.partition("=")
        settings = set_text(settings, key, text)
    return settings


def main() -> int:
    """Open, measure, print."""
    job = read_job(FramesJob)
    settings = settings_of(job)
    application, window = begin(settings.display.swap_interval), make_window(Document(settings))
    if job.alone:
        for part in (*window.docks, window.menuBar(), window.pipeline, window.statusBar()):
            part.hide()
    measurement = Measurement(window, job)
    width, height = job.size
    open_window(window, (width, height))
    if job.files:
        window.open_files(list(job.files))
    else:
        window.open_demo(job.demo)
    QTimer.singleShot(PATIENCE_MS, measurement.finish)
    application.exec()
    print(json.dumps(measurement.outcome, indent=1))
    return 1 if measurement.problems or not measurement.render_ms else 0


if __name__ == "__main__":
    sys.exit(main())
