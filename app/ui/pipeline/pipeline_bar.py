"""The row above the picture: the pipeline of a frame as chips, what each costs, and the frame by phase below them.

It tells what every place tells (session.figures), and remembers of every frame what its choice has cost.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from raygrove.app.document.state import State
from raygrove.app.frames.frame_history import PARTS, FrameFigures, Sample
from raygrove.app.ui.colors import scheme
from raygrove.app.ui.pipeline.chip import LOW, TALL, Chip, font_of
from raygrove.app.ui.pipeline.faces import NAMES, PHASES_OF, faces, milliseconds
from raygrove.app.ui.pipeline.frame_bar import HEIGHT, FrameBar
from raygrove.app.ui.pipeline.measured import Measured
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.steady import INTERVAL_S
from raygrove.gpu.brief import filled, percent

LOW_BELOW = 1100
"""Device-independent pixels of width below which chips are an icon and a name."""

ICONS = {"update": "rebuild"}
"""The icon of each chip whose name is not the icon's."""

LOW_SHARES = {"structure": 3}
"""How many times another chip's width those have there whose names are long, in halves."""

EQUAL_FROM, SHARES = 1260, {"structure": 5}
"""Pixels from which on all chips are of one width; below, such quarters of another's."""

READOUT = 150
LOW_READOUT = 84

Open = Callable[[Chip], object]


class PipelineBar(QWidget):
    """See the module. `open_sheet` opens what a chip offers when it is clicked."""

    def __init__(self, session: Session, open_sheet: Open, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pipeline")
        self.setAccessibleName(self.tr("Pipeline"))
        self._document, self._open_sheet, self._figures = session.document, open_sheet, session.figures
        self.measured, self._is_blank = Measured(), True
        self.bar = FrameBar(self)
        self.readout = Readout(self)
        self.chips = {name: self._make_chip(name) for name in NAMES}
        self._lay_out()
        self._timer = QTimer(self, singleShot=True, interval=round(INTERVAL_S * 1000))
        self._timer.timeout.connect(self.show_latest)
        self._forget = self._document.observe(self._changed)
        self.destroyed.connect(self._forget)
        self._figures.shown.connect(self._hear)
        self._figures.told.connect(self._hear_told)

    def _make_chip(self, name: str) -> Chip:
        chip = Chip(name, ICONS.get(name, name), self)
        chip.clicked.connect(lambda checked=False: self._open_sheet(chip))
        chip.hovered.connect(lambda one: self.bar.light(PHASES_OF.get(one, ())))
        chip.step_wanted.connect(self._step)
        return chip

    def _lay_out(self) -> None:
        row = self._row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for chip in self.chips.values():
            row.addWidget(chip, 1)
        row.addWidget(self.readout)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.bar)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    # -- what it hears --------------------------------------------------------------------------------------------
    def _hear(self, sample: Sample) -> None:
        if self._figures.pinned is None:
            self.measured.add(sample)

    def _hear_told(self) -> None:
        if self.isVisible():
            self.show_latest()

    def _show_soon(self) -> None:
        if not self._timer.isActive() and self.isVisible():
            self._timer.start()

    def clear(self) -> None:
        """Forget what was measured: another scene begins."""
        self.measured.clear()
        self.show_latest()

    def show_latest(self) -> None:
        """Show the choices, and the figures that are told."""
        self._timer.stop()
        self._is_blank = False
        is_race = self._document.state.settings.window.workspace == "race"
        figures = None if is_race else self._figures.latest()  # of Explore's last frames; headers have a race's
        for name, face in faces(self._document, figures).items():
            self.chips[name].show_face(face)
        parts = {name: figures.found[name].median for name in PARTS} if figures is not None else {}
        self.bar.show_parts({name: round(spent, 2) for name, spent in parts.items()})
        self.readout.show_figures(figures)

    def target_kind(self) -> str:
        """Where pictures are drawn now: host or cuda."""
        newest = self._figures.history.newest
        return "cuda" if newest is not None and newest.frame.target_name != "host" else "host"

    def go(self) -> None:
        """Give the keyboard to the row: to the chip that had it last, or the first."""
        chips = list(self.chips.values())
        next((chip for chip in chips if chip.hasFocus()), chips[2]).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _step(self, name: str, by: int) -> None:
        names = list(self.chips)
        place = names.index(name) + by if name else by % len(names)
        self.chips[names[place % len(names)]].setFocus(Qt.FocusReason.TabFocusReason)

    def _changed(self, before: State, after: State) -> None:
        same_clip = before.timeline.clip == after.timeline.clip
        if before.settings is after.settings and before.scene is after.scene and same_clip:
            return  # a head that runs, a camera that moves
        self._show_soon()

    # -- Qt -------------------------------------------------------------------------------------------------------
    def minimumSizeHint(self) -> QSize:
        """An icon a chip, and the milliseconds."""
        return QSize(len(self.chips) * 40 + LOW_READOUT, LOW + HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Chips lose their figures where they would be cut."""
        super().resizeEvent(event)
        is_low = event.size().width() < LOW_BELOW
        for place, (name, chip) in enumerate(self.chips.items()):
            chip.set_low(is_low)
            shares, others = (LOW_SHARES, 2) if is_low else (SHARES if event.size().width() < EQUAL_FROM else {}, 4)
            self._row.setStretch(place, shares.get(name, others))
        self.readout.set_low(is_low)

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden; chips that say nothing yet are filled at once. Before that
        nobody needs all structures, whose import takes a while."""
        super().showEvent(event)
        if self._is_blank:
            self.show_latest()
        self._show_soon()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing to show while nobody looks."""
        self._timer.stop()
        super().hideEvent(event)


class Readout(QWidget):
    """Frames per second, the frame's milliseconds, the device, and the phase that takes most of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pipeline.readout")
        self.lines = ("", "", "")
        self._is_low = False
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.set_low(False)

    def set_low(self, is_low: bool) -> None:
        """One line, or three."""
        self._is_low = is_low
        self.setFixedSize(LOW_READOUT if is_low else READOUT, LOW if is_low else TALL)
        self.update()

    def show_figures(self, figures: FrameFigures | None) -> None:
        """Say what a frame takes; nothing without figures."""
        lines = self._lines(figures) if figures is not None else ("", "", "")
        if lines != self.lines:
            self.lines = lines
            self.setAccessibleName(", ".join(lines))
            self.update()

    def _lines(self, figures: FrameFigures) -> tuple[str, str, str]:
        frame, whole = figures.sample.frame, figures.ms("frame")
        most = max(PARTS, key=figures.ms)
        moving, still = filled(self.tr("{fps} frames/s"), fps=f"{figures.fps:.0f}"), self.tr("still")
        rate = moving if frame.request.is_moving else still
        device = "CPU" if frame.target_name == "host" else "GPU"
        share = figures.ms(most) / whole if whole > 0.0 else 0.0
        return rate, f"{milliseconds(whole)}   {device}", f"{most} {percent(share)}"

    def paintEvent(self, event: QPaintEvent) -> None:
        """Three lines that end at the right edge; where there is little room the second alone."""
        painter, colors = QPainter(self), scheme()
        painter.fillRect(self.rect(), QColor(colors.window))
        rows = (
            [(0, self.height(), self.lines[1].partition("   ")[0], colors.text, 12)]
            if self._is_low
            else [
                (3, 15, self.lines[0], colors.secondary, 12),
                (17, 18, self.lines[1], colors.text, 13),
                (34, 15, self.lines[2], colors.secondary, 12),
            ]
        )
        for top, height, text, color, pixels in rows:
            painter.setFont(font_of(pixels))
            painter.setPen(QColor(color))
            ends = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(4, top, self.width() - 12, height, ends, text)
