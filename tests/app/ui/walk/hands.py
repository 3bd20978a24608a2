"""A mouse and a keyboard. XHands are those of an X server, by its XTEST extension: the program under test gets what it
would get of a person. QtHands give Qt the events itself, where there is no X server."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
from typing import Any, Protocol

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QKeySequence, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

BUTTONS = {"left": 1, "middle": 2, "right": 3}
MODIFIERS = {"Ctrl": "Control_L", "Shift": "Shift_L", "Alt": "Alt_L"}
KEYSYMS = {"Esc": "Escape", "Space": "space", "[": "bracketleft", "]": "bracketright", ",": "comma", "/": "slash"}
MASKS = {
    "Ctrl": Qt.KeyboardModifier.ControlModifier,
    "Shift": Qt.KeyboardModifier.ShiftModifier,
    "Alt": Qt.KeyboardModifier.AltModifier,
}


class Hands(Protocol):
    """Points are in a widget. Nothing waits for what comes of it."""

    def move(self, widget: QWidget, point: QPoint) -> None: ...
    def button(self, widget: QWidget, point: QPoint, name: str, is_down: bool, held: str = "") -> None: ...
    def wheel(self, widget: QWidget, point: QPoint, steps: int) -> None: ...
    def key(self, name: str, is_down: bool) -> None: ...
    def press(self, keys: str) -> None: ...
    def write(self, text: str) -> None: ...


def focused() -> QWidget | None:
    """Where keys go: a popup, a dialog, the window."""
    top = QApplication.activePopupWidget() or QApplication.activeModalWidget() or QApplication.activeWindow()
    return (top.focusWidget() or top) if top is not None else QApplication.focusWidget()


class QtHands:
    """See the module. Events are given behind the present one, as those of a person are."""

    def __init__(self) -> None:
        self._held = Qt.KeyboardModifier(0)

    def _later(self, run: Any) -> None:
        QTimer.singleShot(0, run)

    def move(self, widget: QWidget, point: QPoint) -> None:
        self._later(lambda: QTest.mouseMove(widget, point))

    def button(self, widget: QWidget, point: QPoint, name: str, is_down: bool, held: str = "") -> None:
        button, mask = getattr(Qt.MouseButton, f"{name.capitalize()}Button"), MASKS.get(held, Qt.KeyboardModifier(0))
        act = QTest.mousePress if is_down else QTest.mouseRelease
        self._later(lambda: act(widget, button, mask, point))

    def wheel(self, widget: QWidget, point: QPoint, steps: int) -> None:
        event = QWheelEvent(
            QPointF(point), QPointF(widget.mapToGlobal(point)), QPoint(), QPoint(0, 120 * steps),
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        self._later(lambda: QApplication.sendEvent(widget, event))

    def key(self, name: str, is_down: bool) -> None:
        act = QTest.keyPress if is_down else QTest.keyRelease
        key = {"Ctrl": Qt.Key.Key_Control, "Shift": Qt.Key.Key_Shift, "Alt": Qt.Key.Key_Alt}.get(name)
        self._held = self._held | MASKS[name] if name in MASKS and is_down else self._held
        self._held = self._held & ~MASKS[name] if name in MASKS and not is_down else self._held
        held = self._held
        self._later(lambda: act(focused(), key or QKeySequence(name)[0].key(), held))

    def press(self, keys: str) -> None:
        self._later(lambda: QTest.keySequence(focused(), QKeySequence(keys)))

    def write(self, text: str) -> None:
        self._later(lambda: QTest.keyClicks(focused(), text))


class XHands:
    """See the module. RuntimeError without the libraries or the display."""

    def __init__(self) -> None:
        self._x, self._test = (ctypes.CDLL(ctypes.util.find_library(name) or "") for name in ("X11", "Xtst"))
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XStringToKeysym.restype = self._x.XkbKeycodeToKeysym.restype = ctypes.c_ulong
        self._display = ctypes.c_void_p(self._x.XOpenDisplay(None))
        if not self._display:
            raise RuntimeError("There is no X display to work on: set DISPLAY.")

    def _flush(self) -> None:
        self._x.XSync(self._display, 0)

    def move(self, widget: QWidget, point: QPoint) -> None:
        place = widget.mapToGlobal(point) * widget.devicePixelRatioF()
        self._test.XTestFakeMotionEvent(self._display, -1, place.x(), place.y(), 0)
        self._flush()

    def button(self, widget: QWidget, point: QPoint, name: str, is_down: bool, held: str = "") -> None:
        if held and is_down:
            self._key(MODIFIERS[held], True)
        self._test.XTestFakeButtonEvent(self._display, BUTTONS[name], int(is_down), 0)
        if held and not is_down:
            self._key(MODIFIERS[held], False)
        self._flush()

    def wheel(self, widget: QWidget, point: QPoint, steps: int) -> None:
        for is_down in (1, 0) * abs(steps):
            self._test.XTestFakeButtonEvent(self._display, 4 if steps > 0 else 5, is_down, 0)
        self._flush()

    @functools.cached_property
    def _shift(self) -> int:
        return self._code("Shift_L")[0]

    def _code(self, name: str) -> tuple[int, bool]:
        """The key of a keysym's name or of a character, and whether it needs Shift."""
        keysym = ord(name) if len(name) == 1 else self._x.XStringToKeysym(name.encode())
        code = self._x.XKeysymToKeycode(self._display, ctypes.c_ulong(keysym))
        assert code, f"this keyboard has no key for {name!r}"
        return code, self._x.XkbKeycodeToKeysym(self._display, code, 0, 0) != keysym

    def _key(self, name: str, is_down: bool) -> None:
        self._test.XTestFakeKeyEvent(self._display, self._code(name)[0], int(is_down), 0)

    def key(self, name: str, is_down: bool) -> None:
        name = MODIFIERS.get(name) or KEYSYMS.get(name, name.lower() if len(name) == 1 else name)
        self._key(name, is_down)
        self._flush()

    def press(self, keys: str) -> None:
        names = keys.split("+")
        for name in names:
            self.key(name, True)
        for name in reversed(names):
            self.key(name, False)

    def write(self, text: str) -> None:
        for character in text:
            code, needs_shift = self._code(character)
            if needs_shift:
                self._test.XTestFakeKeyEvent(self._display, self._shift, 1, 0)
            for is_down in (1, 0):
                self._test.XTestFakeKeyEvent(self._display, code, is_down, 0)
            if needs_shift:
                self._test.XTestFakeKeyEvent(self._display, self._shift, 0, 0)
        self._flush()
