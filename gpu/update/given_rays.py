"""What updates cost where rays of a set are traced in the picture's place: the time of the update arrives with the
frame's, that of the rays apart from it, in any order."""

from __future__ import annotations

import collections

from .costs import Ticket

MOST_WAITING = 8
"""Frames of which one of the two times has come; the phases of a frame that repeats may never come."""


class GivenRays:
    """See the module. Each of the two gives all that is to be learnt of a frame, milliseconds of the update and of the
    rays and their number, once both have come."""

    def __init__(self) -> None:
        self._updates: collections.OrderedDict[Ticket, float] = collections.OrderedDict()
        self._traces: collections.OrderedDict[Ticket, tuple[float, int]] = collections.OrderedDict()

    def take_update(self, ticket: Ticket, update_ms: float) -> tuple[float, float, int] | None:
        """The update's time has come."""
        self._updates[ticket] = update_ms
        return self._both(ticket)

    def take_trace(self, ticket: Ticket, trace_ms: float, rays: int) -> tuple[float, float, int] | None:
        """The rays' time has come."""
        self._traces[ticket] = trace_ms, rays
        return self._both(ticket)

    def _both(self, ticket: Ticket) -> tuple[float, float, int] | None:
        if ticket in self._updates and ticket in self._traces:
            return (self._updates.pop(ticket), *self._traces.pop(ticket))
        for waiting in (self._updates, self._traces):
            while len(waiting) > MOST_WAITING:
                waiting.popitem(last=False)
        return None
