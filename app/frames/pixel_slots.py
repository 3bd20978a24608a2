"""Buffers that pictures travel in, from the render thread to the window: two per view, never waited for.

The GUI thread makes the slots (for GL it maps their buffers first) and puts them into an exchange. The render thread
takes a free one, draws into it, and puts it back as finished. The GUI thread takes the newest finished one, shows it,
and gives it back. Neither side ever waits for the other's work: who finds nothing goes on with what it has.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from raygrove.gpu.target.base import Array, Target


class PixelSlot(Protocol):
    """A buffer for one picture of at most `width` x `height` RGBA8 pixels. `drawn` is the (width, height) of the
    picture in it."""

    width: int
    height: int
    drawn: tuple[int, int]

    def image(self, target: Target, width: int, height: int) -> contextlib.AbstractContextManager[Array]:
        """Called by the render thread: lend a contiguous (height, width, 4) uint8 array of `target` for one frame, and
        set `drawn`. On leaving, the picture is on its way: work queued on the target's stream may still be running; the
        GUI side waits on that stream (by an event) before it shows the picture."""
        ...


class HostSlot:
    """A slot in host memory. Where the target is not the host, the picture is copied down when the frame is done."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.drawn = (0, 0)
        self._bytes = np.zeros(width * height * 4, np.uint8)
        self._device: Any = None
        self._of: Callable[[], object] = lambda: None  # the target that it is on

    @property
    def pixels(self) -> np.ndarray:
        """The drawn picture, without a copy: (height, width, 4) uint8, row 0 on top."""
        return self._view(*self.drawn)

    @contextlib.contextmanager
    def image(self, target: Target, width: int, height: int) -> Iterator[Array]:
        """See PixelSlot."""
        self.drawn = (width, height)
        if target.kind == "host":
            yield self._view(width, height)
            return
        if self._device is None or self._of() is not target:
            # One place for all sizes: a small picture is enlarged in it, frame by frame.
            self._device, self._of = target.empty(self._bytes.size, np.uint8, "display"), weakref.ref(target)
        device = _first(self._device, width, height)
        yield device
        self.pixels[:] = target.download(device)

    def _view(self, width: int, height: int) -> np.ndarray:
        return np.asarray(_first(self._bytes, width, height))


def _first(pixels: Array, width: int, height: int) -> Array:
    """The first pixels of a buffer as a picture."""
    return pixels[: width * height * 4].reshape(height, width, 4)


class SlotPixels:
    """A slot as the engine sees it: a picture of `width` x `height` on a target."""

    def __init__(self, slot: PixelSlot, target: Target, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._slot, self._target = slot, target

    def map(self) -> contextlib.AbstractContextManager[Array]:
        """The slot's array for one frame."""
        return self._slot.image(self._target, self.width, self.height)


class SlotExchange:
    """Slots of one size, passed between the two threads."""

    def __init__(self, slots: Sequence[PixelSlot]) -> None:
        if not slots:
            raise ValueError("An exchange needs a slot.")
        self.width, self.height = slots[0].width, slots[0].height
        self.slots: tuple[PixelSlot, ...] = tuple(slots)
        self._lock = threading.Condition()
        self._free: list[PixelSlot] = list(slots)
        self._finished: list[PixelSlot] = []
        self._drawing = 0
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether it lends no more."""
        return self._is_closed

    # -- the render thread's side ---------------------------------------------------------------------------------
    def take_free(self, timeout: float = 0.0) -> PixelSlot | None:
        """A slot to draw into, or None: after `timeout` seconds there is none, or the exchange is closed."""
        with self._lock:
            self._lock.wait_for(lambda: bool(self._free) or self._is_closed, timeout)
            if self._is_closed or not self._free:
                return None
            self._drawing += 1
            return self._free.pop(0)

    def finish(self, slot: PixelSlot, is_drawn: bool = True) -> None:
        """Hand a slot over: with a picture, or free again because the frame failed."""
        with self._lock:
            self._drawing -= 1
            (self._finished if is_drawn else self._free).append(slot)
            self._lock.notify_all()

    # -- the GUI thread's side ------------------------------------------------------------------------------------
    def newest_finished(self) -> PixelSlot | None:
        """The newest picture, or None where nothing new is there; older ones that were never shown become free."""
        with self._lock:
            if not self._finished:
                return None
            newest = self._finished.pop()
            self._free.extend(self._finished)
            self._finished.clear()
            self._lock.notify_all()
            return newest

    def give_back(self, slot: PixelSlot) -> None:
        """The picture has been shown (or copied); the slot is free."""
        with self._lock:
            self._free.append(slot)
            self._lock.notify_all()

    def close(self) -> bool:
        """Lend no more slots. True once none is being drawn into: only then may their buffers go; ask again until it
        is. Who still has the exchange (the last frame does) then holds no pictures with it."""
        with self._lock:
            self._is_closed = True
            self._lock.notify_all()
            if self._drawing:
                return False
            self.slots = ()
            self._free.clear()
            self._finished.clear()
            return True
