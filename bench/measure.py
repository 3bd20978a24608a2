"""What every measurement needs: the task, a scene and a structure on a target, and frames of a body timed by the
target's own clock."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raygrove.gpu.analysis.workload import Workload
from raygrove.gpu.animate.animate import Animator, Surface
from raygrove.gpu.camera import Camera, fit
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.base import Hierarchy
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import HierarchyStatistics
from raygrove.gpu.target.base import FrameTiming, Target
from raygrove.gpu.trace.trace import VIEW_FRAME, CameraRays, HitBuffer, Totals, Tracer, totals

FRAMES_IN_FLIGHT = 16
"""Frames issued before the target is waited for, so that a device never runs out of work nor a clock out of events."""


@dataclasses.dataclass(frozen=True, eq=False)
class Task:
    """What to measure: a scene at some moments, what is chosen, the picture, and how often. No camera takes the scene's
    own; `rays` are traced in a picture's place by bench trace."""

    scene: Scene
    settings: ViewSettings = ViewSettings()
    size: tuple[int, int] = (1024, 768)
    moments: tuple[Moment, ...] = (Moment(),)
    repeat: int = 20
    warmup: int = 5
    camera: Camera | None = None
    rays: Workload | None = None

    def view_from(self) -> Camera:
        """The camera given, or the scene's, or one that sees the whole scene."""
        if self.camera is not None:
            return self.camera
        if self.scene.eye is not None and self.scene.look_at is not None:
            return Camera(eye=self.scene.eye, look_at=self.scene.look_at)
        return fit(self.scene.lower, self.scene.upper, aspect=self.size[0] / self.size[1])


@dataclasses.dataclass
class Timed:
    """Frames of one body: spans from first to last event, phases by name, launches of the last frame."""

    spans_ms: list[float] = dataclasses.field(default_factory=list)
    phases_ms: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    launches: int = 0

    def add(self, frame: FrameTiming) -> None:
        """Keep one more frame."""
        self.spans_ms.append(frame.span_ms)
        self.launches = frame.launches
        for name, value in frame.phases_ms.items():
            self.phases_ms.setdefault(name, []).append(value)

    def extend(self, other: Timed) -> None:
        """Keep the frames of another body."""
        self.spans_ms += other.spans_ms
        self.launches = other.launches or self.launches
        for name, values in other.phases_ms.items():
            self.phases_ms.setdefault(name, []).extend(values)

    def medians(self) -> dict[str, float]:
        """The median of each phase."""
        return {name: statistics.median(values) for name, values in self.phases_ms.items()}


class Stage:
    """A scene on a target and one structure over it, outside any frame loop."""

    def __init__(self, target: Target, scene: Scene, settings: ViewSettings) -> None:
        self.target, self.settings = target, settings
        self.animator = Animator(target, scene)
        self.hierarchy: Hierarchy = make_structure(target, settings.hierarchy, settings.structure_choice)
        self._frame = target.zeros(VIEW_FRAME.itemsize, np.uint8, "film")

    def show(self, moment: Moment) -> Surface:
        """The scene's surface at a moment."""
        return self.animator.at(moment)

    def rays(self, camera: Camera, size: tuple[int, int]) -> CameraRays:
        """The primary rays of a picture, through pixel centres."""
        frame = np.zeros((), VIEW_FRAME)
        frame["camera"], frame["width"], frame["height"] = camera.frame(*size), size[0], size[1]
        frame["jitter"], frame["exposure"], frame["sample_count"] = 0.5, 1.0, 1
        self.target.write(self._frame, frame.reshape(1).view(np.uint8))
        return CameraRays(self._frame, *size)

    def trace(self, rays: CameraRays, kind: str = "closest") -> HitBuffer:
        """Trace through the tree that was last built."""
        return Tracer(self.target, self.hierarchy.traversal()).trace(rays, kind)

    def totals(self, camera: Camera, size: tuple[int, int]) -> Totals:
        """Hits and summed distances of a picture's primary rays. Waits."""
        return totals(self.target, self.trace(self.rays(camera, size)))

    def statistics(self, quality: bool = False) -> HierarchyStatistics:
        """The tree's statistics, measured now; with overlap, leaf-count variability and levels where asked for.
        Waits."""
        self.hierarchy.measure(self.settings.statistics)
        if quality:
            self.hierarchy.measure_quality(self.settings.statistics)
        self.target.synchronize()
        return self.hierarchy.stats()

    def triangles(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (V, 3) and triangles (T, 3) of the moment shown, on the host. Waits."""
        surface = self.animator.surface
        return self.target.download(surface.positions), self.target.download(surface.triangles)

    def names(self) -> dict[str, Any]:
        """Layout and traversal that were really taken."""
        return {"layout": self.hierarchy.layout_name, "traversal": self.hierarchy.traversal_name}

    def close(self) -> None:
        """Drop the structure's memory."""
        self.hierarchy.close()


def timed(target: Target, body: Callable[[], None], repeat: int, warmup: int) -> Timed:
    """Time `body` as frames of its own: `warmup` frames that are thrown away, then `repeat` that count. The body
    launches only."""
    target.synchronize()
    target.finished_frames()
    result = Timed()
    for index in range(warmup + repeat):
        target.begin_frame(index)
        body()
        target.end_frame()
        if index % FRAMES_IN_FLIGHT == FRAMES_IN_FLIGHT - 1 or index == warmup + repeat - 1:
            target.synchronize()
            for frame in target.finished_frames():
                if frame.frame_id >= warmup:
                    result.add(frame)
    return result


def profiled(target: Target, body: Callable[[], None], repeat: int, warmup: int) -> Timed:
    """The same with each launch timed by itself, as launch.KERNEL."""
    before = target.options.profile
    target.profile_launches(True)
    try:
        return timed(target, body, repeat, warmup)
    finally:
        target.profile_launches(before)


def median(values: Sequence[float]) -> float:
    """The median, 0 of nothing."""
    return statistics.median(values) if values else 0.0
