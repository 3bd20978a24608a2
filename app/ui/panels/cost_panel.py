"""Cost over the key frames: the tree's SAH cost and the milliseconds of build, refit and trace, drawn while the
animation plays; a click jumps there.

Structures seen before stay as thin lines, so that a refit's decay is seen beside the rebuild.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from raygrove.app.frames.render_thread import FinishedFrame
from raygrove.app.playback.cost_log import COLUMNS, CostLog
from raygrove.app.playback.timeline import Span
from raygrove.app.settings import titles
from raygrove.app.ui.colors import phase_color
from raygrove.app.ui.widgets.line_chart import Line, LineChart
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table

UPDATE_INTERVAL_S = 0.5
MARK_INTERVAL_MS = 250
TIMES = ("build", "refit", "trace")
STRUCTURE_COLORS = ("#3a86d4", "#e69f00", "#2fa77a", "#c45a8b", "#8e7cc3", "#7f8c8d", "#d2691e", "#17a2b8")


class CostPanel(QWidget):
    """See the module. `take` is called with every frame, drawing happens twice a second; `jumped` carries seconds.
    `watched` says whether it is looked at: then every frame's phases are to be timed."""

    jumped = Signal(float)
    watched = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cost")
        self.setMinimumHeight(190)
        self.log = CostLog()
        self._shown_time = self._duration = 0.0
        self.charts = LineChart(self.tr("SAH cost"), self), LineChart(self.tr("ms"), self)
        self.legend = QLabel(self.tr("Play the animation to see what each key frame costs."), self)
        self.legend.setObjectName("cost_legend")
        self.legend.setWordWrap(True)
        self.bar = PanelBar("cost_over_keys", self.table, self.text, self)
        row = QHBoxLayout()
        for chart in self.charts:
            chart.chosen.connect(self.jump)
            chart.setToolTip(
                self.tr("Seconds of the animation; click to go there. Thin lines are structures seen before.")
            )
            row.addWidget(chart)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 4, 6, 4)
        column.addLayout(row, 1)
        column.addWidget(self.legend)
        column.addWidget(self.bar)
        self._seconds = 0.0
        self._mark_timer = QTimer(self, singleShot=True, interval=MARK_INTERVAL_MS)
        self._mark_timer.timeout.connect(self._move_marks)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.show_latest)

    def begin(self, span: Span) -> None:
        """Another scene, or other key frames."""
        self.log.begin(span)
        for chart in self.charts:
            chart.show_lines((), span.duration)
        self._duration = span.duration
        moves = span.duration > 0.0
        self.legend.setText(
            self.tr("Play the animation to see what each key frame costs.")
            if moves
            else self.tr("This scene does not move.")
        )

    def take(self, frame: FinishedFrame) -> None:
        """Remember a frame, and draw when it is time."""
        if frame.statistics is None or self.bar.is_frozen:
            return
        self.log.add(frame.statistics, at_rest=not frame.request.is_moving)
        if self.isVisible() and not self._timer.isActive():
            wait = self._shown_time + UPDATE_INTERVAL_S - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def show_time(self, seconds: float) -> None:
        """Where the playing head stands; the marks follow a few times a second."""
        self._seconds = seconds
        if not self._mark_timer.isActive() and self.isVisible():
            self._mark_timer.start()

    def _move_marks(self) -> None:
        if not self.bar.is_frozen:
            for chart in self.charts:
                chart.show_mark(self._seconds)

    def show_latest(self) -> None:
        """Draw what is known now."""
        self._shown_time = time.monotonic()
        self._move_marks()
        if not self.log.structures:
            return
        structures = tuple(enumerate(self.log.structures))
        self.charts[0].show_lines(
            [self._line(structure, "sah_cost", _color(number)) for number, structure in structures], self._duration
        )
        times = [
            self._line(structure, f"{name}_ms", phase_color(name).name())
            for _, structure in structures
            for name in TIMES
        ]
        self.charts[1].show_lines(times, self._duration)
        self.legend.setText(self._legend())

    def table(self) -> Table:
        """Every place of every structure."""
        return COLUMNS, self.log.rows()

    def text(self) -> str:
        """What is known, as text."""
        rows = self.log.rows()
        return (
            "\n".join(
                [
                    "\t".join(COLUMNS),
                    *("\t".join("" if row[name] is None else str(row[name]) for name in COLUMNS) for row in rows),
                ]
            )
            + "\n"
        )

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden."""
        super().showEvent(event)
        self._timer.start(0)
        self.watched.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Phases need no longer be timed in every frame."""
        self.watched.emit(False)
        super().hideEvent(event)

    def jump(self, seconds: float) -> None:
        """Go to the place of the animation nearest to an instant."""
        if self.log.times:
            self.jumped.emit(self.log.times[self.log.place_of(seconds)])

    def _line(self, structure: str, name: str, color: str) -> Line:
        times, values = self.log.line(structure, name)
        return Line(times, values, color, is_old=structure != self.log.current)

    def _legend(self) -> str:
        parts = [
            f'<span style="color:{_color(number)}">■</span>&nbsp;{_shown(name)}'
            for number, name in enumerate(self.log.structures)
        ]
        parts += [f'<span style="color:{phase_color(name).name()}">■</span>&nbsp;{name}' for name in TIMES]
        return " &nbsp;".join(parts)


def _shown(structure: str) -> str:
    """A structure of the log by its titles; how it is updated is a word already."""
    hierarchy, layout, update = structure.split(", ")
    return f"{titles.short_title('hierarchy', hierarchy)}, {titles.short_title('layout', layout)}, {update}"


def _color(number: int) -> str:
    return STRUCTURE_COLORS[number % len(STRUCTURE_COLORS)]
