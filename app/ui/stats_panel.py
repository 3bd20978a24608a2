"""The live figures of the last frame and a strip of the frames before it, at most ten updates a second."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time
from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QPushButton, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from app.render_thread import FinishedFrame
from app.ui.stats_rows import PHASES, Row, as_text, bottleneck, phases_of, rows_of, update_text

UPDATE_INTERVAL_S = 0.1
HISTORY = 160
COLORS = {"animate": "#8e7cc3", "build": "#e69f00", "refit": "#d2b48c", "trace": "#3a86d4", "shade": "#2fa77a", "display": "#c45a8b"}
_RANGES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0)


class StatsPanel(QWidget):
    """See the module. `take` is called with every frame; drawing happens less often."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stats")
        self.setMinimumWidth(270)
        self.rows: list[Row] = []
        self.minimum_fps = 20.0
        self._items: dict[str, QTreeWidgetItem] = {}
        self._latest: tuple[FinishedFrame, float, float, tuple[int, int], str] | None = None
        self._last_update = ""
        self._shown_time = 0.0
        self._hint = QLabel(self)
        self._hint.setObjectName("bottleneck")
        self._hint.setWordWrap(True)
        self._hint.hide()
        self._tree = QTreeWidget(self)
        self._tree.setObjectName("rows")
        self._tree.setColumnCount(2)
        self._tree.setHeaderHidden(True)
        self._tree.setUniformRowHeights(True)
        self._tree.setIndentation(14)
        self._tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self._tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        copy = QPushButton(self.tr("Copy as text"), self)
        copy.setObjectName("copy")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text()))
        self._chart = Chart(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.addWidget(self._hint)
        column.addWidget(self._tree, 1)
        column.addWidget(self._chart)
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(copy)
        column.addLayout(line)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.show_latest)

    def take(self, frame: FinishedFrame, fps: float, paint_ms: float, view_size: tuple[int, int], way: str) -> None:
        """Remember a frame, and show it when it is time."""
        if _is_shown_again(frame) and self._latest is not None and self._latest[0].statistics is not None:
            before = self._latest[0]  # nothing was traced, the picture was only handed over again: what it cost is what it cost before
            frame = dataclasses.replace(frame, statistics=before.statistics, frame_ms=before.frame_ms)
        elif frame.statistics is not None:
            self._chart.add(phases_of(frame.statistics, paint_ms))
            self._last_update = update_text(frame.statistics) or self._last_update
        self._latest = (frame, fps, paint_ms, view_size, way)
        if not self._timer.isActive() and self.isVisible():
            wait = self._shown_time + UPDATE_INTERVAL_S - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def show_latest(self) -> None:
        """Show the newest frame's figures now."""
        if self._latest is None:
            return
        self._shown_time = time.monotonic()
        frame, fps, paint_ms, view_size, way = self._latest
        self.rows = rows_of(frame, fps, paint_ms, view_size, way, self._last_update)
        self._show_rows(self.rows)
        hint = bottleneck(frame, fps, paint_ms, self.minimum_fps, view_size)
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self._chart.show_history()

    def text(self) -> str:
        """What is shown, as text."""
        return as_text(self.rows)

    def clear(self) -> None:
        """Forget everything: another scene begins."""
        self._latest, self.rows, self._last_update = None, [], ""
        self._items.clear()
        self._tree.clear()
        self._hint.hide()
        self._chart.clear()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden."""
        super().showEvent(event)
        self._timer.start(0)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing to update while nobody looks."""
        self._timer.stop()
        super().hideEvent(event)

    def _show_rows(self, rows: list[Row]) -> None:
        """Change texts in place; make the tree anew only where other rows are there."""
        if [row.key for row in rows] != list(self._items):
            self._make_items(rows)
        for row in rows:
            item = self._items[row.key]
            if item.text(1) != row.value:
                item.setText(1, row.value)
            if item.toolTip(0) != row.tip:
                item.setToolTip(0, row.tip)
                item.setToolTip(1, row.tip)

    def _make_items(self, rows: list[Row]) -> None:
        closed = {key for key, item in self._items.items() if item.childCount() and not item.isExpanded()}
        closed = closed if self._items else {"memory"}
        self._items.clear()
        self._tree.clear()
        for row in rows:
            above = self._items.get(row.parent)
            item = QTreeWidgetItem([row.name, row.value])
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._items[row.key] = item
            if above is None:
                self._tree.addTopLevelItem(item)
            else:
                above.addChild(item)
        for key, item in self._items.items():
            item.setExpanded(key not in closed)


def _is_shown_again(frame: FinishedFrame) -> bool:
    """Whether no view of a frame needed a ray or anything of its structure."""
    views = frame.statistics.views if frame.statistics is not None else ()
    return bool(views) and all(view.rays == 0 and view.update == "nothing" for view in views)


class Chart(QWidget):
    """Milliseconds of each phase over the last frames, by pyqtgraph; a sentence in its place where that is not installed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumHeight(130)
        self.setMaximumHeight(170)
        self._history: collections.deque[dict[str, float]] = collections.deque(maxlen=HISTORY)
        self._curves: dict[str, Any] = {}
        self._plot: Any = None
        self._limit = 0.0
        self._library: Any = None
        self._is_missing = False
        self._loader = threading.Thread(target=self._load, name="load the chart", daemon=True)
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

    def lines(self) -> dict[str, list[float]]:
        """What is drawn: each phase's milliseconds, oldest first."""
        return {name: list(curve.getData()[1]) for name, curve in self._curves.items() if curve.getData()[1] is not None}

    def show_history(self) -> None:
        """Draw the frames so far, in a range that changes only when a frame does not fit."""
        if self._plot is None:
            self._make_plot_when_loaded()
        if not self._curves or not self._history:
            return
        top = max(max(phases.values()) for phases in self._history)
        limit = next((value for value in _RANGES if value >= top), _RANGES[-1])
        if limit != self._limit:
            self._limit = limit
            self._plot.setYRange(0.0, limit, padding=0.02)
        for name, curve in self._curves.items():
            curve.setData([phases.get(name, 0.0) for phases in self._history])

    def showEvent(self, event: QShowEvent) -> None:
        """Load pyqtgraph beside the window: it takes longer than the window may stand still."""
        super().showEvent(event)
        if not self._loader.is_alive() and self._library is None and not self._is_missing:
            self._loader.start()

    def changeEvent(self, event: QEvent) -> None:
        """Take the colours of light or dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._curves:
            self._color()

    def _color(self) -> None:
        palette = self.palette()
        self._plot.setBackground(palette.color(QPalette.ColorRole.Base))
        self._plot.getPlotItem().getAxis("left").setTextPen(palette.color(QPalette.ColorRole.Text))

    def _load(self) -> None:
        try:
            import pyqtgraph
        except ImportError:
            self._is_missing = True
        else:
            self._library = pyqtgraph

    def _make_plot_when_loaded(self) -> None:
        if self._is_missing:
            self._plot = QLabel(self.tr("The chart needs the package pyqtgraph."), self)
            self._column.addWidget(self._plot)
        elif self._library is not None:
            self._make_plot(self._library)

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
        for name in PHASES:
            self._curves[name] = self._plot.plot(pen=pyqtgraph.mkPen(COLORS[name], width=1.5))
        legend = QLabel(" &nbsp;".join(f'<span style="color:{COLORS[name]}">■</span>&nbsp;{name}' for name in PHASES), self)
        legend.setWordWrap(True)
        self._column.addWidget(self._plot, 1)
        self._column.addWidget(legend)
