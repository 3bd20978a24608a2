"""Every command of the program as a QAction with its key, in the menus where people look for it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from raygrove.app.ui.commands import hints
from raygrove.app.ui.commands.choice_menu import ChoiceMenu
from raygrove.app.ui.commands.command import Choice, Command, Entry, Standing, Submenu
from raygrove.app.ui.session.notices import Notices


class Commands(QObject):
    """Makes the menus of a window from data (command.py). `actions` holds every action by its object name, in the order
    of the menus; `menus` the choices by theirs."""

    def __init__(self, window: QMainWindow, notices: Notices, menus: Sequence[Submenu]) -> None:
        super().__init__(window)
        self._window, self._notices = window, notices
        self.actions: dict[str, QAction] = {}
        self.menus: dict[str, ChoiceMenu] = {}
        for menu in menus:
            made = window.menuBar().addMenu(menu.title)
            made.setToolTipsVisible(True)
            self._fill(made, menu.entries)
        hints.give(self.actions)

    def all(self) -> list[QAction]:
        """Every action, in the order of the menus."""
        return list(self.actions.values())

    def _fill(self, menu: QMenu, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, Command):
                menu.addAction(self._action(entry))
            elif isinstance(entry, Choice):
                menu.addMenu(self._choice(entry))
            elif isinstance(entry, Standing):
                entry.action.setObjectName(entry.name)
                menu.addAction(entry.action)
                self.actions[entry.name] = entry.action
            elif isinstance(entry, Submenu):
                self._submenu(menu, entry)
            else:
                menu.addSeparator()

    def _action(self, command: Command) -> QAction:
        action = QAction(command.title, self._window)
        action.setObjectName(command.name)
        action.setCheckable(command.checkable)
        keys = command.keys
        if isinstance(keys, QKeySequence.StandardKey):
            action.setShortcuts(keys)
        elif isinstance(keys, str):
            action.setShortcut(QKeySequence(keys))
        elif keys is not None:
            action.setShortcuts([QKeySequence(key) for key in keys])
        if command.tip:
            action.setToolTip(command.tip)
        action.triggered.connect(lambda checked=False: command.run())
        self._window.addAction(action)  # its keys count without the menu bar, too
        self.actions[command.name] = action
        return action

    def _choice(self, choice: Choice) -> ChoiceMenu:
        made = ChoiceMenu(choice.title, choice.offers, choice.current, choice.choose, self._window)
        made.setObjectName(choice.name)
        made.refused.connect(self._notices.tell)
        self.menus[choice.name] = made
        for value, action in made.prepare(choice.known).items():
            action.setObjectName(f"{choice.name}.{value.replace(' ', '_')}")
            if value in choice.keys:
                action.setShortcut(QKeySequence(choice.keys[value]))
            self._window.addAction(action)
            self.actions[action.objectName()] = action
        return made

    def _submenu(self, menu: QMenu, inner: Submenu) -> None:
        made = menu.addMenu(inner.title)
        made.setToolTipsVisible(any(isinstance(entry, Command) and entry.tip for entry in inner.entries))
        if inner.fill is not None:
            fill = inner.fill
            made.aboutToShow.connect(lambda: fill(made))
        self._fill(made, inner.entries)
