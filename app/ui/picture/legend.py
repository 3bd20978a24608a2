"""The scale that explains a picture's colours, over a corner of it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from raygrove.app.export.legend import BAR, HEIGHT, MARGIN, SWATCH, WIDTH, end_texts
from raygrove.app.ui.picture.overlay import Overlay

STOPS = 16


class LegendPlate(Overlay):
    """Shows a ray type's legend: its label, its colours, and the numbers at both ends and in the middle."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("legend", parent)
        self.setFixedSize(WIDTH, HEIGHT)
        self.scale: Any = None
        self._drawn: QPixmap | None = None

    def place(self, size: QSize) -> None:
        """The lower left corner."""
        self.move(MARGIN, max(0, size.height() - HEIGHT - MARGIN))

    def has_content(self) -> bool:
        """Whether the ray type has a scale."""
        return self.scale is not None

    def sizeHint(self) -> QSize:
        """Its fixed size."""
        return QSize(WIDTH, HEIGHT)

    def show_scale(self, scale: Any) -> None:
        """Show `scale` (label, low, high, colors (N, 3) uint8 sRGB); None hides the plate."""
        self.scale, self._drawn = scale, None
        self.refresh()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Copy the plate: it is painted over with each picture below it, and drawn only where it says something
        else."""
        if self.scale is None:
            return
        ratio = self.devicePixelRatioF()
        if self._drawn is None or self._drawn.devicePixelRatio() != ratio:
            self._drawn = QPixmap(self.size() * ratio)
            self._drawn.setDevicePixelRatio(ratio)
            self._drawn.fill(Qt.GlobalColor.transparent)
            self._draw(self._drawn)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._drawn)

    def changeEvent(self, event: QEvent) -> None:
        """Other fonts or colours: draw anew."""
        super().changeEvent(event)
        self._drawn = None

    def _draw(self, plate: QPixmap) -> None:
        """A dark plate, the label, the colours, the numbers."""
        painter = QPainter(plate)
        painter.setFont(self.font())
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
        for share, text in zip(
            (0.0, 0.5, 1.0), end_texts(self.scale, self.tr(" or less"), self.tr(" or more")), strict=True
        ):
            x = bar.left() + share * (bar.width() - metrics.horizontalAdvance(text))
            painter.drawText(QPointF(x, bar.bottom() + metrics.ascent() + 3), text)
        if self.scale.missing is not None:
            text = self.tr("no value")
            left = bar.right() - metrics.horizontalAdvance(text)
            painter.drawText(QPointF(left, 4 + metrics.ascent()), text)
            side = QRectF(left - 2 * SWATCH, 4 + metrics.ascent() - SWATCH, SWATCH, SWATCH)
            painter.fillRect(side, QColor(*self.scale.missing))

    def _gradient(self, bar: QRectF) -> QLinearGradient:
        gradient = QLinearGradient(bar.left(), 0, bar.right(), 0)
        last = len(self.scale.colors) - 1
        for stop in range(STOPS + 1):
            red, green, blue = (int(c) for c in self.scale.colors[round(last * stop / STOPS)])
            gradient.setColorAt(stop / STOPS, QColor(red, green, blue))
        return gradient
