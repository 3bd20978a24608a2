"""The newest frames of a mesh, in memory that a running loop and the window beside it both map: the loop writes and
never waits, the window reads what was written whole.

The memory is a nameless file (memfd), so nothing is left behind whatever ends either process. A frame goes into the
slot of its number, round and round; the slot's number is written before and behind the values, so that who reads sees
whether both were the same. What is read is another process's word: every size is checked against the file's.
"""

from __future__ import annotations

import dataclasses
import mmap
import os
from typing import NamedTuple

import numpy as np

from raygrove.gpu.errors import Error

MAGIC = 0x52474C4956450001
"""What such memory begins with: RGLIVE, and the number of this layout."""

HEAD = ("magic", "capacity", "vertex_count", "triangle_count", "instance_count", "mesh_count", "published")
ALIGNED = 64
WRITING = -1
VERTICES, TRANSFORMS = 0, 1
MOST_BYTES = 1 << 37


class LiveError(Error, RuntimeError):
    """The memory is none of a running loop's, or there is too little of it; a sentence."""


@dataclasses.dataclass(frozen=True, eq=False)
class Shape:
    """A mesh in its rest pose. `vertices` (V, 3) float32, `triangles` (T, 3) and `mesh_of` (T,) int32: the mesh of each
    triangle; `instance_of` (V,) int32: the instance of each vertex, of `instance_count`; `colours` (M, 3) float32,
    linear, of the meshes."""

    vertices: np.ndarray
    triangles: np.ndarray
    mesh_of: np.ndarray
    instance_of: np.ndarray
    colours: np.ndarray
    instance_count: int


class LiveFrame(NamedTuple):
    """Vertices (V, 3) float32 of frame `number`, counted from 0; `time` in seconds, NaN where nobody said."""

    number: int
    time: float
    vertices: np.ndarray


class LiveRing:
    """See the module. `create` makes the memory, `attach` maps what another process made."""

    def __init__(self, descriptor: int, head: np.ndarray) -> None:
        """`head` (7,) int64 in the order of HEAD."""
        self.descriptor = descriptor
        sizes = dict(zip(HEAD, head.tolist(), strict=True))
        self.capacity, self.vertex_count = int(sizes["capacity"]), int(sizes["vertex_count"])
        self.instance_count = int(sizes["instance_count"])
        fields, size = _fields(sizes)
        self._map = mmap.mmap(descriptor, size)
        whole = np.frombuffer(self._map, np.uint8)
        arrays: dict[str, np.ndarray] = {
            name: whole[start : start + int(np.prod(shape)) * np.dtype(kind).itemsize].view(kind).reshape(shape)
            for name, (start, shape, kind) in fields.items()
        }
        self._head, self._numbers, self._kinds, self._times = (
            arrays[name] for name in ("head", "numbers", "kinds", "times")
        )
        self._slots = arrays["slots"]
        meshes = (arrays["vertices"], arrays["triangles"], arrays["mesh_of"])
        self.shape = Shape(*meshes, arrays["instance_of"], arrays["colours"], self.instance_count)

    @classmethod
    def create(cls, shape: Shape, capacity: int) -> LiveRing:
        """New memory with this mesh and no frame. Raises LiveError where it cannot be had."""
        counts = (len(shape.vertices), len(shape.triangles), shape.instance_count, len(shape.colours))
        head = np.array([MAGIC, capacity, *counts, 0], np.int64)
        _, size = _fields(dict(zip(HEAD, head.tolist(), strict=True)))
        descriptor = os.memfd_create("raygrove-live")
        try:
            if size > MOST_BYTES:
                raise OSError(f"{size / 2**30:.1f} GiB are more than frames may take")
            os.ftruncate(descriptor, size)
            made = cls(descriptor, head)
        except OSError as error:
            os.close(descriptor)
            raise LiveError(f"There is no memory for {capacity} frames of {counts[0]:,} vertices: {error}.") from error
        made._head[:] = head
        made._numbers[:] = WRITING
        for name in ("vertices", "triangles", "mesh_of", "instance_of", "colours"):
            getattr(made.shape, name)[...] = getattr(shape, name)
        return made

    @classmethod
    def attach(cls, descriptor: int) -> LiveRing:
        """The memory behind a descriptor that this process was given. Raises LiveError where it is something else."""
        try:
            size = os.fstat(descriptor).st_size
            head = np.frombuffer(os.pread(descriptor, 8 * len(HEAD), 0), np.int64)
        except OSError as error:
            raise LiveError(f"There is nothing to follow: {error.strerror}. Start it by raygrove.Viewer.") from error
        if (
            len(head) < len(HEAD)
            or head[0] != MAGIC
            or (head[1:] < 0).any()
            or head[1] < 1
            or head[1:-1].max() > MOST_BYTES
        ):
            raise LiveError("There is nothing to follow: this is no memory of a running loop. Use raygrove.Viewer.")
        if _fields(dict(zip(HEAD, head.tolist(), strict=True)))[1] != size:
            raise LiveError("There is nothing to follow: the memory of the running loop has another size than it says.")
        found = cls(descriptor, head)
        shape = found.shape
        for numbers, most in ((shape.triangles, found.vertex_count), (shape.mesh_of, len(shape.colours))):
            if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) < most):
                raise LiveError("There is nothing to follow: the mesh of the running loop is none.")
        return found

    def close(self) -> None:
        """Let go of the memory; who has mapped it keeps it. Harmless the second time."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    # -- the loop's side --------------------------------------------------------------------------------------------
    def publish(self, kind: int, values: np.ndarray, time: float) -> None:
        """Write a frame: VERTICES (V, 3), or TRANSFORMS (N, 3, 4). Does not wait."""
        number = self.published
        slot = number % self.capacity
        self._numbers[slot] = WRITING
        self._slots[slot, : values.size] = values.reshape(-1)
        self._kinds[slot], self._times[slot] = kind, time
        self._numbers[slot] = number
        self._head[HEAD.index("published")] = number + 1

    # -- the window's side ------------------------------------------------------------------------------------------
    @property
    def published(self) -> int:
        """How many frames there were so far."""
        return int(self._head[HEAD.index("published")])

    def read(self, number: int) -> LiveFrame | None:
        """A frame as it was written; None where it is not there, or no more."""
        slot = number % self.capacity
        if number < 0 or int(self._numbers[slot]) != number:
            return None
        kind, time, values = int(self._kinds[slot]), float(self._times[slot]), self._slots[slot].copy()
        if int(self._numbers[slot]) != number:
            return None
        if kind == TRANSFORMS:
            rows = values[: 12 * self.instance_count].reshape(-1, 3, 4)
            return LiveFrame(number, time, placed(self.shape, rows))
        return LiveFrame(number, time, values[: 3 * self.vertex_count].reshape(-1, 3))

    def newest(self) -> LiveFrame | None:
        """The newest frame that was written whole."""
        last = self.published
        return next((frame for number in range(last - 1, max(last - 4, -1), -1) if (frame := self.read(number))), None)

    def held(self) -> list[LiveFrame]:
        """All frames that are there, the oldest first."""
        last = self.published
        found = (self.read(number) for number in range(max(0, last - self.capacity), last))
        return [frame for frame in found if frame is not None]


def placed(shape: Shape, transforms: np.ndarray) -> np.ndarray:
    """Where transforms (N, 3, 4) of the instances put the vertices, (V, 3) float32."""
    mine = transforms[np.clip(shape.instance_of, 0, max(len(transforms) - 1, 0))]
    moved: np.ndarray = np.einsum("vij,vj->vi", mine[:, :, :3], shape.vertices) + mine[:, :, 3]
    return moved.astype(np.float32)


def _fields(sizes: dict[str, int]) -> tuple[dict[str, tuple[int, tuple[int, ...], type]], int]:
    """Where each array begins, its shape and its type; and the size of all."""
    vertices, triangles, capacity = sizes["vertex_count"], sizes["triangle_count"], sizes["capacity"]
    shapes: dict[str, tuple[tuple[int, ...], type]] = {
        "head": ((len(HEAD),), np.int64),
        "numbers": ((capacity,), np.int64),
        "kinds": ((capacity,), np.int64),
        "times": ((capacity,), np.float64),
        "vertices": ((vertices, 3), np.float32),
        "triangles": ((triangles, 3), np.int32),
        "mesh_of": ((triangles,), np.int32),
        "instance_of": ((vertices,), np.int32),
        "colours": ((sizes["mesh_count"], 3), np.float32),
        "slots": ((capacity, max(3 * vertices, 12 * sizes["instance_count"])), np.float32),
    }
    found, at = {}, 0
    for name, (shape, kind) in shapes.items():
        found[name] = (at, shape, kind)
        size = np.dtype(kind).itemsize
        for side in shape:
            size *= side
        at += -(-size // ALIGNED) * ALIGNED
    return found, at
