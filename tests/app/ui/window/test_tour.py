"""The tour: six steps in the window, by keyboard, ended by Esc, remembered as taken."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import take_places


@pytest.fixture
def toured(scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """A window whose built-in scenes are noted instead of made."""
    opened: list[str] = []
    monkeypatch.setattr(scene_window, "open_demo", opened.append)
    scene_window.opened = opened  # type: ignore[attr-defined]
    scene_window.resize(1280, 720)
    take_places()
    return scene_window


def test_each_step_prepares_what_it_speaks_of_and_points_at_it(toured: MainWindow, qtbot: Any) -> None:
    toured.commands.actions["help.tour"].trigger()
    tour, ring = toured.tour, toured.findChild(QWidget, "tour.ring")
    assert tour.isVisible() and ring is not None
    state = lambda: toured.document.state.settings  # noqa: E731
    docks = {dock.objectName().removeprefix("dock."): dock for dock in toured.docks}
    for number, (scene, place) in enumerate(
        (
            ("orbit", lambda: toured.view),
            ("orbit", lambda: toured.pipeline),
            (None, lambda: docks["stats"]),
            ("explode", lambda: docks["cost"]),
            (None, lambda: docks["heat"]),
            ("metal", lambda: toured.view),
        )
    ):
        assert tour.step == number and tour.accessibleDescription()
        take_places()
        tour._place()
        wanted = place()
        assert ring.geometry() == QRect(wanted.mapTo(toured, QPoint(0, 0)), wanted.size()) and ring.isVisible()
        assert toured.rect().contains(tour.geometry()) and toured.opened[-1:] == [scene or toured.opened[-1]]  # type: ignore[attr-defined]
        if number == 3:
            assert state().update.mode == "refit"
        if number == 4:
            assert (state().render.ray_type, state().update.mode) == ("steps", "rebuild")
        focus = QApplication.focusWidget()
        assert focus is not None and toured.place.page.isAncestorOf(focus) or focus is toured.place.page
        QTest.keyClick(focus, Qt.Key.Key_Return)
    assert not tour.isVisible() and not ring.isVisible() and not tour.is_under_way
    assert state().render.ray_type == "whitted" and toured.memory.took_tour()
    toured.show_welcome()
    button = toured.welcome.findChild(QPushButton, "tour")
    assert button is not None and "again" in button.text()


def test_the_keys_that_a_step_names_reach_the_picture(toured: MainWindow, qtbot: Any) -> None:
    toured.show_welcome()
    timeline = lambda: toured.document.state.timeline  # noqa: E731
    assert not timeline().is_playing
    toured.tour.begin()
    assert toured.stack.currentWidget() is toured.place.page, "also from the first page, where the scene is open"
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert timeline().is_playing and toured.tour.step == 0
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert not timeline().is_playing and toured.tour.step == 0
    toured.tour.on.setFocus()
    QTest.keyClick(toured.tour.on, Qt.Key.Key_Space)
    assert toured.tour.step == 1 and not timeline().is_playing, "who goes to the card by Tab presses its buttons"


@pytest.mark.parametrize("place", ["card", "picture"])
def test_esc_ends_it_wherever_the_focus_is(toured: MainWindow, place: str) -> None:
    toured.welcome.tour_wanted.emit()
    assert toured.tour.step == 0 and not toured.tour.back.isEnabled()
    QTest.keyClick(toured.tour.on, Qt.Key.Key_Return)
    assert toured.tour.step == 1
    toured.tour.back.click()
    assert toured.tour.step == 0
    QTest.keyClick(toured.tour.on if place == "card" else toured.view, Qt.Key.Key_Escape)
    assert not toured.tour.isVisible() and not toured.memory.took_tour()
