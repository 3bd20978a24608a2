"""Milliseconds of each phase over the last frames: a stacked strip, and a small one beside each phase's row.

Both are pictures of one column per frame, made by numpy and stretched: a tenth of what a plot of lines costs, ten times
a second.
"""

from __future__ import annotations

import collections

import numpy as np
from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from raygrove.app.ui.colors import phase_color
from raygrove.app.ui.panels.stats_rows import PHASES

HISTORY = 160
RANGES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0)
ROWS, SMALL_ROWS = 120, 20


class Chart(QWidget):
    """The stacked strip over the phases' colours."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumHeight(130)
        self.setMaximumHeight(170)
        self._history: collections.deque[tuple[float, ...]] = collections.deque(maxlen=HISTORY)
        self._limit = RANGES[0]
        self._milliseconds: np.ndarray | None = None
        self._strip = Strip(self)
        self._legend = QLabel(self)
        self._legend.setWordWrap(True)
        self._show_legend()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._strip, 1)
        column.addWidget(self._legend)

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show_legend()
            self.show_history()

    def _show_legend(self) -> None:
        self._legend.setText(
            " &nbsp;".join(f'<span style="color:{phase_color(name).name()}">■</span>&nbsp;{name}' for name in PHASES)
        )

    def add(self, phases: dict[str, float]) -> None:
        """One more frame."""
        self._history.append(tuple(phases.get(name, 0.0) for name in PHASES))
        self._milliseconds = None

    def clear(self) -> None:
        """No frames."""
        self._history.clear()
        self._milliseconds = None
        self.show_history()

    def limit(self) -> float:
        """The upper end of the range, in milliseconds."""
        return self._limit

    def milliseconds(self) -> np.ndarray:
        """(phases, frames), oldest first. Made when it is asked for: many frames come between two drawings."""
        if self._milliseconds is None:
            self._milliseconds = np.array(self._history, np.float64).reshape(-1, len(PHASES)).T
        return self._milliseconds

    def lines(self) -> dict[str, list[float]]:
        """The upper edge of each phase's band, oldest first."""
        return dict(zip(PHASES, np.cumsum(self.milliseconds(), axis=0).tolist(), strict=True))

    def show_history(self) -> None:
        """Draw the frames so far, in a range that changes only when a frame does not fit."""
        tallest = self.milliseconds().sum(axis=0).max(initial=0.0)
        self._limit = next((value for value in RANGES if value >= tallest), RANGES[-1])
        self._strip.show_edges(np.cumsum(self.milliseconds(), axis=0), self._limit)


class Strip(QWidget):
    """The bands, and the range's numbers beside them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._limit = RANGES[0]
        self._image = QImage()

    def show_edges(self, edges: np.ndarray, limit: float) -> None:
        """The upper edges of the phases' bands (phases, frames), in a range that ends at `limit` milliseconds."""
        self._image, self._limit = band_image(edges, limit, ROWS, [phase_color(name).name() for name in PHASES]), limit
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Stretch the picture of the bands to its place."""
        painter = QPainter(self)
        metrics, palette = painter.fontMetrics(), self.palette()
        left = metrics.horizontalAdvance("5000 ms") + 6
        area = QRectF(left, 4, self.width() - left, self.height() - 8)
        painter.fillRect(area, palette.color(QPalette.ColorRole.Base))
        painter.drawImage(
            QRectF(area.left(), area.top(), area.width() * self._image.width() / HISTORY, area.height()), self._image
        )
        for share in (0.0, 0.5, 1.0):
            y = area.bottom() - share * area.height()
            painter.fillRect(QRect(round(area.left()), round(y), round(area.width()), 1), QColor(128, 128, 128, 90))
            painter.setPen(palette.color(QPalette.ColorRole.WindowText))
            text = f"{share * self._limit:g}" + (" ms" if share == 1.0 else "")
            painter.drawText(
                QPointF(
                    left - 4 - metrics.horizontalAdvance(text), y + metrics.ascent() * (0.9 if share == 1.0 else 0.3)
                ),
                text,
            )


class Sparklines(QStyledItemDelegate):
    """Draws a phase's last frames into a cell; the cell's user data name the phase."""

    def __init__(self, chart: Chart, parent: QWidget) -> None:
        super().__init__(parent)
        self._chart = chart

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """A strip of the cell's size, its top the greatest value."""
        name = index.data(Qt.ItemDataRole.UserRole)
        if name not in PHASES:
            return
        super().paint(painter, option, index)
        values = self._chart.milliseconds()[PHASES.index(name)]
        if len(values) > 1:
            area: QRectF = QRectF(option.rect).adjusted(2, 2, -2, -2)  # type: ignore[attr-defined]
            strip = band_image(values[None], max(float(values.max()), 1e-6), SMALL_ROWS, [phase_color(name).name()])
            painter.drawImage(
                QRectF(area.left(), area.top(), area.width() * strip.width() / HISTORY, area.height()), strip
            )


def band_image(edges: np.ndarray, top: float, rows: int, colors: list[str]) -> QImage:
    """Bands below `edges` (bands, columns), the lowest first, from 0 at the bottom to `top`: one pixel a column, `rows`
    high, clear above."""
    table = np.array([*(QColor(color).rgba() for color in colors), 0], np.uint32)
    heights = (np.arange(rows, 0, -1) - 0.5) * (top / rows)
    band = np.zeros((rows, edges.shape[1]), np.int8)
    for edge in edges:
        band += heights[:, None] > edge
    pixels = np.ascontiguousarray(table[band])
    return QImage(pixels.data, edges.shape[1], rows, 4 * edges.shape[1], QImage.Format.Format_ARGB32).copy()
