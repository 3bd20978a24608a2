"""A GL pixel buffer object that CUDA writes: a picture's way into the window without a copy through main memory.

A view keeps two, so that one is drawn into while the other is shown. GUI thread, with the GL context current: the
constructor,
`lend`, `reclaim`, `close`. Render thread: `image` (or `map`), between a `lend` and a `reclaim`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..target.base import Array
from .cuda_gl import CudaGl, InteropUnavailable
from .gl import GL

MAXIMUM_SIZE = 16384


class PixelBuffer:
    """Room for one RGBA8 picture of at most `width` x `height` pixels; `drawn` is the size of the picture in it.

    Raises InteropUnavailable where the GL context is not the CUDA device's, and ValueError for a size out of range.
    """

    def __init__(self, interop: CudaGl, width: int, height: int) -> None:
        if not (0 < width <= MAXIMUM_SIZE and 0 < height <= MAXIMUM_SIZE):
            raise ValueError(
                f"A picture of {width} x {height} pixels cannot be drawn: both sides must be from 1 to {MAXIMUM_SIZE}."
            )
        self.width, self.height = width, height
        self.drawn = (width, height)
        self.staged: np.ndarray | None = None
        self.buffer_id = 0
        self._interop = interop
        self._resource: Any = None
        self._pointer = 0
        self._is_written = False
        self._refusal: InteropUnavailable | None = None
        self._ready = interop.new_event()
        self._done = interop.new_event()
        try:
            self._allocate()
        except InteropUnavailable:
            self.close()
            raise

    def lend(self) -> None:
        """Hand the buffer to CUDA: from here on the render thread may draw into it."""
        self._pointer, _ = self._interop.map(self._resource)
        self._interop.record(self._ready)
        self._is_written = False

    @contextlib.contextmanager
    def image(self, target: Any, width: int, height: int) -> Iterator[Array]:
        """Lend a (height, width, 4) uint8 array of `target` for one frame. On the buffer's own device its stream waits
        for the mapping and the host does not; a picture of another target (it was changed a moment ago) goes to
        `staged`."""
        if not self._pointer:
            raise InteropUnavailable("The window's pixel buffer was not handed over before it was drawn into.")
        if not (0 < width <= self.width and 0 < height <= self.height):
            raise ValueError(
                f"A picture of {width} x {height} pixels does not fit into a buffer of {self.width} x {self.height}."
            )
        self.drawn, self.staged, before = (width, height), None, self.staged
        is_own = target.kind == "cuda" and target.ordinal == self._interop.device_id
        if not (is_own and self._orders(self._interop.wait, self._ready, target.stream_pointer)):
            with self._stage(target, before) as array:
                yield array
            return
        yield target.wrap_pointer(self._pointer, (height, width, 4), np.uint8)
        self._is_written = self._orders(self._interop.record, self._done, target.stream_pointer)
        if not self._is_written:
            target.synchronize()

    def map(self, target: Any) -> contextlib.AbstractContextManager[Array]:
        """`image` at full size."""
        return self.image(target, self.width, self.height)

    def reclaim(self) -> None:
        """Give the buffer back to GL; what GL does next is ordered after the picture that was written. Raises
        InteropUnavailable, also for what CUDA refused the render thread."""
        pointer, self._pointer = self._pointer, 0
        if not pointer:
            return
        try:
            if self._is_written:
                self._interop.wait(self._done)
        finally:
            self._interop.unmap(self._resource)
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal

    def close(self) -> None:
        """Unmap, unregister, delete: in this order, because a registered buffer must not go. Where CUDA refuses a step
        the others follow all the same: who gives back has no use for the refusal."""
        refused = contextlib.suppress(InteropUnavailable)
        with refused:
            self.reclaim()
        resource, self._resource = self._resource, None
        if resource is not None:
            with refused:
                self._interop.unregister(resource)
        if self.buffer_id:
            GL.glDeleteBuffers(1, [self.buffer_id])
            self.buffer_id = 0
        for event in (self._ready, self._done):
            if event is not None:
                with refused:
                    self._interop.destroy_event(event)
        self._ready = self._done = None

    def _orders(self, order: Callable[[Any, Any], None], event: Any, stream: Any) -> bool:
        """Whether the render thread's stream took an order. A refusal is the window's, which hears of it at `reclaim`:
        the picture itself comes all the same."""
        try:
            order(event, stream)
        except InteropUnavailable as problem:
            self._refusal = problem
            return False
        return True

    @contextlib.contextmanager
    def _stage(self, target: Any, before: np.ndarray | None) -> Iterator[Array]:
        shape = (*reversed(self.drawn), 4)
        is_there = before is not None and before.shape == shape  # what is drawn over it finds the picture
        array = target.upload(before, "display") if is_there else target.empty(shape, np.uint8, "display")
        yield array
        self.staged = np.ascontiguousarray(target.download(array))

    def _allocate(self) -> None:
        self.buffer_id = int(GL.glGenBuffers(1))
        GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, self.buffer_id)
        GL.glBufferData(GL.GL_PIXEL_UNPACK_BUFFER, self.width * self.height * 4, None, GL.GL_STREAM_DRAW)
        GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, 0)
        self._resource = self._interop.register(self.buffer_id)
