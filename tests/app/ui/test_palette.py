"""The palette lists every command by itself, finds by letters, and does what is marked."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog

from app.ui.main_window import MainWindow
from app.ui.palette import Palette, entries_of, rank


def opened(window: MainWindow) -> Palette:
    window.commands.actions["help.palette"].trigger()
    palette = window.findChild(QDialog, "palette")
    assert isinstance(palette, Palette)
    return palette


def test_every_command_is_listed_and_every_setting(scene_window: MainWindow) -> None:
    texts = {entry.path[-1] for entry in entries_of(scene_window)}
    for action in scene_window.commands.all():
        if action.isVisible() and action.isEnabled() and not action.property("menu"):  # choices are listed where they are offered
            assert action.text().replace("&", "").rstrip("….") in texts, action.objectName()
    lines = {entry.text for entry in entries_of(scene_window)}
    assert {"Camera › Look from › Top", "Structure › Rebuild or refit › Refit every frame", "Settings › Camera › Field of view"} <= lines
    assert any(line.startswith("Render › Ray type › ") for line in lines)


def test_what_cannot_be_done_is_not_offered(scene_window: MainWindow) -> None:
    assert not scene_window.document.can_undo or scene_window.commands.actions["edit.undo"].isEnabled()
    scene_window.document.undo()
    assert "Edit › Undo" not in {entry.text for entry in entries_of(scene_window)}


@pytest.mark.parametrize(
    ("words", "better", "worse"),
    [("top", "Camera › Look from › Top", "File › Stop it"), ("full", "View › Full screen", "A careful list"), ("fsc", "Full screen", "For some, c")],
)
def test_the_better_fit_comes_first(words: str, better: str, worse: str) -> None:
    first, second = rank(words, better), rank(words, worse)
    assert first is not None and (second is None or first < second)


def test_letters_in_another_order_do_not_fit() -> None:
    assert rank("pot", "Top") is None and rank("tp", "Top") is not None and rank("ca to", "Camera › Top") is not None


def test_typing_and_return_run_a_command_and_it_comes_first_next_time(scene_window: MainWindow, qtbot: Any) -> None:
    palette = opened(scene_window)
    QTest.keyClicks(palette.line, "look bottom")
    assert palette.found()[0] == "Camera › Look from › Bottom"
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert scene_window.document.state.camera_of(0).basis()[2] == pytest.approx([0.0, 1.0, 0.0])
    qtbot.waitUntil(lambda: scene_window.findChild(QDialog, "palette") is None)
    assert opened(scene_window).found()[0] == "Camera › Look from › Bottom"


def test_arrows_move_the_mark_and_a_setting_opens_its_page(scene_window: MainWindow) -> None:
    palette = opened(scene_window)
    QTest.keyClick(palette.line, Qt.Key.Key_Down)
    QTest.keyClick(palette.line, Qt.Key.Key_Down)
    assert palette.list.currentRow() == 2
    QTest.keyClick(palette.line, Qt.Key.Key_Up)
    assert palette.list.currentRow() == 1
    palette.line.setText("settings camera flying")
    palette.line.setText("settings camera up axis")
    palette.run()
    dialog = scene_window.findChild(QDialog, "settings")
    assert dialog is not None and dialog.isVisible()


def test_nothing_found_runs_nothing(scene_window: MainWindow) -> None:
    palette = opened(scene_window)
    palette.line.setText("zzzz qqqq")
    palette.run()
    assert palette.found() == [] and palette.isVisible()
