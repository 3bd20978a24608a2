"""`--camera` and `--camera-path`: cameras and bookmarks by name, and the path through them."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from raygrove.app.camera.path import CameraPath
from raygrove.app.document.state import Bookmark, State
from raygrove.app.problems.problems import UsageError
from raygrove.app.user_files import bookmarks
from raygrove.gpu.scene import Scene

OWN = "bookmarks"
"""What --camera-path names for the scene's own bookmarks."""

PLACED = ("eye", "look_at", "up", "fov", "orthographic")


def looked_through(names: argparse.Namespace, state: State, scene: Scene, *, with_bookmarks: bool = True) -> State:
    """The state with the camera that --camera names: free, one of the file's by name or number from 1, or a bookmark by
    name, unless that is asked not to count. Raises UsageError."""
    wanted = getattr(names, "camera", None)
    if wanted is None:
        return state
    given = [f"--{name.replace('_', '-')}" for name in PLACED if getattr(names, name, None) is not None]
    if given:
        raise UsageError(f"--camera {wanted} says where the camera stands; leave out {' and '.join(given)}.")
    own = [camera.name for camera in scene.cameras]
    index = _index(wanted, own)
    if index is not None:
        return dataclasses.replace(state, views=(dataclasses.replace(state.views[0], camera=index), *state.views[1:]))
    kept = scene_bookmarks(state) if with_bookmarks else ()
    found = next((one for one in kept if one.name.lower() == wanted.lower()), None)
    if found is None:
        known = [*(name or f"{number}" for number, name in enumerate(own, 1)), *(one.name for one in kept)]
        none = "neither its file nor your bookmarks have one" if with_bookmarks else "its file has none"
        there = f"it has {', '.join(known)}, and free" if known else none
        raise UsageError(f"--camera {wanted}: {scene.name} has no camera of that name: {there}.")
    views = (dataclasses.replace(state.views[0], camera=0), *state.views[1:])
    return dataclasses.replace(state, views=views, cameras=(found.camera, *state.cameras[1:]))


def path_from(names: argparse.Namespace, state: State) -> CameraPath | None:
    """The path that --camera-path names: a file of bookmarks, or the scene's own. Raises UsageError, BookmarksError and
    OSError."""
    wanted = getattr(names, "camera_path", None)
    if wanted is None:
        return None
    given = [
        f"--{name.replace('_', '-')}"
        for name in (*PLACED, "camera", "turntable")
        if getattr(names, name, None) is not None
    ]
    if given:
        raise UsageError(
            f"--camera-path {wanted} says where the camera stands in each frame; leave out {' and '.join(given)}."
        )
    if not wanted:
        raise UsageError("--camera-path names nothing: give a file of bookmarks, or the word bookmarks.")
    kept = scene_bookmarks(state) if wanted == OWN else bookmarks.read(Path(wanted))
    try:
        return CameraPath(kept, state.settings.path)
    except ValueError as error:
        raise UsageError(f"--camera-path {wanted}: {error}") from error


def scene_bookmarks(state: State) -> tuple[Bookmark, ...]:
    """The state's bookmarks (those of a saved picture), else those that the user keeps of the scene. Raises
    BookmarksError."""
    return state.bookmarks or bookmarks.load(state.scene)


def _index(wanted: str, own: list[str]) -> int | None:
    """The place of a camera among the free one and the file's."""
    lower = [name.lower() for name in own]
    if wanted.lower() in lower:
        return lower.index(wanted.lower()) + 1
    if wanted.lower() == "free":
        return 0
    return int(wanted) if wanted.isdecimal() and 1 <= int(wanted) <= len(own) else None
