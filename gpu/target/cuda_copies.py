"""Copies to the device on a stream of their own, through pinned memory, while kernels run on the target's stream.

A thread of its own moves the values into pinned blocks and issues the copies, so that the thread which draws never
touches them: they may lie in a mapped file and be read from the disk. Two events keep the order: a copy waits for what
was launched before it, which may still read what it overwrites, and launches wait for the copy once `order` asked for
it.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import queue
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .base import TargetError
from .copies import Copy, CopyQueue, Piece
from .cuda_driver import Cuda, checked, pinned_memory

BLOCK_BYTES, BLOCKS = 4 << 20, 4
"""Pinned memory: while one block is filled, others are on their way."""

_NOT_READY = 600  # cudaErrorNotReady


class StreamCopy:
    """One copy. `before` marks the launches that it comes after, `arrived` its end on the copy stream, once
    `issued`."""

    def __init__(self, owner: StreamCopies, pieces: Sequence[Piece], before: Any, arrived: Any) -> None:
        self.pieces, self.before, self.arrived = tuple(pieces), before, arrived
        self.issued, self.is_done = threading.Event(), False
        self.error: Exception | None = None
        self._owner = owner

    def has_arrived(self) -> bool:
        """Whether the values are there. Does not wait."""
        return self.is_done or (self.issued.is_set() and self._owner.is_past(self))

    def order(self) -> None:
        """Everything launched from now on sees the values."""
        self.issued.wait()
        if self.error is not None:
            raise TargetError(
                f"Streaming to the device failed: {self.error} Start the program anew if it goes on."
            ) from self.error
        self._owner.let_launches_wait(self)


class StreamCopies(CopyQueue):
    """See the module. `stream` is the target's; the device is made current in the copying thread."""

    def __init__(self, cuda: Cuda, ordinal: int, stream: int) -> None:
        self._cuda, self._runtime, self._ordinal, self._launches = cuda, cuda.runtime, ordinal, stream
        pinned = [
            pinned_memory(cuda, BLOCK_BYTES, "streaming") for _ in range(BLOCKS)
        ]  # before what must be given back
        self._stream = checked(
            self._runtime.cudaStreamCreateWithFlags(self._runtime.cudaStreamNonBlocking), "making a stream for copies"
        )
        self._blocks = [(block, self._new_event()) for block in pinned]
        self._turn = 0
        self._events: list[Any] = []
        self._jobs: queue.SimpleQueue[StreamCopy | None] = queue.SimpleQueue()
        self._unfinished: collections.deque[StreamCopy] = collections.deque()  # keeps the arrays of both sides alive
        self._thread: threading.Thread | None = threading.Thread(target=self._work, name="raygrove-copies", daemon=True)
        self._thread.start()

    def start(self, pieces: Sequence[Piece]) -> Copy:
        if self._thread is None:
            raise TargetError("Nothing can be copied any more: the queue is closed.")
        while self._unfinished and self._unfinished[0].has_arrived():
            done = self._unfinished.popleft()
            done.is_done, done.pieces = True, ()
            self._events += [done.before, done.arrived]
        before, arrived = (self._events.pop() if self._events else self._new_event() for _ in range(2))
        copy = StreamCopy(
            self, [(array, np.ascontiguousarray(values, array.dtype)) for array, values in pieces], before, arrived
        )
        checked(self._runtime.cudaEventRecord(copy.before, self._launches), "ordering a copy")
        self._unfinished.append(copy)
        self._jobs.put(copy)
        return copy

    def close(self) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._jobs.put(None)
        thread.join()
        self._runtime.cudaStreamSynchronize(self._stream)
        for copy in self._unfinished:
            copy.is_done = True
            self._events += [copy.before, copy.arrived]
        self._unfinished.clear()
        for event in (*self._events, *(event for _, event in self._blocks)):
            self._runtime.cudaEventDestroy(event)
        self._blocks, self._events = [], []
        self._runtime.cudaStreamDestroy(self._stream)

    def is_past(self, copy: StreamCopy) -> bool:
        """Whether the copy stream has passed an issued copy's end."""
        if copy.error is not None:
            return False  # and `order` says why
        status = int(self._runtime.cudaEventQuery(copy.arrived)[0])
        if status == _NOT_READY:
            return False
        checked((status, None), "streaming to the device")
        return True

    def let_launches_wait(self, copy: StreamCopy) -> None:
        """What is launched from now on comes after the copy."""
        if not copy.is_done and not self.is_past(copy):
            checked(self._runtime.cudaStreamWaitEvent(self._launches, copy.arrived, 0), "waiting for a copy")

    # -- the copying thread -----------------------------------------------------------------------------------------
    def _work(self) -> None:
        with contextlib.suppress(TargetError):  # an error of the device comes up again at the first copy
            checked(self._runtime.cudaSetDevice(self._ordinal), "selecting the device")
        while (copy := self._jobs.get()) is not None:
            try:
                self._issue(copy)
            except Exception as error:
                copy.error = error
            finally:
                copy.issued.set()

    def _issue(self, copy: StreamCopy) -> None:
        checked(self._runtime.cudaStreamWaitEvent(self._stream, copy.before, 0), "ordering a copy")
        for array, values in copy.pieces:
            for first in range(0, values.nbytes, BLOCK_BYTES):
                self._copy(array.data.ptr + first, values.ctypes.data + first, min(BLOCK_BYTES, values.nbytes - first))
        checked(self._runtime.cudaEventRecord(copy.arrived, self._stream), "ordering a copy")

    def _copy(self, to: int, source: int, size: int) -> None:
        """Through the block whose turn it is, as soon as its last copy is done."""
        block, event = self._blocks[self._turn]
        self._turn = (self._turn + 1) % len(self._blocks)
        checked(self._runtime.cudaEventSynchronize(event), "waiting for a staging block")
        ctypes.memmove(block.ptr, source, size)
        kind = self._runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
        checked(self._runtime.cudaMemcpyAsync(to, block.ptr, size, kind, self._stream), "streaming to the device")
        checked(self._runtime.cudaEventRecord(event, self._stream), "streaming to the device")

    def _new_event(self) -> Any:
        return checked(self._runtime.cudaEventCreateWithFlags(self._runtime.cudaEventDisableTiming), "making an event")


class MappedCopies(StreamCopies):
    """Into page-locked memory of the host that launches read (`DeviceMemory.mapped`): the thread waits until what was
    launched before has read it, and moves the values itself. Launches after `order` see them, as the thread that
    launches has waited for the move to end."""

    def _issue(self, copy: StreamCopy) -> None:
        checked(self._runtime.cudaEventSynchronize(copy.before), "ordering a copy")
        for array, values in copy.pieces:
            ctypes.memmove(array.data.ptr, values.ctypes.data, values.nbytes)
        checked(self._runtime.cudaEventRecord(copy.arrived, self._stream), "ordering a copy")
