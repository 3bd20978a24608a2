"""What the window's figures are of: the last frames as they come, or one of them that was pinned, until it is let go.
Every panel that shows a frame's figures hears of them here."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from raygrove.app.frames.frame_history import FrameHistory, Sample


class Figures(QObject):
    """See the module. `shown` carries the Sample whose figures count now: each new one, or the one that was pinned;
    `pin_changed` the pinned one, or None."""

    shown = Signal(object)
    pin_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history = FrameHistory()
        self.pinned: Sample | None = None
        self._kept: tuple[Sample, ...] = ()

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The frames that can be pinned, oldest first: the last ones, or those that were so when one was pinned."""
        return self._kept if self.pinned is not None else tuple(self.history)

    def take(self, sample: Sample) -> None:
        """A new frame."""
        self.history.add(sample)
        if self.pinned is None:
            self.shown.emit(sample)

    def pin(self, sample: Sample | None) -> None:
        """Show one frame everywhere until another, or None, is pinned; None goes back to the frames that come."""
        if sample is self.pinned:
            return
        self._kept = self.samples
        self.pinned = sample
        self.pin_changed.emit(sample)
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
