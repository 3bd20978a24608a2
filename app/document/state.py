"""Everything the user can change, as one frozen value."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from raygrove.app.camera.path_options import SECONDS
from raygrove.app.playback.timeline import Timeline
from raygrove.app.settings.settings import Settings
from raygrove.gpu.camera import Camera
from raygrove.gpu.region import Region
from raygrove.printable import printable


@dataclasses.dataclass(frozen=True)
class SceneReference:
    """Where the scene came from: `kind` none, demo or files; `names` the demo's name, or the paths of the key frames in
    order."""

    kind: str = "none"
    names: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What a window's title shows."""
        last = printable(self.names[0].rsplit("/", 1)[-1]) if self.names else ""
        return f"{last} and {len(self.names) - 1} more" if len(self.names) > 1 else last


@dataclasses.dataclass(frozen=True)
class ViewState:
    """One picture of the scene. Empty names take what `settings.render` says; a race gives each view its own."""

    name: str = "main"
    camera: int = 0
    hierarchy: str = ""
    optimiser: str = ""
    layout: str = ""
    traversal: str = ""
    ray_type: str = ""


@dataclasses.dataclass(frozen=True)
class Bookmark:
    """A camera that was kept under a name, and the seconds that a path through the bookmarks takes from it to the
    next."""

    name: str = ""
    camera: Camera = Camera()
    seconds: float = SECONDS


@dataclasses.dataclass(frozen=True)
class Selection:
    """What is selected: an object's index, -1 for nothing, a region of space, and the pixel whose ray is followed, as
    shares of the picture's width and height; none where it is empty."""

    object: int = -1
    region: Region = Region()
    pixel: tuple[float, ...] = ()

    def within(self, objects: int) -> Selection:
        """As far as a scene of so many objects has it: of another object's selection the pixel stays."""
        return self if self.object < objects else Selection(pixel=self.pixel)


@dataclasses.dataclass(frozen=True)
class State:
    """All that the user can change. `Document.change` is its only writer. `hidden` are the objects that are left out,
    ascending."""

    scene: SceneReference = SceneReference()
    settings: Settings = Settings()
    views: tuple[ViewState, ...] = (ViewState(),)
    cameras: tuple[Camera, ...] = (Camera(),)
    bookmarks: tuple[Bookmark, ...] = ()
    timeline: Timeline = Timeline()
    selection: Selection = Selection()
    hidden: tuple[int, ...] = ()

    def camera_of(self, view: int = 0) -> Camera:
        """The camera a view looks through."""
        return self.cameras[self.views[view].camera]

    def ray_type_of(self, view: int = 0) -> str:
        """What the rays of a view show."""
        return self.views[view].ray_type or self.settings.render.ray_type


def value_at(value: Any, path: str) -> Any:
    """What stands at a dotted path: fields of dataclasses, keys of mappings, indices of tuples ("cameras.0.fov").
    KeyError where the path leads nowhere."""
    for name in path.split("."):
        if isinstance(value, Mapping):
            value = value[name]
        elif isinstance(value, tuple):
            value = value[int(name)]
        elif any(field.name == name for field in dataclasses.fields(value)):
            value = getattr(value, name)
        else:
            raise KeyError(f"{type(value).__name__} has no field '{name}'")
    return value


def replaced(value: Any, path: str, new: Any) -> Any:
    """`value` with what stands at a dotted path exchanged; everything else is shared. KeyError where the path leads
    nowhere."""
    name, _, rest = path.partition(".")
    if isinstance(value, Mapping):
        return {**value, name: replaced(value[name], rest, new) if rest else new}
    if isinstance(value, tuple):
        index = int(name)
        inner = replaced(value[index], rest, new) if rest else new
        return (*value[:index], inner, *value[index + 1 :])
    if not any(field.name == name for field in dataclasses.fields(value)):
        raise KeyError(f"{type(value).__name__} has no field '{name}'")
    inner = replaced(getattr(value, name), rest, new) if rest else new
    return dataclasses.replace(value, **{name: inner})
