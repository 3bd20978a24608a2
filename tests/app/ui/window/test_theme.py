"""Themes as a person meets them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QToolButton

from raygrove.app.ui.window import theme
from raygrove.app.ui.window.main_window import MainWindow


@pytest.fixture
def own_theme() -> Iterator[None]:
    yield
    theme.apply("system")


def test_themes_change_at_once_and_back(scene_window: MainWindow, own_theme: None) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    first = application.palette().color(QPalette.ColorRole.Window)
    icon = scene_window.timeline_bar.findChild(QToolButton, "play").icon().cacheKey()
    for choice in ("dark", "light", "dark"):
        scene_window.document.change("settings.window.theme", choice)
        assert theme.is_dark() == (choice == "dark")
        colors = application.palette()
        text, back = (
            colors.color(role).lightness() for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Window)
        )
        assert abs(text - back) > 150
        disabled = colors.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text).lightness()
        assert abs(disabled - back) > 40, "what cannot be used can still be read"
    QApplication.processEvents()
    assert scene_window.timeline_bar.findChild(QToolButton, "play").icon().cacheKey() != icon, (
        "icons are drawn in the new colours"
    )
    scene_window.document.change("settings.window.theme", "system")
    assert application.palette().color(QPalette.ColorRole.Window) == first
