"""Keys that are typed right after a dialog was asked for are the dialog's."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLineEdit

from raygrove.app.ui.window.main_window import MainWindow


@pytest.mark.parametrize("command", ["help.palette", "edit.settings", "edit.keys"])
def test_letters_typed_ahead_are_the_fields_and_no_commands(window: MainWindow, qtbot: Any, command: str) -> None:
    settings = window.document.state.settings
    window.commands.actions[command].trigger()
    QTest.keyClicks(window, "xg")  # before the dialog hears that the keyboard is its own
    dialog = next(one for one in window.findChildren(QDialog) if one.isVisible())
    field = dialog.findChildren(QLineEdit)[0]
    assert field.text() == "xg" and window.document.state.settings == settings
    QTest.keyClick(window, Qt.Key.Key_Backspace)
    assert field.text() == "x"
    qtbot.waitUntil(dialog.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_X)
    assert field.text() == "x", "the keyboard was given: to each its own"
    dialog.close()


@pytest.mark.parametrize("way", ["closed", "pressed elsewhere"])
def test_keys_are_the_windows_again(window: MainWindow, qtbot: Any, way: str) -> None:
    window.commands.actions["help.palette"].trigger()
    dialog = window.findChild(QDialog, "palette")
    assert dialog is not None
    field = dialog.findChildren(QLineEdit)[0]
    if way == "closed":
        QTest.keyClick(window, Qt.Key.Key_Escape)
        assert not dialog.isVisible()
    else:
        QTest.mouseClick(window.statusBar(), Qt.MouseButton.LeftButton)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_X)
    assert field.text() == "" and window.document.state.settings.boxes.show
    dialog.close()
