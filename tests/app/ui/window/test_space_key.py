"""What Tab leads to is pressed by Space, though that is the timeline's; what was clicked leaves it to it."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QCheckBox, QPushButton, QWidget

from raygrove.app.ui.window.main_window import MainWindow

Key = Qt.Key


def tab_to(window: MainWindow, widget: QWidget) -> None:
    """Come to a widget by the keyboard, from the one before it."""
    before = widget.previousInFocusChain()
    while before.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.NoFocus or not before.isVisible():
        before = before.previousInFocusChain()
    before.setFocus()
    QTest.keyClick(before, Key.Key_Tab)
    assert window.focusWidget() is widget


@pytest.fixture
def shown(scene_window: MainWindow, qtbot: Any) -> MainWindow:
    """A window with the focus."""
    scene_window.activateWindow()
    qtbot.waitUntil(scene_window.isActiveWindow)
    return scene_window


def front(window: MainWindow, name: str) -> QWidget:
    dock = next(dock for dock in window.docks if dock.objectName() == f"dock.{name}")
    dock.show()
    dock.raise_()
    QApplication.processEvents()
    return dock


def plays(window: MainWindow) -> bool:
    return window.document.state.timeline.is_playing


def test_space_presses_what_tab_came_to(shown: MainWindow) -> None:
    box = next(one for one in front(shown, "boxes").findChildren(QCheckBox) if one.isVisible())
    tab_to(shown, box)
    before, played = box.isChecked(), plays(shown)
    QTest.keyClick(box, Key.Key_Space)
    assert (box.isChecked(), plays(shown)) == (not before, played)


def test_space_plays_after_a_click(shown: MainWindow) -> None:
    box = next(one for one in front(shown, "boxes").findChildren(QCheckBox) if one.isVisible())
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(6, box.height() // 2))
    checked, played = box.isChecked(), plays(shown)
    QTest.keyClick(box, Key.Key_Space)
    assert (box.isChecked(), plays(shown)) == (checked, not played)


def test_space_begins_the_tour_from_the_first_page(shown: MainWindow, qtbot: Any) -> None:
    shown.commands.actions["file.welcome"].trigger()
    button = shown.findChild(QPushButton, "tour")
    assert button is not None
    qtbot.waitUntil(button.isVisible)
    tab_to(shown, button)
    QTest.keyClick(button, Key.Key_Space)
    assert shown.tour.is_under_way
    shown.tour.end()


def test_space_marks_a_row_that_tab_came_to(shown: MainWindow) -> None:
    rows = next(one for one in front(shown, "objects").findChildren(QAbstractItemView) if one.isVisible())
    tab_to(shown, rows)
    rows.setCurrentIndex(rows.model().index(0, 0))
    played, hidden = plays(shown), shown.document.state.hidden
    QTest.keyClick(rows, Key.Key_Space)
    assert plays(shown) == played and shown.document.state.hidden != hidden


def test_space_with_shift_stays_a_command(shown: MainWindow) -> None:
    box = next(one for one in front(shown, "boxes").findChildren(QCheckBox) if one.isVisible())
    tab_to(shown, box)
    before = box.isChecked()
    QTest.keyClick(box, Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    assert box.isChecked() == before and shown.commands.actions["animation.reverse"].isChecked()
