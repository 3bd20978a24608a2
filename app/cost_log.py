"""What each key of the animation costs, structure by structure: filled while it plays, kept so that structures can be compared."""

from __future__ import annotations

import bisect
import dataclasses
import math
from typing import Any

from app.timeline import Span
from gpu.stats import FrameStatistics

FEWEST_PLACES, MOST_PLACES = 32, 4096
COLUMNS = ("structure", "key", "time", "sah_cost", "build_ms", "refit_ms", "trace_ms")


@dataclasses.dataclass(frozen=True)
class Cost:
    """The newest figures of one place of the animation; None where there is none yet."""

    sah_cost: float | None = None
    build_ms: float | None = None
    refit_ms: float | None = None
    trace_ms: float | None = None


class CostLog:
    """Costs by structure and place. Places are the keys; between few keys there are more, evenly, and of very many keys only some."""

    def __init__(self) -> None:
        self.times: tuple[float, ...] = ()
        self.current = ""
        self._keys: tuple[float, ...] = ()
        self._costs: dict[str, dict[int, Cost]] = {}

    def begin(self, span: Span) -> None:
        """Forget everything; the places are those of this animation."""
        self._keys, self.times = span.key_times, places_of(span)
        self._costs, self.current = {}, ""

    @property
    def structures(self) -> tuple[str, ...]:
        """What was seen, oldest first."""
        return tuple(self._costs)

    def add(self, statistics: FrameStatistics, update_mode: str) -> None:
        """Remember a finished frame's first view at the place nearest to its time. A structure that was kept as it is tells nothing of its update."""
        if not self.times or not statistics.views:
            return
        view = statistics.views[0]
        self.current = f"{view.hierarchy}, {view.layout}, {update_mode}"
        costs = self._costs.setdefault(self.current, {})
        place = self.place_of(statistics.time)
        cost = costs.get(place, Cost())
        if view.structure.sah_cost is not None and math.isfinite(view.structure.sah_cost):
            cost = dataclasses.replace(cost, sah_cost=view.structure.sah_cost)
        if view.rays > 0 and (view.update != "nothing" or cost.trace_ms is None):  # a picture at rest may be larger than those that play
            cost = dataclasses.replace(cost, trace_ms=view.trace_ms)
        if view.update != "nothing":
            cost = dataclasses.replace(cost, build_ms=view.build_ms, refit_ms=view.refit_ms)
        costs[place] = cost

    def place_of(self, time: float) -> int:
        """The place nearest to an instant."""
        after = bisect.bisect_left(self.times, time)
        near = [index for index in (after - 1, after) if 0 <= index < len(self.times)]
        return min(near, key=lambda index: abs(self.times[index] - time))

    def line(self, structure: str, name: str) -> tuple[list[float], list[float]]:
        """Times and values of one figure (a field of Cost), where it is known."""
        points = [(self.times[place], getattr(cost, name)) for place, cost in sorted(self._costs.get(structure, {}).items())]
        known = [(time, value) for time, value in points if value is not None]
        return [time for time, _ in known], [value for _, value in known]

    def rows(self) -> list[dict[str, Any]]:
        """Every place of every structure; `key` is the number of the last key before it, from 1."""
        known = [(structure, self.times[place], cost) for structure, costs in self._costs.items() for place, cost in sorted(costs.items())]
        return [
            {"structure": structure, "key": bisect.bisect_right(self._keys, time + 1e-9), "time": time, **dataclasses.asdict(cost)}
            for structure, time, cost in known
        ]


def places_of(span: Span) -> tuple[float, ...]:
    """The keys of an animation, with equal parts between where these are few; none of a still scene."""
    if span.duration <= 0.0:
        return ()
    ends = sorted({0.0, *(time for time in span.key_times if 0.0 <= time <= span.duration), span.duration})
    if len(ends) > MOST_PLACES:
        step = (len(ends) - 1) / (MOST_PLACES - 1)
        return tuple(ends[round(index * step)] for index in range(MOST_PLACES))
    parts = max(1, math.ceil((FEWEST_PLACES - 1) / (len(ends) - 1)))
    inner = [first + (last - first) * part / parts for first, last in zip(ends, ends[1:], strict=False) for part in range(parts)]
    return (*inner, ends[-1])
