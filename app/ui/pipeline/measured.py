"""What each choice has cost for as long as a scene is open: "2.1 ms here" beside a member of a sheet."""

from __future__ import annotations

import collections
import statistics

from raygrove.app.frames.frame_history import Sample

NEWEST = 31
"""Frames of a choice whose median counts."""


class Measured:
    """Medians of the newest frames that were drawn with each choice on each device."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], collections.deque[float]] = {}
        self._device = ""

    def add(self, sample: Sample) -> None:
        """One more frame; it counts where its phases were timed."""
        self._device, view, parts = sample.frame.target_name, sample.view, sample.parts
        if view is None or not sample.is_timed:
            return
        if view.update == "rebuild":
            self._add("structure", view.hierarchy, parts["build"] + parts["optimise"])
        if view.update in ("rebuild", "refit"):
            spent = parts["build"] + parts["refit"] + parts["optimise"]
            self._add("update", sample.frame.request.state.settings.update.mode, spent)
        if view.rays:
            self._add("rays", view.ray_type, parts["trace"] + parts["shade"])

    def clear(self) -> None:
        """Another scene: nothing is known of it."""
        self._found.clear()

    def milliseconds(self, kind: str, value: str) -> float | None:
        """The median of a choice (structure, update or rays) on the device in use; None where it was not drawn yet."""
        found = self._found.get((self._device, kind, value))
        return statistics.median(found) if found else None

    def _add(self, kind: str, value: str, spent: float) -> None:
        self._found.setdefault((self._device, kind, value), collections.deque(maxlen=NEWEST)).append(spent)
