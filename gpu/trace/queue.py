"""Queues of rays for integrators that trace as a wavefront: kernels fill one, the tracer takes it, the next kernel
reads hits and fills another.

Nothing of it is known on the host but an upper bound: how many rays there are is counted on the target. Compaction and
bins go by the target's scan and sort, so that the same rays come in the same order on every target, however many blocks
there are.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np

from ..rows import Int, Struct
from ..target.base import MOST_ITEMS, Array, Target, TargetError, UnitSource
from ..target.structs import pack
from .trace import TILE_RAYS, QueueRays

RAY_ROWS = 8
_UNIT = UnitSource("gpu/trace/queue.cu")
_OCTANT_BITS = (0, 4)


@dataclasses.dataclass(frozen=True)
class QueueArrays(Struct):
    """What Queue of queue.cuh holds."""

    rows: Annotated[Array, "float*"]
    """RAY_ROWS and `payload_rows` of `stride` numbers."""
    count: Annotated[Array, "int*"]
    stride: Int
    payload_rows: Int


class RayQueue:
    """Room for `capacity` rays with `payload_rows` words each, the first of them the pixel. Scratch memory that keeps
    its place by
    `name`: two queues of one name are the same. Cheap to make in every frame."""

    def __init__(self, target: Target, name: str, capacity: int, payload_rows: int = 1) -> None:
        self.target, self.name, self.payload_rows = target, name, payload_rows
        self.capacity = max(1, -(-capacity // TILE_RAYS)) * TILE_RAYS
        self.rows: Array = target.scratch(f"{name}.rows", (RAY_ROWS + payload_rows, self.capacity), np.float32)
        self.count: Array = target.scratch(f"{name}.count", 1, np.int32)

    @property
    def rays(self) -> QueueRays:
        """What the tracer takes."""
        return QueueRays(self.rows, self.count)

    def view(self) -> np.ndarray:
        """The by-value struct that kernels take."""
        return pack(QueueArrays(self.rows, self.count, self.capacity, self.payload_rows))

    def compile(self) -> None:
        """What moving rays launches."""
        self.target.unit(_UNIT)

    def move_into(self, other: RayQueue, order: str) -> None:
        """The rays of this queue at the front of another, `order` being one of RAY_QUEUES. Launches only."""
        if order == "by_octant":
            self.bin_into(other)
        else:
            self.compact_into(other)

    def compact_into(self, other: RayQueue) -> None:
        """The rays of this queue (t_min below t_max, within its count) at the front of another, in their order.
        Launches only."""
        self._check(other)
        unit = self.target.unit(_UNIT)
        flags = self.target.scratch("trace.kept", self.capacity, np.int32)
        places = self.target.scratch("trace.goals", self.capacity, np.int32)
        self.target.launch(unit, "flag_rays", self.capacity, source=self.view(), flags=flags)
        self.target.exclusive_scan(flags, places, "trace.queue")
        self.target.launch(
            unit, "move_rays", self.capacity, source=self.view(), flags=flags, places=places, to=other.view()
        )

    def bin_into(self, other: RayQueue) -> None:
        """The same, those of one octant of directions together: incoherent rays that a warp or a pack then traverses
        side by side. Launches only."""
        self._check(other)
        unit = self.target.unit(_UNIT)
        keys = self.target.scratch("trace.bins", self.capacity, np.uint32)
        places = self.target.scratch("trace.binned", self.capacity, np.uint32)
        self.target.launch(unit, "bin_rays", self.capacity, source=self.view(), keys=keys, places=places)
        keys, places = self.target.sort_pairs(keys, places, _OCTANT_BITS, "trace.queue")
        self.target.launch(
            unit, "gather_rays", self.capacity, source=self.view(), keys=keys, places=places, to=other.view()
        )

    def _check(self, other: RayQueue) -> None:
        if other.name == self.name or other.capacity != self.capacity or other.payload_rows != self.payload_rows:
            raise ValueError(
                f"A queue of {self.capacity} rays goes into another of the same shape; {other.name!r} has room "
                f"for {other.capacity}."
            )


class QueuePair:
    """Two queues of one shape whose rays at one place belong together, as those that go on from one hit: they go into
    one queue side by side, the first queue's before the second's. `places`, int32 for each place of the queues, is
    where the first of its rays goes; scratch memory that the next pair overwrites."""

    def __init__(self, first: RayQueue, second: RayQueue) -> None:
        first._check(second)
        if 2 * first.capacity > MOST_ITEMS:
            raise TargetError(
                f"Two queues of {first.capacity:,} rays hold more than the {MOST_ITEMS:,} that are counted at once. A "
                f"smaller picture has fewer."
            )
        self.first, self.second = first, second
        self._target, self._unit = first.target, first.target.unit(_UNIT)
        self._counts = first.target.scratch("trace.kept", first.capacity, np.int32)
        self.places: Array = first.target.scratch("trace.goals", first.capacity, np.int32)

    def _views(self) -> dict[str, Any]:
        return {"first": self.first.view(), "second": self.second.view()}

    def find_places(self) -> None:
        """Fill `places`. Launches only."""
        capacity = self.first.capacity
        self._target.launch(self._unit, "count_pairs", capacity, **self._views(), counts=self._counts)
        self._target.exclusive_scan(self._counts, self.places, "trace.queue")

    def merge_into(self, other: RayQueue) -> None:
        """The rays by their `places` into a third queue. Rays whose places lie beyond its capacity stay where they are.
        Launches only."""
        self.first._check(other)
        self.second._check(other)
        given = {"counts": self._counts, "places": self.places, "to": other.view()}
        self._target.launch(self._unit, "merge_rays", self.first.capacity, **self._views(), **given)
