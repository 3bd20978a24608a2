"""Mouse and keyboard to camera moves, for whichever widget shows the picture.

Which button, key and modifier does what stands in `app/camera/gestures.py`, and a person may change it. Orbiting does
what `camera.mode` says: it orbits or turns freely about the point under the pointer, or looks round. The wheel comes
nearer to that point (in the mode fly it sets the speed), a double click focuses on it, keys fly while the picture has
the focus. Each drag, flight and turn of the wheel is one step of undo.

What lies under the pointer is asked of whoever draws, and nobody waits for the answer: a drag turns about what is
looked at until it comes, and notches of the wheel are gathered for a moment. Over the background, what is looked at
counts.
"""

from __future__ import annotations

import dataclasses
import math
import time

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QFocusEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from raygrove.app.camera import moves as cameras
from raygrove.app.camera.gestures import Gestures, way_of
from raygrove.app.document.document import Document
from raygrove.app.ui.commands.camera_commands import Pick, set_camera
from raygrove.gpu.camera import Camera, Vector

FLY_KEYS = {"fly.forward": "w", "fly.left": "a", "fly.back": "s", "fly.right": "d", "fly.down": "q", "fly.up": "e"}
"""What `cameras.fly` calls the directions."""

PACES = {"mouse.nearer": 1.0, "mouse.nearer_fast": 3.0, "mouse.nearer_slow": 0.2}
FLY_INTERVAL_MS = 16
WHEEL_PAUSE_S = 0.5
WHEEL_REACH = 4.0
"""Pixels that the pointer may move between two notches that come nearer to the same point."""

DRAG_NOTCHES = 20.0
"""Notches of the wheel that a drag over the picture's height is worth."""

MODIFIER_KEYS = {
    "Ctrl": Qt.KeyboardModifier.ControlModifier,
    "Shift": Qt.KeyboardModifier.ShiftModifier,
    "Alt": Qt.KeyboardModifier.AltModifier,
}
MOUSE_BUTTONS = {
    "Middle": Qt.MouseButton.MiddleButton,
    "Right": Qt.MouseButton.RightButton,
    "Left": Qt.MouseButton.LeftButton,
    "Back": Qt.MouseButton.BackButton,
    "Forward": Qt.MouseButton.ForwardButton,
}
ANSWER_PATIENCE_MS = 80
"""Notches wait so long for the point under the pointer."""


class Navigator(QObject):
    """Watches a widget's events and changes the document's camera. `moved` is emitted with each change, `rested` when a
    drag or flight ends,
    `focus_wanted` by a double click, `region_dragged` with a point and how far the pointer is from it there, in scene
    units, `flew` with the speed of a flight. `pick` asks what lies under the pointer."""

    moved = Signal()
    rested = Signal()
    focus_wanted = Signal()
    region_dragged = Signal(object, float)
    flew = Signal(float)

    def __init__(
        self, widget: QWidget, document: Document, pick: Pick | None = None, gestures: Gestures | None = None
    ) -> None:
        super().__init__(widget)
        self._widget, self._document, self._pick = widget, document, pick
        self._gestures = gestures or Gestures()
        self._pivot: Vector | None = None
        self._last: QPointF | None = None
        self._pressed = QPointF()
        self._gesture = 0
        self._wheel_time, self._wheel_place, self._wheel_key = 0.0, QPointF(), ""
        self._notches = 0.0
        self._patience = QTimer(self, singleShot=True, interval=ANSWER_PATIENCE_MS)
        self._patience.timeout.connect(self._roll)
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

    def pointer(self) -> tuple[float, float] | None:
        """Where the pointer is in the picture, from 0 to 1 of its width and height; None outside it."""
        place = self._widget.mapFromGlobal(QCursor.pos())
        return self._share(QPointF(place)) if self._widget.rect().contains(place) else None

    def _share(self, place: QPointF) -> tuple[float, float]:
        return place.x() / max(self._widget.width(), 1), place.y() / max(self._widget.height(), 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what moves the camera; leave the rest to the widget."""
        if isinstance(event, QMouseEvent):
            return self._mouse(event)
        if isinstance(event, QWheelEvent):
            return self._wheel(event)
        if isinstance(event, QKeyEvent) and event.type() in (
            QEvent.Type.KeyPress,
            QEvent.Type.KeyRelease,
            QEvent.Type.ShortcutOverride,
        ):
            return self._key(event)
        if isinstance(event, QFocusEvent) and event.type() == QEvent.Type.FocusOut:
            self._land()
        return False

    # -- the mouse ------------------------------------------------------------------------------------------------
    def _mouse(self, event: QMouseEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress:
            if self._last is None:
                self._begin(event.position())
            self._last = event.position()
            self._widget.setFocus(Qt.FocusReason.MouseFocusReason)
            return True
        if (
            kind == QEvent.Type.MouseButtonDblClick
            and self._gestures.find("double click", mouse_way("double click", event)) == "mouse.focus"
        ):
            self.focus_wanted.emit()
            return True
        if kind == QEvent.Type.MouseMove and self._last is not None and event.buttons():
            self._drag(event)
            return True
        if kind == QEvent.Type.MouseButtonRelease and not event.buttons():
            self._last = None
            self.rested.emit()
            return True
        return False

    def _begin(self, place: QPointF) -> None:
        """A new gesture, and its question: what lies under the pointer?"""
        self._roll()
        self._gesture += 1
        self._pivot, self._pressed = None, place
        gesture = self._gesture

        def take(point: Vector | None) -> None:
            if gesture == self._gesture:
                self._pivot = point
                self._roll()

        if self._pick is not None:
            self._patience.start()
            self._pick(*self._share(place), take)

    def _drag(self, event: QMouseEvent) -> None:
        assert self._last is not None
        delta = (event.position() - self._last) / max(self._widget.height(), 1)
        self._last = event.position()
        camera, gesture = self._camera(), self._gestures.find("drag", mouse_way("drag", event))
        options = self._document.state.settings.camera
        upright = camera if options.mode == "axis-free" else cameras.upright(camera, options.up_axis)
        if gesture == "mouse.pan":
            self._change(cameras.pan(self._aimed(camera), delta.x(), delta.y()), f"pan {self._gesture}")
        elif gesture == "mouse.look":
            self._change(cameras.look(upright, -delta.x(), -delta.y()), f"look {self._gesture}")
        elif gesture == "mouse.region":
            self._drag_region(camera, event.position())
        elif gesture == "mouse.zoom":
            self._change(cameras.dolly(self._aimed(camera), -delta.y() * DRAG_NOTCHES), f"nearer {self._gesture}")
        elif gesture:
            self._turn(upright, delta, gesture == "mouse.roll")

    def _drag_region(self, camera: Camera, place: QPointF) -> None:
        if self._pivot is not None:
            pixels = math.hypot(*(place - self._pressed).toTuple())
            tall = cameras.picture_height(cameras.aimed(camera, self._pivot))
            self.region_dragged.emit(self._pivot, pixels * tall / max(self._widget.height(), 1))

    def _turn(self, camera: Camera, delta: QPointF, is_roll: bool) -> None:
        """Orbit, or what the mode makes of it."""
        mode, key = self._document.state.settings.camera.mode, f"orbit {self._gesture}"
        if mode == "fly":
            self._change(cameras.look(camera, -delta.x(), -delta.y()), key)
        elif mode == "axis-free" and is_roll:
            self._change(cameras.roll(camera, delta.x() / 2.0), key)
        else:
            turn = cameras.turn_freely if mode == "axis-free" else cameras.orbit
            is_about_point = self._document.state.settings.camera.pivot == "pointer" and self._pivot is not None
            self._change(
                turn(
                    self._aimed(camera) if is_about_point else camera,
                    delta.x(),
                    delta.y(),
                    self._pivot if is_about_point else None,
                ),
                key,
            )

    def _wheel(self, event: QWheelEvent) -> bool:
        notches = (
            event.angleDelta().y() or event.angleDelta().x()
        ) / 120.0  # some systems turn the wheel sideways while Alt is held
        if notches == 0.0:
            return True
        now, place = time.monotonic(), event.position()
        is_new = now - self._wheel_time > WHEEL_PAUSE_S or (place - self._wheel_place).manhattanLength() > WHEEL_REACH
        self._wheel_time = now
        if is_new or self._wheel_key != f"wheel {self._gesture}":
            self._begin(place)
            self._wheel_place, self._wheel_key = place, f"wheel {self._gesture}"
        pace = PACES.get(self._gestures.find("wheel", way_of("wheel", "", modifier_names(event.modifiers()))), 0.0)
        if self._document.state.settings.camera.mode == "fly" or self._keys:
            pace = pace or 1.0  # a modifier that is held for the flight
            speed = self._document.state.settings.camera.speed * 1.25 ** (notches * pace)
            self._document.change("settings.camera.speed", min(max(speed, 0.001), 1000.0), self._wheel_key)
            self.flew.emit(self._document.state.settings.camera.speed)
            return True
        self._notches += notches * pace
        if not self._patience.isActive():
            self._roll()
        return True

    def _roll(self) -> None:
        """Come nearer by the notches that wait."""
        self._patience.stop()
        notches, self._notches = self._notches, 0.0
        if notches == 0.0:
            return
        width, height = max(self._widget.width(), 1), max(self._widget.height(), 1)
        across, down = self._wheel_place.x() / width - 0.5, self._wheel_place.y() / height - 0.5
        self._change(dolly_at(self._aimed(self._camera()), notches, across, down, width / height), self._wheel_key)

    def _aimed(self, camera: Camera) -> Camera:
        """The same picture, with what is looked at as deep as the point of this gesture."""
        return camera if self._pivot is None else cameras.aimed(camera, self._pivot)

    # -- the keyboard ---------------------------------------------------------------------------------------------
    def _key(self, event: QKeyEvent) -> bool:
        name = FLY_KEYS.get(
            self._gestures.find("key", QKeySequence(event.key()).toString(QKeySequence.SequenceFormat.PortableText)), ""
        )
        held = modifier_names(event.modifiers())
        fast, slow = (set(self._gestures.ways(f"fly.{pace}")) for pace in ("fast", "slow"))
        if not name or held - fast - slow or event.modifiers() & Qt.KeyboardModifier.MetaModifier:
            return False
        is_plain_command = bool(held & slow) and not self._keys
        if event.type() == QEvent.Type.ShortcutOverride:
            if not is_plain_command:
                event.accept()
            return not is_plain_command
        if event.isAutoRepeat():
            return True
        if event.type() == QEvent.Type.KeyRelease:
            if self._keys == {name}:
                self._land()
            self._keys.discard(name)
            return True
        if not self._keys:
            self._gesture += 1
            self._flight_time = time.monotonic()
            self._timer.start()
        self._keys.add(name)
        return True

    def _fly(self) -> None:
        now = time.monotonic()
        seconds = min(now - self._flight_time, 0.1)
        self._flight_time = now
        held = modifier_names(QGuiApplication.queryKeyboardModifiers())
        fast, slow = (bool(held & set(self._gestures.ways(f"fly.{pace}"))) for pace in ("fast", "slow"))
        camera = cameras.fly(
            self._camera(), self._keys, seconds, cameras.flying_size(self._document.state.settings.camera,
            self._scene_size()),
            fast=fast, slow=slow,
        )  # fmt: skip
        self._change(camera, f"fly {self._gesture}")
        self.flew.emit(self._document.state.settings.camera.speed * (10.0 if fast else 1.0) * (0.1 if slow else 1.0))

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
        set_camera(self._document, camera, merge_key)
        self.moved.emit()

    def _scene_size(self) -> float:
        scene = self._document.scene
        if scene is None:
            return 1.0
        return max(float(np.linalg.norm(np.subtract(scene.upper, scene.lower))), 1e-6)


def modifier_names(modifiers: Qt.KeyboardModifier) -> set[str]:
    """The modifiers that are held, as gestures name them."""
    return {name for name, modifier in MODIFIER_KEYS.items() if modifiers & modifier}


def mouse_way(kind: str, event: QMouseEvent) -> str:
    """What an event of the mouse is as a way to make a gesture; of several buttons held, the one that gestures use
    most."""
    held = event.buttons() if kind == "drag" else event.button()
    names = [name for name, button in MOUSE_BUTTONS.items() if held & button]
    return way_of(kind, names[0] if names else "", modifier_names(event.modifiers()))


def dolly_at(camera: Camera, notches: float, across: float, down: float, aspect: float) -> Camera:
    """Come nearer to the point under the pointer, as deep in the picture as what is looked at. `across` and `down` are
    from -.5 to .5 of the picture's width and height; that point stays under the pointer."""
    nearer = cameras.dolly(camera, notches)
    right, up, _ = camera.basis()
    shrinks = cameras.picture_height(camera) - cameras.picture_height(nearer)
    shift = (right * across * aspect - up * down) * shrinks
    eye, look_at = np.asarray(nearer.eye) + shift, np.asarray(nearer.look_at) + shift
    return dataclasses.replace(nearer, eye=tuple(eye.tolist()), look_at=tuple(look_at.tolist()))
