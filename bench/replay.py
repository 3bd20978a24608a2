"""A rebuild as the engine repeats it: captured once, replayed as a graph."""

from __future__ import annotations

import contextlib
import dataclasses
import time

from gpu.engine import ViewSettings
from gpu.repeated_launches import FRAMES_BEFORE_CAPTURE
from gpu.scene import Moment, Scene
from gpu.target.base import Target

from .measure import Stage, median, timed


@dataclasses.dataclass(frozen=True)
class Replayed:
    """Medians on the target, whole and by phase, and of the host; the graph's kernels."""

    spent_ms: float
    host_ms: float
    kernels: int
    phases_ms: dict[str, float]


def build_as_graph(target: Target, scene: Scene, settings: ViewSettings, repeat: int) -> Replayed:
    """Measure it. The host's part is a whole frame of that alone, its clock and the reading of an earlier frame's times included."""
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        primitives = stage.show(Moment()).primitives
        for _ in range(FRAMES_BEFORE_CAPTURE):
            stage.hierarchy.build(primitives)
        target.synchronize()
        replay = target.capture(lambda: stage.hierarchy.build(primitives))
        run = timed(target, replay, repeat, 5)
        host_ms = []
        for index in range(repeat):
            target.synchronize()
            started = time.perf_counter()
            target.begin_frame(index)
            replay()
            target.end_frame()
            host_ms.append(1e3 * (time.perf_counter() - started))
        target.synchronize()
        return Replayed(median(run.spans_ms), median(host_ms), getattr(replay, "kernel_count", run.launches), run.medians())
