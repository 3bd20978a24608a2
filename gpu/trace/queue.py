"""Queues of rays for integrators that trace in waves: kernels fill one, the tracer takes it, the next kernel reads hits and fills another.

Nothing of it is known on the host but an upper bound: how many rays there are is counted on the target. Compaction and bins go by the target's
scan and sort, so that the same rays come in the same order on every target, however many blocks there are.
"""

from __future__ import annotations

import numpy as np

from ..target.base import Array, DeviceCount, Target, UnitSource
from ..target.structs import make_struct, struct_dtype
from .trace import TILE_RAYS, QueueRays

QUEUE = struct_dtype([("rows", "pointer"), ("count", "pointer"), ("stride", "int"), ("payload_rows", "int")])
"""Queue of queue.cuh."""

RAY_ROWS = 8
_UNIT = UnitSource("gpu/trace/queue.cu")
_OCTANT_BITS = (0, 4)


class RayQueue:
    """Room for `capacity` rays with `payload_rows` words each, the first of them the pixel. Scratch memory that keeps its place by
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

    @property
    def size(self) -> DeviceCount:
        """What a kernel over the rays is launched for."""
        return DeviceCount(self.count, self.capacity)

    def view(self) -> np.ndarray:
        """The by-value struct that kernels take."""
        return make_struct(QUEUE, rows=self.rows, count=self.count, stride=self.capacity, payload_rows=self.payload_rows)

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
        """The rays of this queue (t_min below t_max, within its count) at the front of another, in their order. Launches only."""
        self._check(other)
        unit = self.target.unit(_UNIT)
        flags = self.target.scratch("trace.kept", self.capacity, np.int32)
        places = self.target.scratch("trace.goals", self.capacity, np.int32)
        self.target.launch(unit, "flag_rays", self.capacity, self.view(), flags)
        self.target.exclusive_scan(flags, places, "trace.queue")
        self.target.launch(unit, "move_rays", self.capacity, self.view(), flags, places, other.view())

    def bin_into(self, other: RayQueue) -> None:
        """The same, those of one octant of directions together: incoherent rays that a warp or a pack then walks side by side. Launches only."""
        self._check(other)
        unit = self.target.unit(_UNIT)
        keys = self.target.scratch("trace.bins", self.capacity, np.uint32)
        places = self.target.scratch("trace.binned", self.capacity, np.uint32)
        self.target.launch(unit, "bin_rays", self.capacity, self.view(), keys, places)
        keys, places = self.target.sort_pairs(keys, places, _OCTANT_BITS, "trace.queue")
        self.target.launch(unit, "gather_rays", self.capacity, self.view(), keys, places, other.view())

    def _check(self, other: RayQueue) -> None:
        if other.name == self.name or other.capacity != self.capacity or other.payload_rows != self.payload_rows:
            raise ValueError(f"A queue of {self.capacity} rays goes into another of the same shape; {other.name!r} has room for {other.capacity}.")
