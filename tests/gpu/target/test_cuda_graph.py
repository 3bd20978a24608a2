"""Which of a captured body's two graphs is replayed, with a driver that only keeps lists: the one with events of its
phases now and then."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

import pytest

from raygrove.gpu.target import cuda_graph
from raygrove.gpu.target.cuda_driver import DeviceLostError
from raygrove.gpu.target.cuda_graph import CapturedGraph
from raygrove.gpu.target.cuda_timing import CudaClock


class CUDARuntimeError(RuntimeError):
    """As cupy's."""

    def __init__(self, status: int) -> None:
        self.status = status


class _Driver:
    """Every event recorded and every kernel takes a millisecond of the device; a graph is the list of what was recorded
    or launched into it."""

    def __init__(self) -> None:
        self.cudaEventRecordExternal = 1
        self.cudaStreamCaptureMode = types.SimpleNamespace(cudaStreamCaptureModeThreadLocal=1)
        self.cudaGraphNodeType = types.SimpleNamespace(
            cudaGraphNodeTypeEventRecord="event", cudaGraphNodeTypeKernel="kernel"
        )
        self._handles = itertools.count(1)
        self.CUDARuntimeError = CUDARuntimeError
        self.broken = 0
        self.now = 0.0
        self.times: dict[int, float] = {}
        self.graphs: dict[int, list[tuple[str, int]]] = {}
        self.executables: dict[int, list[tuple[str, int]]] = {}
        self.launched: list[int] = []
        self._into: list[tuple[str, int]] | None = None

    def run(self, kind: str, handle: int) -> None:
        if self._into is not None:
            self._into.append((kind, handle))
            return
        self.now += 1.0
        if kind == "event":
            self.times[handle] = self.now

    def cudaEventCreate(self) -> tuple[int, int]:
        return 0, next(self._handles)

    def eventRecord(self, event: int, stream: int) -> None:
        assert self._into is None, "an event of a frame was recorded into a graph"
        self.run("event", event)

    def cudaEventRecordWithFlags(self, event: int, stream: int, flags: int) -> tuple[int]:
        self.run("event", event)
        return (0,)

    def cudaEventSynchronize(self, event: int) -> tuple[int]:
        return (0,)

    def cudaStreamSynchronize(self, stream: int) -> tuple[int]:
        return (0,)

    def eventQuery(self, event: int) -> int:
        return 0

    def eventElapsedTime(self, first: int, last: int) -> float:
        return self.times[last] - self.times[first]

    def cudaStreamBeginCapture(self, stream: int, mode: int) -> tuple[int]:
        self._into = []
        return (0,)

    def cudaStreamEndCapture(self, stream: int) -> tuple[int, int]:
        assert self._into is not None
        graph = next(self._handles)
        self.graphs[graph], self._into = self._into, None
        return 0, graph

    def cudaGetLastError(self) -> tuple[int]:
        return (0,)

    def cudaGraphInstantiate(self, graph: int, flags: int) -> tuple[int, int]:
        executable = next(self._handles)
        self.executables[executable] = list(self.graphs[graph])
        return 0, executable

    def graphLaunch(self, executable: int, stream: int) -> None:
        if self.broken:
            raise CUDARuntimeError(self.broken)
        self.launched.append(executable)
        for kind, handle in self.executables[executable]:
            self.run(kind, handle)

    def cudaGraphGetNodes(self, graph: int, count: int = 0) -> tuple[int, list[Any], int]:
        return 0, [(graph, place) for place in range(len(self.graphs[graph]))], len(self.graphs[graph])

    def cudaGraphNodeGetType(self, node: tuple[int, int]) -> tuple[int, str]:
        return 0, self.graphs[node[0]][node[1]][0]

    def cudaGraphEventRecordNodeGetEvent(self, node: tuple[int, int]) -> tuple[int, int]:
        return 0, self.graphs[node[0]][node[1]][1]

    def cudaGraphExecEventRecordNodeSetEvent(self, executable: int, node: tuple[int, int], event: int) -> tuple[int]:
        self.executables[executable][node[1]] = ("event", event)
        return (0,)

    def cudaGraphExecDestroy(self, executable: int) -> tuple[int]:
        del self.executables[executable]
        return (0,)

    def cudaGraphDestroy(self, graph: int) -> tuple[int]:
        del self.graphs[graph]
        return (0,)


def libraries(driver: _Driver) -> Any:
    """cuda-bindings and cupy, both of them the driver."""
    return types.SimpleNamespace(runtime=driver, cupy=types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=driver)))


@pytest.fixture
def driver() -> _Driver:
    return _Driver()


@pytest.fixture
def clock(driver: _Driver) -> CudaClock:
    return CudaClock(libraries(driver), 7, False)


@pytest.fixture
def graph(driver: _Driver, clock: CudaClock, monkeypatch: pytest.MonkeyPatch) -> CapturedGraph:
    """Two phases of two launches and one; seconds do not pass."""
    monkeypatch.setattr(cuda_graph.time, "perf_counter", lambda: 0.0)

    def body() -> None:
        for name, launches in (("codes", 2), ("sort", 1)):
            clock.begin_phase()
            for _ in range(launches):
                driver.run("kernel", 0)
                clock.count_launch()
            clock.end_phase(name)

    return CapturedGraph(libraries(driver), 7, clock, body, lambda: ())


def waited_for(clock: CudaClock) -> list[Any]:
    """The frames that have finished, after everything was waited for."""
    clock.is_newest_fresh = False
    return clock.take_finished()


def frames(clock: CudaClock, graph: Callable[[], None], count: int) -> list[Any]:
    for number in range(count):
        clock.begin_frame(number)
        graph()
        clock.end_frame()
    return waited_for(clock)


TIMED = {"codes": 2.0 + 1.0, "sort": 1.0 + 1.0}  # milliseconds of kernels and of the event after them


def test_every_replay_times_its_phases_where_nobody_samples(
    driver: _Driver, clock: CudaClock, graph: CapturedGraph
) -> None:
    found = frames(clock, graph, 10)
    assert [one.phases_ms for one in found] == [TIMED] * 10 and all(
        one.has_phases and one.launches == 3 for one in found
    )
    assert len(driver.executables) == 3


def test_one_replay_in_eight_times_them_where_they_are_sampled(
    driver: _Driver, clock: CudaClock, graph: CapturedGraph
) -> None:
    clock.samples_phases = True
    found = frames(clock, graph, 17)
    assert [one.frame_id for one in found if one.has_phases] == [0, 8, 16]
    assert all(one.phases_ms == (TIMED if one.has_phases else {}) for one in found)
    assert {one.span_ms for one in found if not one.has_phases} == {4.0}, "three kernels and the frame's end"
    assert {one.launches for one in found} == {3}
    light = [handle for handle, nodes in driver.executables.items() if all(kind == "kernel" for kind, _ in nodes)]
    assert len(light) == 1 and driver.launched.count(light[0]) == 14


def test_slow_frames_are_all_timed(
    driver: _Driver, clock: CudaClock, graph: CapturedGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = itertools.count(0.0, 0.03)
    monkeypatch.setattr(cuda_graph.time, "perf_counter", lambda: next(seconds))
    clock.samples_phases = True
    assert [one.frame_id for one in frames(clock, graph, 7) if one.has_phases] == [0, 2, 4, 6]


def test_a_light_frame_records_two_events_and_asks_once(
    driver: _Driver, clock: CudaClock, graph: CapturedGraph
) -> None:
    clock.samples_phases = True
    frames(clock, graph, 1)
    recorded = len(driver.times)
    clock.begin_frame(1)
    graph()
    clock.begin_phase()
    clock.end_phase("resolve")
    clock.end_frame()
    (found,) = waited_for(clock)
    assert (found.has_phases, found.phases_ms, found.span_ms) == (False, {}, 4.0)
    assert len(driver.times) <= recorded + 2
    driver.times.clear()
    frames(clock, graph, 1)
    assert len(driver.times) == 2


def test_what_is_done_before_a_replay_is_none_of_the_devices_time(
    driver: _Driver, clock: CudaClock, graph: CapturedGraph
) -> None:
    clock.begin_frame(0)
    driver.now += 1000.0  # the host prepares
    graph()
    clock.end_frame()
    (found,) = waited_for(clock)
    assert found.span_ms == 5.0


def test_a_closed_graph_gives_everything_back_once(driver: _Driver, clock: CudaClock, graph: CapturedGraph) -> None:
    frames(clock, graph, 5)
    clock.samples_phases = True
    frames(clock, graph, 5)
    assert graph.kernel_count == 3
    graph.close()
    graph.close()
    assert driver.graphs == {} and driver.executables == {}
    free = [int(event) for event in clock.pool._free]
    assert len(free) == len(set(free)), "an event was given back twice"


def test_a_body_that_fails_leaves_no_graph(driver: _Driver, clock: CudaClock) -> None:
    def body() -> None:
        raise RuntimeError("no kernel")

    with pytest.raises(RuntimeError, match="no kernel"):
        CapturedGraph(libraries(driver), 7, clock, body, lambda: ())
    assert driver.graphs == {}


def test_a_launch_that_fails_is_a_sentence(driver: _Driver, clock: CudaClock, graph: CapturedGraph) -> None:
    driver.broken = 719
    with pytest.raises(DeviceLostError, match=r"while launching a graph: a kernel failed"):
        frames(clock, graph, 1)
