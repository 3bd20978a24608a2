"""The CUDA target's clock: pairs of events from a pool, read when the device has passed them, without waiting.

A frame is a list of spans (name, first event, last event) in the order of the stream. A span that starts where the one
before it ended, with no launch between, shares its event. Spans of a captured graph belong to the graph, which records
them anew at every replay; `Replay` reads them before that. A frame that replays a graph without events of its phases is
light: it has one event before the replay and one at its end.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from .base import FrameTiming
from .cuda_driver import Cuda, checked, error_for

_KEPT_FRAMES = 256  # of a caller that never asks for them, only the newest


@dataclasses.dataclass(frozen=True)
class Span:
    """A stretch of the stream between two events."""

    name: str
    first: int
    last: int


class Spans:
    """Spans by their places among the events that they begin and end at. Each event is asked once, however many spans
    meet there: asking is most of what a replayed graph costs the host."""

    def __init__(self, spans: list[Span]) -> None:
        self.events = list(dict.fromkeys(event for span in spans for event in (span.first, span.last)))
        place = {event: index for index, event in enumerate(self.events)}
        self.places = [(span.name, place[span.first], place[span.last]) for span in spans]
        self.names = tuple(dict.fromkeys(span.name for span in spans))


class EventPool:
    """CUDA events with a clock, used again and again: their handles as numbers. What is called in every frame is called
    through cupy, which puts no object around handles and statuses: a fifth less of these calls' time
    (docs/performance/refit-and-lbvh.md)."""

    def __init__(self, cuda: Cuda) -> None:
        self._runtime, quick = cuda.runtime, cuda.cupy.cuda.runtime
        self._elapsed, self._query, self._record, self._error = (
            quick.eventElapsedTime,
            quick.eventQuery,
            quick.eventRecord,
            quick.CUDARuntimeError,
        )
        self._free: list[int] = []
        self._all: list[int] = []

    def take(self) -> int:
        """An event that nobody uses."""
        if self._free:
            return self._free.pop()
        event = int(checked(self._runtime.cudaEventCreate(), "making an event"))
        self._all.append(event)
        return event

    def give_back(self, events: list[int]) -> None:
        """Events whose times have been read."""
        self._free += events

    def record(self, event: int, stream: int) -> None:
        """Mark this place of a stream that is not being captured."""
        try:
            self._record(event, stream)
        except self._error as error:
            raise error_for(int(error.status), "recording an event") from None

    def is_done(self, event: int) -> bool:
        """Whether the device has passed `event`; raises what a kernel did wrong."""
        status = self._query(event)
        if not status:
            return True
        if status != 600:  # cudaErrorNotReady
            raise error_for(status, "running kernels")
        return False

    def wait(self, event: int) -> None:
        """Wait until the device has passed `event`."""
        checked(self._runtime.cudaEventSynchronize(event), "running kernels")

    def milliseconds(self, first: int, last: int) -> float:
        """The device's time from one passed event to another."""
        try:
            found: float = self._elapsed(first, last)
        except self._error as error:
            raise error_for(int(error.status), "reading the clock") from None
        return found

    def close(self) -> None:
        """Give every event back to the driver."""
        for event in self._all:
            self._runtime.cudaEventDestroy(event)
        self._all, self._free = [], []


class _Frame:
    """What is known of a frame so far: times by phase, spans and replays still to be read."""

    __slots__ = (
        "end",
        "events",
        "first_ms",
        "frame_id",
        "is_light",
        "last_ms",
        "launches",
        "origin",
        "phases",
        "replays",
        "spans",
    )

    def __init__(self, frame_id: int) -> None:
        self.frame_id, self.launches = frame_id, 0
        self.origin: Any = None
        self.end: Any = None
        self.is_light = False
        self.events: list[Any] = []
        self.spans: list[Span] = []
        self.replays: list[Replay] = []
        self.phases: dict[str, float] = {}
        self.first_ms, self.last_ms = float("inf"), 0.0

    def read(self, spans: Spans, pool: EventPool) -> None:
        """Add the times of spans that the device has passed."""
        if self.is_light:
            return
        at = [pool.milliseconds(self.origin, event) for event in spans.events]
        for name, first, last in spans.places:
            self.phases[name] = self.phases.get(name, 0.0) + at[last] - at[first]
        if at:
            self.first_ms, self.last_ms = min(self.first_ms, min(at)), max(self.last_ms, max(at))

    def timing(self, pool: EventPool) -> FrameTiming:
        """The frame's clock once everything is read."""
        if self.is_light:
            return FrameTiming(
                self.frame_id, {}, self.launches, pool.milliseconds(self.origin, self.end), has_phases=False
            )
        return FrameTiming(
            self.frame_id, self.phases, self.launches, max(0.0, self.last_ms - self.first_ms) if self.phases else 0.0
        )


class Replay:
    """One executable copy of a captured graph: its spans, and the frame that replayed it last while its times are
    unread. Outside a frame, `done` is recorded after a launch instead of the frame's end. `is_light`: none of its
    phases has events."""

    def __init__(self, executable: Any, spans: list[Span], done: Any, launches: int, is_light: bool = False) -> None:
        self.is_light = is_light
        self.executable, self.spans, self.done, self.launches = executable, Spans(spans), done, launches
        self.frame: _Frame | None = None
        self.awaits_done = False

    def read(self, pool: EventPool) -> None:
        """Hand the times of the last replay to its frame; the device has passed the launch."""
        if self.frame is not None:
            self.frame.read(self.spans, pool)
            self.frame.replays.remove(self)
            self.frame = None


class CudaClock:
    """Phases and launches of the current frame, and the frames that are still under way on the device."""

    def __init__(self, cuda: Cuda, stream: int, profile: bool) -> None:
        self.pool = EventPool(cuda)
        self._runtime, self._stream, self.profile = cuda.runtime, stream, profile
        self._external = cuda.runtime.cudaEventRecordExternal
        self._frame: _Frame | None = None
        self._pending: collections.deque[_Frame] = collections.deque()
        self._captured: list[Span] | None = None
        self._captures_events = True
        self.samples_phases = False
        self._shared: Any = None  # the last span's end, as long as nothing was launched after it
        self._phase_first: Any = None
        self.is_newest_fresh = False
        """Whether nothing was asked nor waited for since the newest frame ended: the device is hardly done with it, and
        asking costs much."""
        self.launches = 0
        self._earlier_launches = 0

    @property
    def total_launches(self) -> int:
        """All launches since the clock was made."""
        return self._earlier_launches + self.launches

    # -- frames ---------------------------------------------------------------------------------------------------
    def begin_frame(self, frame_id: int) -> None:
        """Start a frame's clock and counts."""
        if self._frame is not None:
            self._abandon(self._frame)
        self._earlier_launches += self.launches
        self._frame, self._shared, self.launches = _Frame(frame_id), None, 0

    def end_frame(self) -> None:
        """The frame's timing can be read once the device has passed this place."""
        frame, self._frame = self._frame, None
        if frame is None:
            return
        self._begin_at_last(frame)
        frame.launches, frame.end, self._shared = self.launches, self.pool.take(), None
        frame.events.append(frame.end)
        self._record(frame.end)
        self._pending.append(frame)
        self.is_newest_fresh = True
        if len(self._pending) > _KEPT_FRAMES:
            self.pool.wait(self._pending[0].end)
            self._finish(self._pending.popleft())

    def take_finished(self) -> list[FrameTiming]:
        """The frames that the device has finished since the last call, oldest first. A frame that has only just ended
        is left for the next call."""
        finished, left = [], int(self.is_newest_fresh)
        self.is_newest_fresh = False
        while len(self._pending) > left and self.pool.is_done(self._pending[0].end):
            finished.append(self._finish(self._pending.popleft()))
        return finished

    # -- spans ----------------------------------------------------------------------------------------------------
    def begin_phase(self) -> None:
        """Mark the start of a phase."""
        self._phase_first = self._mark()

    def end_phase(self, name: str) -> None:
        """Mark the end of the phase that was begun last."""
        self._shared = None
        self._close(name, self._phase_first)
        self._phase_first = None

    def count_launch(self) -> None:
        """One more launch."""
        self.launches += 1
        self._shared = None

    def count_work(self) -> None:
        """Something that is no launch went into the stream: the event of the last span's end no longer marks this
        place."""
        self._shared = None

    @contextlib.contextmanager
    def timed_launch(self, name: str) -> Iterator[None]:
        """Count a launch, and time it where every launch is profiled."""
        if self.profile:
            self._shared = None
            first = self._mark()
            self.count_launch()
            yield
            self._close("launch." + name, first)
        else:
            self.count_launch()
            yield

    # -- captured graphs ------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def capturing(self, with_phases: bool = True) -> Iterator[list[Span]]:
        """Collect the spans of a graph; their events become nodes of the graph, or without phases nothing does.
        Launches inside count at each replay instead."""
        kept = self.launches, self._shared
        self._captured, self._shared, self.launches = [], None, 0
        self._captures_events = with_phases
        try:
            yield self._captured
        finally:
            self._captured = None
            self.launches, self._shared = kept

    def replayed(self, replay: Replay) -> None:
        """A graph was launched: its launches and spans are the current frame's."""
        self.launches += replay.launches
        self._shared = None
        frame = replay.frame = self._frame
        if frame is None:
            self._record_done(replay)
            return
        frame.replays.append(replay)
        frame.is_light |= replay.is_light
        for name in replay.spans.names:
            frame.phases.setdefault(name, 0.0)

    def make_ready(self, replay: Replay) -> None:
        """Wait until a replay's last launch is done and hand its times over, before it is launched again."""
        frame = replay.frame
        if frame is not None:
            if frame.end is None:
                checked(self._runtime.cudaStreamSynchronize(self._stream), "running kernels")
            else:
                self.pool.wait(frame.end)
            replay.read(self.pool)
        elif replay.awaits_done:
            self.pool.wait(replay.done)
            replay.awaits_done = False

    def begin_replay(self) -> None:
        """A graph is about to be launched: the frame begins here if it has not begun."""
        if self._frame is not None:
            self._begin_at_last(self._frame)

    def close(self) -> None:
        """Give the events back."""
        self.pool.close()

    # -- inside ---------------------------------------------------------------------------------------------------
    def _mark(self) -> Any:
        """An event that marks this place of the stream; None outside a frame."""
        if self._shared is not None:
            return self._shared
        if self._captured is None:
            return self._mark_frame()
        if not self._captures_events:
            return None
        event = self.pool.take()
        self._record(event)
        return event

    def _mark_frame(self) -> Any:
        """The same of what is launched one by one. A frame's first mark is its origin."""
        frame = self._frame
        if frame is None or frame.is_light:
            return None
        if frame.origin is None:
            self._begin_at_last(frame)
            return frame.origin
        event = self.pool.take()
        frame.events.append(event)
        self._record(event)
        return event

    def _begin_at_last(self, frame: _Frame) -> None:
        """Record the frame's origin if that was not done: what the host does before its first launch is none of the
        device's time."""
        if frame.origin is None:
            frame.origin = self.pool.take()
            frame.events.append(frame.origin)
            self._record(frame.origin)

    def _close(self, name: str, first: Any) -> None:
        """Keep the span from `first` to here."""
        last = self._mark()
        if first is None or last is None:
            return
        if self._captured is not None:
            self._captured.append(Span(name, first, last))
        elif self._frame is not None:
            self._frame.spans.append(Span(name, first, last))
            self._frame.phases.setdefault(name, 0.0)
        self._shared = last

    def _record(self, event: Any) -> None:
        if self._captured is not None:
            checked(
                self._runtime.cudaEventRecordWithFlags(event, self._stream, self._external),
                "recording an event in a graph",
            )
        else:
            self.pool.record(event, self._stream)

    def _record_done(self, replay: Replay) -> None:
        self.pool.record(replay.done, self._stream)
        replay.awaits_done = True

    def _finish(self, frame: _Frame) -> FrameTiming:
        if frame.spans:
            frame.read(Spans(frame.spans), self.pool)
        for replay in list(frame.replays):
            replay.read(self.pool)
        timing = frame.timing(self.pool)
        self.pool.give_back(frame.events)
        return timing

    def _abandon(self, frame: _Frame) -> None:
        for replay in frame.replays:
            replay.frame = None
            self._record_done(replay)
        frame.replays = []
        self.pool.give_back(frame.events)
