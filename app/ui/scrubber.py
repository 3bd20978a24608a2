"""The line under the picture: the keys' ticks and the playing head, which can be dragged."""

from __future__ import annotations

import bisect

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QToolTip, QWidget

from app.timeline import Span

MARGIN = 9
TICK_DISTANCE = 5


class Scrubber(QWidget):
    """See the module. `scrubbed` carries seconds while the head is dragged, `pressed` says that a drag begins."""

    scrubbed = Signal(float)
    pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scrubber")
        self.setMinimumSize(120, 28)
        self.setMouseTracking(True)
        self._span = Span()
        self._time = 0.0

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(400, 28)

    def show_time(self, time: float, span: Span) -> None:
        """Put the head at `time` of `span`."""
        if (time, span) != (self._time, self._span):
            self._time, self._span = time, span
            self.update()

    def time_at(self, x: float) -> float:
        """The seconds under a place of the widget."""
        share = (x - MARGIN) / max(self.width() - 2 * MARGIN, 1)
        return min(max(share, 0.0), 1.0) * self._span.duration

    def place_of(self, time: float) -> float:
        """The place of an instant."""
        share = time / self._span.duration if self._span.duration > 0.0 else 0.0
        return MARGIN + share * (self.width() - 2 * MARGIN)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Line, ticks, head."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, middle = self.palette(), self.height() / 2.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.color(QPalette.ColorRole.Mid))
        painter.drawRoundedRect(QRectF(MARGIN, middle - 2, self.width() - 2 * MARGIN, 4), 2, 2)
        if self._span.duration <= 0.0:
            return
        painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
        painter.drawRoundedRect(QRectF(MARGIN, middle - 2, self.place_of(self._time) - MARGIN, 4), 2, 2)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        keys = self._span.key_times
        most = max(self.width() // TICK_DISTANCE, 1)
        for time in keys[:: max(1, -(-len(keys) // most))]:
            x = self.place_of(time)
            painter.drawLine(QPointF(x, middle + 5), QPointF(x, middle + 10))
        painter.setPen(palette.color(QPalette.ColorRole.Base))
        painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
        painter.drawEllipse(QPointF(self.place_of(self._time), middle), 6.5, 6.5)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the head."""
        self.pressed.emit()
        self.scrubbed.emit(self.time_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the head."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.scrubbed.emit(self.time_at(event.position().x()))

    def event(self, event: QEvent) -> bool:
        """Say the time, and the key, under the pointer."""
        if isinstance(event, QHelpEvent) and self._span.duration > 0.0:
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos().x()), self)
            return True
        return super().event(event)

    def tip_at(self, x: float) -> str:
        """What the tooltip says at a place: the key when one is near, else the time."""
        time, keys = self.time_at(x), self._span.key_times
        index = bisect.bisect_left(keys, time)
        near = [i for i in (index - 1, index) if 0 <= i < len(keys) and abs(self.place_of(keys[i]) - x) <= 4]
        if near:
            return self.tr("Key {number} of {count} at {time:.3f} s").format(number=near[0] + 1, count=len(keys), time=keys[near[0]])
        return self.tr("{time:.3f} s, frame {frame}").format(time=time, frame=round(time * self._span.fps))
