"""Pixels without a window: a picture in the target's memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from .target.base import Array, Target


class ArrayPixels:
    """A (height, width, 4) uint8 array of the target that views draw into. Sizes are 1 to 16384; raises ValueError
    beyond."""

    def __init__(self, target: Target, width: int, height: int) -> None:
        if not (1 <= width <= 16384 and 1 <= height <= 16384):
            raise ValueError(f"A picture of {width} x {height} pixels cannot be made: each side is 1 to 16384 pixels.")
        self.width, self.height, self._target = width, height, target
        self._image = target.zeros((height, width, 4), np.uint8, "pixels")

    @contextlib.contextmanager
    def map(self) -> Iterator[Array]:
        """The array, for one frame."""
        yield self._image

    def download(self) -> np.ndarray:
        """The picture on the host; waits."""
        return self._target.download(self._image)
