"""In a narrow window the picture has all the width: the panels at its right are put away until the window is wider,
or someone asks for one. As on a screen of 900 pixels, or a wider one in presenter size."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from raygrove.app.settings.workspaces import FIRST
from raygrove.app.ui.window.docks import PageAlone
from raygrove.app.ui.window.workspaces import Workspaces

NARROW = 960
"""Pixels of a window in which a side panel leaves the picture a good 600."""


class SideRoom(QObject):
    """See the module. In the first workspace only: the panels of the others are what one goes there for."""

    def __init__(self, window: QMainWindow, docks: Sequence[QDockWidget], spaces: Workspaces, alone: PageAlone) -> None:
        super().__init__(window)
        self._window, self._spaces, self._alone = window, spaces, alone
        self._asked: set[QWidget] = set()
        self._is_narrow = False
        alone.has_room = self._has_room
        window.installEventFilter(self)
        for dock in docks:
            dock.toggleViewAction().triggered.connect(functools.partial(self._ask, dock))

    def _ask(self, dock: QDockWidget) -> None:
        """Someone has shown or hidden a panel: so it stays."""
        self._alone.let_go(dock)
        (self._asked.discard if dock.isHidden() else self._asked.add)(dock)

    def _has_room(self, widget: QWidget) -> bool:
        if not isinstance(widget, QDockWidget) or widget in self._asked or widget.isFloating():
            return True
        is_at_right = self._window.dockWidgetArea(widget) == Qt.DockWidgetArea.RightDockWidgetArea
        return not (self._is_narrow and is_at_right and self._spaces.current == FIRST)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the width of the window; full screen puts away all by itself."""
        if event.type() == QEvent.Type.Resize and not self._window.isFullScreen():
            was_narrow, self._is_narrow = self._is_narrow, self._window.width() < NARROW
            if was_narrow != self._is_narrow:
                self._alone.follow()
        return super().eventFilter(watched, event)
