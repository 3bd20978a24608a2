"""Uploads through pinned blocks, against a runtime that copies late: every byte arrives, by several threads, and an
error comes up."""

from __future__ import annotations

import ctypes
import itertools
import threading
import types
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.target.base import TargetError
from raygrove.gpu.target.cuda_uploads import BLOCK_BYTES, LARGE, Uploads

STREAM = 7


class FakeRuntime:
    """Copies are done when their event is waited for, or at the end; the `failing`-th fails. `sizes` and `devices` are
    what was asked for."""

    cudaEventDisableTiming = 0  # noqa: N815
    cudaMemcpyKind = types.SimpleNamespace(cudaMemcpyHostToDevice=1)  # noqa: N815

    def __init__(self, failing: int = -1) -> None:
        self.sizes: list[int] = []
        self.devices: set[tuple[int, int]] = set()
        self.failing, self.made, self.destroyed = failing, 0, 0
        self.lock = threading.Lock()
        self.late: dict[int, list[tuple[int, int, int]]] = {}
        self.of_event: dict[int, list[tuple[int, int, int]]] = {}

    def cudaSetDevice(self, ordinal: int) -> tuple[int]:
        self.devices.add((ordinal, threading.get_ident()))
        return (0,)

    def cudaEventCreateWithFlags(self, flags: int) -> tuple[int, int]:
        self.made += 1
        return 0, self.made

    def cudaEventRecord(self, event: int, stream: int) -> tuple[int]:
        assert stream == STREAM
        with self.lock:
            self.of_event.setdefault(event, []).extend(self.late.pop(threading.get_ident(), []))
        return (0,)

    def cudaEventSynchronize(self, event: int) -> tuple[int]:
        with self.lock:
            found = self.of_event.pop(event, [])
        for one in found:
            ctypes.memmove(*one)
        return (0,)

    def finish(self) -> None:
        """What the target's own waiting does."""
        for one in itertools.chain(*self.of_event.values(), *self.late.values()):
            ctypes.memmove(*one)
        self.of_event, self.late = {}, {}

    def cudaEventDestroy(self, event: int) -> tuple[int]:
        self.destroyed += 1
        return (0,)

    def cudaMemcpyAsync(self, to: int, source: int, size: int, kind: int, stream: int) -> tuple[int]:
        assert stream == STREAM
        with self.lock:
            self.sizes.append(size)
            number = len(self.sizes)
            self.late.setdefault(threading.get_ident(), []).append((to, source, size))
        return (700 if number == self.failing else 0,)


class Pinned:
    """Memory of the host in the place of page-locked memory."""

    def __init__(self, size: int) -> None:
        self._values = np.empty(size, np.uint8)
        self.ptr = self._values.ctypes.data


def uploads_of(runtime: FakeRuntime) -> Uploads:
    cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(alloc_pinned_memory=Pinned))
    cuda: Any = types.SimpleNamespace(runtime=runtime, cupy=cupy)
    return Uploads(cuda, 3, STREAM)


@pytest.mark.parametrize("count", [1, LARGE - 1, LARGE, LARGE + 12345, 5 * LARGE])
def test_every_byte_arrives(count: int) -> None:
    values = np.random.default_rng(1).integers(0, 256, count, np.uint8)
    there, runtime = np.zeros(count, np.uint8), FakeRuntime()
    uploads = uploads_of(runtime)
    for _ in range(2):
        there[:] = 0
        uploads.copy(there.ctypes.data, values, "values")
        runtime.finish()
        np.testing.assert_array_equal(there, values)
    assert sum(runtime.sizes) == 2 * count
    is_large = count >= LARGE
    assert max(runtime.sizes) == (BLOCK_BYTES if is_large else count) and bool(runtime.devices) == is_large
    assert {ordinal for ordinal, _ in runtime.devices} <= {3}
    uploads.close()
    assert runtime.destroyed == runtime.made and (runtime.made > 0) == is_large


def test_an_error_comes_up_once_all_threads_are_done() -> None:
    values, there = np.ones(4 * LARGE, np.uint8), np.zeros(4 * LARGE, np.uint8)
    runtime = FakeRuntime(failing=2)
    uploads = uploads_of(runtime)
    with pytest.raises(TargetError):
        uploads.copy(there.ctypes.data, values, "values")
    assert len(runtime.sizes) == 4 * LARGE // BLOCK_BYTES, "nobody reads the values any more"
    uploads.copy(there.ctypes.data, values, "values")
    uploads.close()
