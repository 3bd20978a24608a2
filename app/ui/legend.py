"""The scale that explains a picture's colours, over a corner of it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

WIDTH, HEIGHT, BAR, MARGIN = 280, 64, 12, 12
STOPS = 16


class LegendPlate(QWidget):
    """Shows a ray type's legend: its label, its colours, and the numbers at both ends and in the middle."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("legend")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFixedSize(WIDTH, HEIGHT)
        self.scale: Any = None
        self.hide()

    def lie_on(self, picture: QWidget) -> None:
        """Lie over the lower left corner of a picture, whatever its size becomes."""
        before = self.parentWidget()
        if before is not None:
            before.removeEventFilter(self)
        self.setParent(picture)
        picture.installEventFilter(self)
        self._place(picture.height())
        self.setVisible(self.scale is not None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep to the corner."""
        if isinstance(event, QResizeEvent):
            self._place(event.size().height())
        return False

    def _place(self, height: int) -> None:
        self.move(MARGIN, max(0, height - HEIGHT - MARGIN))

    def sizeHint(self) -> QSize:
        """Its fixed size."""
        return QSize(WIDTH, HEIGHT)

    def show_scale(self, scale: Any) -> None:
        """Show `scale` (label, low, high, colors (N, 3) uint8 sRGB); None hides the plate."""
        self.scale = scale
        self.setVisible(scale is not None)
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A dark plate, the label, the colours, the numbers."""
        if self.scale is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(20, 20, 24, 215))
        painter.drawRoundedRect(self.rect(), 5, 5)
        metrics = QFontMetricsF(painter.font())
        bar = QRectF(10, 8 + metrics.height(), WIDTH - 20, BAR)
        painter.setBrush(self._gradient(bar))
        painter.drawRect(bar)
        painter.setPen(QColor(235, 235, 235))
        painter.drawText(QPointF(bar.left(), 4 + metrics.ascent()), self.scale.label)
        for share in (0.0, 0.5, 1.0):
            text = f"{self.scale.low + share * (self.scale.high - self.scale.low):g}" + (self.tr(" or more") if share == 1.0 else "")
            x = bar.left() + share * (bar.width() - metrics.horizontalAdvance(text))
            painter.drawText(QPointF(x, bar.bottom() + metrics.ascent() + 3), text)

    def _gradient(self, bar: QRectF) -> QLinearGradient:
        gradient = QLinearGradient(bar.left(), 0, bar.right(), 0)
        last = len(self.scale.colors) - 1
        for stop in range(STOPS + 1):
            red, green, blue = (int(c) for c in self.scale.colors[round(last * stop / STOPS)])
            gradient.setColorAt(stop / STOPS, QColor(red, green, blue))
        return gradient
