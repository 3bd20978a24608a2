"""Where the pointer is over the picture, and what was clicked there, in parts of the picture's width and height.

A click is a button pressed and released without moving: that of the gestures `mouse.pick` (with `picks_always` any left
click), `mouse.select` and `mouse.menu`. Drags stay the navigator's.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from raygrove.app.camera.gestures import Gestures
from raygrove.app.ui.picture.navigation import mouse_way

STILL_PIXELS = 4.0
HOVER_INTERVAL_MS = 60


class Pointer(QObject):
    """Watches a widget. `hovered(across, down)` at most every 60 ms, `left()` when the pointer goes, `clicked(across,
    down)` for what is picked, and so `select_wanted` and `menu_wanted`."""

    hovered = Signal(float, float)
    left = Signal()
    clicked = Signal(float, float)
    select_wanted = Signal(float, float)
    menu_wanted = Signal(float, float)

    def __init__(self, parent: QObject | None = None, gestures: Gestures | None = None) -> None:
        super().__init__(parent)
        self.picks_always = False
        self.gestures = gestures or Gestures()
        self._widget: QWidget | None = None
        self._pressed: QPointF | None = None
        self._wanted = self.clicked
        self._place: tuple[float, float] | None = None
        self._timer = QTimer(self, singleShot=True, interval=HOVER_INTERVAL_MS)
        self._timer.timeout.connect(self._hover)

    @property
    def place(self) -> tuple[float, float] | None:
        """Where the pointer is, None outside of the picture."""
        return self._place

    def watch(self, widget: QWidget) -> None:
        """Watch this widget from now on, and no other."""
        if self._widget is not None:
            self._widget.removeEventFilter(self)
        self._widget, self._place, self._pressed = widget, None, None
        widget.setMouseTracking(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look on; take nothing."""
        if isinstance(event, QMouseEvent) and self._widget is not None:
            self._mouse(event, self._widget)
        elif event.type() == QEvent.Type.Leave:
            self._place = None
            self._timer.stop()
            self.left.emit()
        return False

    def _mouse(self, event: QMouseEvent, widget: QWidget) -> None:
        at = event.position()
        self._place = (at.x() / max(widget.width(), 1), at.y() / max(widget.height(), 1))
        if event.type() == QEvent.Type.MouseButtonPress:
            gesture = self.gestures.find("click", mouse_way("click", event))
            if self.picks_always and event.button() == Qt.MouseButton.LeftButton:
                gesture = "mouse.pick"
            known = {"mouse.pick": self.clicked, "mouse.select": self.select_wanted, "mouse.menu": self.menu_wanted}
            self._pressed, self._wanted = (QPointF(at), known[gesture]) if gesture in known else (None, self.clicked)
        elif event.type() == QEvent.Type.MouseMove and not event.buttons() and not self._timer.isActive():
            self._timer.start()
        elif event.type() == QEvent.Type.MouseButtonRelease and self._pressed is not None:
            moved = at - self._pressed
            self._pressed = None
            if moved.manhattanLength() <= STILL_PIXELS:
                self._wanted.emit(*self._place)

    def _hover(self) -> None:
        if self._place is not None:
            self.hovered.emit(*self._place)
