"""Copies of host values to the device. Large ones go through pinned blocks that several threads fill while others are
on their way: a driver that is given pageable memory moves it by one thread, at a tenth of what the bus takes."""

from __future__ import annotations

import concurrent.futures
import ctypes
import queue
from typing import Any

import numpy as np

from ..linux import processors
from .base import OutOfMemoryError
from .cuda_driver import Cuda, checked, pinned_memory
from .remarks import remark

LARGE = 8 << 20
"""Bytes from which a copy is shared out."""

BLOCK_BYTES = 2 << 20
MOST_THREADS = 8


class Uploads:
    """See the module. `stream` is the target's; the device is made current in the threads that copy. Made of nothing
    before the first large copy."""

    def __init__(self, cuda: Cuda, ordinal: int, stream: int) -> None:
        self._cuda, self._runtime, self._ordinal, self._stream = cuda, cuda.runtime, ordinal, stream
        self._pool: concurrent.futures.ThreadPoolExecutor | None = None
        self._blocks: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
        self._events: list[Any] = []

    def copy(self, to: int, values: np.ndarray, what: str) -> None:
        """Contiguous values to a device address, in the order of the stream. They must stay until it was waited for."""
        pool = None if values.nbytes < LARGE else self._pool or self._open()
        if pool is None:
            self._issue(to, values.ctypes.data, values.nbytes, what)
            return
        source = values.ctypes.data
        parts = [
            pool.submit(self._through_block, to + first, source + first, min(BLOCK_BYTES, values.nbytes - first), what)
            for first in range(0, values.nbytes, BLOCK_BYTES)
        ]
        try:
            concurrent.futures.wait(parts)  # all, before an error lets go of the values
        except BaseException:  # Ctrl+C does so, too
            for part in parts:
                part.cancel()
            concurrent.futures.wait(parts)
            raise
        for part in parts:
            part.result()

    def close(self) -> None:
        """Let go of the blocks, which CuPy's pool keeps; what was copied must have been waited for."""
        if self._pool is not None:
            self._pool.shutdown()
        self._pool, self._blocks = None, queue.SimpleQueue()
        for event in self._events:
            self._runtime.cudaEventDestroy(event)
        self._events.clear()

    def _open(self) -> concurrent.futures.ThreadPoolExecutor | None:
        """The threads, as many as there are blocks for; None where there is no block, and the next copy asks anew."""
        threads = min(MOST_THREADS, processors())
        try:
            while len(self._events) < 2 * threads:
                block = pinned_memory(self._cuda, BLOCK_BYTES, "uploads")
                event = checked(
                    self._runtime.cudaEventCreateWithFlags(self._runtime.cudaEventDisableTiming), "making an event"
                )
                self._events.append(event)
                self._blocks.put((block, event))
        except OutOfMemoryError:
            remark(
                "Uploads to the device are slower than they could be: the system has too little page-locked memory "
                "left. Free memory, or raise the limit of locked memory (ulimit -l)."
            )
            threads = min(threads, len(self._events))
        if threads:
            self._pool = concurrent.futures.ThreadPoolExecutor(threads, "raygrove-uploads", self._adopt)
        return self._pool

    def _adopt(self) -> None:
        checked(self._runtime.cudaSetDevice(self._ordinal), "selecting the device")

    def _through_block(self, to: int, source: int, size: int, what: str) -> None:
        """By whichever thread of the pool."""
        block, event = self._blocks.get()
        try:
            checked(self._runtime.cudaEventSynchronize(event), "waiting for a staging block")
            ctypes.memmove(block.ptr, source, size)
            self._issue(to, block.ptr, size, what)
            checked(self._runtime.cudaEventRecord(event, self._stream), f"uploading {what}")
        finally:
            self._blocks.put((block, event))

    def _issue(self, to: int, source: int, size: int, what: str) -> None:
        kind = self._runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
        checked(self._runtime.cudaMemcpyAsync(to, source, size, kind, self._stream), f"uploading {what}")
