"""The line over the picture: nothing in view, and how fast a flight is."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from raygrove.app.ui.picture import sight, view_hint
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import PaintedMaker, settle, take_places


def test_who_has_lost_the_scene_is_told_how_to_find_it(scene_window: MainWindow) -> None:
    hint, document = scene_window.inspectors.hint, scene_window.document
    assert hint.text == "" and not hint.isVisible()
    eye = document.state.cameras[0].eye
    document.change("cameras.0.look_at", tuple(2.0 * value for value in eye))
    assert hint.text == "Nothing in view: Shift+F" and hint.isVisible()
    assert scene_window.view.rect().contains(hint.geometry())
    scene_window.commands.actions["camera.fit"].trigger()
    assert hint.text == "" and not hint.isVisible()


def test_in_a_race_it_is_said_above_all_pictures(scene_window: MainWindow, qtbot: Any) -> None:
    window, hint, document = scene_window, scene_window.inspectors.hint, scene_window.document
    window.resize(900, 600)
    window.workspaces.choose("race")
    race = window.place.race.view
    assert race is not None
    qtbot.waitUntil(lambda: window.loop.last_frame is not None and len(window.loop.last_frame.request.exchanges) == 2)
    document.change("cameras.0.look_at", tuple(2.0 * value for value in document.state.cameras[0].eye))
    assert hint.text == "Nothing in view: Shift+F"
    for contestants in ("lbvh, hploc", "lbvh, hploc, sbvh, binned_sah"):
        document.change("settings.race.contestants", contestants)
        take_places()
        order = race.children()
        assert hint.isVisible() and all(order.index(hint) > order.index(picture) for picture in race.pictures)
        assert hint.geometry().top() > race.headers[0].geometry().bottom()
    wanted = pytest.approx(race.pictures[0].width() / race.pictures[0].height(), rel=0.1)
    qtbot.waitUntil(lambda: hint.sight.aspect == wanted)  # with the next pictures
    window.workspaces.choose("explore")
    take_places()
    assert hint.isVisible() and hint.parentWidget() is window.view


def test_a_picture_without_the_scene_says_so_though_its_box_is_in_view(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint, document = scene_window.inspectors.hint, scene_window.document
    monkeypatch.setattr(sight, "INTERVAL_MS", 1)
    asked = []

    def answer(maker: PaintedMaker, view: int = 0) -> str | None:
        asked.append(PaintedMaker.sight)
        return PaintedMaker.sight

    monkeypatch.setattr(PaintedMaker, "in_sight", answer)
    monkeypatch.setattr(PaintedMaker, "sight", "nothing")
    document.change("cameras.0.fov", 50.0)
    qtbot.waitUntil(lambda: hint.text == "Nothing in view: Shift+F" and hint.isVisible())
    scene_window.loop.request()
    settle(scene_window, qtbot)
    assert asked == ["nothing"], "once for a picture"
    monkeypatch.setattr(PaintedMaker, "sight", "seen")
    document.change("timeline.time", 1.0)
    qtbot.waitUntil(lambda: hint.text == "" and not hint.isVisible())
    monkeypatch.setattr(PaintedMaker, "sight", "clipped")
    document.change("settings.clip.on", True)
    qtbot.waitUntil(lambda: hint.text == "The clipping plane takes all that is in view: C")
    monkeypatch.setattr(PaintedMaker, "sight", "seen")
    scene_window.commands.actions["scene.clip"].trigger()
    qtbot.waitUntil(lambda: hint.text == "")


def test_of_spheres_that_the_window_draws_rays_say_nothing(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint, loop = scene_window.inspectors.hint, scene_window.loop
    monkeypatch.setattr(sight, "INTERVAL_MS", 1)
    monkeypatch.setattr(PaintedMaker, "sight", "nothing")
    scene_window.document.change("cameras.0.fov", 50.0)
    qtbot.waitUntil(lambda: hint.text != "")
    assert loop.last_frame is not None
    drawn: Any = dataclasses.replace(loop.last_frame, spheres=object())
    hint.sight._take_frame(drawn)
    assert hint.text == "" and not hint.isVisible(), "it was of a picture before"
    hint.sight._ask()
    hint.sight._take_frame(drawn)
    qtbot.waitUntil(lambda: not hint.sight._is_asking)
    assert hint.text == "", "an answer that comes late is of that picture, too"


def test_what_is_not_known_yet_is_asked_again(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint = scene_window.inspectors.hint
    monkeypatch.setattr(sight, "INTERVAL_MS", 1)
    monkeypatch.setattr(sight, "AGAIN_MS", 100)
    monkeypatch.setattr(PaintedMaker, "sight", None)
    scene_window.document.change("cameras.0.fov", 50.0)
    qtbot.waitUntil(lambda: hint.sight._tries == 1)
    assert hint.text == ""
    monkeypatch.setattr(PaintedMaker, "sight", "nothing")
    qtbot.waitUntil(lambda: hint.text != "")


def test_all_objects_hidden_are_spoken_of_with_the_key_as_it_is(scene_window: MainWindow) -> None:
    hint, actions = scene_window.inspectors.hint, scene_window.commands.actions
    scene_window.document.change("hidden", (0,))
    assert hint.text == "All objects are hidden: Shift+H" and hint.isVisible()
    actions["scene.show_all"].setShortcut("Ctrl+F7")
    assert hint.text == "All objects are hidden: Ctrl+F7"
    actions["scene.show_all"].setShortcuts([])
    assert hint.text == "All objects are hidden: Show all objects", "a command without a key is named"
    actions["scene.show_all"].trigger()
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
