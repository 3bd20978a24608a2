"""The line under the picture: the keys' ticks and the playing head, which can be dragged.

The line is drawn once, played and not yet played; while the head runs only the pixels around it are copied anew.
"""

from __future__ import annotations

import bisect

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPixmap, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget

from raygrove.app.playback.timeline import Span

MARGIN = 9
TICK_DISTANCE = 5
HEAD = 6.5
LEAST_MOVE = 1.0
"""Pixels that the head moves at a time while it runs."""


class Scrubber(QWidget):
    """See the module. `scrubbed` carries seconds while the head is dragged, `pressed` says that a drag begins."""

    scrubbed = Signal(float)
    pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scrubber")
        self.setMinimumSize(104, 28)
        self.setMouseTracking(True)
        self.setAttribute(
            Qt.WidgetAttribute.WA_OpaquePaintEvent
        )  # else the dock would be painted under each move of the head
        self._span = Span()
        self._time = self._painted_time = 0.0
        self._lines: tuple[QPixmap, QPixmap] | None = None

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(400, 28)

    def show_time(self, time: float, span: Span) -> None:
        """Put the head at `time` of `span`."""
        if span != self._span:
            self._span, self._lines = span, None
            self.update()
        self._time = time
        old, new = sorted((self.place_of(self._painted_time), self.place_of(time)))
        if new - old >= LEAST_MOVE:
            self._painted_time = time
            self.update(QRect(int(old - HEAD) - 2, 0, int(new - old + 2 * HEAD) + 5, self.height()))

    def time_at(self, x: float) -> float:
        """The seconds under a place of the widget."""
        share = (x - MARGIN) / max(self.width() - 2 * MARGIN, 1)
        return min(max(share, 0.0), 1.0) * self._span.duration

    def place_of(self, time: float) -> float:
        """The place of an instant."""
        share = time / self._span.duration if self._span.duration > 0.0 else 0.0
        return MARGIN + share * (self.width() - 2 * MARGIN)

    def ends(self) -> tuple[int, int]:
        """The places of the first instant and the last."""
        return MARGIN, self.width() - MARGIN

    def paintEvent(self, event: QPaintEvent) -> None:
        """Copy the line, draw the head."""
        ratio = self.devicePixelRatioF()
        if self._lines is None or self._lines[0].devicePixelRatio() != ratio:
            self._lines = self._line(QPalette.ColorRole.Mid, ratio), self._line(QPalette.ColorRole.Highlight, ratio)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._lines[0])
        if self._span.duration <= 0.0:
            return
        place = self.place_of(self._painted_time)
        painter.drawPixmap(
            QRectF(0, 0, place, self.height()), self._lines[1], QRectF(0, 0, place * ratio, self.height() * ratio)
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.palette().color(QPalette.ColorRole.Base))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Highlight))
        painter.drawEllipse(QPointF(place, self.height() / 2.0), HEAD, HEAD)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw the line anew."""
        super().resizeEvent(event)
        self._lines = None

    def changeEvent(self, event: QEvent) -> None:
        """Other colours: draw the line anew."""
        super().changeEvent(event)
        self._lines = None

    def _line(self, color: QPalette.ColorRole, ratio: float) -> QPixmap:
        """The whole line in a colour, with the ticks."""
        drawn = QPixmap(self.size() * ratio)
        drawn.setDevicePixelRatio(ratio)
        palette, middle = self.palette(), self.height() / 2.0
        drawn.fill(palette.color(QPalette.ColorRole.Window))
        painter = QPainter(drawn)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.color(color))
        painter.drawRoundedRect(QRectF(MARGIN, middle - 2, self.width() - 2 * MARGIN, 4), 2, 2)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        keys = self._span.key_times if self._span.duration > 0.0 else ()
        most = max(self.width() // TICK_DISTANCE, 1)
        for time in keys[:: max(1, -(-len(keys) // most))]:
            x = self.place_of(time)
            painter.drawLine(QPointF(x, middle + 5), QPointF(x, middle + 10))
        painter.end()
        return drawn

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
            return self.tr("Key frame {number} of {count} at {time:.3f} s").format(
                number=near[0] + 1, count=len(keys), time=keys[near[0]]
            )
        return self.tr("{time:.3f} s, frame {frame}").format(time=time, frame=round(time * self._span.fps))
