"""What each contestant costs over the clip, a line each, below the pictures: medians of what was measured.
Lines are told apart by letter, dash and shape; a click goes there."""

from __future__ import annotations

import math
import time

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from raygrove.app.playback.race_log import FIGURES, RaceLog
from raygrove.app.playback.timeline import Span
from raygrove.app.ui.colors import scheme
from raygrove.app.ui.widgets.line_chart import KEPT, Line, LineChart
from raygrove.gpu.analysis.race import LETTERS

BETWEEN_S = 0.5
"""From one drawing of the lines to the next."""
HEIGHT, LOW_HEIGHT, LOW_BELOW = 132, 92, 520
"""Pixels of it, and in a view that is lower than the last."""

LONGEST_GAP = 0.25
"""Of the clip: so far a line goes on through places that were not measured."""

MOST_MARKS = 12
"""Shapes on a line: more of them would hide its dashes."""


def titles() -> dict[str, str]:
    """What can be shown, by its name in the settings."""
    tr = QCoreApplication.translate
    names = (tr("Race", "Total, ms"), tr("Race", "Build and refit, ms"), tr("Race", "Trace, ms"))
    return dict(zip(FIGURES, names, strict=True))


class RaceLines(QWidget):
    """See the module. `jumped` carries seconds."""

    jumped = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("race.lines")
        self.log, self.chart = RaceLog(), LineChart("", self, keeps_letters=True)
        self.chart.setMinimumSize(80, 40)
        self.chart.setToolTip(self.tr("Seconds of the animation; click to go there"))
        self.chart.chosen.connect(self.jumped)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(4, 4, 4, 0)
        self._column.addWidget(self.chart)
        self._shown, self._duration, self._count, self._drawn_at = FIGURES[0], 0.0, 0, 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.show_latest)

    @property
    def is_of_a_still(self) -> bool:
        """Whether the scene does not move, so that there is nothing over time."""
        return self._duration <= 0.0

    def lie_along(self, ends: tuple[int, int] | None) -> None:
        """Let the axis begin and end there, pixels of the widget, as far as they lie in it; None: as long as it can
        be."""
        left, right = 4, 4
        if ends is not None and ends[1] <= self.width():
            left, right = max(ends[0] - KEPT[0], 0), max(self.width() - ends[1] - KEPT[1], 0)
        self._column.setContentsMargins(left, 4, right, 0)

    def begin(self, span: Span, contestants: int) -> None:
        """Another race begins, or another animation."""
        self.log.begin(span, contestants)
        self._duration, self._count = span.duration, contestants
        self.show_latest()

    def show_quantity(self, name: str) -> None:
        """Show one of FIGURES."""
        if name in FIGURES and name != self._shown:
            self._shown = name
            self.show_latest()

    def news(self, seconds: float) -> None:
        """Something was measured; where the playing head stands."""
        self.chart.show_mark(seconds)
        if self.isVisible() and not self._timer.isActive():
            wait = self._drawn_at + BETWEEN_S - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def show_latest(self) -> None:
        """Draw what is known now."""
        self._drawn_at = time.monotonic()
        color, title = scheme().text, titles()[self._shown]
        lines = [self._line(place, color) for place in range(self._count)]
        if self.log.is_empty:
            title = self.tr("{title}: play the animation").format(title=title)
        self.chart.show_lines(lines, self._duration, title)
        self.chart.setAccessibleName(title)

    def _line(self, place: int, color: str) -> Line:
        """A contestant's line, through the places that were measured; a slow machine draws few of them in a run of the
        clip, and dots between gaps would have neither dash nor shape. Where no place of a whole LONGEST_GAP was
        measured, nobody knows, and the line has a gap."""
        times, values = self.log.line(place, self._shown)
        known = np.flatnonzero(np.isfinite(values))
        every = math.ceil(len(known) / MOST_MARKS)
        times, values = times[known], values[known]
        gaps = np.flatnonzero(np.diff(times) > LONGEST_GAP * self._duration) + 1
        times, values = np.insert(times, gaps, times[gaps]), np.insert(values, gaps, np.nan)
        return Line(times, values, color, letter=LETTERS[place], mark_every=every)

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden."""
        super().showEvent(event)
        self.show_latest()

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_timer"):
            self.show_latest()
