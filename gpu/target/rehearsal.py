"""A target that computes nothing and holds no memory: what is built on it says how much it would reserve.

Its arrays have shapes, types and sizes, and one element of memory each; launches and copies do nothing, and whatever is
read back is zero. So builders go their way as on a real target, down to the last array, without a frame's work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Array, DeviceCount, FrameTiming, Target, TargetOptions, Unit, UnitSource

PLENTY = 1 << 50
"""Bytes that are free: nothing is refused for want of memory."""


class Unfilled(np.ndarray):
    """An array of any size over one element."""

    def view(self, *kinds: Any, **more: Any) -> Any:
        """As numpy's, for wider and narrower elements too: there is nothing whose bytes could be split."""
        is_class = bool(kinds) and isinstance(kinds[0], type) and issubclass(kinds[0], np.ndarray)
        if not kinds or is_class or np.dtype(kinds[0]).itemsize == self.dtype.itemsize:
            return super().view(*kinds, **more)
        wanted = np.dtype(kinds[0])
        return unfilled((*self.shape[:-1], self.shape[-1] * self.dtype.itemsize // wanted.itemsize), wanted)


class NoUnit:
    """What there is to launch: nothing."""

    kernels: tuple[str, ...] = ()


def unfilled(shape: int | tuple[int, ...], dtype: Any) -> Unfilled:
    """An array of that shape and type whose `nbytes` are those of a real one."""
    return np.broadcast_to(np.zeros((), dtype), shape).view(Unfilled)


class RehearsalTarget(Target):
    """See the module. `kind` is that of the target whose memory is asked for; `lane_count` and `processors` as
    there."""

    name, device_name = "rehearsal", "none"

    def __init__(self, kind: str, lane_count: int = 8, processors: int = 0) -> None:
        self.kind, self.lane_count, self.processors = kind, lane_count, processors
        self.options = TargetOptions()

    # -- memory -----------------------------------------------------------------------------------------------------
    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        return unfilled(shape, dtype)

    def fill(self, array: Array, value: int | float) -> None:
        """There is nothing to fill."""

    def upload(self, values: np.ndarray, tag: str) -> Array:
        return unfilled(values.shape, values.dtype)

    def write(self, array: Array, values: np.ndarray) -> None:
        """There is nothing to write into."""

    def download(self, array: Array) -> np.ndarray:
        return np.zeros(array.shape, array.dtype)

    def read_later(self, array: Array) -> Callable[[], np.ndarray | None]:
        return lambda: np.zeros(array.shape, array.dtype)

    def memory(self) -> dict[str, int]:
        return {}

    def free_bytes(self) -> int:
        return PLENTY

    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        return unfilled(shape, dtype)

    def forget_scratch(self) -> None:
        """There is none."""

    # -- kernels ----------------------------------------------------------------------------------------------------
    def unit(self, source: UnitSource) -> Unit:
        return NoUnit()

    def launch(
        self, unit: Unit, kernel: str, n: int | DeviceCount, /, *, block: int = 256, blocks: int = 0, **arguments: Any
    ) -> None:
        """Nothing is computed."""

    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str) -> Array:
        return keys

    def sort_pairs(self, keys: Array, values: Array, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        return keys, values

    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None:
        """Nothing is summed."""

    # -- time -------------------------------------------------------------------------------------------------------
    def begin_frame(self, frame_id: int) -> None:
        """No clock runs."""

    def end_frame(self) -> None:
        """No clock runs."""

    def finished_frames(self) -> list[FrameTiming]:
        return []

    def _begin_phase(self, name: str) -> None:
        """No clock runs."""

    def _end_phase(self, name: str) -> None:
        """No clock runs."""

    def synchronize(self) -> None:
        """There is nothing to wait for."""

    def capture(self, body: Callable[[], None]) -> Callable[[], None]:
        return body

    @property
    def is_capturing(self) -> bool:
        return False

    def close(self) -> None:
        """There is nothing to give back."""
