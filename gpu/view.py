"""What a view is: a structure, a camera, a ray type and the pixels that the picture goes to. Plain values."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Protocol

from .camera import Camera
from .clip import ClipOptions
from .hierarchy.base import StatisticsOptions
from .target.base import Array
from .update_policy import UpdateOptions


class Pixels(Protocol):
    """Where a picture goes: `width`, `height`, and `map()`, which lends a (height, width, 4) uint8 array of the target for one frame."""

    width: int
    height: int

    def map(self) -> contextlib.AbstractContextManager[Array]: ...


@dataclasses.dataclass(frozen=True)
class ViewSettings:
    """What one view shows. Names are the command line's; `auto` is the builder's best. Options are frozen dataclasses or None for defaults."""

    hierarchy: str = "lbvh"
    optimiser: str = "none"
    layout: str = "auto"
    traversal: str = "auto"
    triangle_test: str = "moeller_trumbore"
    ray_type: str = "smooth"
    samples: int = 1
    seed: int = 0
    update: UpdateOptions = UpdateOptions()
    statistics: StatisticsOptions = StatisticsOptions()
    clip: ClipOptions = ClipOptions()
    hierarchy_options: Any = None
    optimiser_options: Any = None
    layout_options: Any = None
    ray_type_options: Any = None


@dataclasses.dataclass
class View:
    """A picture to draw each frame. `name` keeps its structure and film from frame to frame."""

    settings: ViewSettings
    camera: Camera
    pixels: Pixels
    name: str = "main"
