"""Workspaces: which panels stand around the picture, for which work (app/settings/workspaces.py names them).

Each workspace remembers how someone has arranged it. Which one is shown is a setting like any other, window.workspace,
and remembered as the theme is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QByteArray, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow, QToolBar

from raygrove.app.document.state import State
from raygrove.app.settings.workspaces import FIRST, WORKSPACES
from raygrove.app.ui.commands.command import Choice, tr
from raygrove.app.ui.pipeline.offers import Offer, Row
from raygrove.app.ui.pipeline.segments import SegmentRow
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.window.docks import behind

KEY = "settings.window.workspace"
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
FIRST_WIDTHS = [WORKSPACES[FIRST].side, 280]
"""Pixels of the docks at the right and at the left as they are made."""
LEAST_SWITCH = 20
Step = Callable[[], object]


def _nothing() -> None:
    """No step."""


class Workspaces(QObject):
    """See the module. `changed` carries the workspace that is shown now. `before` and `after` are done around each
    change of the docks, such as to show what is put away, and to put it away again."""

    changed = Signal(str)

    def __init__(self, session: Session, window: QMainWindow, docks: Sequence[QDockWidget], rail: QToolBar) -> None:
        super().__init__(window)
        self._rail = rail
        self._document, self._memory, self._window = session.document, session.memory, window
        self._docks = {dock.objectName().removeprefix("dock."): dock for dock in docks}
        self.before: Step = _nothing
        self.after: Step = _nothing
        self._in_front: dict[str, list[QDockWidget]] = {}
        self._kept: tuple[QByteArray, QByteArray] | None = None
        self._first = self.current
        kept = self._memory.chosen("workspace", self._first)
        if kept in WORKSPACES and self._first == FIRST:  # who asks for one at the start gets it
            self._document.begin_with(KEY, kept)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        self._show(FIRST)
        window.resizeDocks(list(docks[:2]), FIRST_WIDTHS, Qt.Orientation.Horizontal)
        self._made = window.saveState()
        self.switch = SegmentRow(
            Row("workspace", self.tr("Workspace"), _offers, lambda: self.current, self.choose),
            window.menuBar(),
            height=max(window.menuBar().sizeHint().height(), LEAST_SWITCH),  # a higher one would lift the menus' titles
        )
        if len(WORKSPACES) > 1:
            window.menuBar().setCornerWidget(self.switch)
            self.switch.show()  # which the bar of a window that is seen already leaves to others
        self._document.observe(self._changed)

    @property
    def current(self) -> str:
        """The name of the workspace that is chosen."""
        return self._document.state.settings.window.workspace

    def choose(self, name: str) -> None:
        """Go to a workspace."""
        self._document.change(KEY, name)

    def in_order(self) -> list[QDockWidget]:
        """All docks, those of the workspace first, as it names them."""
        panels = WORKSPACES[self.current].panels
        first = [self._docks[panel] for panel in panels]
        return [*first, *(dock for name, dock in self._docks.items() if name not in panels)]

    def menu(self) -> Choice:
        """The workspaces for a menu, the palette and keys."""
        keys = {name: workspace.key for name, workspace in WORKSPACES.items()}
        offers = [(name, one.title, one.sentence, True) for name, one in WORKSPACES.items()]
        return Choice(
            "view.workspace", tr("&Workspace"), lambda: offers, lambda: self.current, self.choose, lambda: offers, keys
        )

    def begin(self) -> None:
        """Put the window, unless it is seen already, and its docks where they were when the program ended."""
        if not self._window.isVisible():
            self._memory.restore_window(self._window)
        self._arrange(self.current)

    def save(self) -> None:
        """Remember where the window and its docks are."""
        self._memory.save_window(self._window, self.current)

    def keep(self) -> None:
        """The same while it is in use, where it is another place than before."""
        place = self._window.saveGeometry(), self._window.saveState()
        if place != self._kept:
            self._kept = place
            self.save()

    def reset(self) -> None:
        """Put the docks of every workspace back to their first places."""
        for name in WORKSPACES:
            self._memory.forget_docks(name)
        self._in_front.clear()
        self.before()
        self._arrange(self.current)
        self.after()

    def _changed(self, before: State, after: State) -> None:
        old, new = before.settings.window.workspace, after.settings.window.workspace
        if old == new:
            return
        self._memory.keep_chosen("workspace", new, self._first)
        self._in_front[old] = [dock for dock in self._docks.values() if not dock.visibleRegion().isEmpty()]
        self.before()
        self._memory.save_docks(self._window, old)
        self._arrange(new)
        self.after()
        for dock in self._in_front.get(new, ()):  # of tabs that it shows anew, Qt has the last in front
            _raise(dock)
        self.switch.refresh()
        self.changed.emit(new)

    def _arrange(self, name: str) -> None:
        """As someone has left a workspace, or as it is first."""
        if self._memory.restore_docks(self._window, name):
            return
        self._window.restoreState(self._made)
        if name != FIRST:
            self._show(name)

    def _show(self, name: str) -> None:
        """The panels of a workspace, and no others: those at the right as tabs, the first in front."""
        workspace = WORKSPACES[name]
        self._rail.setVisible(workspace.has_rail)
        shown = [self._docks[panel] for panel in workspace.panels]
        side = [dock for dock in shown if self._window.dockWidgetArea(dock) == RIGHT]
        with behind(side[1:]):
            for other, dock in self._docks.items():
                dock.setVisible(other in workspace.panels)
            for dock in side[1:]:
                self._window.tabifyDockWidget(side[0], dock)
        if side:
            width = min(workspace.side, round(workspace.share * self._window.width()))
            self._window.resizeDocks([side[0]], [width], Qt.Orientation.Horizontal)
            _raise(side[0])


def _raise(dock: QDockWidget) -> None:
    """To the front, now and once those that are shown have come there one after the other."""
    dock.raise_()
    QTimer.singleShot(0, dock, dock.raise_)


def _offers() -> list[Offer]:
    return [Offer(name, one.title, f"{one.sentence} {one.key}") for name, one in WORKSPACES.items()]
