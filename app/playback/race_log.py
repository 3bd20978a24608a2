"""What each contestant of a race costs at each place of the animation: medians of what was measured there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raygrove.app.playback.timeline import Span
from raygrove.gpu.stats import ViewStatistics

FIGURES = ("total", "update", "trace")
"""All of a frame that a configuration decides; builds and refits; rays. In milliseconds."""

KEPT = 9
"""Samples of a place: the newest so many count."""
PLACES = 48
"""Evenly over the animation: few enough for a slow race to fill in a run or two."""


class RaceLog:
    """See the module. Pictures of another size, another race and another animation begin
    anew."""

    def __init__(self) -> None:
        self.times = np.zeros(0)
        self._size = (0, 0)
        self._samples = np.zeros((0, 0, 0, 0))
        self._counts = np.zeros(0, np.int64)

    def begin(self, span: Span, contestants: int) -> None:
        """Forget everything."""
        self.times = np.linspace(0.0, span.duration, PLACES if span.duration > 0.0 else 0)
        self._samples = np.full((len(FIGURES), contestants, len(self.times), KEPT), np.nan)
        self._counts, self._size = np.zeros(len(self.times), np.int64), (0, 0)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was measured, or the scene does not move."""
        return not self._counts.any()

    def take(self, time: float, views: Sequence[ViewStatistics], *, at_rest: bool = False) -> None:
        """One instant, drawn by each contestant in their order. Where the clip stands `at_rest` pictures may be larger
        than those that play: they count where nothing else does."""
        if len(views) != self._samples.shape[1] or not len(self._counts):
            return
        size = (views[0].width, views[0].height)
        if size != self._size and at_rest and not self.is_empty:
            return
        if size != self._size:
            self._samples[:], self._counts[:], self._size = np.nan, 0, size
        place = round(min(max(time / self.times[-1], 0.0), 1.0) * (PLACES - 1))
        updates = np.array([view.build_ms + view.refit_ms for view in views])
        traces, shades = (np.array([getattr(view, name) for view in views]) for name in ("trace_ms", "shade_ms"))
        self._samples[:, :, place, self._counts[place] % KEPT] = updates + traces + shades, updates, traces
        self._counts[place] += 1

    def line(self, contestant: int, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Times, and medians of one of FIGURES in milliseconds; NaN where nothing was measured."""
        rows = self._samples[FIGURES.index(name), contestant]
        medians = np.full(len(rows), np.nan)
        is_known = self._counts > 0
        if is_known.any():
            medians[is_known] = np.nanmedian(rows[is_known], axis=1)
        return self.times, medians
