"""What updates and traces of a tree take, for policies that decide by it and for whoever asks for `build_ms`.

A policy that needs no times costs nothing here but the first build's clock. Within a caller's CUDA graph nothing is
timed.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

from ..frame_log import STAGES
from ..target.base import FrameTiming, Target
from ..update.costs import Ticket
from ..update.history import Decision, UpdateHistory

_NUMBERS = itertools.count(1 << 40)
"""Apart from the engine's, whose frames one target may time, too."""

_MOST_WAITING, _MOST_ASKED = 64, 3


class UpdateTimes:
    """See the module. A frame of the target's clock is an update and all that is traced until the next one."""

    def __init__(self, target: Target, history: UpdateHistory, needs_times: bool) -> None:
        self._target, self._history, self._needs_times = target, history, needs_times
        self._number = -1
        self._rays: dict[int, int] = {}
        self._tickets: dict[int, Ticket] = {}
        self._updates: dict[int, str] = {}
        self._compiled: dict[int, float] = {}
        self._compiled_before, self._cold = 0.0, set[int]()
        self._build_ms: float | None = None
        self._is_first, self._is_rebuild_known, self._asked = True, False, 0

    @contextlib.contextmanager
    def of(self, decision: Decision, is_captured: bool) -> Iterator[None]:
        """Time an update."""
        if is_captured or not (self._needs_times or self._is_first):
            self._end()
            yield
            return
        self._begin(decision)
        before = self._target.compile_in_phases_ms
        yield
        self._compiled[self._number] = self._target.compile_in_phases_ms - before
        self._is_first = False

    def wants_rebuild(self) -> bool:
        """Whether a rebuild is worth more than a refit, for its figures: none has been timed together with rays yet, as
        at the beginning of a loop. The first few times it is asked."""
        if not self._needs_times or self._is_rebuild_known or self._asked >= _MOST_ASKED:
            return False
        self._asked += 1
        self._end()
        self._collect()
        return not self._is_rebuild_known

    def note(self, ticket: Ticket) -> None:
        """What the update that was timed is to be learnt by."""
        if self._number >= 0:
            self._tickets.setdefault(self._number, ticket)
            if not self._needs_times:
                self._end()

    @contextlib.contextmanager
    def tracing(self, rays: int) -> Iterator[None]:
        """Time rays that are traced, where they count."""
        if self._number < 0:
            yield
            return
        with self._target.phase("trace"):
            yield
        self._rays[self._number] += rays

    def build_ms(self) -> float | None:
        """What the last build that was timed took."""
        if self._number >= 0:
            self._end()
            self._target.synchronize()
        self._collect()
        return self._build_ms

    def close(self) -> None:
        """Leave the clock to others."""
        self._end()

    def _begin(self, decision: Decision) -> None:
        self._end()
        self._collect()
        self._number = number = next(_NUMBERS)
        self._rays[number], self._updates[number] = 0, decision.update
        self._compiled_before = self._target.compile_ms
        self._target.begin_frame(number)

    def _end(self) -> None:
        if self._number >= 0:
            self._target.end_frame()
            if self._target.compile_ms > self._compiled_before:
                self._cold.add(self._number)
            self._number = -1

    def _collect(self) -> None:
        for timing in self._target.frames_of(self._tickets):
            self._take(timing)
        for number in list(self._tickets)[:-_MOST_WAITING]:
            self._forget(number)

    def _take(self, timing: FrameTiming) -> None:
        number = timing.frame_id
        ticket, rays, update = self._tickets[number], self._rays[number], self._updates[number]
        compiled, is_cold = self._compiled.get(number, 0.0), number in self._cold
        self._forget(number)
        stages = (STAGES.get(update, "build"), "optimise")
        update_ms = sum(ms for name, ms in timing.phases_ms.items() if name.partition(".")[0] in stages)
        if update == "rebuild":
            self._build_ms = max(0.0, update_ms - compiled)
        if not is_cold:
            self._is_rebuild_known |= update == "rebuild" and rays > 0
            self._history.learn(ticket, update_ms, timing.phases_ms.get("trace", 0.0), rays)

    def _forget(self, number: int) -> None:
        self._tickets.pop(number, None)
        self._rays.pop(number, None)
        self._updates.pop(number, None)
        self._compiled.pop(number, None)
        self._cold.discard(number)
