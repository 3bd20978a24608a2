"""What a view is: a structure, a camera, a ray type and the pixels that the picture goes to. Plain values."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

from .camera import Camera
from .clip import ClipOptions
from .errors import Error
from .glyphs.options import GlyphOptions
from .hierarchy.base import StatisticsOptions, StructureChoice
from .scene import Scene
from .target.base import Array
from .update.options import UpdateOptions


class Pixels(Protocol):
    """Where a picture goes: `width`, `height`, and `map()`, which lends a (height, width, 4) uint8 array of the target
    for one frame."""

    width: int
    height: int

    def map(self) -> contextlib.AbstractContextManager[Array]: ...


@dataclasses.dataclass(frozen=True)
class ViewSettings:
    """What one view shows. Names are the command line's; `auto` is the builder's best. Options are frozen dataclasses
    or None for defaults. With `rests` the structure of a scene that stands still is made once, also where it is updated
    always."""

    hierarchy: str = "lbvh"
    optimiser: str = "none"
    layout: str = "auto"
    traversal: str = "auto"
    triangle_test: str = "moeller_trumbore"
    ray_type: str = "smooth"
    primary: str = "structure"
    samples: int = 1
    seed: int = 0
    update: UpdateOptions = UpdateOptions()
    statistics: StatisticsOptions = StatisticsOptions()
    clip: ClipOptions = ClipOptions()
    tiles: GlyphOptions = GlyphOptions()
    hierarchy_options: Any = None
    optimiser_options: Any = None
    ray_type_options: Any = None
    rests: bool = False

    def update_over(self, scene: Scene, clip: int) -> UpdateOptions:
        """How the structure follows this scene's clip."""
        stands = self.rests and self.update.always and scene.duration(clip) <= 0.0
        return dataclasses.replace(self.update, always=False) if stands else self.update

    @property
    def structure_choice(self) -> StructureChoice:
        """How the structure called `hierarchy` is made."""
        return StructureChoice(
            self.hierarchy_options,
            self.layout,
            self.traversal,
            self.optimiser,
            self.optimiser_options,
            self.triangle_test,
        )


@dataclasses.dataclass
class View:
    """A picture to draw each frame. `name` keeps its structure and film from frame to frame.

    With `most_rows` a frame draws at most so many rows of a sample, in whole tiles of 8, and the next frame goes on
    with those below; `pixels` are written once the sample is whole. What needs the whole picture at once takes no
    heed of it: ray types that say so, and views that are updated always, unless only the first rows' frame is asked to
    (`updates_once`).

    A new structure is built once before its first frame, to know what it needs. With `borrows` pictures of the same
    instant are drawn by that tree, of which nothing was timed; the first frame without builds its own."""

    settings: ViewSettings
    camera: Camera
    pixels: Pixels
    name: str = "main"
    most_rows: int = 0
    updates_once: bool = False
    borrows: bool = False


def distinct(views: Sequence[View]) -> Sequence[View]:
    """The views of a frame. Error where two have one name: each frame would make the structure and the film of
    both anew."""
    names = [view.name for view in views]
    for name in names:
        if names.count(name) > 1:
            raise Error(f"two views of a frame are called {name!r}", "the engine", "give each a name of its own")
    return views
