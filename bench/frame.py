"""`bench frame`: whole frames through the engine, as the window draws them: animate, update, trace, shade, resolve, and the host's work for it."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpu.engine import Engine, View, ViewSettings
from gpu.scene import Moment
from gpu.stats import FrameStatistics, ViewStatistics
from gpu.target.base import Array, Target

from .measure import Stage, Task, median
from .rows import Row, row_of_frame


class Picture:
    """Where frames go: a picture in the target's memory that nobody looks at."""

    def __init__(self, target: Target, size: tuple[int, int]) -> None:
        self.width, self.height = size
        self.array = target.empty((self.height, self.width, 4), np.uint8, "display")

    @contextlib.contextmanager
    def map(self) -> Iterator[Array]:
        """The array for one frame."""
        yield self.array


def run_frame(target: Target, task: Task) -> Row:
    """Frames at each moment in turn, `repeat` rounds of them, issued without waiting. Samples: `frame_ms` on the target, `host_ms` of the issuing
    thread, `wall_ms` a frame of the whole run, `host_over_device_ms` the part of it that is not the target's, `frames_per_s`."""
    settings = _always(task.settings)
    picture = Picture(target, task.size)
    rounds = [dataclasses.replace(moment, frame_id=turn) for turn in range(task.repeat) for moment in task.moments]
    with contextlib.closing(Engine(target, task.scene)) as engine:
        for turn in range(max(1, task.warmup)):
            engine.render_frame(task.moments[turn % len(task.moments)], [_view(settings, task, picture, turn)])
        engine.flush()
        finished, wall_ms = _play(engine, rounds, settings, task, picture)
    row = _row(target, settings, task, finished, wall_ms)
    with contextlib.closing(Stage(target, task.scene, settings)) as stage:
        stage.hierarchy.build(stage.show(task.moments[-1]).primitives)
        found = stage.totals(task.view_from(), task.size)
    return dataclasses.replace(row, hits=found.hits, sum_t=found.sum_t, **stage.names())


def _always(settings: ViewSettings) -> ViewSettings:
    return dataclasses.replace(settings, update=dataclasses.replace(settings.update, always=True))


def _view(settings: ViewSettings, task: Task, picture: Picture, turn: int) -> View:
    """A film that is full draws nothing, so every other frame has another seed."""
    return View(dataclasses.replace(settings, seed=settings.seed + turn % 2), task.view_from(), picture)


def _play(engine: Any, moments: list[Moment], settings: ViewSettings, task: Task, picture: Picture) -> tuple[list[FrameStatistics], float]:
    """The finished frames, each once, and the wall time of a frame."""
    finished: dict[int, FrameStatistics] = {}
    started = time.perf_counter()
    for turn, moment in enumerate(moments):
        done = engine.render_frame(dataclasses.replace(moment, frame_id=turn), [_view(settings, task, picture, turn)])
        if done is not None:
            finished[id(done)] = done
    last = engine.flush()
    wall_ms = (time.perf_counter() - started) * 1e3 / len(moments)
    finished[id(last)] = last
    return list(finished.values()), wall_ms


def _row(target: Target, settings: ViewSettings, task: Task, frames: list[FrameStatistics], wall_ms: float) -> Row:
    row = row_of_frame(task.scene.name, target, settings, frames[-1])
    views = [frame.views[0] for frame in frames]
    frame_ms, host_ms = [frame.frame_ms for frame in frames], [frame.host_ms for frame in frames]
    names = list(dict.fromkeys(name for view in views for name in view.phases_ms))
    phases = {name: [view.phases_ms[name] for view in views if name in view.phases_ms] for name in names}
    samples = {name: [float(getattr(view, name)) for view in views] for name in ("build_ms", "refit_ms", "trace_ms", "shade_ms", "mrays_per_s")}
    return dataclasses.replace(
        row,
        build_ms=median(samples["build_ms"]),
        refit_ms=median(samples["refit_ms"]),
        trace_ms=median(samples["trace_ms"]),
        mrays_per_s=median(samples["mrays_per_s"]),
        phases_ms={"animate": median([frame.animate_ms for frame in frames]), **{name: median(values) for name, values in phases.items()}},
        update=_common_update(views),
        samples={
            "frame_ms": frame_ms,
            "host_ms": host_ms,
            "wall_ms": [wall_ms],
            "host_over_device_ms": [max(0.0, wall_ms - median(frame_ms))],
            "frames_per_s": [1e3 / wall_ms],
            **samples,
        },
    )


def _common_update(views: list[ViewStatistics]) -> str:
    """What happened to the structure in most frames."""
    counts: dict[str, int] = {}
    for view in views:
        counts[view.update] = counts.get(view.update, 0) + 1
    return max(counts, key=lambda name: counts[name])
