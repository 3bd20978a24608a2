"""Times spheres that OpenGL draws in the window, by its own clock; the suite soell2015 starts it.

The window shows the suite's set of spheres at the size asked for and draws the same picture again and again, in each
way of OpenGL. It prints one JSON object: milliseconds of each way, a median, None where it refuses so many or was
not done in time.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import sys
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.app.scene_io.demos.particles import make_spheres
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.measuring.job import MeasuredWindow, begin, read_job
from raygrove.app.ui.window.application import gl_renderer, make_window, open_window
from raygrove.gpu.display.sphere_look import MOST_FULL_SCREEN, WAYS


@dataclasses.dataclass(frozen=True)
class SpheresJob:
    """How many spheres of how many pixels of a picture of 1024, the picture's size, the ways, how many pictures of each
    count, and for how long it is waited for all of them."""

    spheres: int = 1000
    pixels: float = 3.0
    size: Sequence[int] = (1024, 1024)
    ways: Sequence[str] = WAYS
    repeat: int = 5
    device: str = "auto"
    patience_s: float = 300.0


class SphereMeasurement:
    """Draws every way in turn; then closes the window."""

    def __init__(self, window: MeasuredWindow, job: SpheresJob) -> None:
        self.window, self._job = window, job
        self.problems: list[str] = []
        self.size: list[int] = []
        self.milliseconds: dict[str, float | None] = dict.fromkeys(job.ways)
        self._left = [way for way in job.ways if way != "full_screen" or job.spheres <= MOST_FULL_SCREEN]
        self._times: list[float] = []
        window.view.painted.connect(self._take)
        window.loop.problem.connect(self._fail)

    def start(self) -> None:
        """Draw the first way, or close where there is none."""
        self._times = []
        if not self._left:
            self.window.close()
            return
        self.window.document.change("settings.display.spheres", self._left[0])

    def _take(self) -> None:
        frame, view = self.window.loop.last_frame, self.window.view
        if frame is None or frame.spheres is None or not self._left or frame.spheres.way != self._left[0]:
            return
        self.size = list(view.device_size())
        self._times.append(view.spheres_ms)
        if len(self._times) <= self._job.repeat + 1:  # the first two, before all is warm, do not count
            QTimer.singleShot(0, lambda picture=frame.spheres: view.show_spheres(picture))
            return
        self.milliseconds[self._left.pop(0)] = statistics.median(self._times[2:])
        QTimer.singleShot(0, self.start)

    def _fail(self, problem: Any) -> None:
        self.problems.append(f"{problem.title}: {problem.sentence}")
        QTimer.singleShot(0, self.window.close)


def main() -> int:
    """Open, measure, print."""
    job = read_job(SpheresJob)
    settings = Settings()
    fixed = {"display.swap_interval": 0, "display.adapt_resolution": False, "display.view": "gl"}
    for name, value in {**fixed, "display.still_samples": 1, "render.device": job.device}.items():
        settings = set_option(settings, name, value)
    application, window = begin(0), make_window(Document(settings))
    for part in (*window.docks, window.menuBar(), window.pipeline, window.statusBar()):
        part.hide()
    measurement = SphereMeasurement(window, job)
    if application.platformName() in ("offscreen", "minimal"):
        problem = f"Qt's platform {application.platformName()} has no OpenGL: a screen is needed."
        print(json.dumps({"problems": [problem]}))
        return 1
    open_window(window, (job.size[0], job.size[1]))
    scene = make_spheres(job.spheres, 0, "pixels", job.pixels)
    window.document.change("settings.display.spheres", measurement._left[0] if measurement._left else "rays")
    window.document.set_scene(SceneReference("demo", ("spheres",)), scene)
    measurement.start()
    QTimer.singleShot(round(job.patience_s * 1000), window.close)
    application.exec()
    answer = {
        "milliseconds": measurement.milliseconds,
        "size": measurement.size,
        "gl_renderer": gl_renderer(),
        "problems": measurement.problems,
    }
    print(json.dumps(answer, indent=1))
    return 1 if measurement.problems else 0


if __name__ == "__main__":
    sys.exit(main())
