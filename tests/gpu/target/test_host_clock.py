"""The host's clock by one that is handed in: exact sums, whatever the machine does."""

from __future__ import annotations

import types
from collections.abc import Callable

import pytest

from raygrove.gpu.target import host_clock
from raygrove.gpu.target.base import FrameTiming


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets so many milliseconds pass."""
    now = [100.0]

    def pass_by(ms: float) -> None:
        now[0] += ms * 1e-3

    monkeypatch.setattr(host_clock, "time", types.SimpleNamespace(perf_counter=lambda: now[0]))
    return pass_by


def phase(clock: host_clock.HostClock, name: str, ms: float, wait: Callable[[float], None]) -> None:
    clock.begin_phase(name)
    with clock.launch("kernel"):
        wait(ms)
    clock.end_phase(name)


def timing_of(clock: host_clock.HostClock) -> FrameTiming:
    clock.end_frame()
    (timing,) = clock.take_finished()
    assert clock.take_finished() == []
    return timing


def test_a_phase_that_is_entered_again_adds_up(wait: Callable[[float], None]) -> None:
    clock = host_clock.HostClock(profile=False)
    clock.begin_frame(7)
    wait(50.0)  # before the first phase: in no span
    for name, ms in (("animate", 1.0), ("build.sort", 2.0), ("animate", 4.0), ("build.sort", 8.0), ("animate", 16.0)):
        phase(clock, name, ms, wait)
        wait(32.0)  # between phases: in the span, in no phase
    timing = timing_of(clock)
    assert (timing.frame_id, timing.launches) == (7, 5)
    assert list(timing.phases_ms) == ["animate", "build.sort"]
    assert timing.phases_ms == pytest.approx({"animate": 21.0, "build.sort": 10.0})
    assert timing.span_ms == pytest.approx(31.0 + 4 * 32.0)


@pytest.mark.parametrize("profile", [False, True])
def test_launches_are_phases_of_their_own_where_each_is_profiled(wait: Callable[[float], None], profile: bool) -> None:
    clock = host_clock.HostClock(profile)
    clock.begin_frame(1)
    clock.begin_phase("trace")
    for kernel, ms in (("trace_rays", 2.0), ("sum_hits", 3.0), ("trace_rays", 4.0)):
        with clock.launch(kernel):
            wait(ms)
        wait(1.0)
    clock.end_phase("trace")
    alone = {"launch.trace_rays": 6.0, "launch.sum_hits": 3.0} if profile else {}
    assert timing_of(clock).phases_ms == pytest.approx({"trace": 12.0, **alone})


def test_a_frame_begins_with_nothing_of_the_one_before(wait: Callable[[float], None]) -> None:
    clock = host_clock.HostClock(profile=False)
    clock.begin_frame(1)
    phase(clock, "trace", 5.0, wait)
    assert timing_of(clock).phases_ms == pytest.approx({"trace": 5.0})
    phase(clock, "outside", 5.0, wait)
    clock.begin_frame(2)
    phase(clock, "trace", 3.0, wait)
    timing = timing_of(clock)
    assert (
        timing.phases_ms == pytest.approx({"trace": 3.0})
        and timing.launches == 1
        and timing.span_ms == pytest.approx(3.0)
    )
