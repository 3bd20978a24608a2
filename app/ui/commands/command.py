"""Commands as data: what the menus are made of. Each menu's file gives its entries (camera_menu, scene_menu, ...);
Commands makes actions of them, which menus, palette, cheat sheet and keys read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from raygrove.app.ui.commands.choice_menu import Offers
from raygrove.app.ui.session.choices import Choices

Keys = QKeySequence.StandardKey | str | Sequence[str] | None


@dataclasses.dataclass(frozen=True)
class Command:
    """Something to do: its name (also in keys.toml), its title, what it runs, its own keys, and a sentence about it
    where it has one of its own."""

    name: str
    title: str
    run: Callable[[], object]
    keys: Keys = None
    checkable: bool = False
    tip: str = ""


@dataclasses.dataclass(frozen=True)
class Choice:
    """A menu of which one entry counts (ChoiceMenu). Each of `known()`, or of those that are offered when the window
    has been painted, can be given a key as `name.value`; `keys` are the program's own, by value."""

    name: str
    title: str
    offers: Callable[[], Offers]
    current: Callable[[], str]
    choose: Callable[[str], None]
    known: Callable[[], Offers] | None = None
    keys: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Standing:
    """An action that Qt has made: a dock's."""

    name: str
    action: QAction


@dataclasses.dataclass(frozen=True)
class Submenu:
    """A menu, or one in a menu. `fill` fills it each time it opens."""

    title: str
    entries: Sequence[Entry] = ()
    fill: Callable[[QMenu], None] | None = None


@dataclasses.dataclass(frozen=True)
class Separator:
    """A line between entries."""


Entry = Command | Choice | Standing | Submenu | Separator


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("Commands", text)


def setting(choices: Choices, name: str, title: str, key: str, offers: Callable[[], Offers] | None = None) -> Choice:
    """The choice of a setting's value by its dotted key, of `offers` or of the option's own."""
    return Choice(name, title, offers or (lambda: choices.of_option(key)), choices.current(key), choices.choose(key))
