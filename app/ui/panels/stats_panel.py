"""The live figures of the last frame and a strip of the frames before it, at most ten updates a second."""

from __future__ import annotations

import dataclasses
import time

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QLabel, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from raygrove.app.frames.render_thread import FinishedFrame
from raygrove.app.ui.panels.bottleneck import bottleneck
from raygrove.app.ui.panels.phase_chart import Chart, Sparklines
from raygrove.app.ui.panels.stats_rows import PHASES, Row, as_text, decision, phases_of, rows_of
from raygrove.app.ui.panels.value_cells import Values
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table

UPDATE_INTERVAL_S = 0.2
REASON_LINES = 3
CLOSED_AT_FIRST = {"memory", "levels"}
COLUMNS = ("key", "name", "value")
SPARKLINE_WIDTH = 40


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
        self._shown_time = 0.0
        self._hint = QLabel(self)
        self._hint.setObjectName("bottleneck")
        self._hint.setWordWrap(True)
        self._hint.hide()
        self._reason = QLabel(self)
        self._reason.setObjectName("reason")
        self._reason.setWordWrap(True)
        self._reason.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._reason.setFixedHeight(
            REASON_LINES * self.fontMetrics().lineSpacing()
        )  # reasons change with each frame; what is above stays put
        self._reason.hide()
        self._tree = QTreeWidget(self)
        self._tree.setObjectName("rows")
        self._tree.setColumnCount(3)
        self._tree.setHeaderHidden(True)
        self._tree.setUniformRowHeights(True)
        self._tree.setIndentation(10)
        self._tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self._tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self._tree.header().setSectionResizeMode(2, QHeaderView.ResizeMode.Fixed)
        self._tree.header().setStretchLastSection(False)
        self._tree.header().resizeSection(2, SPARKLINE_WIDTH)
        self.bar = PanelBar("statistics", self.table, self.text, self)
        self._chart = Chart(self)
        self._tree.setItemDelegateForColumn(1, Values(self._tree, frozenset(PHASES)))
        self._tree.setItemDelegateForColumn(2, Sparklines(self._chart, self._tree))
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.addWidget(self._hint)
        column.addWidget(self._tree, 1)
        column.addWidget(self._reason)
        column.addWidget(self._chart)
        column.addWidget(self.bar)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.show_latest)

    def take(self, frame: FinishedFrame, fps: float, paint_ms: float, view_size: tuple[int, int], way: str) -> None:
        """Remember a frame, and show it when it is time; nothing where the figures are frozen."""
        if self.bar.is_frozen:
            return
        if _is_shown_again(frame) and self._latest is not None and self._latest[0].statistics is not None:
            before = self._latest[
                0
            ]  # nothing was traced, the picture was only handed over again: what it cost is what it cost before
            frame = dataclasses.replace(frame, statistics=before.statistics, frame_ms=before.frame_ms)
        elif frame.statistics is not None:
            if frame.statistics.phases_age == 0:  # else the same phases as before
                self._chart.add(phases_of(frame.statistics, paint_ms))
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
        rows = rows_of(frame, fps, paint_ms, view_size, way)
        self._show_rows(rows)
        hint = bottleneck(frame, fps, paint_ms, self.minimum_fps, view_size)
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self._reason.setText(decision(frame))
        self._reason.setVisible(bool(self._reason.text()))
        self._chart.show_history()

    def text(self) -> str:
        """What is shown, as text."""
        return as_text(self.rows)

    def table(self) -> Table:
        """What is shown, as rows of a key that stays, a name and a value with its unit."""
        return COLUMNS, [{name: getattr(row, name) for name in COLUMNS} for row in self.rows]

    def clear(self) -> None:
        """Forget everything: another scene begins."""
        self._latest, self.rows = None, []
        self._items.clear()
        self._tree.clear()
        self._hint.hide()
        self._reason.hide()
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
        """Change texts in place, and paint once; make the tree anew only where other rows are there."""
        if [row.key for row in rows] != list(self._items):
            self._make_items(rows)
            self.rows = []
        before = {row.key: row for row in self.rows}
        self.rows = rows
        blocker = QSignalBlocker(self._tree.model())  # each text alone would be a reason to paint
        for row in rows:
            if row != before.get(row.key):
                item = self._items[row.key]
                item.setText(1, row.value)
                item.setToolTip(0, row.tip)
                item.setToolTip(1, f"{row.value}\n{row.tip}" if row.tip else row.value)
        del blocker
        self._tree.viewport().update()

    def _make_items(self, rows: list[Row]) -> None:
        closed = {key for key, item in self._items.items() if item.childCount() and not item.isExpanded()}
        closed |= CLOSED_AT_FIRST - set(self._items)
        self._items.clear()
        self._tree.clear()
        for row in rows:
            above = self._items.get(row.parent)
            item = QTreeWidgetItem([row.name, row.value])
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setData(2, Qt.ItemDataRole.UserRole, row.key)
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
