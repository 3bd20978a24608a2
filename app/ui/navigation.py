"""Mouse and keyboard to camera moves, for whichever widget shows the picture.

Left drag orbits, middle drag or Shift and left drag pans, right drag looks round, the wheel comes nearer to what lies under the pointer,
W A S D Q E fly while the picture has the focus (Shift ten times as fast, Ctrl a tenth). Each drag, flight and turn of the
wheel is one step of undo.
"""

from __future__ import annotations

import dataclasses
import math
import time

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from app import cameras
from app.document import Document
from gpu.camera import Camera

FLY_KEYS = {Qt.Key.Key_W: "w", Qt.Key.Key_A: "a", Qt.Key.Key_S: "s", Qt.Key.Key_D: "d", Qt.Key.Key_Q: "q", Qt.Key.Key_E: "e"}
FLY_INTERVAL_MS = 16
WHEEL_PAUSE_S = 0.5


class Navigator(QObject):
    """Watches a widget's events and changes the document's camera. `moved` is emitted with each change, `rested` when a drag or flight ends."""

    moved = Signal()
    rested = Signal()

    def __init__(self, widget: QWidget, document: Document) -> None:
        super().__init__(widget)
        self._widget, self._document = widget, document
        self._last: QPointF | None = None
        self._gesture = 0
        self._wheel_time = 0.0
        self._keys: set[str] = set()
        self._flight_time = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(FLY_INTERVAL_MS)
        self._timer.timeout.connect(self._fly)
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.installEventFilter(self)

    @property
    def is_active(self) -> bool:
        """Whether a drag or a flight goes on."""
        return self._last is not None or bool(self._keys)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what moves the camera; leave the rest to the widget."""
        if isinstance(event, QMouseEvent):
            return self._mouse(event)
        if isinstance(event, QWheelEvent):
            return self._wheel(event)
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease, QEvent.Type.ShortcutOverride):
            return self._key(event)
        if isinstance(event, QFocusEvent) and event.type() == QEvent.Type.FocusOut:
            self._land()
        return False

    # -- the mouse ------------------------------------------------------------------------------------------------
    def _mouse(self, event: QMouseEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress:
            if self._last is None:
                self._gesture += 1
            self._last = event.position()
            self._widget.setFocus(Qt.FocusReason.MouseFocusReason)
            return True
        if kind == QEvent.Type.MouseMove and self._last is not None and event.buttons():
            self._drag(event)
            return True
        if kind == QEvent.Type.MouseButtonRelease and not event.buttons():
            self._last = None
            self.rested.emit()
            return True
        return False

    def _drag(self, event: QMouseEvent) -> None:
        assert self._last is not None
        delta = (event.position() - self._last) / max(self._widget.height(), 1)
        self._last = event.position()
        has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        camera = self._camera()
        if event.buttons() & Qt.MouseButton.MiddleButton or has_shift:
            self._change(cameras.pan(camera, delta.x(), delta.y()), f"pan {self._gesture}")
        elif event.buttons() & Qt.MouseButton.RightButton:
            self._change(cameras.look(camera, -delta.x(), -delta.y()), f"look {self._gesture}")
        else:
            self._change(cameras.orbit(camera, delta.x(), delta.y()), f"orbit {self._gesture}")

    def _wheel(self, event: QWheelEvent) -> bool:
        notches = (event.angleDelta().y() or event.angleDelta().x()) / 120.0
        if notches == 0.0:
            return True
        now = time.monotonic()
        if now - self._wheel_time > WHEEL_PAUSE_S:
            self._gesture += 1
        self._wheel_time = now
        modifiers = event.modifiers()
        notches *= 3.0 if modifiers & Qt.KeyboardModifier.ShiftModifier else 0.2 if modifiers & Qt.KeyboardModifier.ControlModifier else 1.0
        size = self._widget.size()
        at = (event.position().x() / max(size.width(), 1) - 0.5, event.position().y() / max(size.height(), 1) - 0.5)
        self._change(dolly_at(self._camera(), notches, *at, size.width() / max(size.height(), 1)), f"wheel {self._gesture}")
        self.rested.emit()
        return True

    # -- the keyboard ---------------------------------------------------------------------------------------------
    def _key(self, event: QKeyEvent) -> bool:
        name = FLY_KEYS.get(Qt.Key(event.key()))
        has_other = event.modifiers() & (Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier)
        if name is None or has_other:
            return False
        is_plain_command = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier) and not self._keys
        if event.type() == QEvent.Type.ShortcutOverride:
            if not is_plain_command:
                event.accept()
            return not is_plain_command
        if event.isAutoRepeat():
            return True
        if event.type() == QEvent.Type.KeyRelease:
            self._keys.discard(name)
            if not self._keys:
                self._land()
            return True
        if not self._keys:
            self._gesture += 1
            self._flight_time = time.monotonic()
            self._timer.start()
        self._keys.add(name)
        return True

    def _fly(self) -> None:
        from PySide6.QtGui import QGuiApplication

        now = time.monotonic()
        seconds = min(now - self._flight_time, 0.1)
        self._flight_time = now
        modifiers = QGuiApplication.queryKeyboardModifiers()
        camera = cameras.fly(
            self._camera(), self._keys, seconds, self._scene_size(),
            fast=bool(modifiers & Qt.KeyboardModifier.ShiftModifier), slow=bool(modifiers & Qt.KeyboardModifier.ControlModifier),
        )  # fmt: skip
        self._change(camera, f"fly {self._gesture}")

    def _land(self) -> None:
        was_flying = bool(self._keys)
        self._keys.clear()
        self._timer.stop()
        if was_flying:
            self.rested.emit()

    # -- the document ---------------------------------------------------------------------------------------------
    def _camera(self) -> Camera:
        return self._document.state.camera_of(0)

    def _change(self, camera: Camera, merge_key: str) -> None:
        self._document.change(f"cameras.{self._document.state.views[0].camera}", camera, merge_key)
        self.moved.emit()

    def _scene_size(self) -> float:
        scene = self._document.scene
        if scene is None:
            return 1.0
        return max(float(np.linalg.norm(np.subtract(scene.upper, scene.lower))), 1e-6)


def dolly_at(camera: Camera, notches: float, across: float, down: float, aspect: float) -> Camera:
    """Come nearer to the point under the pointer, as deep in the picture as what is looked at. `across` and `down` are from -.5 to .5 of the
    picture's width and height; that point stays under the pointer."""
    nearer = cameras.dolly(camera, notches)
    right, up, _ = camera.basis()
    tall = camera.height if camera.orthographic else 2.0 * cameras.distance(camera) * math.tan(math.radians(camera.fov) / 2.0)
    new_tall = nearer.height if camera.orthographic else 2.0 * cameras.distance(nearer) * math.tan(math.radians(camera.fov) / 2.0)
    shift = (right * across * aspect - up * down) * (tall - new_tall)
    eye, look_at = np.asarray(nearer.eye) + shift, np.asarray(nearer.look_at) + shift
    return dataclasses.replace(nearer, eye=tuple(eye.tolist()), look_at=tuple(look_at.tolist()))
