"""Themes as a person meets them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QFontDatabase, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QToolButton,
    QWidget,
)

from raygrove.app.document.document import Document
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui import colors
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.session.session import make_session
from raygrove.app.ui.window import theme
from raygrove.app.ui.window.main_window import MainWindow
from tests.color_science import contrast


@pytest.fixture
def own_theme() -> Iterator[None]:
    yield
    theme.apply("system")


@pytest.mark.parametrize("is_there", [True, False])
def test_texts_are_in_inter_where_the_system_has_it(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    own, size = ["Some Sans"], QApplication.font().pointSizeF()
    before, font = QApplication.font(), QApplication.font()
    font.setFamilies(own)
    try:
        QApplication.setFont(font)
        monkeypatch.setattr(QFontDatabase, "hasFamily", lambda family: is_there and family == "Inter")
        for _ in range(2):
            theme.Follower(window.session, window)
            assert QApplication.font().families() == (["Inter", *own] if is_there else own)
        assert QApplication.font().pointSizeF() == size, "as large as the desktop has it"
    finally:
        QApplication.setFont(before)


def test_themes_change_at_once_and_back(scene_window: MainWindow, own_theme: None) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    first = application.palette().color(QPalette.ColorRole.Window)
    icon = scene_window.timeline_bar.findChild(QToolButton, "play").icon().cacheKey()
    for choice in ("light", "dark", "light"):
        scene_window.document.change("settings.window.theme", choice)
        assert colors.is_dark() == (choice == "dark")
        shown = application.palette()
        text, back = (
            shown.color(role).lightness() for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Window)
        )
        assert abs(text - back) > 150
        disabled = shown.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text).lightness()
        assert abs(disabled - back) > 40, "what cannot be used can still be read"
    QApplication.processEvents()
    assert scene_window.timeline_bar.findChild(QToolButton, "play").icon().cacheKey() != icon, (
        "icons are drawn in the new colours"
    )
    scene_window.document.change("settings.window.theme", "system")
    assert application.palette().color(QPalette.ColorRole.Window) == first


@pytest.mark.parametrize("choice", ["dark", "light"])
@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton, QLineEdit, QComboBox, QPushButton, QSpinBox])
def test_borders_of_controls_are_seen(
    scene_window: MainWindow, own_theme: None, choice: str, kind: Callable[[QWidget], QWidget]
) -> None:
    theme.apply(choice)
    page = QWidget()
    page.resize(120, 80)
    control = kind(page)
    control.setGeometry(20, 20, 80, 30)
    page.show()
    picture = page.grab().toImage()
    row = [picture.pixelColor(x, 35).name() for x in range(16, 26)]
    ground = (colors.DARK if choice == "dark" else colors.LIGHT).window
    assert row[0].upper() == ground and max(contrast(color, ground) for color in row[:8]) >= 3.0, row
    control.setEnabled(False)
    picture = page.grab().toImage()
    faint = [picture.pixelColor(x, 35).name() for x in range(16, 26)]
    assert 1.3 <= max(contrast(color, ground) for color in faint[:5]) < 3.0, f"seen, and seen to be off: {faint}"


def test_the_list_of_a_drop_down_can_be_read(scene_window: MainWindow, own_theme: None, qtbot: Any) -> None:
    """The second and third time it is there already when the theme changes."""
    page = QWidget()
    box = QComboBox(page)
    box.addItems(["loop", "ping-pong", "once"])
    page.show()
    for choice, scheme in (("dark", colors.DARK), ("light", colors.LIGHT), ("dark", colors.DARK)):
        theme.apply(choice)
        box.showPopup()
        qtbot.waitUntil(box.view().isVisible)
        picture = box.view().viewport().grab().toImage()
        found = Counter(
            picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())
        )
        grounds = [color for color, count in found.items() if count > 0.1 * picture.width() * picture.height()]
        assert grounds and min(contrast(scheme.text, color) for color in grounds) >= 4.5, (choice, grounds)
        box.hidePopup()


@pytest.mark.parametrize("choice", ["dark", "light"])
def test_menus_have_borders_that_are_seen(scene_window: MainWindow, own_theme: None, choice: str, qtbot: Any) -> None:
    theme.apply(choice)
    panel = (colors.DARK if choice == "dark" else colors.LIGHT).panel
    menus = [scene_window.commands.menus["render.ray_type"], scene_window.createPopupMenu()]
    for menu in menus:
        menu.popup(scene_window.mapToGlobal(QPoint(40, 40)))
        qtbot.waitUntil(menu.isVisible)
        picture = menu.grab().toImage()
        edge = picture.pixelColor(0, picture.height() // 2).name()
        assert contrast(edge, panel) >= 2.5, (menu.title(), edge)
        menu.close()


@pytest.mark.parametrize(
    ("says", "is_dark"),
    [(Qt.ColorScheme.Unknown, True), (Qt.ColorScheme.Dark, True), (Qt.ColorScheme.Light, False)],
)
def test_the_desktop_decides_and_dark_where_it_says_nothing(
    qapp: QApplication, own_theme: None, monkeypatch: pytest.MonkeyPatch, says: Qt.ColorScheme, is_dark: bool
) -> None:
    monkeypatch.setattr(theme, "desktop_scheme", lambda: says)
    theme.apply("system")
    shown = qapp.palette().color(QPalette.ColorRole.Window).name().upper()
    assert colors.is_dark() == is_dark and shown == (colors.DARK if is_dark else colors.LIGHT).window


def test_a_chosen_theme_is_there_at_the_next_start(scene_window: MainWindow, own_theme: None) -> None:
    scene_window.document.change("settings.window.theme", "light")
    scene_window.document.change("settings.window.theme", "dark")
    scene_window.document.change("settings.window.theme", "light")
    started = _start(Settings())
    assert started.state.settings.window.theme == "light" and not colors.is_dark()
    assert not started.can_undo, "what was chosen before is no step of this time"


def test_a_theme_that_the_settings_say_since_then_counts_more(scene_window: MainWindow, own_theme: None) -> None:
    scene_window.document.change("settings.window.theme", "dark")
    assert _start(set_option(Settings(), "window.theme", "light")).state.settings.window.theme == "light"
    assert not colors.is_dark()
    Memory()._values.set("theme", "neither")
    assert _start(Settings()).state.settings.window.theme == "system"


def _start(settings: Settings) -> Document:
    """A document as a start of the program has it."""
    document = Document(settings)
    session, window = make_session(document), QObject()
    theme.Follower(session, window)
    session.loop.stop()
    return document
