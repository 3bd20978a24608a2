"""Closing, reloading by itself, and themes, as a person meets them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QToolButton

from app.ui import theme
from app.ui.hints import HINTS
from app.ui.main_window import MainWindow
from tests.app.stand_ins import PaintedMaker

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture
def own_theme() -> Iterator[None]:
    yield
    theme.apply("system")


def test_closing_goes_back_to_the_welcome_page(scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[object] = []
    monkeypatch.setattr(PaintedMaker, "close", lambda maker: closed.append(maker))
    scene_window.commands.actions["file.close"].trigger()
    assert scene_window.document.scene is None and scene_window.stack.currentWidget() is scene_window.welcome
    assert not scene_window.commands.actions["file.close"].isEnabled() and scene_window.windowTitle() == "Raygrove"
    qtbot.waitUntil(lambda: len(closed) == 1)
    scene_window.open_demo("walker")
    qtbot.waitUntil(lambda: scene_window.document.scene is not None, timeout=20000)
    assert scene_window.commands.actions["file.close"].isEnabled()


def test_a_written_file_is_read_again_and_the_camera_stays(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.obj"
    path.write_text(TRIANGLE)
    window.commands.actions["file.watch"].trigger()
    assert window.commands.actions["file.watch"].isChecked()
    window.open_files([str(path)])
    qtbot.waitUntil(lambda: window.document.scene is not None, timeout=20000)
    window.document.change("cameras.0.fov", 33.0)
    qtbot.wait(700)
    path.write_text(TRIANGLE + "v 1 1 0\nf 2 4 3\n")
    os.utime(path, (2e9, 2e9))
    qtbot.waitUntil(lambda: window.document.scene is not None and window.document.scene.triangle_count == 2, timeout=20000)
    assert window.document.state.cameras[0].fov == 33.0
    path.write_text("no model\n")
    os.utime(path, (2.1e9, 2.1e9))
    qtbot.waitUntil(lambda: bool(window.banners.messages()), timeout=20000)
    assert window.document.scene is not None and window.document.scene.triangle_count == 2
    window.document.change("settings.window.watch", False)
    assert not window.commands.actions["file.watch"].isChecked()


def test_themes_change_at_once_and_back(scene_window: MainWindow, own_theme: None) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    first = application.palette().color(QPalette.ColorRole.Window)
    icon = scene_window.timeline_bar.findChild(QToolButton, "play").icon().cacheKey()
    for choice in ("dark", "light", "dark"):
        scene_window.document.change("settings.window.theme", choice)
        assert theme.is_dark() == (choice == "dark")
        colors = application.palette()
        text, back = (colors.color(role).lightness() for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Window))
        assert abs(text - back) > 150
        disabled = colors.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text).lightness()
        assert abs(disabled - back) > 40, "what cannot be used can still be read"
    QApplication.processEvents()
    assert scene_window.timeline_bar.findChild(QToolButton, "play").icon().cacheKey() != icon, "icons are drawn in the new colours"
    scene_window.document.change("settings.window.theme", "system")
    assert application.palette().color(QPalette.ColorRole.Window) == first


def test_every_command_has_a_sentence_for_the_status_bar(window: MainWindow) -> None:
    for name, action in window.commands.actions.items():
        assert action.statusTip(), name
    assert set(HINTS) <= set(window.commands.actions), "no sentence stands for nothing"
    assert window.commands.actions["view.dock.heat"].statusTip() == "Show or hide the panel Heat map."
