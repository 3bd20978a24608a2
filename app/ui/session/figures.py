"""What the window's figures are of: the last frames as they come, or one of them that was pinned, until it is let go.
Every panel that shows a frame's figures hears of them here, and what is told of the last second is worked out here
once, so that all places tell the same."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from raygrove.app.frames.frame_history import FrameFigures, FrameHistory, Sample, figures_of, figures_of_one

INTERVAL_S = 0.25
"""Seconds between two tellings: numbers that change more often cannot be read."""


class Figures(QObject):
    """See the module. `shown` carries the Sample whose figures count now: each new one, or the one that was pinned;
    `pin_changed` the pinned one, or None. `taken` carries every new one, whatever is pinned. `told` says that there is
    something else to tell: four times a second at most, and at once where another frame is pinned."""

    taken = Signal(object)
    shown = Signal(object)
    pin_changed = Signal(object)
    told = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history = FrameHistory()
        self.why = ""
        """Why there are none, where frames come of which they are not."""
        self.pinned: Sample | None = None
        self._kept: tuple[Sample, ...] = ()
        self._of: list[Sample] = []
        self._latest: FrameFigures | None = None
        self._told_time = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.tell)

    def latest(self) -> FrameFigures | None:
        """What every place tells until `told` comes again: of the last second, or of the pinned frame; None without
        frames."""
        if self._latest is None and self._of:
            self._latest = figures_of_one(self._of[0]) if self._of[0] is self.pinned else figures_of(self._of)
        return self._latest

    def tell(self) -> None:
        """Tell of the newest frames now, or of the pinned one."""
        self._timer.stop()
        self._told_time = time.monotonic()
        self._of = [self.pinned] if self.pinned is not None else self.history.last_second()
        self._latest = None
        self.told.emit()

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The frames that can be pinned, oldest first: the last ones, or those that were so when one was pinned."""
        return self._kept if self.pinned is not None else tuple(self.history)

    def take(self, sample: Sample) -> None:
        """A new frame."""
        self.history.add(sample)
        self.taken.emit(sample)
        if self.pinned is not None:
            return
        self.shown.emit(sample)
        if not self._timer.isActive():
            self._timer.start(max(0, round((self._told_time + INTERVAL_S - time.monotonic()) * 1000)))

    def pin(self, sample: Sample | None) -> None:
        """Show one frame everywhere until another, or None, is pinned; None goes back to the frames that come."""
        if sample is self.pinned:
            return
        self._kept = self.samples
        self.pinned = sample
        self.pin_changed.emit(sample)
        self.tell()
        latest = sample or self.history.newest
        if latest is not None:
            self.shown.emit(latest)

    def step(self, count: int) -> None:
        """Pin the frame so many after the pinned one, or before; without one, the newest is where it begins."""
        samples = self.samples
        if not samples:
            return
        at = next((place for place, sample in enumerate(samples) if sample is self.pinned), len(samples))
        self.pin(samples[min(max(at + count, 0), len(samples) - 1)])

    def clear(self) -> None:
        """Another scene: no frames."""
        self.history.clear()
        self._kept = ()
        if self.pinned is not None:
            self.pinned = None
            self.pin_changed.emit(None)
        self.tell()

    def stop(self, why: str) -> None:
        """Frames come that have figures of their own: none here, and why. Empty: they are told of here again."""
        self.why = why
        self.clear()
