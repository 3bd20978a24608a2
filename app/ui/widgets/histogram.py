"""How many rays took how many steps, as bars over the colours that the picture gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from raygrove.gpu.stats import StepCounts, bucket_edges

BARS, BAR_HEIGHT, MARGIN = 64, 10, 8
BEYOND = 1.25
"""How far the axis goes, in parts of the range's upper end: what lies beyond it is seen as well."""


class Histogram(QWidget):
    """Shows a StepCounts over its legend; heights are square roots, so that few rays are still seen. A line marks a
    count."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("histogram")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumHeight(110)
        self.heights = np.zeros(BARS)
        self.marked: float | None = None
        self._counts: StepCounts | None = None
        self._legend: Any = None

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(260, 150)

    def show_counts(self, counts: StepCounts | None, legend: Any) -> None:
        """Show these counts under the colours of `legend`; None shows the colours alone."""
        self._counts, self._legend = counts, legend
        self.heights = np.zeros(BARS) if counts is None else bars(counts, self.end())
        self.update()

    def mark(self, count: float | None) -> None:
        """Mark the count under the pointer; None: no mark."""
        if count != self.marked:
            self.marked = count
            self.update()

    def end(self) -> float:
        """The right end of the axis, in steps."""
        high = self._counts.high if self._counts is not None else self._legend.high if self._legend is not None else 1.0
        return max(float(high) * BEYOND, 4.0 if self._unit == 1.0 else 1e-9)

    @property
    def _unit(self) -> float:
        return 1.0 if self._counts is None else self._counts.unit

    def paintEvent(self, event: QPaintEvent) -> None:
        """Bars, colours, numbers, mark."""
        painter = QPainter(self)
        metrics = QFontMetricsF(painter.font())
        area = QRectF(MARGIN, 4, self.width() - 2 * MARGIN, self.height() - metrics.height() - BAR_HEIGHT - 10)
        tallest = float(np.sqrt(self.heights.max())) if self.heights.max() > 0 else 1.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().color(QPalette.ColorRole.Highlight))
        width, heights = area.width() / BARS, (np.sqrt(self.heights) / tallest * area.height()).tolist()
        rects = [
            QRectF(area.left() + bar * width, area.bottom() - high, max(width - 0.6, 0.6), high)
            for bar, high in enumerate(heights)
            if high
        ]
        painter.drawRects(rects)
        if self._legend is None:
            return
        low, high = (
            (self._legend.low, self._legend.high)
            if self._counts is None
            else (float(self._counts.low), float(self._counts.high))
        )
        strip = QRectF(area.left(), area.bottom() + 2, area.width(), BAR_HEIGHT)
        painter.drawImage(strip, self._colors(low, high))
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.WindowText)))
        for value, align in ((low, 0.0), (high, 0.5), (self.end(), 1.0)):
            text = f"{value:,.0f}" if self._counts is None else self._counts.text(value)
            x = area.left() + value / self.end() * area.width() - align * metrics.horizontalAdvance(text)
            painter.drawText(QPointF(x, strip.bottom() + metrics.ascent() + 2), text)
        if self.marked is not None:
            x = area.left() + min(self.marked / self.end(), 1.0) * area.width()
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.WindowText), 1.5))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, strip.bottom()))

    def _colors(self, low: float, high: float) -> QImage:
        """The axis in the picture's colours."""
        colors = self._legend.colors
        steps = np.linspace(0.0, self.end(), 256)
        places = np.clip((steps - low) * (255.0 / max(high - low, 1e-9)) + 0.5, 0, 255).astype(int)
        row = np.ascontiguousarray(np.concatenate([colors[places], np.full((256, 1), 255, np.uint8)], axis=1))
        return QImage(row.data, 256, 1, 1024, QImage.Format.Format_RGBX8888).copy()


def bars(counts: StepCounts, end: float) -> np.ndarray:
    """Rays in each of BARS equal parts of 0 .. `end`, (BARS,) float64: a bucket's rays are spread evenly over its
    counts; the last bar also has what lies beyond."""
    edges = bucket_edges().astype(np.float64)
    below = np.concatenate([[0.0], np.cumsum(counts.histogram.astype(np.float64))])
    rays = np.diff(np.interp(np.linspace(0.0, end, BARS + 1), edges, below))
    rays[-1] += below[-1] - np.interp(end, edges, below)
    return rays
