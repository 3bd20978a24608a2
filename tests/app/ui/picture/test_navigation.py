"""Mouse and keys move the camera of the document; a gesture is one step of undo."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from raygrove.app.camera import moves as cameras
from raygrove.app.camera.gestures import Gestures
from raygrove.app.document.document import Document
from raygrove.app.ui.picture.navigation import Navigator, dolly_at
from raygrove.gpu.camera import Camera, Vector


@pytest.fixture(autouse=True)
def one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notches of the wheel are one turn, also where the machine is held up between them."""
    monkeypatch.setattr("raygrove.app.ui.picture.navigation.WHEEL_PAUSE_S", 1e9)


@pytest.fixture
def pad(qtbot: Any, document: Document) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    widget.show()
    Navigator(widget, document)
    return widget


def navigator_of(widget: QWidget) -> Navigator:
    found = widget.findChild(Navigator)
    assert found is not None
    return found


def turn_wheel(widget: QWidget, x: float, y: float, notches: int = 1) -> None:
    place, turn = QPointF(x, y), QPoint(0, 120 * notches)
    none = Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        place,
        widget.mapToGlobal(place),
        QPoint(),
        turn,
        Qt.MouseButton.NoButton,
        none,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


class Asked:
    """Stands in for whoever draws: keeps the questions, and answers when told."""

    def __init__(self, widget: QWidget, document: Document) -> None:
        self.questions: list[tuple[float, float, Callable[[Vector | None], None]]] = []
        self.navigator = Navigator(widget, document, lambda *question: self.questions.append(question))

    def answer(self, point: Vector | None) -> None:
        self.questions.pop(0)[2](point)


@pytest.fixture
def asked(qtbot: Any, document: Document) -> tuple[QWidget, Asked]:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    widget.show()
    return widget, Asked(widget, document)


def place_of(camera: Camera, point: Vector) -> np.ndarray:
    """Where a 400 x 300 picture shows a point, from 0 to 1."""
    right, up, forward = camera.basis()
    away = np.subtract(point, camera.eye)
    tall = 2.0 * np.tan(np.radians(camera.fov) / 2.0) * (away @ forward)
    return np.array([0.5 + (away @ right) / (tall * 4.0 / 3.0), 0.5 - (away @ up) / tall])


def drag(
    widget: QWidget, button: Qt.MouseButton, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    QTest.mousePress(widget, button, modifiers, QPoint(200, 150))
    for x in (210, 230, 260):
        from PySide6.QtCore import QEvent
        from PySide6.QtGui import QMouseEvent

        local = QPointF(x, 150)
        event = QMouseEvent(QEvent.Type.MouseMove, local, widget.mapToGlobal(local), button, button, modifiers)
        QApplication.sendEvent(widget, event)
    QTest.mouseRelease(widget, button, modifiers, QPoint(260, 150))


def distance(camera: Camera) -> float:
    return float(np.linalg.norm(np.subtract(camera.eye, camera.look_at)))


def test_left_drag_orbits_and_is_one_step_of_undo(pad: QWidget, document: Document) -> None:
    before = document.state.cameras[0]
    drag(pad, Qt.MouseButton.LeftButton)
    after = document.state.cameras[0]
    assert after.look_at == pytest.approx(before.look_at) and after.eye != before.eye
    assert distance(after) == pytest.approx(distance(before))
    document.undo()
    assert document.state.cameras[0] == before and not document.can_undo


@pytest.mark.parametrize("side", ["top", "bottom"])
def test_a_drag_after_a_look_from_the_top_turns_about_the_axis_that_is_up(
    pad: QWidget, document: Document, side: str
) -> None:
    seen = cameras.standard_view(document.state.camera_of(0), side, (-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    document.change("cameras.0", seen)
    drag(pad, Qt.MouseButton.LeftButton)
    turned = document.state.camera_of(0)
    assert turned.up == pytest.approx((0.0, 1.0, 0.0))
    assert abs(turned.basis()[2][1]) > 0.999 and turned.look_at == pytest.approx(seen.look_at), "from the top still"
    assert np.dot(turned.basis()[0], seen.basis()[0]) == pytest.approx(np.cos(0.2 * np.pi), abs=0.02), (
        "turned by so much"
    )


@pytest.mark.parametrize(
    ("button", "modifiers"),
    [
        (Qt.MouseButton.MiddleButton, Qt.KeyboardModifier.NoModifier),
        (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier),
    ],
)
def test_middle_drag_and_shift_drag_pan(
    pad: QWidget, document: Document, button: Qt.MouseButton, modifiers: Qt.KeyboardModifier
) -> None:
    before = document.state.cameras[0]
    drag(pad, button, modifiers)
    after = document.state.cameras[0]
    assert np.subtract(after.eye, before.eye) == pytest.approx(np.subtract(after.look_at, before.look_at))
    assert after.eye[0] < before.eye[0], "what is looked at follows the mouse to the right"


def test_wheel_comes_nearer_and_keeps_the_point_under_the_pointer(document: Document) -> None:
    camera = Camera(eye=(0.0, 0.0, 5.0))
    nearer = dolly_at(camera, 2.0, 0.3, -0.2, 4.0 / 3.0)
    assert distance(nearer) < distance(camera)

    def point_under(c: Camera) -> np.ndarray:
        rows = c.frame(400, 300).reshape(4, 4).astype(np.float64)
        direction = rows[1, :3] + 0.3 * rows[2, :3] - 0.2 * rows[3, :3]
        return rows[0, :3] + direction * distance(c)

    assert point_under(nearer) == pytest.approx(point_under(camera), abs=1e-6)
    flat = dataclasses.replace(camera, orthographic=True, height=2.0)
    assert dolly_at(flat, 1.0, 0.5, 0.0, 1.0).height == pytest.approx(1.8)


def test_turns_of_the_wheel_are_one_step_of_undo(pad: QWidget, document: Document) -> None:
    before = document.state.cameras[0]
    for _ in range(3):
        turn_wheel(pad, 100, 100)
    assert distance(document.state.cameras[0]) == pytest.approx(distance(before) * 0.9**3)
    document.undo()
    assert document.state.cameras[0] == before


def test_keys_fly_until_they_are_released(pad: QWidget, document: Document, qtbot: Any) -> None:
    before = document.state.cameras[0]
    QTest.keyPress(pad, Qt.Key.Key_W)
    qtbot.waitUntil(lambda: document.state.cameras[0].eye[2] < before.eye[2])
    with qtbot.waitSignal(navigator_of(pad).rested):
        QTest.keyRelease(pad, Qt.Key.Key_W)
    assert not navigator_of(pad).is_active
    landed = document.state.cameras[0]
    qtbot.wait(60)
    assert document.state.cameras[0] == landed
    document.undo()
    assert document.state.cameras[0] == before


def test_the_wheel_comes_nearer_to_the_point_under_the_pointer(
    asked: tuple[QWidget, Asked], document: Document
) -> None:
    widget, painter = asked
    before = document.state.cameras[0]
    turn_wheel(widget, 300, 75)
    turn_wheel(widget, 300, 75)
    assert document.state.cameras[0] == before, "notches wait for the point"
    assert [question[:2] for question in painter.questions] == [(0.75, 0.25)]
    near = float(np.linalg.norm(np.subtract(before.look_at, before.eye))) * 0.1
    rows = before.frame(400, 300).reshape(4, 4).astype(np.float64)
    point = rows[0, :3] + (rows[1, :3] + 0.25 * rows[2, :3] - 0.25 * rows[3, :3]) * near
    painter.answer(tuple(point.tolist()))
    after = document.state.cameras[0]
    assert np.subtract(point, after.eye) == pytest.approx(np.subtract(point, before.eye) * 0.9**2, rel=1e-5), (
        "a tenth of the way to it a notch"
    )
    turn_wheel(widget, 301, 75)
    assert not painter.questions, "the same turn of the wheel asks once"
    assert np.linalg.norm(np.subtract(point, document.state.cameras[0].eye)) < np.linalg.norm(
        np.subtract(point, after.eye)
    )
    document.undo()
    assert document.state.cameras[0] == before


def test_the_wheel_waits_for_a_late_answer_only_for_a_moment(
    asked: tuple[QWidget, Asked], document: Document, qtbot: Any
) -> None:
    widget, painter = asked
    before = document.state.cameras[0]
    turn_wheel(widget, 200, 150)
    qtbot.waitUntil(lambda: document.state.cameras[0] != before)
    moved = document.state.cameras[0]
    assert distance(moved) == pytest.approx(distance(before) * 0.9)
    painter.answer((0.0, 0.0, 0.0))
    assert document.state.cameras[0] == moved, "an answer alone moves nothing"


def test_a_drag_orbits_about_the_point_under_the_pointer(asked: tuple[QWidget, Asked], document: Document) -> None:
    widget, painter = asked
    before = document.state.cameras[0]
    right, up, forward = before.basis()
    point = tuple((np.asarray(before.eye) + forward * 0.5 * distance(before) + right * 0.1 + up * 0.05).tolist())
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=QPoint(220, 140))
    painter.answer(point)
    assert document.state.cameras[0] == before
    drag(widget, Qt.MouseButton.LeftButton)
    after = document.state.cameras[0]
    assert after.eye != before.eye
    assert place_of(after, point) == pytest.approx(place_of(before, point), abs=1e-6), (
        "the point stays where it was taken"
    )
    document.undo()
    assert document.state.cameras[0] == before


def test_an_answer_to_an_older_gesture_is_dropped(asked: tuple[QWidget, Asked], document: Document) -> None:
    widget, painter = asked
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=QPoint(50, 50))
    before = document.state.cameras[0]
    drag(widget, Qt.MouseButton.LeftButton)
    turned = document.state.cameras[0]
    assert turned.look_at == pytest.approx(before.look_at), "without an answer, about what is looked at"
    painter.answer((9.0, 9.0, 9.0))
    painter.answer(None)
    turn_wheel(widget, 200, 150)
    painter.answer(None)
    assert document.state.cameras[0].look_at == pytest.approx(before.look_at)


def test_gestures_can_be_other_ones(qtbot: Any, document: Document) -> None:
    gestures = Gestures()
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    widget.show()
    navigator = Navigator(widget, document, None, gestures)
    gestures.set("mouse.orbit", ("Right drag",))
    gestures.set("mouse.look", ())
    gestures.set("mouse.zoom", ("Alt+Left drag",))
    gestures.set("fly.forward", ("I",))
    before = document.state.cameras[0]
    drag(widget, Qt.MouseButton.LeftButton)
    assert document.state.cameras[0] == before, "nothing is bound to it any more"
    drag(widget, Qt.MouseButton.RightButton)
    after = document.state.cameras[0]
    assert after.look_at == pytest.approx(before.look_at) and after.eye != before.eye
    QTest.keyPress(widget, Qt.Key.Key_W)
    assert not navigator.is_active
    QTest.keyPress(widget, Qt.Key.Key_I)
    assert navigator.is_active
    QTest.keyRelease(widget, Qt.Key.Key_I)
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier, QPoint(200, 150))
    local, left = QPointF(200, 90), Qt.MouseButton.LeftButton
    event = QMouseEvent(
        QEvent.Type.MouseMove, local, widget.mapToGlobal(local), left, left, Qt.KeyboardModifier.AltModifier
    )
    QApplication.sendEvent(widget, event)
    assert distance(document.state.cameras[0]) < distance(after)
