"""The animation's controls: play, step, scrub over the keys, time and frame to type, speed and what happens at the end."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QDoubleSpinBox, QHBoxLayout, QLabel, QSpinBox, QToolButton, QToolTip, QWidget

from app import timeline as timelines
from app.document import Document
from app.state import State
from app.timeline import Span, Timeline
from app.ui.icons import icon
from gpu.settings import fields_of

MARGIN = 9
TICK_DISTANCE = 5
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")
REPEATS = next(field.info.choices for field in fields_of(timelines.TimelineOptions) if field.name == "repeat")
SHOW_INTERVAL_S = 1.0 / 30.0


class Scrubber(QWidget):
    """A line with the keys' ticks and the playing head. `scrubbed` carries seconds while the head is dragged."""

    scrubbed = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scrubber")
        self.setMinimumSize(120, 28)
        self.setMouseTracking(True)
        self._span = Span()
        self._time = 0.0

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(400, 28)

    def show_time(self, time: float, span: Span) -> None:
        """Put the head at `time` of `span`."""
        if (time, span) != (self._time, self._span):
            self._time, self._span = time, span
            self.update()

    def time_at(self, x: float) -> float:
        """The seconds under a place of the widget."""
        share = (x - MARGIN) / max(self.width() - 2 * MARGIN, 1)
        return min(max(share, 0.0), 1.0) * self._span.duration

    def place_of(self, time: float) -> float:
        """The place of an instant."""
        share = time / self._span.duration if self._span.duration > 0.0 else 0.0
        return MARGIN + share * (self.width() - 2 * MARGIN)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Line, ticks, head."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, middle = self.palette(), self.height() / 2.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.color(QPalette.ColorRole.Mid))
        painter.drawRoundedRect(QRectF(MARGIN, middle - 2, self.width() - 2 * MARGIN, 4), 2, 2)
        if self._span.duration <= 0.0:
            return
        painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
        painter.drawRoundedRect(QRectF(MARGIN, middle - 2, self.place_of(self._time) - MARGIN, 4), 2, 2)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        keys = self._span.key_times
        most = max(self.width() // TICK_DISTANCE, 1)
        for time in keys[:: max(1, -(-len(keys) // most))]:
            x = self.place_of(time)
            painter.drawLine(QPointF(x, middle + 5), QPointF(x, middle + 10))
        painter.setPen(palette.color(QPalette.ColorRole.Base))
        painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
        painter.drawEllipse(QPointF(self.place_of(self._time), middle), 6.5, 6.5)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the head."""
        self.scrubbed.emit(self.time_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the head."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.scrubbed.emit(self.time_at(event.position().x()))

    def event(self, event: QEvent) -> bool:
        """Say the time, and the key, under the pointer."""
        if isinstance(event, QHelpEvent) and self._span.duration > 0.0:
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos().x()), self)
            return True
        return super().event(event)

    def tip_at(self, x: float) -> str:
        """What the tooltip says at a place: the key when one is near, else the time."""
        time, keys = self.time_at(x), self._span.key_times
        index = bisect.bisect_left(keys, time)
        near = [i for i in (index - 1, index) if 0 <= i < len(keys) and abs(self.place_of(keys[i]) - x) <= 4]
        if near:
            return self.tr("Key {number} of {count} at {time:.3f} s").format(number=near[0] + 1, count=len(keys), time=keys[near[0]])
        return self.tr("{time:.3f} s, frame {frame}").format(time=time, frame=round(time * self._span.fps))


class TimelineBar(QWidget):
    """See the module."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.setObjectName("timeline")
        self._buttons: dict[str, QToolButton] = {}
        self._shown_span: Span | None = None
        self._play_icon = "play"
        self._shown_time = 0.0
        self.time_box, self.frame_box = QDoubleSpinBox(self), QSpinBox(self)
        self.speed_box, self.repeat_box = QComboBox(self), QComboBox(self)
        self.scrubber = Scrubber(self)
        self._total = QLabel(self)
        self._buttons = {name: self._button(name, tip, move) for name, tip, move in self._moves()}
        self._set_up_fields()
        self._lay_out()
        document.observe(self._changed)
        document.on_scene.append(lambda scene: self.show_state())
        self.show_state()

    def toggle_play(self) -> None:
        """Play, or pause."""
        head, settings = self._document.state.timeline, self._document.state.settings.timeline
        self._set(timelines.pause(head) if head.is_playing else timelines.play(head, self._document.span, settings))

    def go(self, change: Callable[[Timeline, Span], Timeline]) -> None:
        """Move the head by a function of `app.timeline`."""
        self._set(change(self._document.state.timeline, self._document.span))

    def step(self, frames: int) -> None:
        """Pause and move by whole frames."""
        self._set(timelines.step(self._document.state.timeline, frames, self._document.span, self._document.state.settings.timeline))

    def reverse(self) -> None:
        """Turn the direction of play round."""
        self._set(timelines.reverse(self._document.state.timeline))

    def scale_speed(self, factor: float) -> None:
        """Play faster or slower, within what the option takes."""
        field = next(field for field in fields_of(timelines.TimelineOptions) if field.name == "speed")
        low, high = field.info.minimum or 0.0, field.info.maximum or factor
        speed = self._document.state.settings.timeline.speed * factor
        self._document.change("settings.timeline.speed", min(max(speed, low), high), "speed")

    def show_state(self) -> None:
        """Show where the head stands."""
        state, span = self._document.state, self._document.span
        head, has_motion = state.timeline, span.duration > 0.0
        self.scrubber.show_time(head.time, span)
        name = "pause" if head.is_playing else "play"
        if self._play_icon != name:
            self._play_icon = name
            self._buttons["play"].setIcon(icon(name))
        if self.isEnabled() != has_motion:
            self.setEnabled(has_motion)
        blockers = [QSignalBlocker(box) for box in (self.time_box, self.frame_box, self.speed_box, self.repeat_box)]
        if self._shown_span != span:
            self._shown_span = span
            self.time_box.setMaximum(span.duration)
            self.frame_box.setMaximum(max(span.frame_count - 1, 0))
            self._total.setText(self.tr("of {seconds:.2f} s, {frames} frames").format(seconds=span.duration, frames=span.frame_count))
        if not _is_typing(self.time_box):
            self.time_box.setValue(head.time)
        if not _is_typing(self.frame_box):
            self.frame_box.setValue(timelines.frame_of(head, span))
        if not _is_typing(self.speed_box):
            self.speed_box.setCurrentText(f"{state.settings.timeline.speed:g}")
        self.repeat_box.setCurrentText(state.settings.timeline.repeat)
        del blockers

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icons anew where the colours have changed from light to dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            for name, button in self._buttons.items():
                button.setIcon(icon(self._play_icon if name == "play" else name))

    # -- making ---------------------------------------------------------------------------------------------------
    def _moves(self) -> list[tuple[str, str, Callable[[], None]]]:
        return [
            ("first", self.tr("First frame (Home)"), lambda: self.go(timelines.first)),
            ("previous_key", self.tr("Previous key (Ctrl+Left)"), lambda: self.go(timelines.previous_key)),
            ("step_back", self.tr("One frame back (Left)"), lambda: self.step(-1)),
            ("play", self.tr("Play or pause (Space)"), self.toggle_play),
            ("step", self.tr("One frame on (Right)"), lambda: self.step(1)),
            ("next_key", self.tr("Next key (Ctrl+Right)"), lambda: self.go(timelines.next_key)),
            ("last", self.tr("Last frame (End)"), lambda: self.go(timelines.last)),
        ]

    def _button(self, name: str, tip: str, move: Callable[[], None]) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setIcon(icon(name))
        button.setToolTip(tip)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(move)
        return button

    def _set_up_fields(self) -> None:
        self.time_box.setDecimals(3)
        self.time_box.setSingleStep(0.1)
        self.time_box.setSuffix(" s")
        self.time_box.setToolTip(self.tr("Time of the playing head, in seconds"))
        self.frame_box.setPrefix(self.tr("frame "))
        self.frame_box.setToolTip(self.tr("Number of the frame at the playing head"))
        for box in (self.time_box, self.frame_box):
            box.setKeyboardTracking(False)
        self.speed_box.setEditable(True)
        self.speed_box.addItems(SPEEDS)
        self.speed_box.setMaximumWidth(70)
        self.speed_box.setToolTip(self.tr("Playing speed; 1 is real time"))
        self.repeat_box.addItems(REPEATS)
        self.repeat_box.setToolTip(self.tr("What happens at the end"))
        self.scrubber.scrubbed.connect(self._scrub)
        self.time_box.valueChanged.connect(self._scrub)
        self.frame_box.valueChanged.connect(lambda frame: self._scrub(frame / self._document.span.fps))
        self.speed_box.textActivated.connect(self._set_speed)
        self.repeat_box.textActivated.connect(lambda text: self._document.change("settings.timeline.repeat", text))

    def _lay_out(self) -> None:
        for name, box in (("time", self.time_box), ("frame", self.frame_box), ("speed", self.speed_box), ("repeat", self.repeat_box)):
            box.setObjectName(name)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 2, 6, 2)
        row.setSpacing(3)
        for button in self._buttons.values():
            row.addWidget(button)
        row.addWidget(self.scrubber, 1)
        self._total.setContentsMargins(0, 0, 10, 0)
        for widget in (self.time_box, self.frame_box, self._total, QLabel(self.tr("speed"), self), self.speed_box, self.repeat_box):
            row.addWidget(widget)

    # -- what happens ---------------------------------------------------------------------------------------------
    def _set_speed(self, text: str) -> None:
        try:
            self._document.change("settings.timeline.speed", float(text))
        except ValueError as error:
            QToolTip.showText(self.speed_box.mapToGlobal(self.speed_box.rect().topLeft()), str(error), self.speed_box)
            self.speed_box.setCurrentText(f"{self._document.state.settings.timeline.speed:g}")

    def _scrub(self, time: float) -> None:
        head = self._document.state.timeline
        self._set(timelines.scrub(timelines.pause(head), time, self._document.span))

    def _set(self, head: Timeline) -> None:
        self._document.change("timeline", head)

    def _changed(self, before: State, after: State) -> None:
        """Thirty times a second is enough while the head runs."""
        is_running = before.timeline.is_playing and after.timeline.is_playing and before.settings.timeline == after.settings.timeline
        if is_running and monotonic() - self._shown_time < SHOW_INTERVAL_S:
            return
        if before.timeline != after.timeline or before.settings.timeline != after.settings.timeline:
            self._shown_time = monotonic()
            self.show_state()


def _is_typing(box: QAbstractSpinBox | QComboBox) -> bool:
    """Whether someone is in the middle of a number: it must not be overwritten."""
    line = box.lineEdit()
    return line is not None and line.hasFocus() and line.isModified()
