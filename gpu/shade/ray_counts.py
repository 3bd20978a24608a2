"""Rays that a ray type shoots beside primary ones, counted on the target by kind and depth; read back a frame late."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..target.base import Array, Target


class RayCounts:
    """One uint64 per kind, in the order of `kinds`: shadow, ao, diffuse, reflection 1, path 2 ... Kernels add up a
    block's rays and add that to the kind's place of `array` (atomic_add); `begin` is launched before the first of a
    sample's kernels."""

    def __init__(self, target: Target, kinds: tuple[str, ...]) -> None:
        self._target, self.kinds = target, kinds
        self.array: Array = target.zeros(max(1, len(kinds)), np.uint64, "shade")

    def begin(self) -> None:
        """Forget what the last sample counted. A launch."""
        self._target.fill(self.array, 0)

    def read_later(self) -> Callable[[], dict[str, int] | None]:
        """Start reading back what the last sample counted; the function gives it by kind once it is there, None before.
        Kinds without a ray are left out."""
        kinds, arrives = self.kinds, self._target.read_later(self.array)

        def read() -> dict[str, int] | None:
            arrived = arrives()
            return (
                None
                if arrived is None
                else {kind: int(count) for kind, count in zip(kinds, arrived, strict=False) if count}
            )

        return read
