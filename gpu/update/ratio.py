"""How many refits a rebuild should be followed by, from measured times: what the policy `ratio_optimiser` decides by.

With a premium P, what a rebuild costs more than a refit, and tracing that becomes dearer by s milliseconds a refit, a
cycle of k refits wastes (P + s k (k + 1) / 2) / (k + 1) a frame, which is least at k = sqrt(2 P / s) - 1. P and s
follow the scene: s is the slope of trace times over the refits since the rebuild, in the newest cycles. From one cycle
to the next the ratio at most doubles, so that a scene which begins to wear out is met by a short cycle's rebuild and
not by one far away.
"""

from __future__ import annotations

import collections
import math
import statistics

from .costs import Ticket

KEPT_TIMES = 7
"""Times of rebuilds and of refits that medians are made of."""

FORGETS = 0.5
"""How much of an older cycle's slope counts beside a newer one's."""

FIRST_RATIO, MOST_RATIO = 2, 4096
"""The ratio before anything is known, and where tracing does not become dearer."""

TRIES_AGAIN = 32
"""Where rebuilding every frame is best a refit is tried after so many, or nothing would tell when that ends."""


class RefitRatio:
    """See the module. `learn` takes times as they come in, late."""

    def __init__(self) -> None:
        self._rebuilds: collections.deque[float] = collections.deque(maxlen=KEPT_TIMES)
        self._refits: collections.deque[float] = collections.deque(maxlen=KEPT_TIMES)
        self._cycle = -1
        self._points: list[tuple[int, float]] = []
        self._rays = 0
        self._products = self._squares = 0.0
        self._limit, self._alone = FIRST_RATIO, 0

    def learn(self, ticket: Ticket, update_ms: float, trace_ms: float, rays: int) -> None:
        """The times of a frame have arrived."""
        if ticket.update == "nothing" or update_ms <= 0.0:
            return
        (self._rebuilds if ticket.update == "rebuild" else self._refits).append(update_ms)
        if trace_ms <= 0.0 or rays <= 0:
            return
        if ticket.update == "rebuild":
            self._end_cycle()
            self._cycle, self._points, self._rays = ticket.cycle, [(0, trace_ms)], rays
        elif ticket.cycle == self._cycle:
            self._points.append((ticket.age, trace_ms * self._rays / rays))

    def _end_cycle(self) -> None:
        """What the finished cycle says of the slope, and how far the next one may reach."""
        self._alone = self._alone + 1 if len(self._points) < 2 else 0
        if len(self._points) >= 2:
            products, squares = self._sums()
            self._products = FORGETS * self._products + products
            self._squares = FORGETS * self._squares + squares
            self._limit = min(2 * max(len(self._points) - 1, 1), MOST_RATIO)

    def _sums(self) -> tuple[float, float]:
        """Of the line of trace times over ages in the cycle at hand, about their means."""
        ages = [float(age) for age, _ in self._points]
        times = [ms for _, ms in self._points]
        middle, level = statistics.fmean(ages), statistics.fmean(times)
        products = sum((age - middle) * (ms - level) for age, ms in zip(ages, times, strict=True))
        return products, sum((age - middle) ** 2 for age in ages)

    @property
    def slope(self) -> float:
        """Milliseconds of tracing a refit; 0 where nothing is known."""
        products, squares = self._sums() if len(self._points) >= 2 else (0.0, 0.0)
        squares += FORGETS * self._squares
        return (products + FORGETS * self._products) / squares if squares > 0.0 else 0.0

    def refits_for_each_rebuild(self) -> int:
        """The best ratio as times have been."""
        if not (self._rebuilds and self._refits):
            return FIRST_RATIO
        if self._alone >= TRIES_AGAIN:
            return 1
        premium = statistics.median_low(self._rebuilds) - statistics.median_low(self._refits)
        if premium <= 0.0:
            return 0
        slope = self.slope
        best = math.sqrt(2.0 * premium / slope) - 1.0 if slope > 0.0 else float(MOST_RATIO)
        return min(max(round(best), 0), self._limit)
