"""Milliseconds of each phase over the last frames: a stacked strip, and a small line beside each phase's row."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen, QShowEvent
from PySide6.QtWidgets import QLabel, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from app.ui.plots import PLOTS
from app.ui.stats_rows import PHASES

HISTORY = 160
COLORS = {"animate": "#8e7cc3", "build": "#e69f00", "refit": "#d2b48c", "trace": "#3a86d4", "shade": "#2fa77a", "display": "#c45a8b"}
_RANGES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0)


class Chart(QWidget):
    """The stacked strip, by pyqtgraph; a sentence in its place where that is not installed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumHeight(130)
        self.setMaximumHeight(170)
        self._history: collections.deque[dict[str, float]] = collections.deque(maxlen=HISTORY)
        self._curves: dict[str, Any] = {}
        self._plot: Any = None
        self._limit = 0.0
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def add(self, phases: dict[str, float]) -> None:
        """One more frame."""
        self._history.append(phases)

    def clear(self) -> None:
        """No frames."""
        self._history.clear()
        for curve in self._curves.values():
            curve.setData([])

    def limit(self) -> float:
        """The upper end of the range, in milliseconds."""
        return self._limit

    def milliseconds(self, phase: str) -> list[float]:
        """A phase's milliseconds, oldest first."""
        return [phases.get(phase, 0.0) for phases in self._history]

    def lines(self) -> dict[str, list[float]]:
        """The upper edge of each phase's band as drawn, oldest first."""
        return {name: list(curve.getData()[1]) for name, curve in self._curves.items() if curve.getData()[1] is not None}

    def show_history(self) -> None:
        """Draw the frames so far, in a range that changes only when a frame does not fit."""
        if self._plot is None:
            self._make_plot_when_loaded()
        if not self._curves or not self._history:
            return
        edges = np.cumsum([self.milliseconds(name) for name in PHASES], axis=0)
        limit = next((value for value in _RANGES if value >= edges[-1].max()), _RANGES[-1])
        if limit != self._limit:
            self._limit = limit
            self._plot.setYRange(0.0, limit, padding=0.02)
        for name, edge in zip(PHASES, edges, strict=True):
            self._curves[name].setData(edge)

    def showEvent(self, event: QShowEvent) -> None:
        """Load pyqtgraph beside the window."""
        super().showEvent(event)
        PLOTS.start()

    def changeEvent(self, event: QEvent) -> None:
        """Take the colours of light or dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._curves:
            self._color()

    def _color(self) -> None:
        palette = self.palette()
        self._plot.setBackground(palette.color(QPalette.ColorRole.Base))
        self._plot.getPlotItem().getAxis("left").setTextPen(palette.color(QPalette.ColorRole.Text))

    def _make_plot_when_loaded(self) -> None:
        if PLOTS.is_missing:
            self._plot = QLabel(self.tr("The chart needs the package pyqtgraph."), self)
            self._column.addWidget(self._plot)
        elif PLOTS.library is not None:
            self._make_plot(PLOTS.library)

    def _make_plot(self, pyqtgraph: Any) -> None:
        self._plot = pyqtgraph.PlotWidget(self)
        self._color()
        item = self._plot.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        self._plot.setMouseEnabled(False, False)
        item.getAxis("left").setLabel("ms")
        item.hideAxis("bottom")
        item.showGrid(y=True, alpha=0.2)
        self._plot.setXRange(0, HISTORY, padding=0.0)
        for depth, name in enumerate(PHASES):  # the first phase lies lowest, and in front of those that reach higher
            self._curves[name] = self._plot.plot(pen=pyqtgraph.mkPen(COLORS[name], width=1), fillLevel=0.0, brush=COLORS[name])
            self._curves[name].setZValue(-depth)
        legend = QLabel(" &nbsp;".join(f'<span style="color:{COLORS[name]}">■</span>&nbsp;{name}' for name in PHASES), self)
        legend.setWordWrap(True)
        self._column.addWidget(self._plot, 1)
        self._column.addWidget(legend)


class Sparklines(QStyledItemDelegate):
    """Draws a phase's last frames into a cell; the cell's user data name the phase."""

    def __init__(self, chart: Chart, parent: QWidget) -> None:
        super().__init__(parent)
        self._chart = chart

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """A line over the cell's whole width, its top the greatest value."""
        super().paint(painter, option, index)
        name = index.data(Qt.ItemDataRole.UserRole)
        values = self._chart.milliseconds(name) if name in PHASES else []
        if len(values) > 1:
            area: QRectF = QRectF(option.rect).adjusted(2, 2, -2, -2)  # type: ignore[attr-defined]
            painter.setPen(QPen(QColor(COLORS[name]), 1.0))
            painter.drawPolyline(line_in(values, area))


def line_in(values: list[float], area: QRectF) -> list[QPointF]:
    """Points of a line that fills an area from left to right, HISTORY values wide, 0 at its bottom and the greatest value at its top."""
    top = max(values) or 1.0
    step = area.width() / (HISTORY - 1)
    return [QPointF(area.left() + number * step, area.bottom() - value / top * area.height()) for number, value in enumerate(values)]
