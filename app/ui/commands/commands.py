"""Every command of the program as a QAction with its key, in the menus where people look for it."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow

from raygrove.app.settings import option_tables
from raygrove.app.ui.commands import hints
from raygrove.app.ui.commands.choice_menu import ChoiceMenu
from raygrove.app.ui.commands.command import Choice, Command, Entry, Standing, Submenu
from raygrove.app.ui.commands.menu import Menu
from raygrove.app.ui.session.bell import Bell
from raygrove.app.ui.session.notices import Notices

AGAIN_MS = 100


class Commands(QObject):
    """Makes the menus of a window from data (command.py); `menus` holds the choices by their names.

    The actions of choices are made when somebody needs them, or once the window has been painted: to know them all
    structures and ray types are imported, for which nobody waits at the start. A thread does that, and then the actions
    are made choice by choice, so that the window answers meanwhile. `completed` tells when they are there."""

    completed = Signal()

    def __init__(self, window: QMainWindow, notices: Notices, menus: Sequence[Submenu]) -> None:
        super().__init__(window)
        self._window, self._notices = window, notices
        self._made: list[dict[str, QAction]] = []
        self._late: list[tuple[Choice, ChoiceMenu, dict[str, QAction]]] = []
        self._actions: dict[str, QAction] = {}
        self._is_complete = False
        self.is_opening: Callable[[], bool] = lambda: False
        """Whether somebody waits for a first picture."""
        self.menus: dict[str, ChoiceMenu] = {}
        for menu in menus:
            made = Menu(menu.title, window)
            window.menuBar().addMenu(made)
            made.setToolTipsVisible(True)
            self._fill(made, menu.entries)
        hints.give(self.commands)
        self._learned = Bell(self._go_on, self)
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self._begin)
        if window.isVisible():  # and painted
            QTimer.singleShot(0, self, self._begin)
        else:
            window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Make the rest after the window's first painting."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            self._begin()
        return False

    def _begin(self) -> None:
        """Once what is being opened is seen: it is waited for, and choices are not."""
        if self.is_opening():
            self._again.start()
        else:
            threading.Thread(target=self._learn, name="commands", daemon=True).start()

    def _learn(self) -> None:
        """Import what choices are of; where that fails, whoever asks for it next is told."""
        with contextlib.suppress(Exception):
            option_tables.builders()
            option_tables.ray_types()
            importlib.import_module("raygrove.app.frames.maker")  # what draws, before there is a scene
            importlib.import_module("raygrove.app.lessons.lesson").lessons(lambda error: None)  # of a menu, too
        self._learned.ring()

    def _go_on(self) -> None:
        """Make the actions of one choice more."""
        if len(self._late) > 1:
            self._prepare(*self._late.pop(0))
            self._learned.ring()  # in another turn: what Qt calls after 0 ms may come within this one
        else:
            self.complete()

    def complete(self) -> None:
        """Make the actions of choices, if they are not there yet."""
        if self._is_complete:
            return
        self._is_complete = True
        for choice, menu, actions in self._late:
            self._prepare(choice, menu, actions)
        self._late.clear()
        self._actions = self.commands
        hints.give(self._actions)
        self.completed.emit()

    @property
    def commands(self) -> dict[str, QAction]:
        """The actions that are made so far, by their object names, in the order of the menus: commands, from the start
        on."""
        return {name: action for part in self._made for name, action in part.items()}

    @property
    def actions(self) -> Mapping[str, QAction]:
        """Every action by its object name, in the order of the menus."""
        self.complete()
        return self._actions

    def all(self) -> list[QAction]:
        """Every action, in the order of the menus."""
        return list(self.actions.values())

    def _fill(self, menu: Menu, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, Command):
                menu.addAction(self._action(entry))
            elif isinstance(entry, Choice):
                menu.addMenu(self._choice(entry))
            elif isinstance(entry, Standing):
                entry.action.setObjectName(entry.name)
                menu.addAction(entry.action)
                self._made.append({entry.name: entry.action})
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
        self._made.append({command.name: action})
        return action

    def _choice(self, choice: Choice) -> ChoiceMenu:
        made = ChoiceMenu(choice.title, choice.offers, choice.current, choice.choose, self._window)
        made.setObjectName(choice.name)
        made.refused.connect(self._notices.tell)
        self.menus[choice.name] = made
        actions: dict[str, QAction] = {}
        self._made.append(actions)
        self._late.append((choice, made, actions))
        return made

    def _prepare(self, choice: Choice, menu: ChoiceMenu, actions: dict[str, QAction]) -> None:
        """Make the actions of a choice, and put them into `actions`."""
        for value, action in menu.prepare(choice.known() if choice.known is not None else None).items():
            action.setObjectName(f"{choice.name}.{value.replace(' ', '_')}")
            if value in choice.keys:
                action.setShortcut(QKeySequence(choice.keys[value]))
            self._window.addAction(action)
            actions[action.objectName()] = action

    def _submenu(self, menu: Menu, inner: Submenu) -> None:
        made = menu.submenu(inner.title)
        made.setToolTipsVisible(any(isinstance(entry, Command) and entry.tip for entry in inner.entries))
        if inner.fill is not None:
            fill = inner.fill
            made.aboutToShow.connect(lambda: fill(made))
        self._fill(made, inner.entries)
