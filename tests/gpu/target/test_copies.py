"""The copying thread of the CUDA target against a runtime that copies at once: what it asks of the driver, in what
order; what errors become."""

from __future__ import annotations

import ctypes
import threading
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.target.base import TargetError
from raygrove.gpu.target.copies import ImmediateCopies
from raygrove.gpu.target.cuda_copies import BLOCK_BYTES, BLOCKS, StreamCopies

LAUNCHES, COPIES = 7, 8
NOT_READY = 600


class FakeRuntime:
    """Streams are numbers, events objects; a copy is done when it is asked for, unless `gate` is closed. `calls` keeps
    the order."""

    cudaStreamNonBlocking = cudaEventDisableTiming = 0  # noqa: N815
    cudaMemcpyKind = types.SimpleNamespace(cudaMemcpyHostToDevice=1)  # noqa: N815

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.passed: set[int] = set()
        self.made = self.destroyed = 0
        self.copy_status = 0

    def cudaSetDevice(self, ordinal: int) -> tuple[int]:
        self.calls.append(("device", ordinal, threading.current_thread().name))
        return (0,)

    def cudaStreamCreateWithFlags(self, flags: int) -> tuple[int, int]:
        return 0, COPIES

    def cudaEventCreateWithFlags(self, flags: int) -> tuple[int, int]:
        self.made += 1
        return 0, self.made

    def cudaEventRecord(self, event: int, stream: int) -> tuple[int]:
        self.calls.append(("record", event, stream))
        self.passed.add(event)
        return (0,)

    def cudaStreamWaitEvent(self, stream: int, event: int, flags: int) -> tuple[int]:
        self.calls.append(("wait", stream, event))
        return (0,)

    def cudaEventQuery(self, event: int) -> tuple[int]:
        return (0 if event in self.passed and self.gate.is_set() else NOT_READY,)

    def cudaEventSynchronize(self, event: int) -> tuple[int]:
        return (0,)

    def cudaMemcpyAsync(self, to: int, source: int, size: int, kind: int, stream: int) -> tuple[int]:
        self.calls.append(("copy", size, stream))
        ctypes.memmove(to, source, size)
        return (self.copy_status,)

    def cudaStreamSynchronize(self, stream: int) -> tuple[int]:
        return (0,)

    def cudaEventDestroy(self, event: int) -> tuple[int]:
        self.destroyed += 1
        return (0,)

    def cudaStreamDestroy(self, stream: int) -> tuple[int]:
        self.calls.append(("destroyed", stream))
        return (0,)

    def cudaGetErrorString(self, status: Any) -> tuple[int, bytes]:
        return 0, b"out of luck"


class FakeArray:
    """What a copy needs of a device's array, in the memory of the host."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.dtype = values, values.dtype
        self.data = types.SimpleNamespace(ptr=values.ctypes.data)


def fake_pinned(size: int) -> Any:
    memory = np.zeros(size, np.uint8)
    return types.SimpleNamespace(ptr=memory.ctypes.data, memory=memory)


@pytest.fixture
def runtime() -> FakeRuntime:
    return FakeRuntime()


@pytest.fixture
def copies(runtime: FakeRuntime) -> Iterator[StreamCopies]:
    cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(alloc_pinned_memory=fake_pinned))
    made = StreamCopies(types.SimpleNamespace(runtime=runtime, cupy=cupy), 3, LAUNCHES)  # type: ignore[arg-type]
    yield made
    made.close()


def test_values_of_any_size_arrive_through_the_blocks(copies: StreamCopies, runtime: FakeRuntime) -> None:
    sizes = (1, BLOCK_BYTES // 4, 3 * BLOCK_BYTES // 4 + 5, (2 * BLOCKS + 1) * BLOCK_BYTES // 4)
    sources = [
        np.random.default_rng(n).normal(size=size).astype(np.float64 if n == 0 else np.float32)
        for n, size in enumerate(sizes)
    ]
    arrays = [FakeArray(np.zeros(size, np.float32)) for size in sizes]
    copy = copies.start(list(zip(arrays, sources, strict=True)))
    copy.order()
    assert copy.has_arrived()
    for array, source in zip(arrays, sources, strict=True):
        assert np.array_equal(array.values, source.astype(np.float32))
    moved = [size for name, size, *_ in runtime.calls if name == "copy"]
    assert max(moved) == BLOCK_BYTES and sum(moved) == 4 * sum(sizes)


def test_a_copy_waits_for_the_launches_before_and_launches_for_the_copy(
    copies: StreamCopies, runtime: FakeRuntime
) -> None:
    runtime.gate.clear()
    array = FakeArray(np.zeros(4, np.float32))
    copy = copies.start([(array, np.ones(4, np.float32))])
    copy.order()
    assert not copy.has_arrived()
    asked = [call for call in runtime.calls if call[0] != "device"]
    before = asked[0][1]
    assert (
        asked[0] == ("record", before, LAUNCHES)
        and asked[1] == ("wait", COPIES, before)
        and asked[2] == ("copy", 16, COPIES)
    )
    arrived = asked[4][1]
    assert asked[4] == ("record", arrived, COPIES) and asked[5] == ("wait", LAUNCHES, arrived)
    runtime.gate.set()
    assert copy.has_arrived()
    copy.order()
    assert len([call for call in runtime.calls if call[0] == "wait"]) == 2, "what has arrived is not waited for"
    assert ("device", 3, "raygrove-copies") in runtime.calls


def test_events_are_used_again_and_given_back(copies: StreamCopies, runtime: FakeRuntime) -> None:
    array, kept = FakeArray(np.zeros(4, np.float32)), []
    for value in range(50):
        kept.append(copies.start([(array, np.full(4, value, np.float32))]))
        kept[-1].order()
    assert array.values[0] == 49.0 and runtime.made <= BLOCKS + 6 and all(copy.has_arrived() for copy in kept)
    copies.close()
    copies.close()
    assert runtime.destroyed == runtime.made and runtime.calls.count(("destroyed", COPIES)) == 1
    assert all(copy.has_arrived() for copy in kept)
    with pytest.raises(TargetError, match="the queue is closed"):
        copies.start([(array, np.zeros(4, np.float32))])


def test_an_error_of_the_copying_thread_comes_up_where_the_values_are_needed(
    copies: StreamCopies, runtime: FakeRuntime
) -> None:
    runtime.copy_status = 2
    copy = copies.start([(FakeArray(np.zeros(4, np.float32)), np.ones(4, np.float32))])
    with pytest.raises(TargetError, match="Streaming to the device failed: CUDA failed while streaming to the device"):
        copy.order()
    assert not copy.has_arrived()


def test_where_launches_run_at_once_copies_do_too() -> None:
    array, queue = np.zeros(3, np.float32), ImmediateCopies()
    copy = queue.start([(array, np.arange(3.0))])
    copy.order()
    assert copy.has_arrived() and array.tolist() == [0.0, 1.0, 2.0]
    queue.close()
