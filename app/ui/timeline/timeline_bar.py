"""The animation's controls: play, reverse, step, scrub over the key frames, time and frame to type, the clip, speed,
steps and what happens at the end.

What a person does to the head, the clip or the direction is a step of undo; those of one scrub, or of stepping on and
on, are one. Playing is none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from time import monotonic

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDockWidget,
    QDoubleSpinBox,
    QHBoxLayout,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QToolTip,
    QWidget,
)

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.playback import timeline as timelines
from raygrove.app.playback.timeline import Span, Timeline
from raygrove.app.ui.timeline.scrubber import Scrubber
from raygrove.app.ui.timeline.time_axis import TimeAxis
from raygrove.app.ui.widgets.icons import icon
from raygrove.app.ui.widgets.scrolled import panel_of
from raygrove.app.ui.widgets.steady import INTERVAL_S
from raygrove.gpu.settings import fields_of

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")
CHOICES = {field.name: field.info.choices for field in fields_of(timelines.TimelineOptions)}
HEAD_INTERVAL_S, FIELDS_INTERVAL_S = 1.0 / 20.0, INTERVAL_S
"""How often a running head is moved, and the fields follow it: numbers that change faster cannot be read."""


LEAST_WIDTH = 36
"""Pixels that the clip's field may be squeezed to in a small window."""
LEAST_SCRUBBER_WIDTH, WANTED_SCRUBBER_WIDTH = 104, 120
"""Pixels of the scrubber in the least bar there is, and where fields can give way to it: what they do is in the menu
Animation, too."""
LED_WIDTH, LED_SHARE = 320, 0.4
"""Pixels of it where charts lie along it, and how much of the bar these may have."""


class TimelineBar(QWidget):
    """See the module."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.setObjectName("timeline")
        self._buttons: dict[str, QToolButton] = {}
        self._shown_span: Span | None = None
        self._play_icon = "play"
        self._head_time = self._fields_time = 0.0
        self.time_box, self.frame_box = QDoubleSpinBox(self), QSpinBox(self)
        self.speed_box, self.repeat_box, self.step_box, self.clip_box = (QComboBox(self) for _ in range(4))
        self._gesture = 0
        self.scrubber = Scrubber(self)
        self.axis = TimeAxis(self.scrubber, self)
        self.axis.changed.connect(lambda: self._make_room())
        self.cost = self._cost_button()
        self._buttons = {name: self._button(name, tip, move) for name, tip, move in self._moves()}
        self._set_up_fields()
        self._lay_out()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        document.observe(self._changed)
        document.on_scene.append(self._show_scene)
        self.show_state()

    def go(self, change: Callable[[Timeline, Span], Timeline]) -> None:
        """Move the head by a function of `app.timeline`."""
        self._document.move_head(change(self._document.state.timeline, self._document.span))

    def step(self, frames: int) -> None:
        """Pause and move by whole frames."""
        state = self._document.state
        self._document.move_head(
            timelines.step(state.timeline, frames, self._document.span, state.settings.timeline), "step frames"
        )

    def reverse(self) -> None:
        """Turn the direction of play round."""
        self._document.move_head(timelines.reverse(self._document.state.timeline))

    def clips(self) -> list[tuple[str, str, str, bool]]:
        """The scene's clips, as a menu of choices has them."""
        scene = self._document.scene
        clips = scene.clips if scene is not None else ()
        return [
            (str(index), clip.name or f"clip {index + 1}", f"{clip.duration:.2f} s", True)
            for index, clip in enumerate(clips)
        ]

    def choose_clip(self, index: int) -> None:
        """Play another clip, from its beginning."""
        self._document.move_head(dataclasses.replace(self._document.state.timeline, clip=index, time=0.0))

    def show_keys(self, actions: Mapping[str, QAction]) -> None:
        """Let the buttons' tooltips say the keys of the commands `animation.<button>`, whichever they are."""
        for name, button in self._buttons.items():
            action = actions[f"animation.{name}"]
            action.changed.connect(lambda button=button, action=action: _say_key(button, action))
            _say_key(button, action)

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
        if self.scrubber.isEnabled() != has_motion:
            for part in self._parts:
                part.setEnabled(has_motion)
        self._buttons["reverse"].setChecked(head.direction < 0)
        boxes = (self.time_box, self.frame_box, self.speed_box, self.repeat_box, self.step_box, self.clip_box)
        blockers = [QSignalBlocker(box) for box in boxes]
        if self._shown_span != span:
            self._shown_span = span
            self.time_box.setMaximum(span.duration)
            self.frame_box.setMaximum(max(span.frame_count - 1, 0))
            self.time_box.setSuffix(self.tr(" of {seconds:.2f} s").format(seconds=span.duration))
            self.frame_box.setSuffix(self.tr(" of {frames}").format(frames=span.frame_count))
            self._make_room()
        if not _is_typing(self.time_box):
            self.time_box.setValue(head.time)
        if not _is_typing(self.frame_box):
            self.frame_box.setValue(timelines.frame_of(head, span))
        if not _is_typing(self.speed_box):
            self.speed_box.setCurrentText(_speed(state.settings.timeline.speed))
        self.repeat_box.setCurrentText(state.settings.timeline.repeat)
        self.step_box.setCurrentText(state.settings.timeline.step)
        self.clip_box.setCurrentIndex(head.clip)
        del blockers

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden."""
        super().showEvent(event)
        self.show_state()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icons anew where the colours have changed from light to dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            for name, button in self._buttons.items():
                button.setIcon(icon(self._play_icon if name == "play" else name))

    # -- making ---------------------------------------------------------------------------------------------------
    def _moves(self) -> list[tuple[str, str, Callable[[], None]]]:
        return [
            ("first", self.tr("First frame"), lambda: self.go(timelines.first)),
            ("previous_key", self.tr("Previous key frame"), lambda: self.go(timelines.previous_key)),
            ("step_back", self.tr("Previous frame"), lambda: self.step(-1)),
            ("reverse", self.tr("Play backwards"), self.reverse),
            ("play", self.tr("Play or pause"), self._document.toggle_play),
            ("step", self.tr("Next frame"), lambda: self.step(1)),
            ("next_key", self.tr("Next key frame"), lambda: self.go(timelines.next_key)),
            ("last", self.tr("Last frame"), lambda: self.go(timelines.last)),
        ]

    def _button(self, name: str, tip: str, move: Callable[[], None]) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setIcon(icon(name))
        button.setToolTip(tip)
        button.setStatusTip(tip)
        button.setAutoRaise(True)
        button.setCheckable(name == "reverse")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda checked=False: move())
        return button

    def _cost_button(self) -> QToolButton:
        """What unfolds the costs above the bar, and folds them again."""
        button = QToolButton(self)
        button.setObjectName("cost")
        button.setText(self.tr("Cost"))
        button.setToolTip(self.tr("What each key frame costs, above the line"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setArrowType(Qt.ArrowType.UpArrow)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def unfold(self, costs: QDockWidget) -> None:
        """Let the button show and hide the costs of each key frame, which lie along the line."""
        show = costs.toggleViewAction()

        def follow(is_shown: bool) -> None:
            self.cost.setArrowType(Qt.ArrowType.DownArrow if is_shown else Qt.ArrowType.UpArrow)
            self.cost.setAccessibleDescription(self.tr("Shown") if is_shown else self.tr("Hidden"))

        show.toggled.connect(follow)
        self.cost.clicked.connect(lambda: show.trigger())
        follow(show.isChecked())
        self.axis.lead(panel_of(costs))

    def _set_up_fields(self) -> None:
        self.time_box.setDecimals(3)
        self.time_box.setSingleStep(0.1)
        self.time_box.setToolTip(self.tr("Time of the playing head, in seconds"))
        self.frame_box.setPrefix(self.tr("frame "))
        self.frame_box.setToolTip(self.tr("Number of the frame at the playing head"))
        for box in (self.time_box, self.frame_box):
            box.setKeyboardTracking(False)
        self.speed_box.setEditable(True)
        self.speed_box.addItems([f"{speed}x" for speed in SPEEDS])
        self.speed_box.setMaximumWidth(72)
        self.speed_box.setToolTip(self.tr("Playing speed; 1x is real time"))
        self.speed_box.setAccessibleName(self.tr("Playing speed"))
        self.repeat_box.addItems(CHOICES["repeat"])
        self.repeat_box.setToolTip(self.tr("What happens at the end"))
        self.step_box.addItems(CHOICES["step"])
        self.step_box.setToolTip(self.tr("Follow the clock, or show every frame however long it takes"))
        self.clip_box.setToolTip(self.tr("The clip that plays"))
        self.clip_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.clip_box.setMaximumWidth(160)
        self.clip_box.hide()
        self.scrubber.pressed.connect(self._begin_scrub)
        self.scrubber.scrubbed.connect(lambda time: self._scrub(time, f"scrub {self._gesture}"))
        self.time_box.valueChanged.connect(self._scrub)
        self.frame_box.valueChanged.connect(lambda frame: self._scrub(frame / self._document.span.fps))
        self.clip_box.activated.connect(self.choose_clip)
        self.step_box.textActivated.connect(lambda text: self._document.change("settings.timeline.step", text))
        self.speed_box.textActivated.connect(self._set_speed)
        self.repeat_box.textActivated.connect(lambda text: self._document.change("settings.timeline.repeat", text))

    def _lay_out(self) -> None:
        boxes = {
            "time": self.time_box,
            "frame": self.frame_box,
            "clip": self.clip_box,
            "speed": self.speed_box,
            "repeat": self.repeat_box,
        }
        for name, box in {**boxes, "step_mode": self.step_box}.items():
            box.setObjectName(name)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 2, 6, 2)
        row.setSpacing(3)
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)  # the bar says itself how narrow it can be
        for button in self._buttons.values():
            row.addWidget(button)
        row.addWidget(self.scrubber, 1)
        for widget in (*boxes.values(), self.step_box, self.cost):
            row.addWidget(widget)
        self.clip_box.setMinimumWidth(LEAST_WIDTH)
        self._giving_way = (self.step_box, self.repeat_box, self.speed_box, self.frame_box, self.time_box)
        self._parts = (*self._buttons.values(), self.scrubber, *boxes.values(), self.step_box)

    def minimumSizeHint(self) -> QSize:
        """The buttons and a little of the scrubber: a row of fields must not keep the window from being small."""
        buttons = sum(button.sizeHint().width() + 3 for button in (*self._buttons.values(), self.cost))
        return QSize(buttons + LEAST_SCRUBBER_WIDTH + 12, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide fields that would be cut, the least needed first."""
        super().resizeEvent(event)
        self._make_room()

    def _wanted(self) -> int:
        """Pixels of the scrubber for which fields give way."""
        return max(LED_WIDTH, round(LED_SHARE * self.width())) if self.axis.is_led else WANTED_SCRUBBER_WIDTH

    def _make_room(self) -> None:
        room = (
            self.width()
            - self.minimumSizeHint().width()
            - (self._wanted() - LEAST_SCRUBBER_WIDTH)
            - (0 if self.clip_box.isHidden() else self.clip_box.sizeHint().width() + 3)
        )
        for widget in reversed(self._giving_way):
            room -= min(widget.sizeHint().width(), widget.maximumWidth()) + 3
            widget.setVisible(room >= 0)

    # -- what happens ---------------------------------------------------------------------------------------------
    def _set_speed(self, text: str) -> None:
        try:
            self._document.change("settings.timeline.speed", float(text.strip().removesuffix("x")))
        except ValueError as error:
            QToolTip.showText(self.speed_box.mapToGlobal(self.speed_box.rect().topLeft()), str(error), self.speed_box)
            self.speed_box.setCurrentText(_speed(self._document.state.settings.timeline.speed))

    def _begin_scrub(self) -> None:
        self._gesture += 1

    def _scrub(self, time: float, merge_key: str | None = None) -> None:
        head = self._document.state.timeline
        self._document.move_head(timelines.scrub(timelines.pause(head), time, self._document.span), merge_key)

    def _show_scene(self, scene: object) -> None:
        """List the clips; one alone is no choice."""
        clips = self.clips()
        blocker = QSignalBlocker(self.clip_box)
        self.clip_box.clear()
        self.clip_box.addItems([title for _, title, _, _ in clips])
        del blocker
        self.clip_box.setVisible(len(clips) > 1)
        self._make_room()
        self.show_state()

    def _changed(self, before: State, after: State) -> None:
        """While the head runs, a few times a second are enough; a hidden bar is shown its state when it appears."""
        if before.timeline == after.timeline and before.settings.timeline == after.settings.timeline:
            return
        now = monotonic()
        if _run_on(before) == _run_on(after) and after.timeline.is_playing:
            if not self.isVisible() or now - self._head_time < HEAD_INTERVAL_S:
                return
            self._head_time = now
            if now - self._fields_time < FIELDS_INTERVAL_S:
                self.scrubber.show_time(after.timeline.time, self._document.span)
                return
        self._fields_time = now
        self.show_state()


def _say_key(button: QToolButton, action: QAction) -> None:
    key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    button.setToolTip(f"{button.statusTip()} ({key})" if key else button.statusTip())


def _speed(factor: float) -> str:
    """As the field shows it."""
    return f"{factor:g}x"


def _run_on(state: State) -> tuple[object, ...]:
    """What playing alone does not change."""
    head = state.timeline
    return head.is_playing, head.direction, head.clip, state.settings.timeline


def _is_typing(box: QAbstractSpinBox | QComboBox) -> bool:
    """Whether someone is in the middle of a number: it must not be overwritten."""
    line = box.lineEdit()
    return line is not None and line.hasFocus() and line.isModified()
