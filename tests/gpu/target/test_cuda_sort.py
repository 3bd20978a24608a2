"""NVIDIA's sort and scan are lent their arrays: the library keeps what its algorithms were called with last."""

from __future__ import annotations

import enum
import types
import weakref
from typing import Any

import numpy as np

from raygrove.gpu.target.cuda_sort import LibrarySorter


class DeviceArray:
    """As much of an array on a device as the sorter looks at."""

    def __init__(self, place: int, size: int, dtype: str) -> None:
        self.dtype, self.shape, self.size = np.dtype(dtype), (size,), size
        self.data = types.SimpleNamespace(ptr=place)


class DoubleBuffer:
    """As cuda.compute's."""

    def __init__(self, current: Any, alternate: Any) -> None:
        self.buffers, self.selector = [current, alternate], 0

    def current(self) -> Any:
        return self.buffers[self.selector]


class Algorithm:
    """Keeps what it was called with, as cuda.compute's do, and leaves what it sorts in the other buffer."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def __call__(self, temp_storage: Any, **arguments: Any) -> int:
        self.kept = arguments
        for name, given in arguments.items():
            if isinstance(given, DoubleBuffer):
                self.kept[name] = list(given.buffers)
                given.selector = int(temp_storage is not None)
        return 64


class Library:
    """Stands in for cuda.compute."""

    DoubleBuffer = DoubleBuffer
    OpKind = enum.Enum("OpKind", ["PLUS"])
    SortOrder = enum.Enum("SortOrder", ["ASCENDING"])

    @staticmethod
    def make_radix_sort(**_: Any) -> Algorithm:
        return Algorithm()

    @staticmethod
    def make_exclusive_scan(**_: Any) -> Algorithm:
        return Algorithm()


class Scratch:
    """A target's scratch memory: an array a name, let go of when asked."""

    def __init__(self) -> None:
        self.held: dict[str, DeviceArray] = {}

    def scratch(self, name: str, shape: Any, dtype: Any) -> DeviceArray:
        size = int(np.prod(shape))
        return self.held.setdefault(name, DeviceArray(4096 + 512 * len(self.held), size, dtype))


def sorter(target: Any) -> LibrarySorter:
    made = object.__new__(LibrarySorter)
    made._library, made._target, made._stream = Library(), target, None
    made._algorithms, made._scratch_bytes, made._zeros = {}, {}, {}
    return made


def test_what_was_sorted_is_in_the_buffer_that_the_library_names() -> None:
    target = Scratch()
    keys, values = DeviceArray(512, 100, "<u8"), DeviceArray(1024, 100, "<u4")
    found = sorter(target).sort_pairs(keys, values, (0, 60), "test")
    assert found == (target.held["test.keys"], target.held["test.values"])
    assert sorter(target).sort_keys(keys, (0, 60), "test") is target.held["test.keys"]


def test_nothing_lives_as_long_as_the_algorithms_of_the_library() -> None:
    target, given = Scratch(), [DeviceArray(512 * place, 100, "<u4") for place in range(1, 5)]
    made = sorter(target)
    made.sort_pairs(given[0], given[1], (0, 32), "test")
    made.exclusive_scan(given[2], given[3], "test")
    lent = [kept for algorithm in made._algorithms.values() for kept in algorithm.kept.values()]
    places = [one.__cuda_array_interface__["data"][0] for one in lent if hasattr(one, "__cuda_array_interface__")]
    watched = [weakref.ref(array) for array in (*given, *target.held.values())]
    given.clear()
    target.held.clear()
    assert not [array() for array in watched if array() is not None]
    assert places == [1536, 2048], "the library knows where the arrays of the scan lie"
