"""Device memory of the CUDA target: arrays counted by tag, scratch that keeps its place, and pinned staging for small
writes."""

from __future__ import annotations

import collections
import ctypes
import math
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..linux import main_memory
from .base import Array, OutOfMemoryError, TargetError
from .checks import Checks
from .cuda_driver import Cuda, checked, pinned_memory

_ROUND = 512  # bytes: what cupy's pool rounds to, and the alignment of its blocks
_NOT_READY = 600  # cudaErrorNotReady
_STAGED_LIMIT = 32 << 20  # larger writes go straight from pageable memory, which waits


class _Reservation:
    """Owner of an array's memory: alive as long as the array or a view of it."""

    def __init__(self, block: Any) -> None:
        self.block = block


class DeviceMemory:
    """Arrays from a pool of our own. All of them are used on one stream only, so a freed block can be handed out at
    once.

    With `is_exact` there is no pool: each array is an allocation of exactly its size, given back when the device is
    idle."""

    def __init__(self, cuda: Cuda, ordinal: int, stream: Any, is_exact: bool = False) -> None:
        self._cupy, self._ordinal, self._stream = cuda.cupy, ordinal, stream
        self._runtime = cuda.runtime
        self._pool = cuda.cupy.cuda.MemoryPool()
        self._round = 1 if is_exact else _ROUND
        self._is_exact = is_exact
        self._tags: collections.Counter[str] = collections.Counter()
        self._lock = threading.RLock()  # finalizers run wherever the garbage collector does
        self._scratch: dict[str, Array] = {}
        self._views: dict[tuple[str, Any, Any], Array] = {}
        self.checks: Checks | None = None  # what is told of arrays from now on
        self.is_frozen = False  # while a graph is captured nothing may be allocated

    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        """An uninitialised array counted under `tag`."""
        if self.is_frozen:
            raise TargetError(
                f"Memory was asked for ({tag}) while a CUDA graph was being captured: run the frame once before "
                f"it is captured."
            )
        shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        kind = np.dtype(dtype)
        reserved = -(-max(1, math.prod(shape) * kind.itemsize) // self._round) * self._round
        owner = _Reservation(self._allocate(reserved, tag))
        with self._lock:
            self._tags[tag] += reserved
        address = int(owner.block.ptr)
        number = -1 if self.checks is None else self.checks.add(address, math.prod(shape) * kind.itemsize, tag)
        weakref.finalize(owner, self._forget, tag, reserved, number).atexit = False
        memory = self._cupy.cuda.UnownedMemory(owner.block.ptr, reserved, owner, self._ordinal)
        return self._cupy.ndarray(shape, kind, self._cupy.cuda.MemoryPointer(memory, 0))

    def mapped(self, values: np.ndarray) -> Array:
        """A copy of host values in page-locked memory of the host, which kernels read by the same address; counted
        under "mapped", as it takes nothing of the device. Raises OutOfMemoryError."""
        size = max(1, values.nbytes)
        try:
            pointer = int(checked(self._runtime.cudaHostAlloc(size, self._runtime.cudaHostAllocMapped)))
        except TargetError as error:
            raise OutOfMemoryError("page-locked memory for key frames", size, main_memory()[1]) from error
        ctypes.memmove(pointer, values.ctypes.data, values.nbytes)
        owner = _Reservation(pointer)
        with self._lock:
            self._tags["mapped"] += size
        number = -1 if self.checks is None else self.checks.add(pointer, values.nbytes, "mapped")
        weakref.finalize(owner, self._free_mapped, pointer, size, number).atexit = False
        memory = self._cupy.cuda.UnownedMemory(pointer, size, owner, self._ordinal)
        return self._cupy.ndarray(values.shape, values.dtype, self._cupy.cuda.MemoryPointer(memory, 0))

    def _free_mapped(self, pointer: int, size: int, number: int) -> None:
        self._forget("mapped", size, number)
        self._runtime.cudaFreeHost(pointer)  # waits for what still reads it

    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """The first elements of the buffer `name`, which grows by at least 1/8 where it is too small."""
        key = (name, shape, dtype)
        view = self._views.get(key)
        if view is not None:
            return view
        kind = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        needed = max(1, math.prod(shape) * kind.itemsize)
        buffer = self._scratch.get(name)
        if buffer is None or buffer.nbytes < needed:
            self._views = {k: v for k, v in self._views.items() if k[0] != name}
            size = max(needed, buffer.nbytes * 9 // 8) if buffer is not None else needed
            self._scratch.pop(name, None)
            del buffer
            buffer = self._scratch[name] = self.empty(-(-size // self._round) * self._round, np.uint8, "scratch")
        if len(self._views) > 512:
            self._views.clear()
        made = self._views[key] = self._cupy.ndarray(shape, kind, buffer.data)
        return made

    def forget_scratch(self) -> None:
        """Let go of every scratch buffer."""
        if self.is_frozen:
            raise TargetError("Scratch memory was to be given back while a CUDA graph was being captured.")
        self._scratch.clear()
        self._views.clear()

    def idle_bytes(self) -> int:
        """What the pool holds and no array has."""
        return int(self._pool.free_bytes())

    def give_idle_back(self) -> None:
        """Give that back to the device."""
        self._pool.free_all_blocks()

    def scratch_buffers(self) -> tuple[Array, ...]:
        """Every scratch buffer as it is now: a captured graph keeps them alive."""
        return tuple(self._scratch.values())

    def by_tag(self) -> dict[str, int]:
        """Reserved bytes by tag."""
        with self._lock:
            return {tag: count for tag, count in sorted(self._tags.items()) if count}

    def free_bytes(self) -> int:
        """What the device has free, and what the pool holds and nobody uses."""
        free, _ = checked(self._runtime.cudaMemGetInfo())
        return int(free) + int(self._pool.free_bytes())

    def close(self) -> None:
        """Give back what is not in use any more."""
        self.forget_scratch()
        self._pool.free_all_blocks()

    def _allocate(self, reserved: int, tag: str) -> Any:
        try:
            if self._is_exact:
                return self._cupy.cuda.MemoryPointer(self._cupy.cuda.Memory(reserved), 0)
            with self._stream:
                return self._pool.malloc(reserved)
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            available, _ = checked(self._runtime.cudaMemGetInfo())
            raise OutOfMemoryError(f"{tag} on the CUDA device", reserved, int(available)) from error

    def _forget(self, tag: str, reserved: int, number: int) -> None:
        with self._lock:
            self._tags[tag] -= reserved
        if self.checks is not None:
            self.checks.forget(number)


def address_of(array: Any) -> int:
    """Where an array begins; TargetError for one that is not on the device."""
    try:
        return int(array.data.ptr)
    except AttributeError:
        raise TargetError(
            f"A {type(array).__name__} was given to a kernel of the CUDA target: upload it first."
        ) from None


class StagingRing:
    """Copies small host values without waiting: into a pinned block, then asynchronously. A block is used again when
    its copy is done."""

    def __init__(self, cuda: Cuda, stream: Any) -> None:
        self._cuda, self._runtime, self._stream = cuda, cuda.runtime, stream.ptr
        self._blocks: dict[int, collections.deque[tuple[Any, Any]]] = {}
        self._readers: dict[int, list[tuple[Any, Any]]] = {}  # apart from those to write from: one may be held for long
        self._reading: dict[int, tuple[Any, Any]] = {}
        self._left: collections.deque[tuple[int, tuple[Any, Any]]] = collections.deque()
        self._of_graphs: list[Any] = []  # blocks that a caller's graphs copy from whenever they are launched
        self._host_to_device = cuda.runtime.cudaMemcpyKind.cudaMemcpyHostToDevice

    def write(self, address: int, values: np.ndarray) -> None:
        """Copy contiguous `values` to the device address, in the order of the stream. Where a caller captures that,
        each launch of the graph copies what the values are now."""
        size = values.nbytes
        if self._is_captured():
            self._of_graphs.append(block := pinned_memory(self._cuda, size, "copies of a graph"))
            ctypes.memmove(block.ptr, values.ctypes.data, size)
            self._copy(address, block.ptr, size)
            return
        if size > _STAGED_LIMIT:
            self._copy(address, values.ctypes.data, size)
            checked(self._runtime.cudaStreamSynchronize(self._stream), "writing an array")
            return
        block, event = self._free_block(1 << max(12, (size - 1).bit_length()))
        ctypes.memmove(block.ptr, values.ctypes.data, size)
        self._copy(address, block.ptr, size)
        checked(self._runtime.cudaEventRecord(event, self._stream))

    def read(self, address: int, shape: tuple[int, ...], dtype: Any) -> Callable[[], np.ndarray | None]:
        """Start copying device memory to the host; the function gives the values once they are there, None before."""
        kind, count = np.dtype(dtype), math.prod(shape)
        size = count * kind.itemsize
        rounded = 1 << max(12, (size - 1).bit_length())
        block, event = self._reader(rounded)
        to_host = self._runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
        checked(self._runtime.cudaMemcpyAsync(block.ptr, address, size, to_host, self._stream), "reading an array back")
        checked(self._runtime.cudaEventRecord(event, self._stream))
        values: list[np.ndarray] = []
        self._reading[id(event)] = block, event  # stays until it is taken: the device writes to it

        def take() -> np.ndarray | None:
            if not values:
                status = int(self._runtime.cudaEventQuery(event)[0])
                if status == _NOT_READY:
                    return None
                checked((status, None), "reading an array back")
                values.append(np.frombuffer(ctypes.string_at(block.ptr, size), kind, count).reshape(shape).copy())
                unread.detach()
                self._readers[rounded].append(self._reading.pop(id(event)))
            return values[0]

        unread = weakref.finalize(take, self._leave, rounded, id(event))
        unread.atexit = False
        return take

    def close(self) -> None:
        """Give the blocks back; their copies must be done."""
        left = [pair for _, pair in self._left]
        for ring in (*self._blocks.values(), *self._readers.values(), self._reading.values(), left):
            for _, event in ring:
                self._runtime.cudaEventDestroy(event)
        for kept in (self._blocks, self._readers, self._reading, self._left, self._of_graphs):
            kept.clear()

    def _copy(self, address: int, source: int, size: int) -> None:
        checked(
            self._runtime.cudaMemcpyAsync(address, source, size, self._host_to_device, self._stream), "writing an array"
        )

    def _is_captured(self) -> bool:
        """Whether a caller captures what is launched now: its events would never be done, and its blocks never free."""
        status = checked(self._runtime.cudaStreamIsCapturing(self._stream), "asking a stream")
        return int(status) == int(self._runtime.cudaStreamCaptureStatus.cudaStreamCaptureStatusActive)

    def _reader(self, size: int) -> tuple[Any, Any]:
        """A block to read into: an idle one, also one whose values nobody asked for and are there by now."""
        for _ in range(len(self._left)):
            rounded, (block, event) = self._left.popleft()
            if int(self._runtime.cudaEventQuery(event)[0]) == _NOT_READY:
                self._left.append((rounded, (block, event)))
            else:
                self._readers[rounded].append((block, event))
        idle = self._readers.setdefault(size, [])
        return idle.pop() if idle else self._new_block(size)

    def _leave(self, size: int, number: int) -> None:
        """Nobody will take what is read: its scene was closed first. Called by whoever collects garbage."""
        if (pair := self._reading.pop(number, None)) is not None:
            self._left.append((size, pair))

    def _free_block(self, size: int) -> tuple[Any, Any]:
        ring = self._blocks.setdefault(size, collections.deque())
        if ring:
            status = int(self._runtime.cudaEventQuery(ring[0][1])[0])
            if status != _NOT_READY:
                checked((status, None), "looking for a staging block")
            done = status == 0
            if not done and len(ring) >= 16:
                checked(self._runtime.cudaEventSynchronize(ring[0][1]), "waiting for a staging block")
                done = True
            if done:
                ring.rotate(-1)
                return ring[-1]
        ring.append(self._new_block(size))
        return ring[-1]

    def _new_block(self, size: int) -> tuple[Any, Any]:
        block = pinned_memory(self._cuda, size, "small copies")  # first: where there is none, no event is left over
        event = checked(self._runtime.cudaEventCreateWithFlags(self._runtime.cudaEventDisableTiming), "making an event")
        return block, event
