"""Panels by the room that there is. In a narrow window the picture has all the width: the panels at its right are put
away until the window is wider, or someone asks for one; and where a drawer at its left and panels at its right would
leave it a strip, those that came first give way to the others. In a large one, such as on a screen of 1920x1080, more
panels stand around the picture, from the first time on that there is room for them until someone closes them."""

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

LEAST = 320
"""Pixels across that panels at both sides leave the picture; else one side gives way."""

LEFT, RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea

DRAWER, SIDE, UPPER = 280, 360, 0.6
"""Pixels across of both in a large window, and the share of the upper panel at the right."""


class SideRoom(QObject):
    """See the module. Panels that nobody asked for are put away in the first workspace only: those of the others are
    what one goes there for. `memory` knows what has been opened in a large window, so that a smaller one puts it away
    again."""

    def __init__(
        self, window: QMainWindow, docks: Sequence[QDockWidget], spaces: Workspaces, alone: PageAlone, memory: Memory
    ) -> None:
        super().__init__(window)
        self._window, self._spaces, self._alone, self._memory = window, spaces, alone, memory
        self._docks = {dock.objectName().removeprefix("dock."): dock for dock in docks}
        self._asked: set[QWidget] = set()
        self._is_narrow = self._is_large = self._is_resized = False
        self._sides: set[Qt.DockWidgetArea] = set()
        self._giving_way: tuple[str, Qt.DockWidgetArea] | None = None
        self._given = 0
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._look)
        alone.has_room = self._has_room
        alone.followed.connect(self._spread)
        spaces.changed.connect(self._begin_anew)
        window.installEventFilter(self)
        if window.isVisible():  # with its first page or its first picture: no other size may come
            self._follow_size()
        for dock in docks:
            dock.toggleViewAction().triggered.connect(functools.partial(self._ask, dock))
            dock.visibilityChanged.connect(lambda is_seen: self._later.start())

    def _ask(self, dock: QDockWidget) -> None:
        """Someone has shown or hidden a panel: so it stays."""
        self._alone.let_go(dock)
        (self._asked.discard if dock.isHidden() else self._asked.add)(dock)
        opened, name = self._memory.opened_in_large() or [], dock.objectName().removeprefix("dock.")
        if name in opened:
            self._memory.keep_opened_in_large([one for one in opened if one != name])
        self._look()  # now: else a picture of a strip would be painted first

    def _has_room(self, widget: QWidget) -> bool:
        if not isinstance(widget, QDockWidget) or widget.isFloating():
            return True
        if (self._spaces.current, self._window.dockWidgetArea(widget)) == self._giving_way:
            return False
        if widget in self._asked:
            return True
        if self._spaces.current != FIRST:
            return True
        if widget.objectName().removeprefix("dock.") in (self._memory.opened_in_large() or ()):
            return self._is_large
        is_at_right = self._window.dockWidgetArea(widget) == RIGHT
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
            self._follow_size()
        return super().eventFilter(watched, event)

    def _follow_size(self) -> None:
        was, size = (self._is_narrow, self._is_large), self._window.size()
        self._is_narrow = size.width() < NARROW
        self._is_large = size.boundedTo(LARGE) == LARGE
        if was != (self._is_narrow, self._is_large):
            self._alone.follow()
        self._is_resized = True
        self._later.start()

    # -- a drawer and panels at the right -------------------------------------------------------------------------
    def _begin_anew(self) -> None:
        """Another workspace: of what it has at both sides, the panels at the right are what one goes there for."""
        self._giving_way, self._sides, self._is_resized = None, {LEFT, RIGHT}, True
        self._later.start()

    def _look(self) -> None:
        """Let one side give way to the other where there is no room for both, and come back where there is."""
        middle, layout = self._window.centralWidget(), self._window.layout()
        if self._window.isFullScreen() or middle is None or layout is None:
            return
        layout.activate()
        shown, before = self._shown_sides(), self._sides
        has_come, is_resized, self._is_resized = shown - before, self._is_resized, False
        self._sides = shown
        space, away = self._giving_way or ("", LEFT)
        if self._giving_way and away not in shown:
            if space == self._spaces.current and shown and middle.width() - self._given < LEAST:
                return
            self._give_way(None)
        elif len(shown) == 2 and (has_come or is_resized) and middle.width() < LEAST:
            away = RIGHT if has_come == {LEFT} else LEFT
            self._asked.update(self._of(RIGHT) if away == LEFT else ())  # what brought one there wants it seen
            self._give_way(away)
        elif self._giving_way:
            self._give_way(None)

    def _give_way(self, area: Qt.DockWidgetArea | None) -> None:
        """Put the panels of a side away; None: there is room for all."""
        self._giving_way = (self._spaces.current, area) if area is not None else None
        self._given = max((dock.width() for dock in self._of(area)), default=0) if area is not None else 0
        front = [dock for dock in self._docks.values() if not dock.visibleRegion().isEmpty()]
        self._alone.follow()
        for dock in (dock for dock in front if not dock.isHidden()):  # else the last that comes back were in front
            dock.raise_()
            QTimer.singleShot(0, dock, dock.raise_)
        self._sides = self._shown_sides()

    def _shown_sides(self) -> set[Qt.DockWidgetArea]:
        return {area for area in (LEFT, RIGHT) if self._of(area)}

    def _of(self, area: Qt.DockWidgetArea) -> list[QDockWidget]:
        """The panels that are shown at a side, also as tabs behind others."""
        docks, window = self._docks.values(), self._window
        return [d for d in docks if not (d.isHidden() or d.isFloating()) and window.dockWidgetArea(d) == area]
