"""Time codes of a stage -> seconds of the animation, which begins at 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pxr import Usd


class Times:
    """What a stage says of time: samples outside its range are brought to its ends. Without a range the animation
    begins at the first sample of all, which is known once everything was read: `finish`."""

    def __init__(self, stage: Usd.Stage) -> None:
        rate = stage.GetTimeCodesPerSecond()
        self.rate = rate if np.isfinite(rate) and rate > 0.0 else 24.0
        first, last = stage.GetStartTimeCode(), stage.GetEndTimeCode()
        self._has_range = bool(stage.HasAuthoredTimeCodeRange()) and first < last and np.isfinite(last - first)
        self._first: float = first if self._has_range else np.inf
        self._last: float = last if self._has_range else -np.inf
        self.rest = Usd.TimeCode(first) if self._has_range else Usd.TimeCode.EarliestTime()
        self._given: list[np.ndarray] = []

    def codes(self, samples: Sequence[float]) -> np.ndarray:
        """The time codes at which something is to be read: ascending, each once; none or one where it stands still."""
        codes = np.asarray(samples, np.float64)
        codes = codes[np.isfinite(codes)]
        return np.unique(np.clip(codes, self._first, self._last) if self._has_range else codes)

    def seconds(self, codes: np.ndarray) -> np.ndarray:
        """(K,) float64; what is given out here, `finish` brings to where the animation begins, and to seconds."""
        if not self._has_range and len(codes):
            self._first, self._last = min(self._first, float(codes[0])), max(self._last, float(codes[-1]))
        result = np.asarray(codes, np.float64).copy()
        self._given.append(result)
        return result

    def finish(self) -> float:
        """Bring all seconds that were given out to where the animation begins; returns its duration."""
        if not np.isfinite(self._first):
            return 0.0
        for codes in self._given:
            codes[:] = (codes - self._first) / self.rate
        self._given = []
        return float((self._last - self._first) / self.rate)
