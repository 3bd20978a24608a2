"""A host target whose copies arrive late, as on a device: what they overwrite is spoilt at once, and the values come
frames later."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raygrove.gpu.target.base import TargetOptions
from raygrove.gpu.target.copies import Copy, CopyQueue, Piece
from raygrove.gpu.target.host import HostTarget


class DelayedCopy:
    """Arrives when its queue has ticked `delay` times, or when it is ordered."""

    def __init__(self, queue: DelayedCopies, pieces: Sequence[Piece], due: int) -> None:
        self.queue, self.pieces, self.due, self.is_there = queue, pieces, due, False
        for array, _ in pieces:
            array.reshape(-1).view(np.uint8).fill(255)  # as numbers these bytes are none

    def arrive(self) -> None:
        """The values are there, after those of every earlier copy."""
        for earlier in self.queue.under_way[: self.queue.under_way.index(self) + 1]:
            for array, values in earlier.pieces:
                np.copyto(array, values)
            earlier.is_there = True
        self.queue.under_way = [copy for copy in self.queue.under_way if not copy.is_there]

    def has_arrived(self) -> bool:
        """Whether its time has come."""
        if not self.is_there and self.queue.now >= self.due:
            self.arrive()
        return self.is_there

    def order(self) -> None:
        """The launches wait: for them it is there."""
        if not self.is_there:
            self.queue.waited += 1
            self.arrive()


class DelayedCopies(CopyQueue):
    """`tick` lets a frame's time pass."""

    def __init__(self, delay: int) -> None:
        self.delay, self.now, self.waited, self.most, self.is_closed = delay, 0, 0, 0, False
        self.under_way: list[DelayedCopy] = []

    def start(self, pieces: Sequence[Piece]) -> Copy:
        assert not self.is_closed and all(array.shape == values.shape for array, values in pieces)
        copy = DelayedCopy(self, pieces, self.now + self.delay)
        self.under_way.append(copy)
        self.most = max(self.most, len(self.under_way))
        return copy

    def close(self) -> None:
        self.is_closed = True


class DelayedTarget(HostTarget):
    """See the module. `queues` are those that were asked for."""

    def __init__(self, delay: int = 2, key_stream: str = "copies") -> None:
        super().__init__(TargetOptions(threads=1, key_stream=key_stream))
        self.delay, self.queues = delay, list[DelayedCopies]()

    def copies(self, to_mapped: bool = False) -> CopyQueue:
        assert to_mapped == (self.options.key_stream == "mapped")
        self.queues.append(DelayedCopies(self.delay))
        return self.queues[-1]

    def tick(self) -> None:
        """A frame's time passes."""
        for queue in self.queues:
            queue.now += 1
