"""A rebuild as the engine repeats it: captured once, replayed as a graph, alone or within whole frames of a scene that
moves."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable

from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.repeated_launches import FRAMES_BEFORE_CAPTURE
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions

from .measure import Stage, Task, median, timed

FRAMES_ALONE = 64
"""Frames whose host work is measured; a frame takes the host so little that fewer tell nothing."""
PHASES_EVERY = 8
"""Replays of which one times its phases where they are sampled, as gpu/target/cuda_graph.py has it."""


@dataclasses.dataclass(frozen=True)
class Replayed:
    """Medians on the target, whole and by phase, and of the host: of frames that time their phases, of light ones that
    do not, and `host_ms` of the window's frames, of which every eighth does; the graph's kernels. On the target light
    frames are the shorter ones, too: events are nodes there."""

    spent_ms: float
    light_ms: float
    host_timed_ms: float
    host_light_ms: float
    kernels: int
    phases_ms: dict[str, float]

    @property
    def host_ms(self) -> float:
        """The mean of a window's frames."""
        return (self.host_timed_ms + (PHASES_EVERY - 1) * self.host_light_ms) / PHASES_EVERY


def build_as_graph(target: Target, scene: Scene, settings: ViewSettings, repeat: int) -> Replayed:
    """Measure it. The host's part is a whole frame of that alone, its clock and the reading of an earlier frame's times
    included. The target is idle and the host awake: a host that has slept for two milliseconds takes five times as long
    for whatever it does first."""
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        primitives = stage.show(Moment()).primitives
        for _ in range(FRAMES_BEFORE_CAPTURE):
            stage.hierarchy.build(primitives)
        target.synchronize()
        replay = target.capture(lambda: stage.hierarchy.build(primitives))
        run = timed(target, replay, repeat, 5)

        def host_ms(is_sampled: bool) -> float:
            target.samples_phases, spent = is_sampled, []
            for index in range(FRAMES_ALONE):
                _stay_awake(1.2 * median(run.spans_ms))
                target.synchronize()
                started = time.perf_counter()
                target.begin_frame(index)
                replay()
                target.end_frame()
                target.finished_frames()
                spent.append(1e3 * (time.perf_counter() - started))
            target.synchronize()
            target.samples_phases = False
            return median(spent)

        timed_ms, light_ms = host_ms(False), host_ms(True)
        spans = (median(run.spans_ms), light_span(target, replay, repeat))
        return Replayed(*spans, timed_ms, light_ms, getattr(replay, "kernel_count", run.launches), run.medians())


def _stay_awake(milliseconds: float) -> None:
    """Do nothing, without sleeping."""
    until = time.perf_counter() + 1e-3 * milliseconds
    while time.perf_counter() < until:
        pass


def light_span(target: Target, replay: Callable[[], None], repeat: int) -> float:
    """What the target takes for a replay without events of its phases, in milliseconds; with them where a target has no
    such replays."""
    target.synchronize()
    target.finished_frames()
    target.samples_phases = True
    for index in range(PHASES_EVERY * (1 + repeat // PHASES_EVERY)):
        target.begin_frame(index)
        replay()
        target.end_frame()
    target.synchronize()
    target.samples_phases = False
    found = target.finished_frames()
    return median([frame.span_ms for frame in found if not frame.has_phases] or [frame.span_ms for frame in found])


@dataclasses.dataclass(frozen=True)
class Live:
    """Medians of whole frames of a scene that moves and is rebuilt in each: from the request to the target's end, what
    the host took to issue one, what the target took for it, and of that for the build and for rays and their
    colours."""

    wall_ms: float
    host_ms: float
    frame_ms: float
    build_ms: float
    rays_ms: float

    @property
    def update_ms(self) -> float:
        """A frame without its rays: what the host does, the vertices and the build."""
        return self.wall_ms - self.rays_ms


def live_frames(
    target: Target, scene: Scene, settings: ViewSettings, frames: int, size: tuple[int, int], repeats: bool = True
) -> Live:
    """Draw it through an engine, another moment each frame, and wait for each. Without `repeats` every frame's launches
    are issued one by one."""
    settings = dataclasses.replace(settings, update=UpdateOptions("rebuild"))
    view = View(settings, Task(scene).view_from(), ArrayPixels(target, *size))
    found: dict[int, FrameStatistics] = {}
    wall_ms: list[float] = []
    with contextlib.closing(Engine(target, scene, repeats)) as engine:
        engine.tell_of_every_frame(lambda done: found.update({done.frame_id: done}))
        for number in range(frames + 2 * FRAMES_BEFORE_CAPTURE):
            moment = Moment((0.1 + number / 60.0) % scene.duration(), frame_id=number)
            started = time.perf_counter()
            engine.render_frame(moment, [view])
            target.synchronize()
            wall_ms.append(1e3 * (time.perf_counter() - started))
        engine.flush()
    measured = [found[number] for number in sorted(found)][2 * FRAMES_BEFORE_CAPTURE :]
    if any(one.views[0].update != "rebuild" for one in measured):
        raise RuntimeError(f"Frames of {scene.name} did not rebuild: it does not move at every moment.")
    views = [one.views[0] for one in measured]
    return Live(
        wall_ms=median(wall_ms[2 * FRAMES_BEFORE_CAPTURE :]),
        host_ms=median([one.host_ms for one in measured]),
        frame_ms=median([one.frame_ms for one in measured]),
        build_ms=median([view.build_ms for view in views]),
        rays_ms=median([view.trace_ms + view.shade_ms for view in views]),
    )
