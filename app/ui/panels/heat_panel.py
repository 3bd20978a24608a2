"""The panel of ray types whose colours are numbers: what is shown, in which colours and range, how many pixels have how
much, and what is under the pointer. For any other ray type it shows what traversal steps have."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.settings import option_tables
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.form import Editor
from raygrove.app.ui.widgets.histogram import Histogram
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table
from raygrove.app.ui.widgets.steady import INTERVAL_S, Steady
from raygrove.gpu.brief import filled
from raygrove.gpu.settings import fields_of
from raygrove.gpu.stats import RaySteps, Reading, StepCounts, bucket_edges

STEPS = "steps"
FIRST_S = 1.0
"""Seconds of what moves that the first range is fitted to."""

TITLES = {
    "count": "Count",
    "show": "Show",
    "geometric": "Geometric",
    "colors": "Colours",
    "minimum": "From",
    "maximum": "To",
    "automatic": "Fit each picture",
}


def is_read(ray_type: str) -> bool:
    """Whether colours of this ray type stand for something that the panel can read."""
    kind = option_tables.ray_type(ray_type)
    return kind is not None and (ray_type == STEPS or kind.is_read())


class HeatPanel(QWidget):
    """See the module. `take` is called with every frame; drawing happens at most four times a second. `scale_changed`
    says what the legend shows."""

    scale_changed = Signal(object)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("heat")
        self._document = document
        self.counts: StepCounts | None = None
        self.pointed: RaySteps | Reading | None = None
        self._shown_time = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.show_latest)
        self.histogram = Histogram(self)
        self.figures, self.pointer = Label(self), Label(self)
        self.figures.setObjectName("figures")
        self.pointer.setObjectName("pointer")
        self.bar = PanelBar("steps", self.table, self.text, self)
        self.bar.frozen.connect(lambda is_frozen: None if is_frozen else self._timer.start(0))
        self._forms: dict[str, dict[str, Editor]] = {}
        self._pages, self._page_of = QStackedWidget(self), dict[str, QWidget]()
        self._lay_out()
        self._used: set[str] = set()
        self._collected: StepCounts | None = None  # of the first second of pictures that move
        self._collected_until, self._is_moving = 0.0, False
        self._fitted: dict[str, Any] = {}
        self._scene, self._is_late = document.state.scene, False
        self._latest: StepCounts | None = None
        self._pinned: StepCounts | None = None
        self._is_blank = True
        document.observe(self._state_changed)

    @property
    def options(self) -> Any:
        """The options of the ray type that the panel is about."""
        return self._document.state.settings.ray_type_options(self.ray_type)

    @property
    def ray_type(self) -> str:
        """The ray type that the panel is about: the one shown, or traversal steps."""
        chosen = self._document.state.settings.render.ray_type
        return chosen if is_read(chosen) else STEPS

    @property
    def shown(self) -> StepCounts | None:
        """The counts, as long as they are of what the ray type now shows; None where colours stand for no number."""
        legend = option_tables.legend(self.ray_type, self.options)
        return (
            self.counts if self.counts is not None and legend is not None and self.counts.what == legend.label else None
        )

    @property
    def editors(self) -> dict[str, Editor]:
        """The editors of that ray type's options, by their names; made when they are first needed."""
        name = self.ray_type
        if name not in self._forms:
            self._forms[name] = self._make_form(name)
        return self._forms[name]

    def take(self, frame: FinishedFrame) -> None:
        """Remember a frame's counts, and show them when it is time."""
        statistics = frame.statistics
        found = statistics.views[0].steps if statistics is not None and statistics.views else None
        if found is None or self.bar.is_frozen:
            return
        scene = self._document.scene
        self._is_late = scene is not None and frame.request.scene is not scene
        self._latest, self._is_moving = found, frame.request.is_moving
        if self._collected is not None and self._collected.what == found.what:
            histogram = self._collected.histogram + found.histogram
            self._collected = dataclasses.replace(self._collected, histogram=histogram)
        if not self._timer.isActive():
            wait = self._shown_time + INTERVAL_S - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def show_latest(self) -> None:
        """Show the newest counts now."""
        if self._latest is None or self.bar.is_frozen:
            return
        self._shown_time = time.monotonic()
        self.counts, latest = self._pinned or self._latest, self._latest
        self._fit_at_first_use()
        self.scale_changed.emit((latest.number(latest.low), latest.number(latest.high)))
        if self.isVisible():
            self._show_counts()

    def pin(self, frame: FinishedFrame | None) -> None:
        """Show the counts of one frame, until None lets it go; the legend stays that of the picture."""
        statistics = frame.statistics if frame is not None else None
        self._pinned = statistics.views[0].steps if statistics is not None and statistics.views else None
        self.show_latest()

    def point_at(self, found: RaySteps | Reading | None) -> None:
        """What the ray under the pointer visits and is tested against, or what its hit reads; None: the pointer is
        elsewhere."""
        self.pointed = found
        if found is None:
            self.pointer.setText(self.tr("Point at the picture to read a ray's steps, or what it hits."))
            self.histogram.mark(None)
            return
        if isinstance(found, Reading):
            self.pointer.setText(self.tr("Under the pointer: {what}").format(what=found.text))
            self.histogram.mark(
                None if found.number is None or self.counts is None else found.number / self.counts.unit
            )
            return
        text = self.tr("Under the pointer: {nodes:,} nodes, {boxes:,} boxes, {primitives:,} primitives")
        self.pointer.setText(filled(text, **found._asdict()))
        self.histogram.mark(found.counted(self.options.count))

    def clear(self) -> None:
        """Another scene or ray type begins. Ranges that nobody has chosen are fitted to each scene anew."""
        self.counts = self._latest = self._pinned = None
        self._collected = None
        if self._scene != self._document.state.scene:
            self._scene = self._document.state.scene
            self._used.clear()
        self.point_at(None)
        self._show_counts()

    def _fit_at_first_use(self) -> None:
        """A scene's first picture of a ray type whose range nobody has chosen: most of a fixed one would be dark."""
        name, options = self.ray_type, self.options
        if self._is_late or self.shown is None or not self.shown.histogram.any():
            return
        if name in self._used:
            self._fit_after_a_second()
            return
        self._used.add(name)
        self._collected = None
        if options in (type(options)(), self._fitted.get(name)):
            self.fit_range()
            self._fitted[name] = self.options
            if self._is_moving:
                self._collected, self._collected_until = self.shown, time.monotonic() + FIRST_S

    def _fit_after_a_second(self) -> None:
        """What moves was fitted to one instant: once more to a second of it, or to the picture at rest that came before
        that was over, unless somebody has chosen a range meanwhile."""
        collected, name = self._collected, self.ray_type
        if collected is None or (self._is_moving and time.monotonic() < self._collected_until):
            return
        self._collected = None
        if self.options == self._fitted.get(name) and self.shown is not None:
            self.fit_range(collected if self._is_moving and collected.what == self.shown.what else None)
            self._fitted[name] = self.options

    def fit_range(self, of: StepCounts | None = None) -> None:
        """Take the range that fits the picture shown, or these counts, and keep it: one scale for whatever comes
        next."""
        counts = of or self.shown
        if counts is None:
            return
        low, high = counts.fitted()
        ends: dict[str, float] = {"minimum": low, "maximum": high}
        if counts.unit != 1.0:
            ends = {name: counts.number(value) for name, value in ends.items()}
        for name, value in {"automatic": False, **ends}.items():
            self._document.change(f"settings.ray_type.{self.ray_type}.{name}", value, "fit the range")
        self._document.end_merge()

    def table(self) -> Table:
        """The buckets that have rays."""
        counts = self.shown
        columns = (
            ("steps_from", "steps_below", "rays")
            if counts is None or counts.unit == 1.0
            else ("from", "below", "pixels")
        )
        if counts is None:
            return columns, []
        edges, histogram = bucket_edges(), counts.histogram
        ends = edges.tolist() if counts.unit == 1.0 else (edges * counts.unit).tolist()
        return columns, [
            dict(zip(columns, (ends[i], ends[i + 1], int(histogram[i])), strict=True))
            for i in np.flatnonzero(histogram)
        ]

    def text(self) -> str:
        """What is shown, as text."""
        columns, rows = self.table()
        lines = [
            self.figures.text(),
            "\t".join(columns),
            *("\t".join(str(row[name]) for name in columns) for row in rows),
        ]
        return "\n".join(lines) + "\n"

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden. What can be chosen is listed when somebody first sees it: that
        asks all ray types, whose import takes a while."""
        super().showEvent(event)
        if self._is_blank:
            self._show_options()
        else:
            self._show_counts()

    # -- parts ----------------------------------------------------------------------------------------------------
    def _make_form(self, ray_type: str) -> dict[str, Editor]:
        page = self._page_of[ray_type] = QWidget(self)
        form = QFormLayout(page)
        form.setContentsMargins(0, 0, 0, 0)
        kind = option_tables.options_type("ray_type", ray_type)
        fields = {field.name: field for field in fields_of(kind)}
        editors = {name: Editor(fields[name], parent=page) for name in TITLES if name in fields}
        for name, editor in editors.items():
            editor.edited.connect(
                lambda value, name=name: self._document.change(f"settings.ray_type.{ray_type}.{name}", value)
            )
            form.addRow(self.tr(TITLES[name]), editor)
        self._pages.addWidget(page)
        return editors

    def _lay_out(self) -> None:
        self.fit = QPushButton(self.tr("Fit once"), self)
        self.fit.setObjectName("fit")
        self.fit.setToolTip(self.tr("Fit the range to this picture and keep it for other structures, too"))
        self.fit.clicked.connect(lambda: self.fit_range())
        row = QHBoxLayout()
        row.addWidget(Steady(self.figures, 3), 1)
        row.addWidget(self.fit)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        column.addWidget(self._pages)
        column.addWidget(self.histogram, 1)
        column.addLayout(row)
        column.addWidget(Steady(self.pointer, 2))
        column.addWidget(self.bar)

    def _state_changed(self, before: State, after: State) -> None:
        if before.settings is not after.settings and not self._is_blank:
            self._show_options()

    def _show_options(self) -> None:
        self._is_blank = False
        options, editors = self.options, self.editors
        self._pages.setCurrentWidget(self._page_of[self.ray_type])
        for name, editor in editors.items():
            editor.set_value(getattr(options, name))
        for name in ("minimum", "maximum"):
            if name in editors:
                editors[name].setEnabled(not options.automatic)
        self._show_counts()

    def _show_counts(self) -> None:
        counts = self.counts
        legend = option_tables.legend(self.ray_type, self.options)
        self.histogram.show_counts(self.shown, legend)
        self.fit.setEnabled(self.shown is not None)
        if counts is None or legend is None:
            is_chosen = self._document.state.settings.render.ray_type == self.ray_type
            text = (
                self.tr("These colours do not stand for numbers: point at them.")
                if is_chosen and legend is None
                else ""
            )
            self.figures.setText(text or self.tr("Choose Render > Ray type > Traversal steps to count."))
            return
        median, most, highest = (counts.text(counts.quantile(share)) for share in (0.5, 0.99, 1.0))
        text = self.tr("{what}: median {median}, 99 % up to {most}, highest {highest}")
        self.figures.setText(text.format(what=counts.what, median=median, most=most, highest=highest))
