"""The open scene's camera follows the settings that say where it starts and through which lens, so that a choice is
seen at once."""

from __future__ import annotations

import dataclasses

from raygrove.app.camera import moves as cameras
from raygrove.app.document.opening import cameras_of
from raygrove.app.document.state import State
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene


def followed(before: State, after: State, scene: Scene | None) -> State:
    """`after`, a change of settings, with the cameras that its settings ask for; cameras that were changed themselves
    stay."""
    if scene is None or before.settings is after.settings or before.cameras != after.cameras:
        return after
    old, new = before.settings, after.settings
    if (old.start, old.camera) == (new.start, new.camera):
        return after
    free = _placed(before, after, scene)
    if old.camera.field_of_view != new.camera.field_of_view:
        free = dataclasses.replace(free, fov=new.camera.field_of_view)
    if old.camera.up_axis != new.camera.up_axis:
        free = cameras.with_up(cameras.upright(free, old.camera.up_axis), new.camera.up_axis)
    found = (free, *after.cameras[1:])
    if (old.camera.near, old.camera.far) != (new.camera.near, new.camera.far):
        found = tuple(dataclasses.replace(one, near=new.camera.near, far=new.camera.far) for one in found)
    return dataclasses.replace(after, cameras=found) if found != after.cameras else after


def _placed(before: State, after: State, scene: Scene) -> Camera:
    """The free camera, put where `start` says if that has changed."""
    old, new = before.settings.start, after.settings.start
    same_place = dataclasses.replace(old, scene=new.scene) == new
    if same_place or old.camera == new.camera == "scene":
        return after.cameras[0]
    return cameras_of(scene, options=after.settings.camera, start=new)[0]
