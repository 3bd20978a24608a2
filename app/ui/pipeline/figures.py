"""What the frames of the last second cost, phase by phase, as plain values: no widget here.

Figures are medians: one frame's numbers flicker and cannot be read. The second ends with the newest frame, so that the
figures of what stood still before stay readable.
"""

from __future__ import annotations

import collections
import dataclasses
import statistics

import numpy as np

from raygrove.app.frames.frame_history import OTHER, PARTS, PHASES
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.gpu.stats import ViewStatistics

SECOND = 1.0
MOST = 480
"""Frames of the last second that are kept at most; of more the newest."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """One frame: when it came (seconds), milliseconds of each of PARTS, and what became of its structure: nothing,
    refit, rebuild, or "" where it has none."""

    time: float
    parts: dict[str, float]
    update: str = ""

    @property
    def whole(self) -> float:
        """Milliseconds of the whole frame."""
        return sum(self.parts.values())


def view_of(frame: FinishedFrame) -> ViewStatistics | None:
    """The first view's figures; None where nothing was timed yet."""
    return frame.statistics.views[0] if frame.statistics is not None and frame.statistics.views else None


def is_shown_again(frame: FinishedFrame) -> bool:
    """Whether a frame needed no ray and nothing of its structure: the picture was handed over once more."""
    views = frame.statistics.views if frame.statistics is not None else ()
    return bool(views) and all(view.rays == 0 and view.update == "nothing" for view in views)


class LastSecond:
    """The frames of the second before the newest, as rows of one table: medians of all columns are one call."""

    def __init__(self) -> None:
        self._samples: collections.deque[Sample] = collections.deque(maxlen=MOST)
        self._table: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self._samples)

    def add(self, sample: Sample) -> None:
        """One more frame; those that are more than a second older leave."""
        self._samples.append(sample)
        while self._samples[0].time < sample.time - SECOND:
            self._samples.popleft()
        self._table = None

    def clear(self) -> None:
        """No frames."""
        self._samples.clear()
        self._table = None

    def whole(self) -> float:
        """The median frame, in milliseconds; 0 without frames."""
        return self.median(*PARTS)

    def median(self, *names: str) -> float:
        """The median of the sum of some of PARTS, in milliseconds; 0 without frames."""
        return _median(self._rows(), names)

    def median_where(self, update: str, *names: str) -> float:
        """The same over the frames whose structure was updated so."""
        return _median(self._rows()[[sample.update == update for sample in self._samples]], names)

    def updates(self) -> dict[str, int]:
        """How many frames did what to their structure."""
        return dict(collections.Counter(sample.update for sample in self._samples if sample.update))

    def parts(self) -> dict[str, float]:
        """The median of each of PARTS; `other` is what is left of the median frame, so that they add up to it wherever
        phases alone are not more."""
        if not self._samples:
            return dict.fromkeys(PARTS, 0.0)
        found = dict(zip(PHASES, _medians(self._rows()[:, : len(PHASES)]), strict=True))
        return {**found, OTHER: max(self.whole() - sum(found.values()), 0.0)}

    def _rows(self) -> np.ndarray:
        if self._table is None:
            rows = [[sample.parts[name] for name in PARTS] for sample in self._samples]
            self._table = np.array(rows, np.float64).reshape(-1, len(PARTS))
        return self._table


def _median(rows: np.ndarray, names: tuple[str, ...]) -> float:
    columns = [PARTS.index(name) for name in names]
    return statistics.median(rows[:, columns].sum(axis=1).tolist()) if len(rows) else 0.0


def _medians(rows: np.ndarray) -> list[float]:
    """Of each column, as numpy.median has them, without its search for what is not a number."""
    middle, ordered = len(rows) // 2, np.sort(rows, axis=0)
    found: list[float] = (ordered[middle] if len(rows) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0).tolist()
    return found
