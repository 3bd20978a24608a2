"""A schedule over a clip as a strip: a high bar where a frame is rebuilt, a low one where it is refitted, and below it
what the two colours mean."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from raygrove.app.ui.colors import phase_color
from raygrove.gpu.brief import filled


class ScheduleStrip(QWidget):
    """See the module."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("schedule")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.schedule: Sequence[bool] = ()

    def sizeHint(self) -> QSize:
        """Wide and low: two lines of bars, and one of words."""
        return QSize(300, 3 * self.fontMetrics().height() + 4)

    def show_schedule(self, schedule: Sequence[bool]) -> None:
        """Of each frame, whether it is rebuilt."""
        self.schedule = schedule
        text = self.tr("Rebuilt: {frames}").format(
            frames=", ".join(str(n) for n, is_so in enumerate(schedule) if is_so)
        )
        self.setToolTip(text)
        self.setAccessibleName(text)
        self.update()

    def key(self) -> tuple[tuple[str, str], ...]:
        """The phase of each colour, and what it says."""
        rebuilt = sum(self.schedule)
        words = self.tr("rebuilt, {count:,} frames"), self.tr("refitted, {count:,}")
        return (
            ("build", filled(words[0], count=rebuilt)),
            ("refit", words[1].format(count=len(self.schedule) - rebuilt)),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """The bars in the colours of builds and refits, and their key."""
        with QPainter(self) as painter:
            line = float(self.fontMetrics().height())
            self._paint_bars(painter, self.height() - line - 4.0)
            self._paint_key(painter, self.height() - line, line)

    def _paint_bars(self, painter: QPainter, height: float) -> None:
        width = self.width() / max(len(self.schedule), 1)
        gap = 1.0 if width > 3.0 else 0.0
        for place, is_rebuilt in enumerate(self.schedule):
            bar = height if is_rebuilt else 0.3 * height
            color = phase_color("build" if is_rebuilt else "refit")
            painter.fillRect(QRectF(place * width, height - bar, max(width - gap, 1.0), bar), color)

    def _paint_key(self, painter: QPainter, top: float, line: float) -> None:
        left, side = 0.0, 0.6 * line
        painter.setPen(self.palette().windowText().color())
        for phase, text in self.key():
            painter.fillRect(QRectF(left, top + 0.2 * line, side, side), phase_color(phase))
            wide = float(self.fontMetrics().horizontalAdvance(text))
            place = QRectF(left + side + 6.0, top, wide + 2.0, line)
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
            left = place.right() + 18.0
