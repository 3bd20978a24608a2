"""The window that forks begin with is the one that a test would make, and nothing of one test is seen by another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QWidget

from raygrove.app.document.document import Document
from raygrove.app.ui.window.main_window import MainWindow
from tests.app import ready_window
from tests.app.stand_ins import take_places


def seen(window: MainWindow, folder: Path) -> dict[str, Any]:
    """All that can be seen of a window, and what it has written."""
    documents = window.document
    return {
        "state": documents.state,
        "scene": (documents.scene, documents.jobs, documents.can_undo, documents.can_redo, len(documents.observers)),
        "actions": [_seen_of_action(action) for action in window.findChildren(QAction)],
        "widgets": sorted(_seen_of_widget(widget, window) for widget in window.findChildren(QWidget)),
        "window": (window.windowTitle(), window.size(), window.isVisible(), window.saveState()),
        "memory": (window.memory.recent(), window.memory.folder(), window.memory.took_tour()),
        "notices": (window.toasts.messages(), window.statusBar().currentMessage()),
        "files": {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()},
    }


def _seen_of_action(action: QAction) -> tuple[Any, ...]:
    keys = [key.toString() for key in action.shortcuts()]
    is_on = action.isEnabled(), action.isChecked(), action.isVisible()
    return action.objectName(), action.text(), action.toolTip(), keys, is_on


def _seen_of_widget(widget: QWidget, window: MainWindow) -> tuple[Any, ...]:
    place = widget.mapTo(window, widget.rect().topLeft()) if widget.window() is window else widget.pos()
    text = widget.text() if isinstance(widget, QLabel) else ""
    is_on = widget.isVisible(), widget.isEnabled(), widget.hasFocus()
    return type(widget).__name__, widget.objectName(), place.toTuple(), widget.size().toTuple(), is_on, text


def assert_untouched(
    window: MainWindow, own_folders: Path, monkeypatch: pytest.MonkeyPatch, folder: Path, qtbot: Any
) -> None:
    """The window is as one that is made anew."""
    assert ready_window.ready() is not None, "tests of the window are forked"
    before = seen(window, own_folders)
    window.hide()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    anew = ready_window.make(Document(), folder, monkeypatch)
    qtbot.addWidget(anew)
    ready_window.wait_for_the_rest(anew)
    take_places()
    after = seen(anew, folder)
    for part, what in before.items():
        assert what == after[part], part
    anew.close()


def test_it_is_as_one_made_anew(
    window: MainWindow, own_folders: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: Any
) -> None:
    assert_untouched(window, own_folders, monkeypatch, tmp_path, qtbot)


def test_what_one_test_changes(scene_window: MainWindow, own_folders: Path, tmp_path: Path) -> None:
    untouched = seen(scene_window, own_folders)
    os.environ["RAYGROVE_OF_A_TEST"] = "1"
    model = tmp_path / "model.obj"
    model.write_text("v 0 0 0")
    scene_window.memory.add_recent([str(model)])
    scene_window.memory.keep_tour()
    scene_window.document.change("settings.window.theme", "dark")
    scene_window.document.change("settings.render.ray_type", "flat")
    scene_window.workspaces.choose("race")
    scene_window.docks[0].hide()
    scene_window.session.notices.show("warning", "something")
    scene_window.move(50, 50)
    (own_folders / "left").write_text("by a test")
    changed = seen(scene_window, own_folders)
    assert all(changed[part] != untouched[part] for part in untouched if part != "scene")


def test_is_not_there_in_the_next(
    window: MainWindow, own_folders: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: Any
) -> None:
    assert "RAYGROVE_OF_A_TEST" not in os.environ
    assert_untouched(window, own_folders, monkeypatch, tmp_path, qtbot)
