"""What a target with `checks` keeps for its kernels (gpu/device/checks.cuh): where arrays lie, and the report of a
check that failed, which becomes an error that says which check, kernel, place and bound."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable

import numpy as np

from .base import TargetError

MOST_ARRAYS = 1 << 14
"""Arrays that are known to kernels; places in any beyond are not checked."""

REPORT = np.dtype([("check", "i4"), ("kernel", "i4"), ("index", "i8"), ("bound", "i8"), ("array", "u8")])
"""CheckReport of checks.cuh."""

STATE = np.dtype([("report", REPORT), ("array_count", "i8"), ("arrays", "u8", (MOST_ARRAYS, 2))])
"""CheckState of checks.cuh, which names one of the arrays alone."""

ARRAYS_AT = REPORT.itemsize
"""Where in it stands what `Checks.arrays` gives."""

_PLACE, _NO_ARRAY, _STACK = 1, 2, 3
_RAYS = {
    4: "a ray whose origin is not a number or is infinite",
    5: "a ray whose direction is not a number or is infinite",
    6: "a ray without a direction",
    7: "a ray between distances of which one is not a number",
}


class CheckFailedError(TargetError):
    """A check of a kernel failed: a fault of the program, which would else have read or written what is another's."""


def kernel_id(name: str) -> int:
    """What a kernel is called in a report: the same in every unit and process."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF


class Checks:
    """Which arrays there are, and what failed. Arrays may be forgotten by any thread, at any time."""

    def __init__(self) -> None:
        self._arrays: dict[int, tuple[int, int, str]] = {}
        self._added = itertools.count()
        self._names: dict[int, str] = {}
        self.has_changed = True

    def add(self, address: int, size: int, tag: str) -> int:
        """There is an array of `size` bytes, which may lie where another one does; what it is forgotten by."""
        number = next(self._added)
        self._arrays[number] = (address, address + size, tag)
        self.has_changed = True
        return number

    def forget(self, number: int) -> None:
        """It is gone."""
        self._arrays.pop(number, None)
        self.has_changed = True

    def know(self, kernels: Iterable[str]) -> None:
        """There are kernels of these names."""
        self._names.update((kernel_id(name), name) for name in kernels)

    def arrays(self) -> np.ndarray:
        """What kernels are to know from now on, uint64: how many arrays there are, and where each begins and ends."""
        self.has_changed = False
        ends = dict(sorted((first, end) for first, end, _ in self._arrays.copy().values()))  # the last of each place
        known = list(ends.items())[:MOST_ARRAYS]
        return np.array([len(known), *(place for one in known for place in one)], np.uint64)

    def error(self, report: np.ndarray) -> CheckFailedError | None:
        """What there is to say of a REPORT; None of one of nothing."""
        check, index, bound = int(report["check"]), int(report["index"]), int(report["bound"])
        if check == 0:
            return None
        kernel = self._names.get(int(report["kernel"]), "of a unit")
        if check == _PLACE:
            place, there = int(report["array"]), self._arrays.copy().values()
            tag = next((tag for first, _, tag in there if first == place), "an array that is gone")
            what = f"went to element {index:,} where there are {bound:,} ({tag})"
        elif check == _NO_ARRAY:
            what = f"went to element {index:,} of an array that it was not given"
        elif check == _STACK:
            what = f"pushed one more onto a stack of {bound:,}, with {index:,} on it: the tree is deeper than was said"
        else:
            what = f"was to trace {_RAYS.get(check, 'a ray that cannot be traced')}"
        return CheckFailedError(
            f"The kernel {kernel} {what}. Nothing was read or written there. This is a fault of the program, found by "
            f"its checks (device.checks)."
        )
