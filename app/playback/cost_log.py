"""What each key frame of the animation costs, structure by structure: filled while it plays, kept so that structures
can be compared."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from raygrove.app.playback.timeline import Span
from raygrove.gpu.stats import FrameStatistics

FEWEST_PLACES, MOST_PLACES = 32, 4096
OF_UPDATES = ("build", "refit", "optimise")
OF_PICTURES = ("trace", "shade", "animate", "display", "other")
FIGURES = ("sah_cost", *(f"{name}_ms" for name in (*OF_UPDATES, *OF_PICTURES)), "total_ms")
"""The newest of each are kept for every place of the animation; NaN where there is none yet. The total is what the
others took in one frame, in which the structure was updated."""

COLUMNS = ("structure", "key", "time", *FIGURES)

MOST_APART_S = 1.0
"""So far from one frame to the next an animation goes at most on a slow machine: places between were not left out."""


class CostLog:
    """Costs by structure and place. Places are the key frames; between few of them there are more, evenly, and of very
    many only some."""

    def __init__(self) -> None:
        self.times: tuple[float, ...] = ()
        self.current = ""
        self._keys: tuple[float, ...] = ()
        self._costs: dict[str, np.ndarray] = {}
        self._is_passed: dict[str, np.ndarray] = {}
        self._before: dict[str, dict[str, int]] = {}

    def begin(self, span: Span) -> None:
        """Forget everything; the places are those of this animation."""
        self._keys, self.times = span.key_times, places_of(span)
        self._costs, self._is_passed, self._before, self.current = {}, {}, {}, ""

    @property
    def structures(self) -> tuple[str, ...]:
        """What was seen, oldest first."""
        return tuple(self._costs)

    def add(self, statistics: FrameStatistics, parts: Mapping[str, float], at_rest: bool = False) -> None:
        """Remember a finished frame, whose time is divided into `parts` (app/frames/frame_history.py), of one view:
        its times at the place nearest to its time, under the update mode in which its tree was made; the SAH cost
        where that was measured, which may be an earlier place, or of another mode. A structure that was kept as it is
        tells nothing of its update, phases that were timed some frames ago belong to another place, and a picture
        `at_rest` may be many times as large as those that play: its tracing counts only where nothing is known."""
        if not self.times or not statistics.views:
            return
        view, structure = statistics.views[0], statistics.views[0].structure
        self.current = f"{view.hierarchy}, {view.layout}, {view.update_mode}"
        if structure.sah_cost is not None and math.isfinite(structure.sah_cost) and structure.measured_time is not None:
            name, place = FIGURES[0], self.place_of(structure.measured_time)
            measured = f"{view.hierarchy}, {view.layout}, {structure.measured_mode}"
            self._costs_of(measured)[0, place] = structure.sah_cost
            self._pass(measured, [name], place, at_rest)
        place, is_updated = self.place_of(statistics.time), view.update != "nothing"
        cost = self._costs_of(self.current)[:, place]
        if statistics.phases_age > 0:
            return
        known: dict[str, float] = {}
        if is_updated:
            known |= {f"{name}_ms": parts[name] for name in OF_UPDATES}
        if view.rays > 0 and (np.isnan(cost[FIGURES.index("trace_ms")]) or is_updated and not at_rest):
            known |= {f"{name}_ms": parts[name] for name in OF_PICTURES}
            if is_updated:
                known["total_ms"] = sum(parts.values())
        cost[[FIGURES.index(name) for name in known]] = list(known.values())
        self._pass(self.current, known, place, at_rest)

    def _pass(self, structure: str, names: Iterable[str], place: int, at_rest: bool) -> None:
        """What plays has come to a place, where these figures were told: the places since the last one are between."""
        before, is_passed = self._before[structure], self._is_passed[structure]
        for name in names:
            last = before.get(name, place)
            if not at_rest and self.times[place] - self.times[last] <= MOST_APART_S:
                is_passed[FIGURES.index(name), last + 1 : place] = True
            before[name] = place

    def _costs_of(self, structure: str) -> np.ndarray:
        if structure not in self._costs:
            self._costs[structure] = np.full((len(FIGURES), len(self.times)), np.nan)
            self._is_passed[structure], self._before[structure] = np.zeros((len(FIGURES), len(self.times)), bool), {}
        return self._costs[structure]

    def place_of(self, time: float) -> int:
        """The place nearest to an instant."""
        after = bisect.bisect_left(self.times, time)
        near = [index for index in (after - 1, after) if 0 <= index < len(self.times)]
        return min(near, key=lambda index: abs(self.times[index] - time))

    def line(self, structure: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of one of FIGURES at every place, NaN where it is not known: what was skipped is a gap, not
        a straight line. Places that lie between two frames of what played have what lies between these: a slow machine
        shows few of them, and their line is one all the same."""
        costs = self._costs.get(structure)
        if costs is None:
            return np.zeros(0), np.zeros(0)
        row, times = FIGURES.index(name), np.asarray(self.times)
        found, is_between = costs[row].copy(), self._is_passed[structure][row] & np.isnan(costs[row])
        if is_between.any():
            is_known = np.isfinite(costs[row])
            found[is_between] = np.interp(times[is_between], times[is_known], costs[row][is_known])
        return times, found

    def rows(self) -> list[dict[str, Any]]:
        """Every place of every structure; `key` is the number of the last key frame before it, from 1."""
        found = []
        for structure, costs in self._costs.items():
            for place in np.flatnonzero(np.isfinite(costs).any(axis=0)).tolist():
                figures = {
                    name: None if math.isnan(value) else value
                    for name, value in zip(FIGURES, costs[:, place].tolist(), strict=True)
                }
                time = self.times[place]
                found.append(
                    {
                        "structure": structure,
                        "key": bisect.bisect_right(self._keys, time + 1e-9),
                        "time": time,
                        **figures,
                    }
                )
        return found


def places_of(span: Span) -> tuple[float, ...]:
    """The times of an animation's key frames, with equal parts between where these are few; none of a still scene."""
    if span.duration <= 0.0:
        return ()
    ends = sorted({0.0, *(time for time in span.key_times if 0.0 <= time <= span.duration), span.duration})
    if len(ends) > MOST_PLACES:
        step = (len(ends) - 1) / (MOST_PLACES - 1)
        return tuple(ends[round(index * step)] for index in range(MOST_PLACES))
    parts = max(1, math.ceil((FEWEST_PLACES - 1) / (len(ends) - 1)))
    inner = [
        first + (last - first) * part / parts
        for first, last in zip(ends, ends[1:], strict=False)
        for part in range(parts)
    ]
    return (*inner, ends[-1])
