"""How good a tree is by chance. Fresh trees of one builder over poses that hardly differ are some per cent better or
worse to trace, for as long as they live: one that turned out dear is worth replacing though it has not worn out, and a
good one is worth keeping."""

from __future__ import annotations

import statistics

SPREAD = 0.025
"""The standard deviation of what fresh trees take to trace, as a share of it."""

MOST_BY_CHANCE = 7.0
"""Two trees that differ by more than so many times SPREAD show another picture, not chance: a camera that has jumped,
other light."""

FIRST_TIMES = 5
"""So many times of a tree tell how good it is; later ones tell of wear, too."""

LEAST_NOISE = 0.01
"""Times are taken for no surer than that, as a share of them."""


class Chance:
    """`share`: how much dearer the tree is to trace than others of its builder by chance, as a share of that: what is
    expected of it by its times and by those of the tree before, 0 without any."""

    def __init__(self) -> None:
        self.share = 0.0
        self._before: tuple[float, int, float] | None = None
        self._times: list[float] = []

    def begin(self, before_ms: float, told_by: int, fresh_ms: float, noise: float) -> None:
        """Another tree, and what tracing took through the one before it, as told by the last so many times; `noise` is
        the standard deviation of a time, as a share."""
        self._before, self._times = (before_ms, told_by, self.share), []
        self.add(fresh_ms, noise)

    def add(self, trace_ms: float, noise: float) -> None:
        """A time of this tree."""
        if self._before is None or len(self._times) == FIRST_TIMES:
            return
        self._times.append(trace_ms)
        before_ms, told_by, share_before = self._before
        now_ms, noise = statistics.median(self._times), max(noise, LEAST_NOISE)
        if abs(now_ms - before_ms) > MOST_BY_CHANCE * SPREAD * now_ms:
            self.share = 0.0
            return
        dearer = (now_ms - before_ms) / now_ms + share_before
        # Expected of two trees that differ by chance, seen through noise; what is known of the one before is half sure.
        of_noise = noise**2 * (1.0 / len(self._times) + 1.5 / told_by)
        self.share = dearer * SPREAD**2 / (1.5 * SPREAD**2 + of_noise)
