"""Who takes the guide's pictures: a person of the walk (walk/person.py), with what pictures are begun by.

All is done by mouse and keyboard. What has no place of its own in the window is typed into the palette, scenes and
settings alike."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QFileDialog, QLineEdit, QTabBar, QWidget

from raygrove.app.ui.dialogs.palette import Palette
from tests.app.ui.walk.person import Person, Steps

SLOW_S, SETTLE_S = 25.0, 1.0


class Stage(Person):
    """See the module. `data` has the models that are opened."""

    def __init__(self, person: Person, data: Path) -> None:
        super().__init__(person.window, person.hands)
        self.data = data

    # -- what is opened -----------------------------------------------------------------------------------------------
    def palette(self, words: str) -> Steps:
        """Type it into the palette, and press Return."""
        yield from self.press("Ctrl+Shift+P")
        yield from self.until(lambda: self.find(Palette), "the palette")
        yield from self.write(words)
        yield from self.press("Return")
        yield from self.until(lambda: self.find(Palette) is None, f"the end of the palette, after {words}", 15.0)

    def set(self, key: str, value: object) -> Steps:
        """A setting, by the palette."""
        yield from self.palette(f"{key} = {value}")

    def demo(self, name: str, seconds: float = 1.3) -> Steps:
        """Open a built-in scene at an instant."""
        yield from self.palette(name)
        yield from self.scene(name)
        yield from self.at(seconds)

    def open(self, path: Path) -> Steps:
        """Ctrl+O, and its path."""
        yield from self.press("Ctrl+O")
        yield from self.choose_file(path)

    def choose_file(self, path: Path) -> Steps:
        """In the dialog that is about to come."""
        yield from self.until(lambda: self.find(QFileDialog), "the dialog for files")
        dialog = self.find(QFileDialog)
        assert dialog is not None
        line = dialog.findChild(QLineEdit, "fileNameEdit")
        yield from self.fill(line, str(path))
        yield from self.press("Return")

    def at(self, seconds: float) -> Steps:
        """Go to an instant, by a click on the line of the time."""
        line = self.window.timeline_bar.scrubber
        yield from self.click(line, QPoint(round(line.place_of(seconds)), line.height() // 2))
        near = self.document.span.duration / 100.0
        yield from self.until(lambda: abs(self.document.state.timeline.time - seconds) < near, "the instant", 10.0)

    def play(self, seconds: float) -> Steps:
        """Let the animation run for so long."""
        yield from self.still()
        yield from self.press("Space")
        yield from self.rest(seconds)
        yield from self.press("Space")
        yield from self.until(lambda: not self.document.state.timeline.is_playing, "the pause", 10.0)

    def still(self) -> Steps:
        """Wait for the whole picture of what was chosen, or for what a slow machine makes of it."""
        end = time.monotonic() + SLOW_S

        def is_there() -> bool:
            frame = self.window.loop.last_frame
            is_whole = frame is not None and frame.samples >= frame.samples_wanted > 1
            is_it = is_whole and frame is not None and frame.request.state == self.document.state
            return is_it or time.monotonic() > end

        yield from self.until(is_there, "the picture")
        yield from self.rest(SETTLE_S)

    # -- what is used -------------------------------------------------------------------------------------------------
    def fill(self, line: QWidget | None, text: str) -> Steps:
        """Write into a field what it shall say."""
        yield from self.click(line)
        yield from self.press("Ctrl+A")
        yield from self.write(text)

    def tab(self, title: str) -> Steps:
        """Bring a panel to the front by its tab."""
        bars = [bar for bar in self.window.findChildren(QTabBar) if bar.isVisible()]
        bar, place = next((bar, i) for bar in bars for i in range(bar.count()) if bar.tabText(i) == title)
        yield from self.click(bar, bar.tabRect(place).center())
        yield from self.rest(0.5)

    def shift_click(self, across: float, down: float) -> Steps:
        """On a pixel: what lies there is picked."""
        view = self.window.view
        yield from self.click(view, QPoint(round(across * view.width()), round(down * view.height())), held="Shift")

    def choose(self, box: QComboBox, place: int) -> Steps:
        """An entry of a list, by arrow keys: Home and End belong to the timeline."""
        yield from self.click(box)
        yield from self.press("Up" if place < box.currentIndex() else "Down", abs(place - box.currentIndex()))
        yield from self.press("Return")
        yield from self.until(lambda: box.currentIndex() == place, f"{box.itemText(place)}", 5.0)
        yield from self.rest(0.3)

    def row(self, view: QWidget, rect: QRect) -> Steps:
        """Click on a row of a list."""
        yield from self.click(view, rect.center())
        yield from self.rest(0.5)

    def close(self) -> Steps:
        """Away with the dialog on top."""
        yield from self.press("Esc")
        yield from self.until(lambda: self.find(QDialog) is None, "the end of the dialog", 10.0)

    def leave_pointer(self) -> Steps:
        """Where it marks nothing."""
        self.hands.move(self.window.statusBar(), QPoint(3, self.window.statusBar().height() - 3))
        yield from self.rest(0.8)

    # -- the picture --------------------------------------------------------------------------------------------------
    def grab(self, part: QWidget | None = None) -> QImage:
        """What the screen shows, or what it shows of one panel. No window manager draws frames here: dialogs get a
        line."""
        shown = self.window.screen().grabWindow(0).toImage()
        if part is not None:
            return shown.copy(QRect(part.mapToGlobal(QPoint()), part.size()))
        painter = QPainter(shown)
        painter.setPen(QColor("#555555"))
        for top in QApplication.topLevelWidgets():
            if isinstance(top, QDialog) and top.isVisible():
                painter.drawRect(top.geometry().adjusted(-1, -1, 0, 0))
        painter.end()
        return shown
