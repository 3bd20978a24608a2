"""Puts a frame's statistics together when its times arrive: what the host knew at once waits here for what the target
says later."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Hashable

from .stats import (
    SIMULATE,
    FrameStatistics,
    HierarchyStatistics,
    KeyStreaming,
    SimulationStatistics,
    StepCounts,
    ViewStatistics,
)
from .target.base import FrameTiming, Target

MAX_WAITING = 64
"""Frames whose times have not come; the oldest is dropped beyond that."""
MAX_KINDS = 32
"""Kinds of frames whose phases are remembered for frames that have theirs untimed."""


FULL_LISTS = "; the lists were longer than their memory, so that spheres were splatted; the next frames have more"
"""What the statistics add about first hits then."""


@dataclasses.dataclass(frozen=True, eq=False)
class ViewRecord:
    """What the host knows of one view when its frame is issued. `prefix` marks its phases, `secondary_rays` gives
    numbers by kind once counted."""

    prefix: str
    hierarchy: str
    layout: str
    ray_type: str
    update: str
    reason: str
    primary_rays: int
    width: int
    height: int
    samples: int
    structure: Callable[[], HierarchyStatistics]
    secondary_rays: Callable[[], dict[str, int] | None]
    steps: Callable[[], StepCounts | None] = lambda: None
    learn: Callable[[float, float, int], None] = lambda update_ms, trace_ms, rays: None
    """Told what the update and tracing took, and how many primary rays there were, once that is known."""
    update_mode: str = ""
    primary: str = ""
    notices: tuple[str, ...] = ()
    has_full_lists: Callable[[], bool] = lambda: False
    lacks_room: Callable[[], bool] = lambda: False
    """Whether the ray type had too little room for what the picture shows, once that is known."""
    """Whether tiles' lists were too long for their memory, so that spheres were splatted, once that is known."""
    learn_phases: Callable[[dict[str, float]], None] = lambda phases_ms: None
    """Told the view's phases, once they are known."""

    @property
    def kind(self) -> Hashable:
        """What frames have in common whose phases take about the same time: they are replays of one graph, or of graphs
        much alike."""
        return (
            self.prefix,
            self.hierarchy,
            self.layout,
            self.ray_type,
            self.update,
            self.width,
            self.height,
            self.primary_rays,
            self.primary,
        )


@dataclasses.dataclass(frozen=True, eq=False)
class FrameRecord:
    """What the host knows of a frame."""

    frame_id: int
    time: float
    triangles: int
    host_ms: float
    views: tuple[ViewRecord, ...]
    hidden: int = 0
    key_frames: KeyStreaming | None = None
    simulation: Callable[[], SimulationStatistics] | None = None


STAGES = {"rebuild": "build", "refit": "refit"}
"""The stage of a frame that its optimiser's phases count to: a tree is not finished before."""


class FrameLog:
    """Frames that wait for their times, by the number the target knows them by."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._waiting: collections.OrderedDict[int, FrameRecord] = collections.OrderedDict()
        self._timed: collections.OrderedDict[Hashable, tuple[int, dict[str, float]]] = collections.OrderedDict()
        self.newest: FrameStatistics | None = None
        self.on_finished: Callable[[FrameStatistics], None] = lambda statistics: None
        """Told of every finished frame, where `collect` gives the newest of them."""

    def add(self, number: int, record: FrameRecord) -> None:
        """A frame was issued."""
        self._waiting[number] = record
        if len(self._waiting) > MAX_WAITING:
            self._waiting.popitem(last=False)

    def collect(self) -> FrameStatistics | None:
        """Take what the target has finished; the statistics of the newest finished frame. Does not wait."""
        for timing in self._target.frames_of(self._waiting):
            self.newest = self._statistics(self._waiting.pop(timing.frame_id), timing)
            self.on_finished(self.newest)
        return self.newest

    def _phases_of(self, record: FrameRecord, timing: FrameTiming) -> tuple[int, dict[str, float]]:
        """The frame's phases, and how many frames ago they were timed. Frames that leave them untimed are replays, and
        each kind's first is timed."""
        kind = tuple(view.kind for view in record.views)
        if timing.has_phases:
            self._timed[kind] = (timing.frame_id, timing.phases_ms)
            self._timed.move_to_end(kind)
            if len(self._timed) > MAX_KINDS:
                self._timed.popitem(last=False)
            return 0, timing.phases_ms
        number, phases_ms = self._timed.get(kind, (timing.frame_id, {}))
        return timing.frame_id - number, phases_ms

    def _statistics(self, record: FrameRecord, timing: FrameTiming) -> FrameStatistics:
        age, phases_ms = self._phases_of(record, timing)
        return FrameStatistics(
            frame_id=record.frame_id,
            time=record.time,
            target=self._target.name,
            triangles=record.triangles,
            animate_ms=phases_ms.get("animate", 0.0),
            frame_ms=timing.span_ms,
            host_ms=record.host_ms,
            launches=timing.launches,
            bytes=self._target.memory(),
            hidden=record.hidden,
            views=tuple(_view_statistics(view, phases_ms, is_learnt=timing.has_phases) for view in record.views),
            key_frames=record.key_frames,
            phases_age=age,
            idle_bytes=self._target.idle_bytes(),
            simulation=None if record.simulation is None else _simulation(record.simulation(), phases_ms),
        )


def _simulation(known: SimulationStatistics, phases_ms: dict[str, float]) -> SimulationStatistics:
    of_it = {name.removeprefix(SIMULATE): ms for name, ms in phases_ms.items() if name.startswith(SIMULATE)}
    return dataclasses.replace(known, phases_ms=of_it)


def _view_statistics(view: ViewRecord, phases_ms: dict[str, float], is_learnt: bool) -> ViewStatistics:
    phases = {name[len(view.prefix) :]: ms for name, ms in phases_ms.items() if name.startswith(view.prefix)}

    spent: dict[str, float] = collections.defaultdict(float)
    for name, ms in phases.items():
        spent[name.partition(".")[0]] += ms
    by_kind = {"primary": view.primary_rays, **(view.secondary_rays() or {})} if view.primary_rays else {}
    rays = sum(by_kind.values())
    trace_ms = spent["trace"]
    spent[STAGES.get(view.update, "build")] += spent["optimise"]
    if is_learnt:
        view.learn(spent["build"] + spent["refit"], trace_ms + spent["shade"], view.primary_rays)
        view.learn_phases(phases)
    return ViewStatistics(
        hierarchy=view.hierarchy,
        layout=view.layout,
        ray_type=view.ray_type,
        update=view.update,
        reason=view.reason,
        phases_ms=phases,
        build_ms=spent["build"],
        refit_ms=spent["refit"],
        trace_ms=trace_ms,
        shade_ms=spent["shade"] + spent["resolve"],
        rays=rays,
        rays_by_kind=by_kind,
        mrays_per_s=rays / trace_ms / 1000.0 if trace_ms > 0.0 else 0.0,
        width=view.width,
        height=view.height,
        samples=view.samples,
        structure=view.structure(),
        steps=view.steps(),
        update_mode=view.update_mode,
        primary=view.primary + (FULL_LISTS if view.has_full_lists() else ""),
        notices=view.notices,
        lacks_room=view.lacks_room(),
    )
