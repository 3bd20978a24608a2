"""Mouse and keys move the camera of the document; a gesture is one step of undo."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.document import Document
from app.ui.navigation import Navigator, dolly_at
from gpu.camera import Camera


@pytest.fixture
def pad(qtbot: Any, document: Document) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    widget.show()
    Navigator(widget, document)
    return widget


def drag(widget: QWidget, button: Qt.MouseButton, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
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


@pytest.mark.parametrize(
    ("button", "modifiers"),
    [(Qt.MouseButton.MiddleButton, Qt.KeyboardModifier.NoModifier), (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier)],
)
def test_middle_drag_and_shift_drag_pan(pad: QWidget, document: Document, button: Qt.MouseButton, modifiers: Qt.KeyboardModifier) -> None:
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
        place, turn = QPointF(100, 100), QPoint(0, 120)
        none = Qt.KeyboardModifier.NoModifier
        event = QWheelEvent(place, pad.mapToGlobal(place), QPoint(), turn, Qt.MouseButton.NoButton, none, Qt.ScrollPhase.NoScrollPhase, False)
        QApplication.sendEvent(pad, event)
    assert distance(document.state.cameras[0]) == pytest.approx(distance(before) * 0.9**3)
    document.undo()
    assert document.state.cameras[0] == before


def test_keys_fly_until_they_are_released(pad: QWidget, document: Document, qtbot: Any) -> None:
    before = document.state.cameras[0]
    QTest.keyPress(pad, Qt.Key.Key_W)
    qtbot.waitUntil(lambda: document.state.cameras[0].eye[2] < before.eye[2], timeout=2000)
    QTest.keyRelease(pad, Qt.Key.Key_W)
    landed = document.state.cameras[0]
    qtbot.wait(60)
    assert document.state.cameras[0] == landed
    document.undo()
    assert document.state.cameras[0] == before
