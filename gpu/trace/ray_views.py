"""Ray sources as kernels take them, by value (ray_sources.cuh)."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from ..rows import Floats, Int, Ints, Struct
from ..target.base import Array


@dataclasses.dataclass(frozen=True)
class CameraRays(Struct):
    """Rays of a picture."""

    frame: Annotated[Array, "const ViewFrame*"]


@dataclasses.dataclass(frozen=True)
class BufferRays(Struct):
    """Eight rows of `stride` floats, a multiple of 64, so that a pack never reads past its row: origin, direction,
    t_min, t_max."""

    rows: Floats
    count: Int
    stride: Int


@dataclasses.dataclass(frozen=True)
class QueueRays(Struct):
    """A queue's rays: rows as above, and how many there are on the target."""

    rows: Floats
    count: Ints
    stride: Int
