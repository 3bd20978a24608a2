"""`bench frame`: whole frames through the engine, as the window draws them: animate, update, trace, shade, resolve, and
the host's work for it."""

from __future__ import annotations

import contextlib
import dataclasses
import time

from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.stats import FrameStatistics, ViewStatistics
from raygrove.gpu.target.base import Target

from .measure import Task, median
from .rows import Row, row_of_frame


def run_frame(target: Target, task: Task) -> Row:
    """Frames at each moment in turn, `repeat` rounds of them, issued without waiting. Samples of each frame: `frame_ms`
    on the target, `host_ms` of the issuing thread, `period_ms` that it adds to the run, which is the longer of the
    target's time and of the time until the host issues the next one, and `frames_per_s`, one over it: their medians do
    not mind what held the host up once. Where tiles choose their arrangement by trying some, they have done so before.
    Of the run: `wall_ms` a frame, `host_over_device_ms` the part of it that is not
    the target's, `allocated_bytes` by which the target's memory grew meanwhile."""
    settings = dataclasses.replace(task.settings, update=dataclasses.replace(task.settings.update, always=True))
    view = View(settings, task.view_from(), ArrayPixels(target, *task.size))
    with contextlib.closing(Engine(target, task.scene)) as engine:
        engine.tries_arrangements = True
        for turn in range(max(1, task.warmup)):
            engine.render_frame(dataclasses.replace(task.moments[turn % len(task.moments)], frame_id=-1), [view])
        engine.flush()
        while engine.is_trying:
            engine.render_frame(dataclasses.replace(task.moments[0], frame_id=-1), [view])
            engine.flush()
        before = sum(target.memory().values())
        played = _play(engine, task, view)
        allocated = max(0, sum(target.memory().values()) - before)
        found = engine.totals(view)
    row = _row(target, settings, task, played)
    return dataclasses.replace(
        row, hits=found.hits, sum_t=found.sum_t, samples={**row.samples, "allocated_bytes": [float(allocated)]}
    )


@dataclasses.dataclass(frozen=True)
class _Played:
    """Frames in the order they were issued: their statistics, the time until the host issued the next, and the wall
    time of a frame of the run."""

    frames: list[FrameStatistics]
    issued_ms: list[float]
    wall_ms: float


def _play(engine: Engine, task: Task, view: View) -> _Played:
    rounds = [moment for _ in range(task.repeat) for moment in task.moments]
    finished: dict[int, FrameStatistics] = {}
    engine.tell_of_every_frame(lambda done: finished.update({done.frame_id: done}))
    started = [time.perf_counter()]
    for number, moment in enumerate(rounds):
        engine.render_frame(dataclasses.replace(moment, frame_id=number), [view])
        started.append(time.perf_counter())
    engine.target.synchronize()
    wall_ms = (time.perf_counter() - started[0]) * 1e3 / len(rounds)
    last = engine.flush()
    finished[last.frame_id] = last
    complete = [number for number in range(len(rounds)) if number in finished]
    issued = [1e3 * (started[number + 1] - started[number]) for number in complete]
    return _Played([finished[number] for number in complete], issued, wall_ms)


def _row(target: Target, settings: ViewSettings, task: Task, played: _Played) -> Row:
    frames, wall_ms = played.frames, played.wall_ms
    row = row_of_frame(task.scene.name, target, settings, frames[-1])
    views = [frame.views[0] for frame in frames]
    frame_ms, host_ms = [frame.frame_ms for frame in frames], [frame.host_ms for frame in frames]
    period_ms = [max(spent, issued) for spent, issued in zip(frame_ms, played.issued_ms, strict=True)]
    names = list(dict.fromkeys(name for view in views for name in view.phases_ms))
    phases = {name: [view.phases_ms[name] for view in views if name in view.phases_ms] for name in names}
    samples = {
        name: [float(getattr(view, name)) for view in views]
        for name in ("build_ms", "refit_ms", "trace_ms", "shade_ms", "mrays_per_s")
    }
    return dataclasses.replace(
        row,
        build_ms=median(samples["build_ms"]),
        refit_ms=median(samples["refit_ms"]),
        trace_ms=median(samples["trace_ms"]),
        mrays_per_s=median(samples["mrays_per_s"]),
        mrays_per_s_by_kind={
            kind: median([view.mrays_per_s_by_kind.get(kind, 0.0) for view in views]) for kind in row.rays_by_kind
        },
        phases_ms={
            "animate": median([frame.animate_ms for frame in frames]),
            **{name: median(values) for name, values in phases.items()},
        },
        update=_common_update(views),
        samples={
            "frame_ms": frame_ms,
            "host_ms": host_ms,
            "period_ms": period_ms,
            "frames_per_s": [1e3 / period for period in period_ms],
            "wall_ms": [wall_ms],
            "host_over_device_ms": [max(0.0, wall_ms - median(frame_ms))],
            **samples,
        },
    )


def _common_update(views: list[ViewStatistics]) -> str:
    """What happened to the structure in most frames."""
    counts: dict[str, int] = {}
    for view in views:
        counts[view.update] = counts.get(view.update, 0) + 1
    return max(counts, key=lambda name: counts[name])
