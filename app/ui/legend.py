"""The legend of the heat map of traversal steps: its colours and the number of steps at its ends."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

WIDTH, HEIGHT, BAR = 260, 50, 12


class Legend(QWidget):
    """Lies over a corner of the picture. `stops` are (share of the limit, sRGB colour from 0 to 1)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("legend")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFixedSize(WIDTH, HEIGHT)
        self.limit = 0
        self._stops: Sequence[tuple[float, tuple[float, float, float]]] = ()
        self.hide()

    def sizeHint(self) -> QSize:
        """Its fixed size."""
        return QSize(WIDTH, HEIGHT)

    def show_scale(self, stops: Sequence[tuple[float, tuple[float, float, float]]], limit: int) -> None:
        """Show the colours from 0 to `limit` steps."""
        self._stops, self.limit = stops, limit
        self.show()
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A dark plate, the colours, the numbers."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(20, 20, 24, 215))
        painter.drawRoundedRect(self.rect(), 5, 5)
        bar = QRectF(10, 10, WIDTH - 20, BAR)
        gradient = QLinearGradient(bar.left(), 0, bar.right(), 0)
        for share, color in self._stops:
            gradient.setColorAt(share, QColor.fromRgbF(*color))
        painter.setBrush(gradient)
        painter.drawRect(bar)
        painter.setPen(QColor(235, 235, 235))
        metrics = QFontMetricsF(painter.font())
        for share in (0.0, 0.5, 1.0):
            text = f"{round(share * self.limit)}" + (self.tr(" steps or more") if share == 1.0 else "")
            x = bar.left() + share * bar.width() - (0.0 if share == 0.0 else metrics.horizontalAdvance(text) * (0.5 if share == 0.5 else 1.0))
            painter.drawText(QPointF(x, bar.bottom() + metrics.ascent() + 4), text)
