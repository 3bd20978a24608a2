"""Launches that repeat from frame to frame, captured once and replayed by one call (a CUDA graph; on the host the
launches themselves).

What may differ between two frames of one key lies in arrays that are written before. A key is captured when it comes
for the third time, whatever came between (frames that rebuild, among others that refit): by then its units are compiled
and its memory is there, and a window that is being dragged larger captures nothing.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Hashable

from .target.base import Target

FRAMES_BEFORE_CAPTURE = 2
MAX_CAPTURED = 16
"""Captured keys; the one not used for longest is dropped beyond that."""
MAX_COUNTED = 16
"""Keys that have not come often enough to be captured, and are counted."""


class RepeatedLaunches:
    """See the module."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._captured: collections.OrderedDict[Hashable, Callable[[], None]] = collections.OrderedDict()
        self._counted: collections.OrderedDict[Hashable, int] = collections.OrderedDict()

    def run(self, key: Hashable, body: Callable[[], None]) -> None:
        """Do what `body` launches. Bodies of one key launch the same kernels with the same arguments."""
        replay = self._captured.get(key)
        if replay is not None:
            self._captured.move_to_end(key)
            replay()
            return
        times = self._counted[key] = self._counted.pop(key, 0) + 1
        if times <= FRAMES_BEFORE_CAPTURE:
            if len(self._counted) > MAX_COUNTED:
                self._counted.popitem(last=False)
            body()
            return
        del self._counted[key]
        if len(self._captured) >= MAX_CAPTURED:
            self._captured.popitem(last=False)
        replay = self._captured[key] = self._target.capture(body)
        replay()

    def clear(self) -> None:
        """Give all captured launches back."""
        self._captured.clear()
        self._counted.clear()
