"""Exports: numbered frames through an engine of their own into whatever a file's name means. For `render` and for the
window's dialog."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from raygrove.app.camera.path import CameraPath
from raygrove.app.document import saved_state
from raygrove.app.document.jobs import Cancelled, Job
from raygrove.app.document.state import State
from raygrove.app.export.outputs import Exported, open_output
from raygrove.app.export.sequence import check_palette
from raygrove.app.frames.headless import Frame, render_frames
from raygrove.app.frames.legends import explained
from raygrove.app.frames.rows import row_of
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.file import to_table
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.brief import brief
from raygrove.gpu.camera import Camera
from raygrove.gpu.quantise.palette import quantise
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target

CANCEL_SECONDS = 0.05
"""How often a waiting job looks whether it was cancelled."""

SHORT_S = 120.0
"""Up to here seconds are told."""


@dataclasses.dataclass(frozen=True)
class ExportPlan:
    """What goes where: `out` as `--out` has it, (number, seconds) of each frame, frames per second of a video, and in
    how many frames the camera goes round (0: it stays), or the path that it goes along."""

    out: str
    frames: tuple[tuple[int, float], ...]
    fps: float
    turntable: int = 0
    path: CameraPath | None = None

    @property
    def camera_of(self) -> Callable[[int], Camera] | None:
        """Where the camera stands in a frame, by its number; None where the state says so."""
        path, fps = self.path, self.fps
        return None if path is None else lambda number: path.at(number / fps)


def plan_of(state: State, scene: Scene, out: str, numbers: range, turntable_seconds: float = 0.0) -> ExportPlan:
    """Frames by their numbers, at the timeline's rate."""
    options = state.settings.timeline
    span = timelines.span_of(scene, state.timeline, options)
    frames = tuple((number, timelines.frame_time(number, span, options.repeat)) for number in numbers)
    return ExportPlan(out, frames, span.fps, turntable_frames(turntable_seconds, span.fps))


def turntable_frames(seconds: float, fps: float) -> int:
    """Frames of a whole turn; 0 seconds: none."""
    return max(1, round(seconds * fps)) if seconds > 0.0 else 0


def smooth_samples(settings: Settings) -> int:
    """Samples per pixel that a written picture has where nobody says, and a still picture in the window at least."""
    return max(settings.render.samples, settings.display.still_samples)


def with_samples(settings: Settings, count: int) -> Settings:
    """Settings whose pictures have so many samples per pixel: written ones, and in the window, when such a picture is
    opened there."""
    settings = set_option(settings, "render.samples", count)
    return set_option(settings, "display.still_samples", min(settings.display.still_samples, count))


def texts_of_frame(state: State, frame: Frame, device: str) -> dict[str, str]:
    """What the picture of a frame carries: the state from which it can be drawn again."""
    shown = saved_state.at_moment(state, Moment(frame.time, state.timeline.clip, frame.number))
    place = shown.views[0].camera
    shown = dataclasses.replace(shown, cameras=(*shown.cameras[:place], frame.camera, *shown.cameras[place + 1 :]))
    return saved_state.texts_of(shown, frame.statistics[-1], device)


def exported(
    state: State, scene: Scene, frame: Frame, target: Target, row: Mapping[str, Any], *, takes_palettes: bool
) -> Exported:
    """A frame as it is written: with its legend and the state from which it can be drawn again, in few colours where
    the settings say so and the file can be."""
    device = f"{target.device_name} ({target.name})"
    views = frame.statistics[-1].views
    pixels = explained(frame.pixels, state, scene, views[0].steps if views else None)
    indexed, colours = None, state.settings.render.palette
    if colours and takes_palettes:
        found = quantise(target, pixels, colours)
        indexed = (found.palette, found.indices)
    return Exported(frame.number, pixels, texts_of_frame(state, frame, device), frame.buffers, row, indexed)


def export(
    job: Job, state: State, scene: Scene, plan: ExportPlan, make_target: Callable[[State], Target] | None = None
) -> list[Path]:
    """Write the frames; returns the files that stand. A cancel of the job acts at once: what is being drawn runs out
    behind it, and is thrown away. Raises what drawing and writing raise, Cancelled."""
    worker = Job(job.title)
    done: list[list[Path]] = []
    thread = threading.Thread(
        target=lambda: worker.run(
            lambda _: done.append(_export(worker, state, scene, plan, make_target or _own_target))
        ),
        name="export",
        daemon=True,
    )
    thread.start()
    while not worker.wait(CANCEL_SECONDS):
        if job.is_cancelled:
            worker.cancel()
            worker.wait(4 * CANCEL_SECONDS)
            raise Cancelled(job.title)
        job.report(worker.progress, worker.message)
    if worker.error is not None:
        raise worker.error
    if not done:
        raise Cancelled(job.title)
    return done[0]


def time_left(seconds: float, done: int, count: int) -> str:
    """What to say of how long the others take, when so many took `seconds`; of a minute or two nothing."""
    left = seconds / done * (count - done)
    return f", about {roughly(left)} left" if left > SHORT_S else ""


def roughly(seconds: float) -> str:
    """How long something takes, as one says it before: 8 s, 12 min, 3.5 h."""
    if seconds <= SHORT_S:
        return f"{max(seconds, 1.0):.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 120.0 * 60.0 else f"{brief(seconds / 3600.0, 2)} h"


def expected_seconds(
    frames: int, size: tuple[int, int], samples: int, seen: Sequence[FrameStatistics], update: FrameStatistics | None
) -> float:
    """What drawing takes, by the pictures `seen` of the same choice: the rays of each sample by their pixels, and where
    something moves the animation and the newest `update`, once a frame. 0 where none has been timed. Writing files is
    not counted."""
    timed = [one for one in seen if one.views and one.phases_age == 0 and one.views[0].trace_ms > 0.0]
    if not timed:
        return 0.0
    views = [one.views[0] for one in timed]
    pixel_ms = median((one.trace_ms + one.shade_ms) / max(one.width * one.height, 1) for one in views)
    once_ms = 0.0
    if update is not None:
        once_ms = update.animate_ms + sum(one.build_ms + one.refit_ms for one in update.views[:1])
    return frames * (once_ms + samples * pixel_ms * size[0] * size[1]) / 1000.0


def _own_target(state: State) -> Target:
    return choose(state.settings.render.device, state.settings.device)


def _export(
    job: Job, state: State, scene: Scene, plan: ExportPlan, make_target: Callable[[State], Target]
) -> list[Path]:
    render, count = state.settings.render, len(plan.frames)
    check_palette(plan.out, render.palette)
    job.report(0.0, "Preparing")
    with contextlib.closing(make_target(state)) as target:
        device = f"{target.device_name} ({target.name})"
        context = {"device": device, "settings": to_table(state.settings)}
        with open_output(plan.out, count, (render.width, render.height), plan.fps, context, job.check) as output:
            drawn = render_frames(
                target,
                scene,
                state,
                plan.frames,
                with_buffers=output.needs_buffers,
                turntable=plan.turntable,
                path=plan.camera_of,
                check=lambda share: job.check(),
            )
            with contextlib.closing(drawn):
                began = 0.0
                for index, frame in enumerate(drawn):
                    now = time.monotonic()
                    began = began if index else now  # the first frame compiles and builds
                    left = time_left(now - began, index, count - 1) if index else ""
                    job.report(index / count, f"frame {index + 1} of {count}{left}")
                    row = row_of(frame.number, frame.time, frame.statistics[-1])
                    output.add(exported(state, scene, frame, target, row, takes_palettes=output.takes_palettes))
        return output.files
