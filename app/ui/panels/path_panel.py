"""The camera's path through the bookmarks: their order and times, and its preview in the window."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QPushButton, QWidget

from raygrove.app.camera.path import CameraPath
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.settings.settings import option_field
from raygrove.app.ui.commands.camera_commands import CameraCommands, set_camera
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.form import Editor, tooltip_of
from raygrove.app.user_files import bookmarks
from raygrove.gpu.brief import filled
from raygrove.gpu.camera import Camera

STEP_MS = 16
OPTIONS = {"closed": "Loop", "even": "Even speed"}


class PathPlayer(QObject):
    """Moves the first view's camera along the path, in real time: one step of undo. Whoever moves the camera meanwhile
    has it."""

    changed = Signal(bool)

    def __init__(
        self, document: Document, parent: QObject | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(parent)
        self._document, self._clock = document, clock
        self._path: CameraPath | None = None
        self._begin, self._flight = 0.0, 0
        self._camera: Camera | None = None
        self._timer = QTimer(self, interval=STEP_MS)
        self._timer.timeout.connect(self.step)

    @property
    def is_playing(self) -> bool:
        """Whether the camera goes along the path now."""
        return self._path is not None

    def toggle(self) -> None:
        """Begin at the first bookmark, or stop where the camera is. Without two bookmarks there is no path."""
        state = self._document.state
        if self.is_playing:
            self.stop()
        elif len(state.bookmarks) > 1:
            self._document.end_merge()
            self._path, self._begin, self._camera = (
                CameraPath(state.bookmarks, state.settings.path),
                self._clock(),
                None,
            )
            self._flight += 1
            self._timer.start()
            self.changed.emit(True)
            self.step()

    def stop(self) -> None:
        """Leave the camera where it is."""
        if self.is_playing:
            self._path = None
            self._timer.stop()
            self._document.end_merge()
            self.changed.emit(False)

    def step(self) -> None:
        """Where the camera is by now."""
        path, now = self._path, self._document.state
        if path is None or (self._camera is not None and now.camera_of(0) != self._camera) or now.scene.kind == "none":
            self.stop()
            return
        seconds = self._clock() - self._begin
        self._camera = path.at(seconds)
        set_camera(self._document, self._camera, f"path {self._flight}")
        if seconds >= path.duration and not self._document.state.settings.path.closed:
            self.stop()


class PathPanel(QWidget):
    """Below the list of bookmarks: what belongs to the one that is chosen (`current` says which, -1 none), and to the
    whole path."""

    moved = Signal(int)

    def __init__(
        self, document: Document, commands: CameraCommands, current: Callable[[], int], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document, self._commands, self._current = document, commands, current
        self.player = PathPlayer(document, self)
        self.seconds = Editor(bookmarks.TIME, parent=self)
        self.seconds.edited.connect(lambda value: commands.set_bookmark_seconds(current(), value))
        self.up, self.down, self.play = (
            self._button("up", "▲"),
            self._button("down", "▼"),
            self._button("play", self.tr("Play the path")),
        )
        self.up.setToolTip(self.tr("Earlier on the path"))
        self.down.setToolTip(self.tr("Later on the path"))
        self.up.clicked.connect(lambda: self._move(-1))
        self.down.clicked.connect(lambda: self._move(1))
        self.play.clicked.connect(self.player.toggle)
        self.player.changed.connect(
            lambda is_playing: self.play.setText(self.tr("Stop") if is_playing else self.tr("Play the path"))
        )
        self.boxes = {name: QCheckBox(self.tr(title), self) for name, title in OPTIONS.items()}
        for name, box in self.boxes.items():
            box.setObjectName(name)
            box.setToolTip(tooltip_of(option_field(f"path.{name}")))
            box.toggled.connect(lambda value, name=name: document.change(f"settings.path.{name}", value))
        self.length = Label(self)
        self._lay_out()
        document.observe(self._changed)
        self.show_state()

    def show_state(self) -> None:
        """Show the bookmark that is chosen, and the path."""
        state, row = self._document.state, self._current()
        count = len(state.bookmarks)
        for widget in (self.seconds, self.up, self.down):
            widget.setEnabled(0 <= row < count)
        if 0 <= row < count:
            self.seconds.set_value(state.bookmarks[row].seconds)
        for name, box in self.boxes.items():
            blocker = QSignalBlocker(box)
            box.setChecked(getattr(state.settings.path, name))
            del blocker
        self.play.setEnabled(count > 1)
        if count > 1:
            duration = CameraPath(state.bookmarks, state.settings.path).duration
            self.length.setText(
                filled(self.tr("Path: {seconds:.1f} s through {count} views"), seconds=duration, count=count)
            )
        else:
            self.length.setText(self.tr("A path needs two bookmarks."))

    def _button(self, name: str, title: str) -> QPushButton:
        button = QPushButton(title, self)
        button.setObjectName(name)
        if len(title) == 1:
            button.setMaximumWidth(34)
        return button

    def _lay_out(self) -> None:
        chosen, path = QHBoxLayout(), QHBoxLayout()
        for part in (Label(self.tr("Duration"), self), self.seconds, self.up, self.down):
            chosen.addWidget(part)
        path.addWidget(self.length, 1)
        path.addWidget(self.play)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.addLayout(chosen, 0, 0, 1, 2)
        for column, box in enumerate(self.boxes.values()):
            grid.addWidget(box, 1, column)
        grid.addLayout(path, 2, 0, 1, 2)

    def _move(self, by: int) -> None:
        row = self._current()
        if 0 <= row + by < len(self._document.state.bookmarks):
            self._commands.move_bookmark(row, by)
            self.moved.emit(row + by)

    def _changed(self, before: State, after: State) -> None:
        if (before.bookmarks, before.settings.path) != (after.bookmarks, after.settings.path):
            self.player.stop()
            self.show_state()
