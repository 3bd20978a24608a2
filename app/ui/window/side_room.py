"""Panels by the room that there is. In a narrow window the picture has all the width: the panels at its right are put
away until the window is wider, or someone asks for one. In a large one, such as on a screen of 1920x1080, more panels
stand around the picture, from the first time on that there is room for them until someone closes them."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from raygrove.app.settings.workspaces import FIRST, WORKSPACES
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.window.docks import PageAlone
from raygrove.app.ui.window.workspaces import Workspaces

NARROW = 960
"""Pixels of a window in which a side panel leaves the picture a good 600."""

LARGE = QSize(1700, 920)
"""Of a window in which a drawer, two panels at the right and the costs leave the picture more than half of each."""

DRAWER, SIDE, UPPER = 280, 360, 0.6
"""Pixels across of both in a large window, and the share of the upper panel at the right."""


class SideRoom(QObject):
    """See the module. In the first workspace only: the panels of the others are what one goes there for. `memory` knows
    what has been opened in a large window, so that a smaller one puts it away again."""

    def __init__(
        self, window: QMainWindow, docks: Sequence[QDockWidget], spaces: Workspaces, alone: PageAlone, memory: Memory
    ) -> None:
        super().__init__(window)
        self._window, self._spaces, self._alone, self._memory = window, spaces, alone, memory
        self._docks = {dock.objectName().removeprefix("dock."): dock for dock in docks}
        self._asked: set[QWidget] = set()
        self._is_narrow = self._is_large = False
        alone.has_room = self._has_room
        alone.followed.connect(self._spread)
        window.installEventFilter(self)
        for dock in docks:
            dock.toggleViewAction().triggered.connect(functools.partial(self._ask, dock))

    def _ask(self, dock: QDockWidget) -> None:
        """Someone has shown or hidden a panel: so it stays."""
        self._alone.let_go(dock)
        (self._asked.discard if dock.isHidden() else self._asked.add)(dock)
        opened, name = self._memory.opened_in_large() or [], dock.objectName().removeprefix("dock.")
        if name in opened:
            self._memory.keep_opened_in_large([one for one in opened if one != name])

    def _has_room(self, widget: QWidget) -> bool:
        if not isinstance(widget, QDockWidget) or widget in self._asked or widget.isFloating():
            return True
        if self._spaces.current != FIRST:
            return True
        if widget.objectName().removeprefix("dock.") in (self._memory.opened_in_large() or ()):
            return self._is_large
        is_at_right = self._window.dockWidgetArea(widget) == Qt.DockWidgetArea.RightDockWidgetArea
        return not (self._is_narrow and is_at_right)

    def _spread(self, is_alone: bool) -> None:
        """Open what a large window has, once."""
        is_time = self._is_large and not is_alone and not self._window.isFullScreen() and self._spaces.current == FIRST
        if not is_time or self._memory.opened_in_large() is not None:
            return
        opened = [name for name in WORKSPACES[FIRST].in_large if self._docks[name].isHidden()]
        self._memory.keep_opened_in_large(opened)
        for name in opened:
            self._docks[name].show()
        QTimer.singleShot(0, self, lambda: QTimer.singleShot(0, self, self._share))  # once each has its first room

    def _share(self) -> None:
        window, docks = self._window, self._docks
        window.resizeDocks([docks["objects"], docks["stats"]], [DRAWER, SIDE], Qt.Orientation.Horizontal)
        height = docks["stats"].height() + docks["boxes"].height()
        upper = round(UPPER * height)
        window.resizeDocks([docks["stats"], docks["boxes"]], [upper, height - upper], Qt.Orientation.Vertical)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the window; full screen puts away all by itself."""
        if event.type() == QEvent.Type.Resize and not self._window.isFullScreen():
            was, size = (self._is_narrow, self._is_large), self._window.size()
            self._is_narrow = size.width() < NARROW
            self._is_large = size.boundedTo(LARGE) == LARGE
            if was != (self._is_narrow, self._is_large):
                self._alone.follow()
        return super().eventFilter(watched, event)
