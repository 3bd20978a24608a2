"""The line over the picture: nothing in view, and how fast a flight is."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from raygrove.app.ui.picture import view_hint
from raygrove.app.ui.window.main_window import MainWindow


def test_who_has_lost_the_scene_is_told_how_to_find_it(scene_window: MainWindow) -> None:
    hint, document = scene_window.inspectors.hint, scene_window.document
    assert hint.text == "" and not hint.isVisible()
    eye = document.state.cameras[0].eye
    document.change("cameras.0.look_at", tuple(2.0 * value for value in eye))
    assert hint.text == "Nothing in view: Shift+F" and hint.isVisible()
    assert scene_window.view.rect().contains(hint.geometry())
    scene_window.commands.actions["camera.fit"].trigger()
    assert hint.text == "" and not hint.isVisible()


def test_a_flight_shows_its_speed_and_the_wheel_changes_it(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint, document, view = scene_window.inspectors.hint, scene_window.document, scene_window.view
    hint._over.setInterval(60)
    before = document.state.settings.camera.speed
    QTest.keyPress(view, Qt.Key.Key_E)
    qtbot.waitUntil(lambda: hint.text.startswith("Flying speed 1 "))
    place = QPointF(view.rect().center())
    wheel = QWheelEvent(
        place, view.mapToGlobal(place), QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view, wheel)
    assert document.state.settings.camera.speed == pytest.approx(before * 1.25**2)
    qtbot.waitUntil(lambda: hint.text == "Flying speed 1.56 (wheel)")
    QTest.keyRelease(view, Qt.Key.Key_E)
    qtbot.waitUntil(lambda: hint.text == "" and not hint.isVisible())
    assert view_hint.SPEED_MS > 1000
