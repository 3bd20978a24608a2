"""The pictures of a suite's scenes, for the published figures that show them: drawn by the engine, saved by whoever
runs the suite."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Sequence

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene

from ..measure import Task
from .job import SuiteJob
from .report import Picture, SuiteReport
from .scenes import SceneChoice

SAMPLES = 16
"""Of a pixel."""


@dataclasses.dataclass(frozen=True)
class Shot:
    """A picture to take: for the published figure `number`, of a scene at a moment, drawn as `settings` say, from
    `camera`, or where the scene is seen from. `of` is what tells it from others of that scene and figure."""

    number: str
    settings: ViewSettings
    of: str = ""
    moment: Moment = Moment()
    camera: Camera | None = None


def take(
    job: SuiteJob, report: SuiteReport, choice: SceneChoice, scene: Scene, shots: Sequence[Shot], size: tuple[int, int]
) -> None:
    """Draw and save pictures of a scene, and name them in the report; none where the job saves none."""
    if job.save_picture is None:
        return
    for shot in shots:
        pixels = ArrayPixels(job.target, *size)
        settings = dataclasses.replace(shot.settings, samples=SAMPLES)
        view = View(settings, Task(scene, settings, size, camera=shot.camera).view_from(), pixels)
        with contextlib.closing(Engine(job.target, scene)) as engine:
            for _ in range(SAMPLES):
                engine.render_frame(shot.moment, [view])
            engine.flush()
            image = pixels.download()
        words = (shot.number, choice.published if choice.is_same else f"{choice.published}-{choice.name}", shot.of)
        name = "-".join(filter(None, (re.sub(r"[^a-z0-9.]+", "-", word.lower()).strip("-") for word in words)))
        title = choice.label(scene) + (f": {shot.of}" if shot.of else "")
        report.pictures.append(Picture(shot.number, title, job.save_picture(name, image)))
