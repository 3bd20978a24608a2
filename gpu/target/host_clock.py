"""The host target's clock: launches run before they return, so a phase is the time between two readings."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from .base import FrameTiming


class HostClock:
    """Phases and launches of the current frame, and the frames that have ended. With `profile` every launch is a phase
    of its own beside them."""

    def __init__(self, profile: bool) -> None:
        self.profile = profile
        self._finished: list[FrameTiming] = []
        self.begin_frame(-1)

    def begin_frame(self, frame_id: int) -> None:
        """Start a frame's clock and counts."""
        self._frame_id, self._launches = frame_id, 0
        self._phases: dict[str, float] = {}
        self._started: float | None = None
        self._ended = 0.0
        self._phase_started = 0.0

    def end_frame(self) -> None:
        """Keep the frame's timing for `take_finished`; of a caller that never asks, only the newest few."""
        span = 0.0 if self._started is None else self._ended - self._started
        self._finished.append(FrameTiming(self._frame_id, self._phases, self._launches, span * 1e3))
        del self._finished[:-256]
        self.begin_frame(-1)

    def take_finished(self) -> list[FrameTiming]:
        """The frames ended since the last call."""
        finished, self._finished = self._finished, []
        return finished

    def begin_phase(self, _name: str) -> None:
        """Start a phase."""
        self._phase_started = time.perf_counter()
        if self._started is None:
            self._started = self._phase_started

    def end_phase(self, name: str) -> None:
        """Add the time since `begin_phase` to the phase."""
        self._ended = time.perf_counter()
        self._phases[name] = self._phases.get(name, 0.0) + (self._ended - self._phase_started) * 1e3

    def count_launch(self) -> None:
        """Count a launch that is not timed by itself."""
        self._launches += 1

    @contextlib.contextmanager
    def launch(self, name: str) -> Iterator[None]:
        """Count a launch, and time it where every launch is profiled."""
        self._launches += 1
        if not self.profile:
            yield
            return
        started = time.perf_counter()
        yield
        key = "launch." + name
        self._phases[key] = self._phases.get(key, 0.0) + (time.perf_counter() - started) * 1e3
