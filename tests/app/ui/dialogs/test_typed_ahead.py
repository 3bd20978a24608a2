"""Keys that are typed right after a dialog was asked for are the dialog's."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit

from raygrove.app.ui.dialogs import typed_ahead
from raygrove.app.ui.dialogs.typed_ahead import TypedAhead
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


@pytest.mark.parametrize("is_given", (False, True))
def test_a_dialog_that_nobody_gives_the_keyboard_asks_for_it(
    window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch, is_given: bool
) -> None:
    """As on a display without a window manager; or all events of the program would go through the filter for good."""
    monkeypatch.setattr(typed_ahead, "PATIENCE_MS", 50)
    asked = list[bool]()

    class Dialog(QDialog):
        def activateWindow(self) -> None:
            asked.append(True)

    dialog = Dialog(window)
    ahead = TypedAhead(dialog, QLineEdit(dialog), window)
    if is_given:
        ended = QSignalSpy(ahead.destroyed)
        QApplication.sendEvent(dialog, QEvent(QEvent.Type.WindowActivate))
        qtbot.waitUntil(lambda: ended.count() == 1)
    qtbot.wait(150)
    assert asked == ([] if is_given else [True])
    dialog.deleteLater()


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
