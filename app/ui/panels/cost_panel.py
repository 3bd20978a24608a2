"""Cost over time: one quantity at each key frame of the animation, a line for each structure, drawn while it plays,
right above the line of the playing head and along it; a click jumps there.

Lines are told apart by letters and dashes: colours are those of the phases. Structures seen before stay as thin lines,
so that a refit's decay is seen beside the rebuild.
"""

from __future__ import annotations

import html
import time
from typing import Any

import numpy as np
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QScrollArea, QVBoxLayout, QWidget

from raygrove.app.frames.frame_history import Sample
from raygrove.app.playback.cost_log import COLUMNS, CostLog
from raygrove.app.playback.timeline import Span
from raygrove.app.settings import titles
from raygrove.app.ui.colors import phase_color, scheme
from raygrove.app.ui.plain_text import RichLabel
from raygrove.app.ui.widgets.line_chart import KEPT, Line, LineChart
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table

UPDATE_INTERVAL_S = 0.5
HEIGHT, GAP = 104, 4
"""Pixels of the panel, and between its parts."""
LEAST_SIDES = (170, 200)
"""Pixels of what stands at the left and the right of the chart, where nothing says where its axis lies."""
MARK_INTERVAL_MS = 250
QUANTITIES: dict[str, tuple[Any, str]] = {
    "total_ms": (QT_TRANSLATE_NOOP("Costs", "Total"), ""),
    "animate_ms": (QT_TRANSLATE_NOOP("Costs", "Animate"), "animate"),
    "build_ms": (QT_TRANSLATE_NOOP("Costs", "Build"), "build"),
    "refit_ms": (QT_TRANSLATE_NOOP("Costs", "Refit"), "refit"),
    "optimise_ms": (QT_TRANSLATE_NOOP("Costs", "Optimise"), "optimise"),
    "trace_ms": (QT_TRANSLATE_NOOP("Costs", "Trace"), "trace"),
    "shade_ms": (QT_TRANSLATE_NOOP("Costs", "Shade"), "shade"),
    "display_ms": (QT_TRANSLATE_NOOP("Costs", "Display"), "display"),
    "other_ms": (QT_TRANSLATE_NOOP("Costs", "Other"), "other"),
    "sah_cost": (QT_TRANSLATE_NOOP("Costs", "SAH cost"), ""),
}
"""What can be shown: a figure of the log, what it is called, and the phase whose colour it has; others are in ink."""

FIRST = "sah_cost"
DASHED = ("──", "╌╌", "┈┈", "─·")
"""The dashes of A, B, C and D, in the legend."""


class _Strip(QWidget):
    """The chart between what is chosen and what its lines are. `resized`: they are to be placed anew."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Its parts lie where the timeline's axis does, which no layout knows."""
        super().resizeEvent(event)
        self.resized.emit()


class CostPanel(QWidget):
    """See the module. `take` is called with every frame, drawing happens twice a second; `jumped` carries seconds.
    `watched` says whether it is looked at: then every frame's phases are to be timed."""

    jumped = Signal(float)
    watched = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cost")
        self.setMinimumSize(sum(LEAST_SIDES), HEIGHT)
        self.log = CostLog()
        self._shown_time = self._duration = 0.0
        self._why, self._moves = "", True
        self._strip = _Strip(self)
        self._strip.resized.connect(self._place)
        column = QVBoxLayout(self)  # in which a message about the panel comes above the strip
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._strip)
        self.chart, self.quantity = LineChart("", self._strip, keeps_letters=True), QComboBox(self)
        self.quantity.setObjectName("quantity")
        self.quantity.setAccessibleName(self.tr("Quantity"))
        for name, (title, _) in QUANTITIES.items():
            self.quantity.addItem(_tr(title), name)
        self.quantity.setCurrentIndex(list(QUANTITIES).index(FIRST))
        self.is_log = QCheckBox(self.tr("Log scale"), self)
        self.is_log.setObjectName("log_scale")
        self.is_log.setToolTip(self.tr("Equal steps upwards are equal ratios"))
        self.legend = RichLabel(self.tr("Play the animation to see what each key frame costs."), self)
        self.legend.setObjectName("cost_legend")
        self.legend.setWordWrap(True)
        self.legend.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.bar = PanelBar("cost_over_keys", self.table, self.text, self)
        self.chart.chosen.connect(self.jump)
        self.chart.setToolTip(
            self.tr("Seconds of the animation; click to go there. Thin lines are earlier structures.")
        )
        self.quantity.currentIndexChanged.connect(lambda: self.show_latest())
        self.is_log.toggled.connect(lambda: self.show_latest())
        self._ends: tuple[int, int] | None = None
        self._choices, self._about = self._sides()
        self._seconds = 0.0
        self._mark_timer = QTimer(self, singleShot=True, interval=MARK_INTERVAL_MS)
        self._mark_timer.timeout.connect(self._move_marks)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.show_latest)

    def _sides(self) -> tuple[QWidget, QWidget]:
        """What is chosen, at the left of the chart; what its lines are, at the right."""
        choices, about = QWidget(self._strip), QWidget(self._strip)
        left, right = QVBoxLayout(choices), QVBoxLayout(about)
        for column in (left, right):
            column.setContentsMargins(GAP, 0, GAP, 0)
            column.setSpacing(GAP)
        left.addWidget(self.quantity)
        left.addWidget(self.is_log)
        left.addStretch(1)
        lines = QScrollArea()
        lines.setFrameShape(QFrame.Shape.NoFrame)
        lines.setWidgetResizable(True)
        lines.setWidget(self.legend)
        right.addWidget(lines, 1)
        right.addWidget(self.bar)
        return choices, about

    def lie_along(self, ends: tuple[int, int] | None) -> None:
        """Let the chart's axis begin and end there, pixels of the panel; None: where there is room."""
        self._ends = ends
        self._place()

    def _place(self) -> None:
        before, behind = KEPT
        begin, end = self._ends or (LEAST_SIDES[0] + before, self._strip.width() - LEAST_SIDES[1] - behind)
        left, right, height = begin - before, end + behind, self._strip.height() - 2 * GAP
        self._choices.setGeometry(0, GAP, left, height)
        self.chart.setGeometry(left, GAP, right - left, height)
        self._about.setGeometry(right, GAP, self._strip.width() - right, height)

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(700, HEIGHT)

    def begin(self, span: Span) -> None:
        """Another scene, or other key frames."""
        self.log.begin(span)
        self.chart.show_lines((), span.duration)
        self._duration, self._moves = span.duration, span.duration > 0.0
        self._show_legend()

    def take(self, sample: Sample) -> None:
        """Remember a frame, and draw when it is time."""
        if sample.statistics is None or self.bar.is_frozen:
            return
        self.log.add(sample.statistics, sample.parts, at_rest=not sample.frame.request.is_moving)
        if self.isVisible() and not self._timer.isActive():
            wait = self._shown_time + UPDATE_INTERVAL_S - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def say_why(self, why: str) -> None:
        """Why no frame comes now; empty: they come."""
        if why != self._why:
            self._why = why
            self._show_legend()

    def show_time(self, seconds: float) -> None:
        """Where the playing head stands; the marks follow a few times a second."""
        self._seconds = seconds
        if not self._mark_timer.isActive() and self.isVisible():
            self._mark_timer.start()

    def _move_marks(self) -> None:
        if not self.bar.is_frozen:
            self.chart.show_mark(self._seconds)

    def show_latest(self) -> None:
        """Draw what is known now."""
        self._shown_time = time.monotonic()
        self._move_marks()
        if not self.log.structures:
            return
        shown, is_log = str(self.quantity.currentData()), self.is_log.isChecked()
        title, phase = QUANTITIES[shown]
        color = phase_color(phase).name() if phase else scheme().text
        lines = [self._line(number, name, shown, color) for number, name in enumerate(self.log.structures)]
        unit = ", ms" if shown.endswith("_ms") else ""
        self.chart.show_lines(lines, self._duration, is_log=is_log)
        self._show_legend()
        self.chart.setAccessibleName(f"{_tr(title)}{unit}")
        self.chart.setAccessibleDescription("; ".join(self._in_words(number, shown) for number in range(len(lines))))

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

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_timer"):
            self.show_latest()

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

    def _line(self, number: int, structure: str, name: str, color: str) -> Line:
        times, values = self.log.line(structure, name)
        return Line(times, values, color, is_old=structure != self.log.current, letter=letter_of(number))

    def _show_legend(self) -> None:
        """Each line's letter, its dashes, and its structure; or why there are none, or none are added."""
        lines = [
            f"<b>{letter_of(number)}</b>&nbsp;{DASHED[number % len(DASHED)]}&nbsp;{_shown(name)}"
            for number, name in enumerate(self.log.structures)
        ]
        if self._why:
            lines.insert(0, html.escape(f"{self._why} {self.tr('Of frames before it:')}" if lines else self._why))
        elif not lines:
            how = self.tr("Play the animation to see what each key frame costs.")
            lines = [how if self._moves else self.tr("This scene does not move.")]
        self.legend.setText("<br>".join(lines))

    def _in_words(self, number: int, shown: str) -> str:
        """A line for who hears it: its structure, and the range of its values."""
        structure = self.log.structures[number]
        values = self.log.line(structure, shown)[1]
        known = values[np.isfinite(values)]
        what = f"{letter_of(number)} {_shown(structure)}"
        if not len(known):
            return self.tr("{what}: nothing measured").format(what=what)
        text = self.tr("{what}: {least:.4g} to {greatest:.4g} at {count} of {all} instants")
        return text.format(what=what, least=known.min(), greatest=known.max(), count=len(known), all=len(values))


def letter_of(number: int) -> str:
    """The letter of a line by its number; after Z it begins anew."""
    return chr(ord("A") + number % 26)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Costs", text)


def _shown(structure: str) -> str:
    """A structure of the log by its titles; how it is updated is a word already."""
    hierarchy, layout, update = structure.split(", ")
    return f"{titles.short_title('hierarchy', hierarchy)}, {titles.short_title('layout', layout)}, {update}"
