"""Arrays and streams of others on the CUDA target: memory that is read where it lies, and work that waits for the
caller's work and is waited for by it, on the device alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .base import Array, TargetError
from .cuda_driver import Cuda, checked
from .foreign import WrongDeviceError, has_cuda_interface


def adopted(cuda: Cuda, ordinal: int, array: Any, name: str) -> Array:
    """What lies on a GPU as cupy's array over the same memory, which keeps its owner alive. Nothing waits. Raises
    WrongDeviceError where it lies on another GPU."""
    cupy = cuda.cupy
    if isinstance(array, cupy.ndarray):
        found = array
    elif has_cuda_interface(array):
        # Not cupy.asarray: that may wait for the array's stream, and the caller's stream is followed anyway.
        said = array.__cuda_array_interface__
        shape, kind, strides = said["shape"], np.dtype(said["typestr"]), said.get("strides")
        pointer = int(said["data"][0]) if int(np.prod(shape)) else 0
        where = pointer and int(cupy.cuda.runtime.pointerGetAttributes(pointer).device)
        if pointer and where != ordinal:
            raise _elsewhere(name, where, ordinal)
        size = _bytes_spanned(shape, kind, strides)
        memory = cupy.cuda.UnownedMemory(pointer, size, array, ordinal)
        return cupy.ndarray(shape, kind, cupy.cuda.MemoryPointer(memory, 0), strides)
    else:
        found = cupy.from_dlpack(array)
    if found.device.id != ordinal:
        raise _elsewhere(name, found.device.id, ordinal)
    return found


def _elsewhere(name: str, where: int, ordinal: int) -> TargetError:
    return WrongDeviceError(
        f"{name} lie on cuda:{where} and the tree is on cuda:{ordinal}",
        remedy=f'copy them, or take device="cuda:{where}"',
    )


def _bytes_spanned(shape: tuple[int, ...], kind: np.dtype, strides: tuple[int, ...] | None) -> int:
    if strides is None or 0 in shape:
        return int(np.prod(shape)) * kind.itemsize
    return sum((count - 1) * abs(step) for count, step in zip(shape, strides, strict=True)) + kind.itemsize


class Handover:
    """Orders a target's stream after a caller's, and that after the target's, by two events: the device waits, the host
    does not. Legal while the caller's stream is captured: then the target's work becomes part of the graph."""

    def __init__(self, cuda: Cuda, own_stream: int) -> None:
        self._runtime, self._own = cuda.runtime, own_stream
        flags = int(cuda.runtime.cudaEventDisableTiming)
        self._before, self._after = (
            checked(cuda.runtime.cudaEventCreateWithFlags(flags), "making an event") for _ in range(2)
        )

    @contextlib.contextmanager
    def between(self, caller: int | None) -> Iterator[None]:
        """What is launched inside comes after the caller's work so far and before its work to come."""
        if caller is None or caller == self._own:
            yield
            return
        runtime = self._runtime
        checked(runtime.cudaEventRecord(self._before, caller), "following the caller's stream")
        checked(runtime.cudaStreamWaitEvent(self._own, self._before, 0), "following the caller's stream")
        try:
            yield
        finally:
            checked(runtime.cudaEventRecord(self._after, self._own), "giving the stream back")
            checked(runtime.cudaStreamWaitEvent(caller, self._after, 0), "giving the stream back")

    def is_captured(self, caller: int | None) -> bool:
        """Whether the caller's stream is being captured."""
        if not caller:  # the legacy stream cannot be
            return False
        found = checked(self._runtime.cudaStreamIsCapturing(caller), "asking a stream")
        return int(found) == int(self._runtime.cudaStreamCaptureStatus.cudaStreamCaptureStatusActive)

    def close(self) -> None:
        """Give the events back."""
        for event in (self._before, self._after):
            self._runtime.cudaEventDestroy(event)


class ForeignMemory:
    """The part of the CUDA target that is about what others have on its GPU."""

    _cuda: Cuda
    ordinal: int
    stream_pointer: int
    _stream: Any
    _handover: Handover | None = None

    def _adopt_thread(self) -> None:
        raise NotImplementedError  # the target's

    def wrap_pointer(self, pointer: int, shape: tuple[int, ...], dtype: Any) -> Array:
        """Device memory that somebody else owns (a mapped pixel buffer) as an array; the owner keeps it alive and
        orders its use by events."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = self._cuda.cupy.cuda.UnownedMemory(pointer, size, self, self.ordinal)
        return self._cuda.cupy.ndarray(shape, np.dtype(dtype), self._cuda.cupy.cuda.MemoryPointer(memory, 0))

    def adopt(self, array: Any, name: str) -> Array:
        """An array that somebody else has on this GPU, over the same memory and keeping it alive. Does not wait. Raises
        WrongDeviceError where it is on another one."""
        self._adopt_thread()
        return adopted(self._cuda, self.ordinal, array, name)

    def converted(self, array: Array, dtype: np.dtype) -> Array:
        """A C-contiguous copy of another type, in the order of the launches."""
        with self._stream:
            return array.astype(dtype, order="C")

    def current_stream(self) -> int:
        """cupy's current stream in this thread."""
        return int(self._cuda.cupy.cuda.get_current_stream().ptr)

    def between(self, stream: int | None) -> contextlib.AbstractContextManager[None]:
        """As Target has it."""
        if stream is None or stream == self.stream_pointer:
            return contextlib.nullcontext()
        return self._own_handover().between(stream)

    def is_captured_by(self, stream: int | None) -> bool:
        """As Target has it."""
        return bool(stream) and self._own_handover().is_captured(stream)

    def close_handover(self) -> None:
        """Give its events back."""
        handover, self._handover = self._handover, None
        if handover is not None:
            handover.close()

    def _own_handover(self) -> Handover:
        """Made when it is first needed, in the thread that has the device."""
        self._adopt_thread()
        if self._handover is None:
            self._handover = Handover(self._cuda, self.stream_pointer)
        return self._handover
