"""How many things have how much of something, as bars, and a range of it between two handles that the mouse drags."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QImage, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from raygrove.app.export.legend import number_text
from raygrove.gpu.stats import AttributeCounts

MARGIN, STRIP = 8, 6
OUTSIDE_ALPHA = 150
MOST_BARS = 64


class RangeHistogram(QWidget):
    """See the module; heights are square roots, so that few things are still seen. `dragged` carries the range while a
    handle moves, None for an end that lies at the axis' own; `released` ends a drag. A double click takes all."""

    dragged = Signal(object, object)
    released = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("range")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumHeight(110)
        self.counts: AttributeCounts | None = None
        self.chosen: tuple[float | None, float | None] = (None, None)
        self._scale: Any = None
        self._handle: int | None = None

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(240, 120)

    def show_counts(self, counts: AttributeCounts | None, scale: Any = None) -> None:
        """Show these counts; `scale` has the colours of the axis, where it has some."""
        self.counts, self._scale = counts, scale
        self.update()

    def show_range(self, low: float | None, high: float | None) -> None:
        """Put the handles to a range; None is the axis' own end."""
        self.chosen = (low, high)
        self.update()

    def ends(self) -> tuple[float, float]:
        """The values where the handles stand."""
        low, high = self._axis()
        first, last = self.chosen
        return max(low if first is None else first, low), min(high if last is None else last, high)

    def place_of(self, value: float) -> QPointF:
        """Where a value lies, in the middle of the height."""
        return QPointF(self._x(value), self._area().center().y())

    # -- mouse ----------------------------------------------------------------------------------------------------
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the handle that is nearer."""
        if self.counts is None or event.button() != Qt.MouseButton.LeftButton:
            return
        away = [abs(event.position().x() - self._x(end)) for end in self.ends()]
        self._handle = 0 if away[0] < away[1] or (away[0] == away[1] and event.position().x() < self._x(0.0)) else 1
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag it, at most to the other one."""
        if self._handle is None:
            return
        (low, high), (first, last) = self._axis(), self.ends()
        share = (event.position().x() - self._area().left()) / self._area().width()
        value = low + min(max(share, 0.0), 1.0) * (high - low)
        if self._handle == 0:
            self.chosen = (None if value <= low else min(value, last), self.chosen[1])
        else:
            self.chosen = (self.chosen[0], None if value >= high else max(value, first))
        self.update()
        self.dragged.emit(*self.chosen)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let it go."""
        if self._handle is not None and event.button() == Qt.MouseButton.LeftButton:
            self._handle = None
            self.released.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select all."""
        if self.counts is not None:
            self._handle = None
            self.show_range(None, None)
            self.dragged.emit(None, None)
            self.released.emit()

    # -- drawing --------------------------------------------------------------------------------------------------
    def _axis(self) -> tuple[float, float]:
        return (self.counts.low, self.counts.high) if self.counts is not None else (0.0, 1.0)

    def _area(self) -> QRectF:
        room = QFontMetricsF(self.font()).height() + STRIP + 10
        return QRectF(MARGIN, 4, max(self.width() - 2 * MARGIN, 1), max(self.height() - room, 1))

    def _x(self, value: float) -> float:
        low, high = self._axis()
        return self._area().left() + min(max((value - low) / (high - low), 0.0), 1.0) * self._area().width()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Bars, those outside the range paler; colours, handles, numbers."""
        painter, area, metrics = QPainter(self), self._area(), QFontMetricsF(self.font())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().color(QPalette.ColorRole.Highlight))
        if self.counts is None:
            return
        heights = bars(self.counts.histogram)
        width = area.width() / len(heights)
        painter.drawRects(
            [
                QRectF(area.left() + bar * width, area.bottom() - share * area.height(), max(width - 0.6, 0.6), height)
                for bar, share in enumerate(heights.tolist())
                if (height := share * area.height())
            ]
        )
        if self._scale is not None:
            painter.drawImage(QRectF(area.left(), area.bottom() + 2, area.width(), STRIP), self._colors())
        first, last = (self._x(end) for end in self.ends())
        veil = self.palette().color(QPalette.ColorRole.Window)
        veil.setAlpha(OUTSIDE_ALPHA)
        painter.fillRect(QRectF(area.left(), area.top(), first - area.left(), area.height()), veil)
        painter.fillRect(QRectF(last, area.top(), area.right() - last, area.height()), veil)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.WindowText), 2.0))
        for x in (first, last):
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() + STRIP + 2))
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        bottom = area.bottom() + STRIP + 4 + metrics.ascent()
        texts = [number_text(end) for end in self.ends()]
        widths = [metrics.horizontalAdvance(text) for text in texts]
        left = min(max(first - widths[0] / 2, area.left()), area.right() - sum(widths) - MARGIN)
        right = min(max(last - widths[1] / 2, left + widths[0] + MARGIN), area.right() - widths[1])
        for x, text in zip((left, right), texts, strict=True):
            painter.drawText(QPointF(x, bottom), text)

    def _colors(self) -> QImage:
        """The axis in the colours that spheres have."""
        low, high = self._axis()
        steps, scale = np.linspace(low, high, 256), self._scale
        places = np.clip((steps - scale.low) * (255.0 / max(scale.high - scale.low, 1e-30)) + 0.5, 0, 255).astype(int)
        row = np.ascontiguousarray(np.concatenate([scale.colors[places], np.full((256, 1), 255, np.uint8)], axis=1))
        return QImage(row.data, 256, 1, 1024, QImage.Format.Format_RGBX8888).copy()


def bars(histogram: np.ndarray) -> np.ndarray:
    """Heights of at most MOST_BARS bars, from 0 to 1."""
    joined = histogram.reshape(-1, max(1, len(histogram) // MOST_BARS)).sum(axis=1).astype(np.float64)
    return np.sqrt(joined / joined.max()) if joined.max() > 0 else joined
