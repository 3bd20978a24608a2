"""What the CUDA target's clock asks of the driver for replayed graphs, with a driver that only keeps a list."""

from __future__ import annotations

import types
from typing import Any

import pytest

from raygrove.gpu.target.cuda_timing import CudaClock, Replay, Span


class _Driver:
    """Events hold the time at which they were recorded; every call takes one millisecond of the device."""

    def __init__(self) -> None:
        self.cudaEventRecordExternal = 1
        self.CUDARuntimeError = RuntimeError
        self.made = 0
        self.now = 0.0
        self.calls: list[Any] = []
        self.times: dict[Any, float] = {}

    def cudaEventCreate(self) -> tuple[int, int]:
        self.made += 1
        return 0, self.made

    def eventRecord(self, event: int, stream: int) -> None:
        self.calls.append("record")
        self.now += 1.0
        self.times[event] = self.now

    def cudaEventSynchronize(self, event: Any) -> tuple[int]:
        self.calls.append(("wait", event))
        return (0,)

    def cudaStreamSynchronize(self, stream: int) -> tuple[int]:
        self.calls.append("wait for all")
        return (0,)

    def eventQuery(self, event: int) -> int:
        return 0

    def eventElapsedTime(self, first: int, last: int) -> float:
        self.calls.append("ask")
        return self.times[last] - self.times[first]


@pytest.fixture
def driver() -> _Driver:
    return _Driver()


@pytest.fixture
def clock(driver: _Driver) -> CudaClock:
    libraries: Any = types.SimpleNamespace(
        runtime=driver, cupy=types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=driver))
    )
    return CudaClock(libraries, 7, False)


@pytest.fixture
def replay(clock: CudaClock) -> Replay:
    """A graph of two phases that share an event."""
    first, middle, last = (clock.pool.take() for _ in range(3))
    return Replay(None, [Span("codes", first, middle), Span("sort", middle, last)], clock.pool.take(), 5)


def waited_for(clock: CudaClock) -> list[Any]:
    """The frames that have finished, after everything was waited for."""
    clock.is_newest_fresh = False
    return clock.take_finished()


def launch(clock: CudaClock, driver: _Driver, replay: Replay) -> None:
    clock.make_ready(replay)
    clock.begin_replay()
    for event in replay.spans.events:
        driver.eventRecord(event, 7)
    driver.calls.clear()
    clock.replayed(replay)


def test_a_replay_in_a_frame_records_nothing_and_is_read_once(
    clock: CudaClock, driver: _Driver, replay: Replay
) -> None:
    clock.begin_frame(3)
    launch(clock, driver, replay)
    assert driver.calls == []
    clock.end_frame()
    (timing,) = waited_for(clock)
    assert (timing.frame_id, timing.launches, timing.phases_ms, timing.span_ms) == (
        3,
        5,
        {"codes": 1.0, "sort": 1.0},
        2.0,
    )
    assert driver.calls.count("ask") == 3
    driver.calls.clear()
    clock.make_ready(replay)
    assert driver.calls == []


def test_a_replay_waits_for_the_end_of_the_frame_that_replayed_it(
    clock: CudaClock, driver: _Driver, replay: Replay
) -> None:
    clock.begin_frame(1)
    launch(clock, driver, replay)
    clock.end_frame()
    clock.begin_frame(2)
    driver.calls.clear()
    clock.make_ready(replay)
    assert [call for call in driver.calls if call != "ask"] == [("wait", clock._pending[0].end)]
    clock.end_frame()
    first, second = waited_for(clock)
    assert first.phases_ms == {"codes": 1.0, "sort": 1.0} and second.phases_ms == {}


def test_twice_in_one_frame_adds_up(clock: CudaClock, driver: _Driver, replay: Replay) -> None:
    clock.begin_frame(1)
    launch(clock, driver, replay)
    clock.make_ready(replay)
    assert driver.calls[0] == "wait for all"
    launch(clock, driver, replay)
    clock.end_frame()
    (timing,) = waited_for(clock)
    assert (timing.launches, timing.phases_ms) == (10, {"codes": 2.0, "sort": 2.0})


def test_outside_frames_and_in_abandoned_ones_a_replay_has_an_end_of_its_own(
    clock: CudaClock, driver: _Driver, replay: Replay
) -> None:
    launch(clock, driver, replay)
    assert driver.calls == ["record"]
    clock.make_ready(replay)
    assert driver.calls[1:] == [("wait", replay.done)]
    clock.begin_frame(1)
    launch(clock, driver, replay)
    clock.begin_frame(2)
    driver.calls.clear()
    clock.make_ready(replay)
    assert driver.calls == [("wait", replay.done)]


def test_nothing_is_asked_of_a_frame_that_has_only_just_ended(
    clock: CudaClock, driver: _Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def query(event: int) -> int:
        asked.append(event)
        return 0

    monkeypatch.setattr(clock.pool, "_query", query)
    for number in range(3):
        clock.begin_frame(number)
        clock.end_frame()
        assert [timing.frame_id for timing in clock.take_finished()] == ([number - 1] if number else [])
        assert len(asked) == number
    assert [timing.frame_id for timing in clock.take_finished()] == [2], "who asks again wants to know"
    assert clock.take_finished() == [] and len(asked) == 3
