"""The page of keys: a key belongs to one command, is kept for the next start, and can be given back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton, QTextBrowser, QToolButton

from raygrove.app.ui.commands.shortcuts import Shortcuts, keys_of
from raygrove.app.ui.dialogs.keys_dialog import KeysDialog
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.user_files import key_bindings
from tests.app.stand_ins import take_places


@pytest.fixture
def shortcuts(qtbot: Any, own_folders: Path) -> Shortcuts:
    actions = {"open": QAction("&Open…"), "close": QAction("Close"), "play": QAction("Play")}
    actions["open"].setShortcut("Ctrl+O")
    actions["play"].setShortcuts([QKeySequence("Space"), QKeySequence("P")])
    made = Shortcuts(actions, None)
    return made


def test_a_key_belongs_to_one_command(shortcuts: Shortcuts) -> None:
    assert "belongs to “Open”" in shortcuts.change("close", ("Ctrl+O",))
    assert shortcuts.change("close", ("Ctrl+J",)) == ""
    assert "flies" in shortcuts.change("close", ("W",)) and "flies" in shortcuts.change("close", ("Shift+E",))
    assert "is not a key" in shortcuts.change("close", ("Nonsense+",))
    assert keys_of(shortcuts.actions["close"]) == ("Ctrl+J",)
    assert shortcuts.change("open", ()) == "" and shortcuts.change("close", ("Ctrl+O",)) == ""
    assert key_bindings.load() == {"open": (), "close": ("Ctrl+O",)}
    assert "belongs to “Close”" in shortcuts.reset("open")
    assert shortcuts.reset("close") == "" and shortcuts.reset("open") == ""
    assert key_bindings.load() == {}


def test_keys_are_taken_at_the_next_start_and_wrong_ones_are_named(shortcuts: Shortcuts) -> None:
    key_bindings.save({"play": ("Ctrl+P",), "gone": ("F9",), "close": ("Ctrl+O",)})
    problem = shortcuts.load()
    assert "gone" in problem and "close" in problem and "play" not in problem
    assert keys_of(shortcuts.actions["play"]) == ("Ctrl+P",) and keys_of(shortcuts.actions["close"]) == ()
    key_bindings.file_of_user().write_text("broken")
    assert "cannot be read" in shortcuts.load()


def test_a_folder_that_cannot_be_written_changes_nothing(shortcuts: Shortcuts, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(key_bindings, "save", fail)
    assert "Permission denied" in shortcuts.change("open", ("Ctrl+J",))
    assert keys_of(shortcuts.actions["open"]) == ("Ctrl+O",)


def test_a_person_gives_a_command_another_key(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.commands.actions["edit.keys"].trigger()
    dialog = scene_window.findChild(QDialog, "keys")
    assert isinstance(dialog, KeysDialog)
    dialog.turn_to("animation.play")
    dialog.editor.setKeySequence(QKeySequence("Ctrl+J"))
    dialog.findChild(QPushButton, "set").click()
    assert dialog.note.text() == "" and keys_of(scene_window.commands.actions["animation.play"]) == ("Ctrl+J",)
    assert "Ctrl+J" in scene_window.timeline_bar.findChild(QToolButton, "play").toolTip()
    dialog.editor.setKeySequence(QKeySequence("F1"))
    dialog.findChild(QPushButton, "add").click()
    assert "belongs to" in dialog.note.text()
    dialog.search.setText("bookmark go")
    hidden = [dialog.tree.topLevelItem(row).isHidden() for row in range(dialog.tree.topLevelItemCount())]
    assert 0 < hidden.count(False) < len(hidden)
    dialog.findChild(QPushButton, "reset_all").click()
    assert keys_of(scene_window.commands.actions["animation.play"]) == ("Space",) and key_bindings.load() == {}
    dialog.close()
    assert not scene_window.document.state.timeline.is_playing
    scene_window.view.setFocus()
    QTest.keyClick(scene_window.view, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: scene_window.document.state.timeline.is_playing)


def test_two_commands_that_changed_places_are_taken_at_the_next_start(shortcuts: Shortcuts) -> None:
    key_bindings.save({"open": ("Space",), "play": ("Ctrl+O",)})
    assert shortcuts.load() == ""
    assert shortcuts.keys("open") == ("Space",) and shortcuts.keys("play") == ("Ctrl+O",)


def test_a_flying_key_and_a_command_share_nothing(shortcuts: Shortcuts) -> None:
    assert "belongs to “Play”" in shortcuts.change("fly.up", ("Space",))
    assert "no modifier" in shortcuts.change("fly.up", ("Ctrl+J",))
    assert "belongs to “Fly down”" in shortcuts.change("fly.up", ("Q",))
    assert shortcuts.change("fly.up", ("PgUp",)) == "" and shortcuts.change("close", ("E",)) == ""
    assert "flies" in shortcuts.change("open", ("PgUp",)) and "flies" in shortcuts.change("open", ("Shift+PgUp",))
    assert shortcuts.change("open", ("Alt+W",)) == "" and "belongs to “Open”" in shortcuts.change("fly.fast", ("Alt",))
    assert key_bindings.load() == {"fly.up": ("PgUp",), "close": ("E",), "open": ("Alt+W",)}


def test_a_way_of_the_mouse_belongs_to_one_gesture(shortcuts: Shortcuts) -> None:
    assert "belongs to “Pan”" in shortcuts.change("mouse.zoom", ("Middle drag",))
    assert "none of the ways" in shortcuts.change("mouse.pan", ("Middle click",))
    assert (
        shortcuts.change("mouse.pan", ("Shift+Left drag",)) == ""
        and shortcuts.change("mouse.zoom", ("Middle drag",)) == ""
    )
    fresh = Shortcuts(shortcuts.actions, None)
    assert fresh.load() == "" and fresh.gestures.ways("mouse.zoom") == ("Middle drag",)
    assert fresh.reset_all() == "" and fresh.gestures.ways("mouse.zoom") == ()


def test_choices_of_menus_take_keys_and_say_what_cannot_be_chosen(scene_window: MainWindow, qtbot: Any) -> None:
    shortcuts = Shortcuts(scene_window.commands.actions, None)
    for name, wanted in (
        ("structure.hierarchy.brute_force", "F8"),
        ("render.ray_type.steps", "F6"),
        ("structure.layout.bvh4", "F7"),
    ):
        assert shortcuts.change(name, (wanted,)) == ""
    assert shortcuts.title("structure.layout.bvh4") == "Layout: 4-wide (BVH4)"
    for key in (Qt.Key.Key_F6, Qt.Key.Key_F7):
        QTest.keyClick(scene_window.view, key)
    render = scene_window.document.state.settings.render
    assert (render.ray_type, render.layout) == ("steps", "bvh4")
    QTest.keyClick(scene_window.view, Qt.Key.Key_F8)
    assert scene_window.document.state.settings.render.hierarchy == "brute_force"
    scene_window.commands.menus["structure.layout"].refresh()
    take_places()
    QTest.keyClick(scene_window.view, Qt.Key.Key_F7)
    assert scene_window.document.state.settings.render.layout != "bvh4"
    assert scene_window.statusBar().currentMessage().startswith("Layout: 4-wide (BVH4). This cannot be chosen now")


def test_a_person_gives_a_gesture_another_button(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.commands.actions["edit.keys"].trigger()
    dialog = scene_window.findChild(QDialog, "keys")
    assert isinstance(dialog, KeysDialog)
    dialog.turn_to("mouse.pan")
    dialog.ways.setCurrentText("Left drag")
    assert "belongs to “Orbit" in dialog.note.text(), "said at the field, before a button is pressed"
    dialog.ways.setCurrentText("Ctrl+Right drag")
    assert dialog.note.text() == ""
    dialog.findChild(QPushButton, "add").click()
    assert scene_window.session.gestures.ways("mouse.pan")[-1] == "Ctrl+Right drag"
    dialog.turn_to("mouse.pick")
    dialog.ways.setCurrentText("Alt+Middle click")
    dialog.findChild(QPushButton, "set").click()
    assert "Alt+Middle click picks" in scene_window.inspectors.pick.hint.text()
    dialog.turn_to("animation.play")
    dialog.editor.setKeySequence(QKeySequence("F1"))
    assert "belongs to “Cheat sheet”" in dialog.note.text()
    dialog.close()
    scene_window.commands.actions["help.cheat_sheet"].trigger()
    sheet = scene_window.findChild(QDialog, "cheat_sheet")
    assert (
        "Ctrl+Right drag" in sheet.findChild(QTextBrowser).toPlainText()
        and "Alt+Middle click" in sheet.findChild(QTextBrowser).toPlainText()
    )
