"""The View menu's camera commands: each is one step of undo."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from app import cameras
from app.document import Document
from app.opening import cameras_of
from gpu.camera import Camera


class CameraCommands:
    """Commands on the first view's camera; `aspect` gives the picture's width over its height."""

    def __init__(self, document: Document, aspect: Callable[[], float]) -> None:
        self._document, self._aspect = document, aspect

    def fit(self) -> None:
        """See the whole scene from the same side."""
        scene = self._document.scene
        if scene is not None:
            self._set(cameras.fitted(self._camera(), scene.lower, scene.upper, self._aspect()))

    def reset(self) -> None:
        """As the scene was opened."""
        scene = self._document.scene
        if scene is not None:
            self._set(cameras_of(scene, self._aspect())[self._index()])

    def look_from(self, side: str) -> None:
        """See the whole scene from one of its sides."""
        scene = self._document.scene
        if scene is not None:
            self._set(cameras.standard_view(self._camera(), side, scene.lower, scene.upper, self._aspect()))

    def toggle_orthographic(self) -> None:
        """Parallel or perspective rays; what is looked at keeps its size."""
        camera = self._camera()
        tall = 2.0 * cameras.distance(camera) * math.tan(math.radians(camera.fov) / 2.0)
        if not camera.orthographic:
            self._set(dataclasses.replace(camera, orthographic=True, height=tall))
            return
        away = camera.height / (2.0 * math.tan(math.radians(camera.fov) / 2.0))
        _, _, forward = camera.basis()
        eye = [at - step * away for at, step in zip(camera.look_at, forward.tolist(), strict=True)]
        self._set(dataclasses.replace(camera, orthographic=False, eye=(eye[0], eye[1], eye[2])))

    def choices(self) -> list[tuple[str, str, str, bool]]:
        """The free camera and the scene's."""
        scene = self._document.scene
        names = ["Free", *(camera.name or f"Camera {number}" for number, camera in enumerate(scene.cameras if scene else (), 1))]
        return [(str(index), name, "", True) for index, name in enumerate(names[: len(self._document.state.cameras)])]

    def current(self) -> str:
        """The first view's camera."""
        return str(self._index())

    def choose(self, index: str) -> None:
        """Look through another camera."""
        self._document.change("views.0.camera", int(index))

    def _index(self) -> int:
        return self._document.state.views[0].camera

    def _camera(self) -> Camera:
        return self._document.state.camera_of(0)

    def _set(self, camera: Camera) -> None:
        self._document.end_merge()
        self._document.change(f"cameras.{self._index()}", camera)
