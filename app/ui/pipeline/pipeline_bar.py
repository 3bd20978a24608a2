"""The row above the picture: the pipeline of a frame as chips, what each costs, and the frame by phase below them.

It hears of every frame, and shows figures four times a second at most.
"""

from __future__ import annotations

import collections
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from raygrove.app.document.state import State
from raygrove.app.frames.frame_history import Sample as FrameSample
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.colors import scheme
from raygrove.app.ui.pipeline.chip import LOW, TALL, Chip, font_of
from raygrove.app.ui.pipeline.faces import NAMES, PHASES_OF, faces, milliseconds
from raygrove.app.ui.pipeline.figures import MOST, LastSecond, Sample, is_shown_again, view_of
from raygrove.app.ui.pipeline.frame_bar import HEIGHT, FrameBar
from raygrove.app.ui.pipeline.measured import Measured
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.steady import INTERVAL_S

LOW_BELOW = 1100
"""Device-independent pixels of width below which chips are an icon and a name."""

ICONS = {"update": "rebuild"}
"""The icon of each chip whose name is not the icon's."""

LOW_SHARES = {"structure": 3}
"""How many times another chip's width those have there whose names are long, in halves."""

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
        self.second, self.measured = LastSecond(), Measured()
        self._frame: FinishedFrame | None = None
        self._fps = 0.0
        self._waiting: collections.deque[FrameSample] = collections.deque(maxlen=MOST)
        self._is_news, self._is_blank = False, True
        self.bar = FrameBar(self)
        self.readout = Readout(self)
        self.chips = {name: self._make_chip(name) for name in NAMES}
        self._lay_out()
        self._timer = QTimer(self, interval=round(INTERVAL_S * 1000))
        self._timer.timeout.connect(self._tick)
        self._forget = self._document.observe(self._changed)
        self.destroyed.connect(self._forget)
        self._figures.shown.connect(self._hear)
        self._figures.pin_changed.connect(self._show_soon)

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
    def take(self, sample: FrameSample) -> None:
        """Remember a frame; its figures are worked out, and shown, when it is time."""
        self._waiting.append(sample)
        self._fps = sample.fps
        self._show_soon()

    def _hear(self, sample: FrameSample) -> None:
        if self._figures.pinned is None:
            self.take(sample)

    def _show_soon(self) -> None:
        self._is_news = True
        if not self._timer.isActive() and self.isVisible():
            self._timer.start()

    def _tick(self) -> None:
        if not self._is_news:
            self._timer.stop()
            return
        self.show_latest()

    def _count(self) -> None:
        """Work the figures out of the frames that have come since."""
        for heard in self._waiting:
            frame = heard.frame
            if self._frame is not None and is_shown_again(frame):
                continue
            self._frame = frame
            if frame.statistics is None or frame.statistics.phases_age == 0:  # else the same phases as before
                view = view_of(frame)
                sample = Sample(heard.time, heard.parts, view.update if view is not None else "")
                self.second.add(sample)
                self.measured.add(frame, sample)
        self._waiting.clear()

    def clear(self) -> None:
        """Forget the figures: another scene begins."""
        self.second.clear()
        self.measured.clear()
        self._waiting.clear()
        self._frame = None
        self.show_latest()

    def show_latest(self) -> None:
        """Show the figures of the last second now, or those of the frame that is pinned."""
        self._is_news = self._is_blank = False
        self._count()
        second, frame, fps = self.second, self._frame, self._fps
        pinned = self._figures.pinned
        if pinned is not None:
            second, frame, fps = LastSecond(), pinned.frame, pinned.fps
            view = view_of(frame)
            update = view.update if view is not None else ""
            second.add(Sample(pinned.time, pinned.parts, update))
        if self._document.state.settings.window.workspace == "race":
            second, frame, fps = LastSecond(), None, 0.0  # those are of Explore's last frames; headers have a race's
        for name, face in faces(self._document, second, frame).items():
            self.chips[name].show_face(face)
        parts = second.parts() if len(second) else {}
        self.bar.show_parts({name: round(spent, 2) for name, spent in parts.items()})
        self.readout.show_parts(parts, frame, fps)

    def target_kind(self) -> str:
        """Where pictures are drawn now: host or cuda."""
        return "cuda" if self._frame is not None and self._frame.target_name != "host" else "host"

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
            self._row.setStretch(place, LOW_SHARES.get(name, 2) if is_low else 1)
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

    def show_parts(self, parts: dict[str, float], frame: FinishedFrame | None, fps: float) -> None:
        """Say what the frame of these phases takes; `frame` is the newest one, `fps` how many came in a second."""
        lines = self._lines(parts, frame, fps) if frame is not None and parts else ("", "", "")
        if lines != self.lines:
            self.lines = lines
            self.setAccessibleName(", ".join(lines))
            self.update()

    def _lines(self, parts: dict[str, float], frame: FinishedFrame, fps: float) -> tuple[str, str, str]:
        whole = sum(parts.values())
        most = max(parts, key=lambda name: parts[name])
        rate = self.tr("{fps} frames/s").format(fps=f"{fps:.0f}") if frame.request.is_moving else self.tr("still")
        device = "CPU" if frame.target_name == "host" else "GPU"
        share = parts[most] / whole if whole > 0.0 else 0.0
        return rate, f"{milliseconds(whole)}   {device}", f"{most} {share:.0%}"

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
