"""The boxes' panel: show them, choose the levels by dragging over their histogram, and read how many there are."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, QSize, QTimer, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QShowEvent
from PySide6.QtWidgets import QFormLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.settings.box_options import BoxOptions
from raygrove.app.settings.race_options import RACE
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.form import Editor
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table
from raygrove.app.ui.widgets.steady import INTERVAL_S, Steady
from raygrove.gpu.settings import fields_of

if TYPE_CHECKING:
    from raygrove.app.frames.node_boxes import BoxReport

REPLAY_MS = 450
COLUMNS = ("depth", "nodes", "leaves")
TITLES = {
    "show": "Show boxes", "source": "Boxes of", "count_from": "Levels from", "first_depth": "From level",
    "last_depth": "To level",
    "leaves_only": "Leaves only", "limit": "At most", "opacity": "Opacity",
    "visible_from": "Visible from", "cell": "Cell",
}  # fmt: skip


class LevelChart(QWidget):
    """A column per level, its height the logarithm of its nodes, in the level's colour; leaves are the darker part.
    Dragging chooses levels:
    `chosen(first, last)`."""

    chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("levels")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(90)
        self.report: BoxReport | None = None
        self.first, self.last = 0, 0
        self._pressed: int | None = None

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(260, 130)

    def show_report(self, report: BoxReport | None) -> None:
        """The levels of a tree."""
        self.report = report
        self.update()

    def show_range(self, first: int, last: int) -> None:
        """The levels whose boxes are drawn."""
        self.first, self.last = first, last
        self.update()

    def level_at(self, x: float) -> int:
        """The level under a place."""
        levels = len(self.report.level_counts) if self.report is not None else 0
        return int(np.clip(x / max(self.width(), 1) * levels, 0, max(levels - 1, 0)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Columns; those that are not chosen are pale."""
        if self.report is None or not self.report.level_counts:
            return
        painter = QPainter(self)
        counts, leaves = self.report.level_counts, self.report.leaf_counts
        room = self.height() - painter.fontMetrics().height() - 2
        width = self.width() / len(counts)
        tallest = np.log2(1 + max(counts))
        for level, count in enumerate(counts):
            color = QColor(*(int(part) for part in self.report.colors[level]))
            color.setAlpha(255 if self.first <= level <= self.last else 60)
            heights = [room * np.log2(1 + number) / tallest for number in (count, leaves[level])]
            for height, fill in zip(heights, (color, QColor(0, 0, 0, color.alpha() // 3)), strict=True):
                painter.fillRect(QRectF(level * width + 0.5, room - height, max(width - 1.0, 1.0), height), fill)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.WindowText)))
        painter.drawText(0, self.height() - 3, "0")
        last = str(len(counts) - 1)
        painter.drawText(self.width() - painter.fontMetrics().horizontalAdvance(last), self.height() - 3, last)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a range."""
        self._pressed = self.level_at(event.position().x())
        self.chosen.emit(self._pressed, self._pressed)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Widen it."""
        if self._pressed is not None:
            level = self.level_at(event.position().x())
            self.chosen.emit(min(level, self._pressed), max(level, self._pressed))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End it."""
        self._pressed = None


class BoxesPanel(QWidget):
    """See the module. `take` is called with every frame, drawing happens at most four times a second."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("boxes")
        self._document = document
        self.report: BoxReport | None = None
        self._latest: BoxReport | None = None
        self._shown_time = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.show_latest)
        self.levels, self.sentence = LevelChart(self), Label(self)
        self.sentence.setObjectName("sentence")
        self.levels.setToolTip(
            self.tr(
                "Drag over the levels whose boxes are to be drawn. Heights are logarithmic, the dark part is leaves"
            )
        )
        self.bar = PanelBar("levels", self.table, self.text, self)
        self.editors = {
            field.name: Editor(field, parent=self) for field in fields_of(BoxOptions) if field.name in TITLES
        }
        for name, editor in self.editors.items():
            editor.edited.connect(lambda value, name=name: document.change(f"settings.boxes.{name}", value))
        self.levels.chosen.connect(self._choose)
        self.replay = QPushButton(self.tr("Replay"), self)
        self.replay.setToolTip(
            self.tr("Draw level after level: how the tree is split from the root, or joined from its leaves")
        )
        self.replay.setCheckable(True)
        self.replay.toggled.connect(self._replay)
        self._steps = QTimer(self, interval=REPLAY_MS)
        self._steps.timeout.connect(self.step)
        form = QFormLayout()
        for name, title in TITLES.items():
            form.addRow(self.tr(title), self.editors[name])
        form.addRow("", self.replay)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        column.addLayout(form)
        column.addWidget(self.levels, 1)
        column.addWidget(Steady(self.sentence, 4))
        column.addWidget(self.bar)
        document.observe(self._changed)
        self._show_options()
        self._show_report()

    def take(self, frame: FinishedFrame) -> None:
        """Show a frame's levels where they are others than before, and it is time."""
        if frame.boxes is self._latest or self.bar.is_frozen:
            return
        self._latest = frame.boxes
        if self.isVisible() and not self._timer.isActive():
            wait = self._shown_time + INTERVAL_S - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def show_latest(self) -> None:
        """Show the newest levels now."""
        if self.report is not self._latest and not self.bar.is_frozen:
            self._shown_time = time.monotonic()
            self.report = self._latest
            self._show_report()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden."""
        super().showEvent(event)
        self.show_latest()

    def clear(self) -> None:
        """Another scene begins."""
        self.report = self._latest = None
        self._show_report()

    def toggle(self) -> None:
        """Show the boxes, or do not."""
        self._document.change("settings.boxes.show", not self._document.state.settings.boxes.show)

    def table(self) -> Table:
        """The levels."""
        report = self.report
        counts = zip(report.level_counts, report.leaf_counts, strict=True) if report is not None else ()
        return COLUMNS, [
            {"depth": depth, "nodes": nodes, "leaves": leaves} for depth, (nodes, leaves) in enumerate(counts)
        ]

    def text(self) -> str:
        """What is shown, as text."""
        rows = self.table()[1]
        return (
            "\n".join(
                [
                    self.sentence.text(),
                    "\t".join(COLUMNS),
                    *("\t".join(str(row[name]) for name in COLUMNS) for row in rows),
                ]
            )
            + "\n"
        )

    def step(self) -> None:
        """The next level of the replay; behind the last one it ends."""
        options, levels = self._document.state.settings.boxes, len(self.report.level_counts) if self.report else 0
        if not self.isVisible() or (levels and options.last_depth >= levels - 1):
            self.replay.setChecked(False)
        elif levels:
            self._choose(0, options.last_depth + 1)

    def _replay(self, is_on: bool) -> None:
        if is_on:
            self._document.change("settings.boxes.show", True)
            self._choose(0, 0)
            self._steps.start()
        else:
            self._steps.stop()

    def _choose(self, first: int, last: int) -> None:
        for name, value in (("first_depth", first), ("last_depth", last)):
            self._document.change(f"settings.boxes.{name}", value, "levels")

    def _show_options(self) -> None:
        options = self._document.state.settings.boxes
        for name, editor in self.editors.items():
            editor.set_value(getattr(options, name))
        self.editors["cell"].setEnabled(options.visible_from == "cell")
        self.levels.show_range(options.first_depth, options.last_depth)

    def _changed(self, before: State, after: State) -> None:
        if before.settings.boxes != after.settings.boxes:
            self._show_options()
        if before.settings.window.workspace != after.settings.window.workspace:
            self._show_report()

    def _show_report(self) -> None:
        self.levels.show_report(self.report)
        self.sentence.setText(self.report.sentence if self.report is not None else self._why_none())

    def _why_none(self) -> str:
        if self._document.state.settings.window.workspace == RACE:
            return self.tr("The pictures of a race are drawn without boxes.")
        return self.tr("Show the boxes to count the levels.")
