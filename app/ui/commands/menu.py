"""Menus in the window's colours. They have a class of their own: Qt gives the list of a drop-down the colours of its
class QMenu, and those of ours have a window colour that makes borders seen, on which the list's texts are not."""

from __future__ import annotations

from PySide6.QtWidgets import QMainWindow, QMenu, QWidget


class Menu(QMenu):
    """See the module; window/theme.py names the class."""

    def submenu(self, title: str) -> Menu:
        """Another menu at its end."""
        made = Menu(title, self)
        self.addMenu(made)
        return made


class MenuWindow(QMainWindow):
    """A window whose panels and bars are listed in such a menu."""

    def createPopupMenu(self) -> QMenu:
        """What a click with the right button on a title of a panel, or on a bar, opens."""
        menu: QWidget | None = super().createPopupMenu()
        made = Menu(self)
        if menu is not None:
            made.addActions(menu.actions())
            menu.deleteLater()
        return made
