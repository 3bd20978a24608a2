"""What the Camera menu does: each command is one step of undo, and acts on the first view's camera.

Cameras of the file stand where the file says at each moment. Whoever moves while looking through one leaves it: the
free camera takes its place and moves on from there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from raygrove.app.camera import moves as cameras
from raygrove.app.camera.walls import is_room
from raygrove.app.document.document import Document
from raygrove.app.document.opening import cameras_of
from raygrove.app.document.state import Bookmark
from raygrove.app.user_files.bookmarks import TIME
from raygrove.gpu.camera import Camera, Vector
from raygrove.gpu.settings import OptionError

Take = Callable[[Vector | None], None]
Pick = Callable[[float, float, Take], None]
"""Asks what lies at a place of the picture, from 0 to 1 of its width and height; the answer comes later, None for the
background."""

FOCUS_NEARER = 0.6


def set_camera(document: Document, camera: Camera, merge_key: str | None = None) -> None:
    """Move the first view's camera; one of the file's is left for the free camera, in the same step of undo."""
    views = document.state.views
    if views[0].camera == 0:
        document.change("cameras.0", camera, merge_key)
        return
    key = merge_key or "leave the file's camera"
    document.change("views.0.camera", 0, key)
    document.change("cameras.0", camera, key)
    if merge_key is None:
        document.end_merge()


class CameraCommands:
    """Commands on the first view's camera. `aspect` gives the picture's width over its height, `pointer` the place of
    the pointer in the picture (None outside it), `pick` asks what lies there."""

    def __init__(
        self,
        document: Document,
        aspect: Callable[[], float],
        pointer: Callable[[], tuple[float, float] | None],
        pick: Pick,
    ) -> None:
        self._document, self._aspect, self._pointer, self._pick = document, aspect, pointer, pick

    @property
    def camera(self) -> Camera:
        """The first view's camera."""
        return self._document.state.camera_of(0)

    # -- where it stands ------------------------------------------------------------------------------------------
    def fit(self) -> None:
        """See the whole scene from the same side; a closed room that opens inside, from inside."""
        scene, state = self._document.scene, self._document.state
        if scene is not None:
            aspect = self._aspect()
            eye = cameras_of(scene, aspect, state.settings.camera)[0].eye
            is_inside = not state.settings.clip.on and is_room(scene, eye, state.hidden)
            self.set(cameras.fitted(self.camera, scene.lower, scene.upper, aspect, stays_within=is_inside))

    def focus(self) -> None:
        """Look at what is under the pointer, from nearer; with nothing there, see the whole scene."""
        place = self._pointer()
        if place is None:
            self.fit()
        else:
            self._pick(*place, self.look_at)

    def look_at(self, point: Vector | None) -> None:
        """Look at a point, from nearer; None: see the whole scene."""
        if point is None:
            self.fit()
        else:
            self.set(cameras.focus(self.camera, point, FOCUS_NEARER))

    def reset(self) -> None:
        """The free camera as the scene was opened."""
        scene = self._document.scene
        if scene is not None:
            self.set(cameras_of(scene, self._aspect(), self._document.state.settings.camera)[0])

    def look_from(self, side: str) -> None:
        """See the whole scene from one of its sides."""
        scene = self._document.scene
        if scene is not None:
            self.set(cameras.standard_view(self._upright(), side, scene.lower, scene.upper, self._aspect()))

    # -- what it is like ------------------------------------------------------------------------------------------
    def toggle_orthographic(self) -> None:
        """Parallel or perspective rays; what is looked at keeps its size."""
        self.set(cameras.toggled_orthographic(self.camera))

    def up_axis(self) -> str:
        """The axis that points up."""
        return cameras.up_axis_of(self._upright())

    def _upright(self) -> Camera:
        """The first view's camera, seen from the top as from any other side."""
        return cameras.upright(self.camera, self._document.state.settings.camera.up_axis)

    def set_up_axis(self, axis: str) -> None:
        """Cycle the up axis, for this scene and the next ones."""
        self._document.end_merge()
        set_camera(self._document, cameras.with_up(self._upright(), axis), "up axis")
        self._document.change("settings.camera.up_axis", axis, "up axis")
        self._document.end_merge()

    def next_up_axis(self) -> None:
        """y, then z, then x."""
        self.set_up_axis({"y": "z", "z": "x", "x": "y"}[self.up_axis()])

    def zoom(self, notches: float) -> None:
        """Narrow (positive) the field of view; the steps of a zoom are one step of undo."""
        set_camera(self._document, cameras.zoom(self.camera, notches), "zoom")

    def scale_speed(self, factor: float) -> None:
        """Fly faster or slower."""
        speed = self._document.state.settings.camera.speed * factor
        self._document.change("settings.camera.speed", min(max(speed, 0.001), 1000.0), "flying speed")

    def change_field(self, name: str, value: object) -> None:
        """Set one field of the camera (cameras.LENS). Raises OptionError where it would look nowhere."""
        camera = dataclasses.replace(self.camera, **{name: value})  # type: ignore[arg-type]
        if camera.eye == camera.look_at:
            raise OptionError(name, value, "the camera must not stand on the very point that it looks at")
        if not any(camera.up):
            raise OptionError(name, value, "a direction is not 0, 0, 0")
        if 0.0 < camera.far <= camera.near:
            raise OptionError(name, value, "the far plane lies beyond the near one, or is 0")
        set_camera(self._document, camera, f"camera {name}")

    # -- other cameras --------------------------------------------------------------------------------------------
    def choices(self) -> list[tuple[str, str, str, bool]]:
        """The free camera and the scene's."""
        scene = self._document.scene
        names = [
            "Free",
            *(camera.name or f"Camera {number}" for number, camera in enumerate(scene.cameras if scene else (), 1)),
        ]
        return [(str(index), name, "", True) for index, name in enumerate(names[: len(self._document.state.cameras)])]

    def current(self) -> str:
        """The first view's camera."""
        return str(self._document.state.views[0].camera)

    def choose(self, index: str) -> None:
        """Look through another camera."""
        self._document.change("views.0.camera", int(index))

    def bookmark(self) -> None:
        """Keep the camera as it stands, under the next free name."""
        kept = self._document.state.bookmarks
        names = {one.name for one in kept}
        name = next(f"View {number}" for number in range(1, len(kept) + 2) if f"View {number}" not in names)
        self._document.change("bookmarks", (*kept, Bookmark(name, self.camera)))

    def go_to(self, index: int) -> None:
        """Stand where a bookmark was made; nothing where there is none of that number."""
        kept = self._document.state.bookmarks
        if 0 <= index < len(kept):
            self.set(kept[index].camera)

    def rename_bookmark(self, index: int, name: str) -> None:
        """Give a bookmark another name; an empty one changes nothing."""
        if name.strip():
            self._document.change(f"bookmarks.{index}.name", name.strip())

    def delete_bookmark(self, index: int) -> None:
        """Forget a bookmark; undo brings it back."""
        kept = self._document.state.bookmarks
        self._document.change("bookmarks", (*kept[:index], *kept[index + 1 :]))

    def move_bookmark(self, index: int, by: int) -> None:
        """Change places with the one before (-1) or behind (1): the path goes through them in their order."""
        kept, other = list(self._document.state.bookmarks), index + by
        if 0 <= index < len(kept) and 0 <= other < len(kept):
            kept[index], kept[other] = kept[other], kept[index]
            self._document.change("bookmarks", tuple(kept))

    def set_bookmark_seconds(self, index: int, seconds: float) -> None:
        """The time from a bookmark to the next one of the path."""
        if 0 <= index < len(self._document.state.bookmarks):
            self._document.change(f"bookmarks.{index}.seconds", TIME.checked(seconds), f"seconds {index}")

    def set(self, camera: Camera) -> None:
        """Move the camera as a step of its own."""
        self._document.end_merge()
        set_camera(self._document, camera)
