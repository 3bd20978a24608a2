"""Measures the window itself: `python -m app.ui.measure`, started by bench/window.py.

The window opens as the program opens it, with its docks, draws the scene at the size asked for, plays it, and counts. It prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from typing import Any

from PySide6.QtCore import QSettings, QTimer

from app.document import Document
from app.render_thread import FinishedFrame
from app.settings import Settings, set_option, set_text
from app.ui.application import gl_renderer, make_application, make_view, open_window
from app.ui.main_window import MainWindow

PATIENCE_MS = 240_000


class Measurement:
    """Takes frames from a window until there are enough; then saves a screenshot and closes the window."""

    def __init__(self, window: MainWindow, names: argparse.Namespace) -> None:
        self.window, self._names = window, names
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
            "banners": [banner.sentence for banner in self.window.banners.messages()],
            "problems": self.problems,
        }

    def _take(self, frame: FinishedFrame) -> None:
        self._skipped += 1
        self.last = frame
        if self._skipped <= self._names.warmup:
            self._begin = time.perf_counter()
            return
        self._end = time.perf_counter()
        self.render_ms.append(frame.frame_ms)
        self.paint_ms.append(self.window.view.paint_ms)
        if len(self.render_ms) == self._names.frames:
            QTimer.singleShot(0, self.finish)

    def _fail(self, problem: Any) -> None:
        self.problems.append(f"{problem.title}: {problem.sentence}\n{problem.details}")
        QTimer.singleShot(0, self.finish)

    def finish(self) -> None:
        """Save the screenshot and close."""
        self.window.stats_panel.show_latest()
        self.outcome = self.result()
        if self._names.screenshot:
            self.window.grab().save(self._names.screenshot)
        self.window.close()


def parse(arguments: list[str]) -> argparse.Namespace:
    """What is measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.window", description="Measure the window: render thread, painting, frames a second.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="a model, or the key frames of a sequence, that play in place of a built-in scene")
    parser.add_argument("--demo", default="orbit", help="the built-in scene that plays")
    parser.add_argument("--size", default="1024x768", help="the picture's size in pixels")
    parser.add_argument("--frames", type=int, default=500, help="frames that count")
    parser.add_argument("--warmup", type=int, default=60, help="frames before that")
    parser.add_argument("--view", default="auto", help="auto, gl or painter")
    parser.add_argument("--screenshot", default="", metavar="FILE.png", help="where the window is saved as a picture")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, as on the command line")
    parser.add_argument("--target", default="auto", help="auto, host or cuda")
    parser.add_argument("--alone", action="store_true", help="hide docks and bars: a virtual display copies the whole window every frame")
    return parser.parse_args(arguments)


def settings_of(names: argparse.Namespace) -> Settings:
    """The settings of a measurement: full size, no waiting for the screen."""
    settings = Settings()
    fixed = {"display.swap_interval": 0, "display.adapt_resolution": False, "display.view": names.view, "render.target": names.target}
    for name, value in fixed.items():
        settings = set_option(settings, name, value)
    for assignment in names.set:
        key, _, text = assignment.partition("=")
        settings = set_text(settings, key, text)
    return settings


def main(arguments: list[str]) -> int:
    """Open, measure, print."""
    names = parse(arguments)
    settings = settings_of(names)
    application = make_application(settings.display.swap_interval)
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, tempfile.mkdtemp())  # the user's window stays as it was
    window = MainWindow(Document(settings), make_view)
    if names.alone:
        for part in (*window.docks, window.menuBar(), window.statusBar()):
            part.hide()
    measurement = Measurement(window, names)
    width, height = (int(side) for side in names.size.split("x"))
    open_window(window, (width, height))
    if names.files:
        window.open_files(names.files)
    else:
        window.open_demo(names.demo)
    QTimer.singleShot(PATIENCE_MS, measurement.finish)
    application.exec()
    print(json.dumps(measurement.outcome, indent=1))
    return 1 if measurement.problems or not measurement.render_ms else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
