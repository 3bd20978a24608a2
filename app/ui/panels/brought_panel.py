"""A panel that comes to the front by itself, with what it tells of, and gives its place back when that is over."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow

from raygrove.app.ui.widgets.scrolled import panel_of


class BroughtPanel(QObject):
    """See the module. Somebody who shows or hides the panel meanwhile has its way: then it stays as it is."""

    def __init__(self, window: QMainWindow, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._window, self._dock = window, dock
        self._before: tuple[list[QDockWidget], bool] | None = None
        dock.toggleViewAction().triggered.connect(self.keep)

    def bring(self) -> None:
        """Show it in front, and remember what stood there."""
        dock = self._dock
        if not panel_of(dock).isVisible():
            beside = [one for one in self._window.tabifiedDockWidgets(dock) if panel_of(one).isVisible()]
            self._before = beside, dock.isHidden()
        dock.show()
        dock.raise_()

    def give_back(self) -> None:
        """What stood in its place comes back, unless somebody has put another there, or works in the panel."""
        before, self._before = self._before, None
        if before is None or not panel_of(self._dock).isVisible():
            return
        used = QApplication.focusWidget()
        if used is not None and self._dock.isAncestorOf(used):
            self._before = before
            return
        beside, was_hidden = before
        for dock in beside:
            if not dock.isHidden():
                dock.raise_()
        if was_hidden:
            self._dock.hide()

    def keep(self) -> None:
        """Leave it where it is, whatever stood there before."""
        self._before = None
