"""Buffers that pictures travel in, from the render thread to the window: two a view, never waited for.

The GUI thread makes the slots (for GL it maps their buffers first) and puts them into an exchange. The render thread takes a free one,
draws into it, and puts it back as finished. The GUI thread takes the newest finished one, shows it, and gives it back.
Neither side ever waits for the other: who finds nothing goes on with what it has.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from gpu.target.base import Array, Target


class PixelSlot(Protocol):
    """A buffer for one picture of at most `width` x `height` RGBA8 pixels. `drawn` is the size of the picture in it."""

    width: int
    height: int
    drawn: tuple[int, int]

    def image(self, target: Target, width: int, height: int) -> contextlib.AbstractContextManager[Array]:
        """Called by the render thread: lend a contiguous (height, width, 4) uint8 array of `target` for one frame. On leaving, the
        picture is on its way: work queued on the target's stream may still be running (the GUI side waits on the stream, not on us)."""
        ...


class HostSlot:
    """A slot in host memory. On a target that is not the host the picture is copied down when the frame is done."""

    def __init__(self, width: int, height: int) -> None: ...

    @property
    def pixels(self) -> np.ndarray:
        """The drawn picture: (height, width, 4) uint8, row 0 on top."""
        ...

    @contextlib.contextmanager
    def image(self, target: Target, width: int, height: int) -> Iterator[Array]: ...


class SlotExchange:
    """Slots of one size, passed between the two threads. `serial` of a finished slot grows with each picture."""

    def __init__(self, slots: tuple[PixelSlot, ...]) -> None: ...

    # render thread
    def take_free(self, timeout: float = 0.0) -> PixelSlot | None:
        """A slot to draw into, or None."""

    def finish(self, slot: PixelSlot, is_drawn: bool = True) -> None:
        """Hand a slot over: drawn, or free again because the frame failed."""

    # GUI thread
    def newest_finished(self) -> PixelSlot | None:
        """The newest finished picture, or None; older ones become free."""

    def give_back(self, slot: PixelSlot) -> None:
        """The picture has been shown; the slot is free."""

    def close(self) -> bool:
        """No more slots are lent; True once none is being drawn into (ask again until then before freeing buffers)."""
