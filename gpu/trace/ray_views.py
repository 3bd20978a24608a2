"""Ray sources as kernels take them, by value (ray_sources.cuh), and what they are traced through."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

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


@dataclasses.dataclass(frozen=True)
class TraceParts(Struct):
    """What TraceInput of traversals.cuh holds, of types that each unit names."""

    tree: Annotated[np.ndarray, "class Tree"]
    records: Annotated[np.ndarray, "class Records"]
    source: Annotated[np.ndarray, "class RaySource"]
