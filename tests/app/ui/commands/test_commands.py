"""Menus are made of data: what a list says is in the menu, has its keys, and runs."""

from __future__ import annotations

import functools
import threading
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMainWindow, QMenu, QPushButton

from raygrove.app.settings import option_tables
from raygrove.app.ui.commands.command import Choice, Command, Separator, Submenu
from raygrove.app.ui.commands.commands import Commands
from raygrove.app.ui.session.notices import Notices, Way
from raygrove.app.ui.window.main_window import MainWindow


def test_a_list_becomes_a_menu(qtbot: Any) -> None:
    window, notices = QMainWindow(), Notices()
    qtbot.addWidget(window)
    ran: list[str] = []
    offers = [("red", "Red", "", True), ("deep blue", "Deep blue", "not today", False)]
    entries = [
        Command("a.run", "&Run", lambda: ran.append("run"), ("Ctrl+R", "F5"), tip="Runs."),
        Separator(),
        Submenu("&More", [Command("a.check", "&Check", lambda: ran.append("check"), checkable=True)]),
        Choice("a.colour", "&Colour", lambda: offers, lambda: "red", ran.append),
    ]
    commands = Commands(window, notices, [Submenu("&First", entries)])
    assert list(commands.actions) == ["a.run", "a.check", "a.colour.red", "a.colour.deep_blue"]
    run, check, _, blue = commands.all()
    assert [key.toString() for key in run.shortcuts()] == ["Ctrl+R", "F5"] and run.toolTip() == "Runs."
    assert check.isCheckable() and not run.isCheckable()
    (menu,) = window.menuBar().actions()
    first = menu.menu()
    assert isinstance(first, QMenu)
    assert [action.text() for action in first.actions()] == ["&Run", "", "&More", "&Colour"]
    told: list[str] = []
    notices.told.connect(lambda sentence, milliseconds: told.append(sentence))
    for action in (run, check, blue):
        action.trigger()
    assert ran == ["run", "check"] and told == ["Colour: Deep blue. not today"]


def test_choices_are_asked_for_once_the_window_is_painted(qtbot: Any) -> None:
    window, notices = QMainWindow(), Notices()
    qtbot.addWidget(window)
    asked: list[str] = []

    def offers() -> list[tuple[str, str, str, bool]]:
        asked.append("offers")
        return [("red", "Red", "", True)]

    entries = [
        Choice("a.colour", "&Colour", offers, lambda: "red", asked.append, keys={"red": "F7"}),
        Command("a.run", "&Run", lambda: None),
    ]
    commands = Commands(window, notices, [Submenu("&First", entries)])
    assert list(commands.commands) == ["a.run"] and asked == []
    with qtbot.waitSignal(commands.completed):
        window.show()
    assert asked == ["offers"] and list(commands.actions) == ["a.colour.red", "a.run"]
    assert commands.actions["a.colour.red"].shortcut().toString() == "F7"
    assert commands.actions["a.colour.red"].statusTip()


def test_a_painted_window_answers_while_choices_are_made(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing all structures is a pause that is seen: a thread does it, and choices follow one by one."""
    threads: list[str] = []
    monkeypatch.setattr(option_tables, "builders", lambda: threads.append(threading.current_thread().name))
    window, beats = QMainWindow(), QTimer(interval=0)
    qtbot.addWidget(window)
    seen: list[int] = []
    beats.timeout.connect(lambda: seen.append(len(seen)))

    def offers(name: str) -> list[tuple[str, str, str, bool]]:
        made.append((name, len(seen)))
        return [(name, name, "", True)]

    made: list[tuple[str, int]] = []
    entries = [
        Choice(f"a.{name}", name, functools.partial(offers, name), lambda: "", made.append) for name in ("b", "c", "d")
    ]
    commands = Commands(window, Notices(), [Submenu("&First", entries)])
    beats.start()
    with qtbot.waitSignal(commands.completed):
        window.show()
    assert set(threads) == {"commands"}  # asked again by what the thread imports, where nobody has imported it
    assert [name for name, _ in made] == ["b", "c", "d"] and made[0][1] < made[1][1] < made[2][1]
    assert list(commands.actions) == ["a.b.b", "a.c.c", "a.d.d"]


def test_what_excludes_each_other_has_radio_marks(window: MainWindow) -> None:
    """Qt draws the marks of an exclusive group round; a choice made by setting moves the mark, too."""
    for menu in window.commands.menus.values():
        menu.refresh()
        for action in menu.actions():
            group = action.actionGroup()
            assert group is not None and group.isExclusive() and len(group.actions()) >= len(menu.actions())
    builders = window.commands.menus["structure.hierarchy"]
    builders.trigger("hploc")
    assert [one.data() for one in builders.actions() if one.isChecked()] == ["hploc"]
    window.document.undo()
    builders.refresh()
    assert [one.data() for one in builders.actions() if one.isChecked()] == ["lbvh"]


def test_a_menu_opens_by_its_first_letter_where_newcomers_try_it(window: MainWindow) -> None:
    titles = {action.text().replace("&", ""): action.text() for action in window.menuBar().actions()}
    assert titles["Camera"] == "&Camera" and titles["Help"] == "&Help"


def test_a_notice_is_a_banner_with_its_ways_and_stands_in_the_log(window: MainWindow) -> None:
    notices, ran = window.session.notices, list[str]()
    notices.show("warning", "Something.", "more", "topic", (Way("help", "Help", lambda: ran.append("help")),))
    (banner,) = window.toasts.messages()
    banner.findChild(QPushButton, "help").click()
    assert ran == ["help"] and notices.log.entries[-1].sentence == "Something."
    notices.clear("topic")
    notices.tell("Done.")
    assert window.toasts.messages() == [] and window.statusBar().currentMessage() == "Done."
