"""Who uses the window: looks for what is seen, points, clicks and types, and waits for what must come of it.

What takes a while is a generator that gives way to the program: a walk is one of them, and goes on inside dialogs that
keep their caller waiting, too. What does not come within PATIENCE_S is an AssertionError that names the step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget

from raygrove.app.ui.window.main_window import MainWindow
from tests.app.ui.walk.hands import MODIFIERS, Hands

PATIENCE_S = 60.0
Steps = Iterator[None]
Kind = TypeVar("Kind", bound=QWidget)


class Person:
    """See the module. Pictures of the screen are kept in `pictures`, where that is given."""

    def __init__(self, window: MainWindow, hands: Hands, pictures: Path | None = None) -> None:
        self.window, self.document, self.hands = window, window.document, hands
        self.step = "the start"
        self.beat: Any = None
        self._pictures, self._count = pictures, 0

    # -- looking --------------------------------------------------------------------------------------------------
    def begin(self, step: str) -> None:
        """What is done next, for who reads how far it came."""
        self.step = step
        if self.beat is not None:
            self.beat.pass_over()  # looking for what is seen takes time, too
            self.beat.begin(step)
        print(f"  {step}", flush=True)

    def find(self, kind: type[Kind], name: str = "", text: str = "") -> Kind | None:
        """A widget that is seen: by its name, or by what it says."""
        for top in QApplication.topLevelWidgets():
            for found in [top, *top.findChildren(kind)]:
                if not isinstance(found, kind) or not found.isVisible() or (name and found.objectName() != name):
                    continue
                if not text or text in getattr(found, "text", str)().replace("&", ""):
                    return found
        return None

    def until(self, condition: Callable[[], object], what: str, seconds: float = PATIENCE_S) -> Steps:
        """Let the program work until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{self.step}: {what} never came"
            yield

    def rest(self, seconds: float) -> Steps:
        """Let the program work."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield

    def picture(self, name: str) -> None:
        """Keep what the screen shows."""
        if self._pictures is not None:
            self._count += 1
            self._pictures.mkdir(parents=True, exist_ok=True)
            assert self.window.screen().grabWindow(0).save(str(self._pictures / f"{self._count:02d}_{name}.png"))

    def shows_state(self) -> bool:
        """Whether the picture is one of what is chosen."""
        frame = self.window.loop.last_frame
        return (
            frame is not None
            and frame.request.scene is self.document.scene
            and frame.request.state.settings.render == self.document.state.settings.render
        )

    def scene(self, title: str) -> Steps:
        """Wait for a scene and its picture."""
        is_there = lambda: self.document.scene is not None and not self.document.jobs  # noqa: E731
        yield from self.until(lambda: is_there() and self.document.state.scene.title == title, f"the scene {title}")
        yield from self.until(self.shows_state, f"a picture of {title}")

    # -- doing ----------------------------------------------------------------------------------------------------
    def click(self, widget: QWidget | None, at: QPoint | None = None, button: str = "left", held: str = "") -> Steps:
        """Point and click; a widget that nobody sees cannot be clicked."""
        assert widget is not None and widget.isVisible(), f"{self.step}: what is to be clicked is not there"
        yield from self.until(lambda: self._is_on_top(widget, at), f"{widget}, over which another one lies,", 5.0)
        point = at if at is not None else widget.rect().center()
        self.hands.move(widget, point)
        yield
        for is_down in (True, False):
            self.hands.button(widget, point, button, is_down, held)
            yield
        yield

    @staticmethod
    def _is_on_top(widget: QWidget, at: QPoint | None) -> bool:
        """Whether a click there reaches the widget: a panel may be on its way."""
        seen = QApplication.widgetAt(widget.mapToGlobal(at if at is not None else widget.rect().center()))
        return seen is not None and (seen is widget or widget.isAncestorOf(seen))

    def drag(self, widget: QWidget, start: QPoint, end: QPoint, button: str = "left") -> Steps:
        """With a button held down, in some steps."""
        self.hands.move(widget, start)
        yield
        self.hands.button(widget, start, button, True)
        yield
        for part in (0.25, 0.5, 0.75, 1.0):
            self.hands.move(widget, start + (end - start) * part)
            yield
        self.hands.button(widget, end, button, False)
        yield from self.rest(0.05)

    def wheel(self, widget: QWidget, steps: int) -> Steps:
        """Turn the wheel over the middle of a widget."""
        self.hands.move(widget, widget.rect().center())
        yield
        self.hands.wheel(widget, widget.rect().center(), steps)
        yield from self.rest(0.05)

    def press(self, keys: str, times: int = 1) -> Steps:
        """Keys by their names: Ctrl+E."""
        yield from self._activate()
        for _ in range(times):
            self.hands.press(keys)
            yield
            yield

    def hold(self, keys: str, seconds: float) -> Steps:
        """Keys that are held down, one after the other, and let go, those that change others last."""
        yield from self._activate()
        names = keys.split("+")
        for name in names:
            self.hands.key(name, True)
            yield
        yield from self.rest(seconds)
        for name in sorted(names, key=lambda name: name in MODIFIERS):
            self.hands.key(name, False)
            yield
        yield

    def write(self, text: str) -> Steps:
        """Type."""
        yield from self._activate()
        self.hands.write(text)
        yield from self.rest(0.05)

    def _activate(self) -> Steps:
        """What a window manager does: keys go to the dialog on top, or to the window."""
        if QApplication.activePopupWidget() is None:
            dialogs = [top for top in QApplication.topLevelWidgets() if isinstance(top, QDialog) and top.isVisible()]
            front: Any = QApplication.activeModalWidget() or (dialogs[-1] if dialogs else self.window)
            if not front.isActiveWindow():
                front.activateWindow()
                yield from self.until(front.isActiveWindow, "the focus", 10.0)

    def menu(self, *titles: str) -> Steps:
        """Choose from the menus by the mouse, each entry by its title."""
        bar: Any = self.window.menuBar()
        for number, title in enumerate(titles):
            found = [one for one in bar.actions() if plain(one) == title]
            assert found and found[0].isEnabled(), f"{self.step}: no entry {title} in {[*map(plain, bar.actions())]}"
            yield from self.click(bar, bar.actionGeometry(found[0]).center())
            if number < len(titles) - 1:
                opened = found[0].menu()
                assert isinstance(opened, QMenu)
                yield from self.until(opened.isVisible, f"the menu {title}", 10.0)
                bar = opened


def plain(action: QAction) -> str:
    """An entry's title as it is read."""
    return action.text().replace("&", "").rstrip("…")
