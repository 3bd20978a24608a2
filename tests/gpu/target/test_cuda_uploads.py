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

from raygrove.gpu.target import remarks
from raygrove.gpu.target.base import OutOfMemoryError, TargetError
from raygrove.gpu.target.cuda_copies import StreamCopies
from raygrove.gpu.target.cuda_memory import StagingRing
from raygrove.gpu.target.cuda_uploads import BLOCK_BYTES, LARGE, Uploads

STREAM = 7


class FakeRuntime:
    """Copies are done when their event is waited for, or at the end; the `failing`-th fails. `sizes` and `devices` are
    what was asked for."""

    cudaEventDisableTiming = 0  # noqa: N815
    cudaMemcpyKind = types.SimpleNamespace(cudaMemcpyHostToDevice=1, cudaMemcpyDeviceToHost=2)  # noqa: N815
    cudaStreamCaptureStatus = types.SimpleNamespace(cudaStreamCaptureStatusActive=1)  # noqa: N815

    def __init__(self, failing: int = -1) -> None:
        self.sizes: list[int] = []
        self.devices: set[tuple[int, int]] = set()
        self.failing, self.made, self.destroyed = failing, 0, 0
        self.lock = threading.Lock()
        self.late: dict[int, list[tuple[int, int, int]]] = {}
        self.of_event: dict[int, list[tuple[int, int, int]]] = {}
        self.graph: list[tuple[int, int, int]] = []
        self.is_capturing = False

    def cudaSetDevice(self, ordinal: int) -> tuple[int]:
        self.devices.add((ordinal, threading.get_ident()))
        return (0,)

    def cudaEventCreateWithFlags(self, flags: int) -> tuple[int, int]:
        self.made += 1
        return 0, self.made

    def cudaStreamIsCapturing(self, stream: int) -> tuple[int, int]:
        assert stream == STREAM
        return 0, int(self.is_capturing)

    def cudaEventRecord(self, event: int, stream: int) -> tuple[int]:
        assert stream == STREAM
        assert not self.is_capturing, "whoever asks for it afterwards is told that it is invalid"
        with self.lock:
            self.of_event.setdefault(event, []).extend(self.late.pop(threading.get_ident(), []))
        return (0,)

    def cudaEventSynchronize(self, event: int) -> tuple[int]:
        with self.lock:
            found = self.of_event.pop(event, [])
        for one in found:
            ctypes.memmove(*one)
        return (0,)

    def cudaEventQuery(self, event: int) -> tuple[int]:
        return (600 if self.of_event.get(event) else 0,)

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
        if self.is_capturing:
            self.graph.append((to, source, size))
            return (0,)
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


class CUDARuntimeError(RuntimeError):
    """As CuPy has it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"cudaError {status}")
        self.status = status


def cuda_of(runtime: FakeRuntime, most_blocks: int = 1 << 10, status: int = 2) -> Any:
    """The libraries, of which CuPy gives so many pinned blocks and then fails with that status."""
    left = itertools.count(most_blocks, -1)

    def pinned(size: int) -> Pinned:
        if next(left) <= 0:
            raise CUDARuntimeError(status)
        return Pinned(size)

    errors = types.SimpleNamespace(CUDARuntimeError=CUDARuntimeError)
    return types.SimpleNamespace(
        runtime=runtime,
        cupy=types.SimpleNamespace(cuda=types.SimpleNamespace(alloc_pinned_memory=pinned, runtime=errors)),
    )


def uploads_of(runtime: FakeRuntime) -> Uploads:
    return Uploads(cuda_of(runtime), 3, STREAM)


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


@pytest.mark.parametrize("blocks", [0, 1, 3])
def test_without_page_locked_memory_they_go_slower_and_that_is_said(
    blocks: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(remarks, "_said", {})
    values = np.random.default_rng(2).integers(0, 256, LARGE + 12345, np.uint8)
    there, runtime = np.zeros(len(values), np.uint8), FakeRuntime()
    uploads = Uploads(cuda_of(runtime, blocks), 3, STREAM)
    for _ in range(2):
        there[:] = 0
        uploads.copy(there.ctypes.data, values, "values")
        runtime.finish()
        np.testing.assert_array_equal(there, values)
    assert max(runtime.sizes) == (BLOCK_BYTES if blocks else len(values)) and runtime.made == blocks
    (said,) = caplog.messages
    assert "slower" in said and "too little page-locked memory" in said and "ulimit -l" in said
    uploads.close()
    assert runtime.destroyed == blocks


def test_another_error_of_pinned_memory_is_a_sentence() -> None:
    runtime = FakeRuntime()
    uploads = Uploads(cuda_of(runtime, 1, 700), 3, STREAM)
    with pytest.raises(TargetError, match="stopped while taking page-locked memory for uploads"):
        uploads.copy(0, np.ones(LARGE, np.uint8), "values")
    uploads.close()
    assert runtime.made == runtime.destroyed == 1


def test_staging_and_streaming_say_that_there_is_none_and_leave_nothing_over() -> None:
    runtime = FakeRuntime()
    values = np.ones(16, np.uint8)
    ring = StagingRing(cuda_of(runtime, 0), types.SimpleNamespace(ptr=STREAM))
    with pytest.raises(OutOfMemoryError, match="page-locked memory for small copies"):
        ring.write(0, values)
    with pytest.raises(OutOfMemoryError, match="page-locked memory for streaming"):
        StreamCopies(cuda_of(runtime, 3), 3, STREAM)
    ring.close()
    assert runtime.made == runtime.destroyed == 0, "no stream either: the stand-in has none to make"


@pytest.mark.parametrize("count", [5, 100_000])
def test_what_is_written_while_a_caller_captures_stays_for_the_graph(count: int) -> None:
    """Events of a capture are never done: after 16 such writes the target could write no more, and said so of all."""
    runtime = FakeRuntime()
    ring = StagingRing(cuda_of(runtime), types.SimpleNamespace(ptr=STREAM))
    found, values = np.zeros(count, np.int32), np.arange(count, dtype=np.int32)
    runtime.is_capturing = True
    for turn in range(20):
        ring.write(found.ctypes.data, values + turn)
    runtime.is_capturing = False
    other = np.zeros(8, np.int32)
    for turn in range(40):
        ring.write(other.ctypes.data, np.full(8, turn, np.int32))
        runtime.finish()
        np.testing.assert_array_equal(other, turn)
    for turn, one in enumerate(runtime.graph):  # launched later, as often as the caller likes
        ctypes.memmove(*one)
        np.testing.assert_array_equal(found, values + turn)
    assert runtime.made == 1
    ring.close()


def test_a_lost_device_is_said_where_a_block_is_looked_for() -> None:
    runtime = FakeRuntime()
    ring = StagingRing(cuda_of(runtime), types.SimpleNamespace(ptr=STREAM))
    values = np.ones(4, np.int32)
    ring.write(values.ctypes.data, values)
    runtime.cudaEventQuery = lambda event: (700,)  # type: ignore[method-assign]
    with pytest.raises(TargetError, match="looking for a staging block"):
        ring.write(values.ctypes.data, values)


def read_of(ring: StagingRing, values: np.ndarray) -> Any:
    """What gives the values, which are at an address of the host here."""
    return ring.read(values.ctypes.data, values.shape, values.dtype)


def test_what_is_read_comes_once_it_is_there_and_its_block_is_used_again() -> None:
    runtime = FakeRuntime()
    ring = StagingRing(cuda_of(runtime), types.SimpleNamespace(ptr=STREAM))
    for turn in range(5):
        values = np.arange(40, dtype=np.float32).reshape(8, 5) + turn
        take = read_of(ring, values)
        assert take() is None
        runtime.finish()
        np.testing.assert_array_equal(take(), values)
        np.testing.assert_array_equal(take(), values)
    assert runtime.made == 1
    ring.close()
    assert runtime.destroyed == 1


def test_values_that_nobody_takes_keep_no_block() -> None:
    """Each scene that was closed before its last figures came kept a block of page-locked memory and an event."""
    runtime, values = FakeRuntime(), np.arange(7, dtype=np.int32)
    ring = StagingRing(cuda_of(runtime), types.SimpleNamespace(ptr=STREAM))
    first = read_of(ring, values)
    for _ in range(20):
        read_of(ring, values)  # and its answer is thrown away, while the device still writes
    assert runtime.made == 21, "no block is given to another while the device writes to it"
    runtime.finish()
    for _ in range(20):
        read_of(ring, values)
        runtime.finish()
    assert runtime.made == 21
    np.testing.assert_array_equal(first(), values)
    last = read_of(ring, values + 1)
    ring.close()
    assert runtime.destroyed == runtime.made == 21
    del first, last  # whose blocks have gone
