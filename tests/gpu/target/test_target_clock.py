"""Frames, phases and captured bodies on every target."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np
import pytest

from raygrove.gpu.target.base import Array, FrameTiming, Target, TargetError, UnitSource
from raygrove.gpu.target.structs import make_struct, struct_dtype

UNIT = UnitSource("tests/gpu/target/contract.cu")
N = 200_000


def finished(target: Target, count: int) -> list[FrameTiming]:
    """The next `count` frames; a device may take a moment."""
    target.synchronize()
    found: list[FrameTiming] = []
    deadline = time.monotonic() + 60
    while len(found) < count and time.monotonic() < deadline:
        found += target.finished_frames()
    assert len(found) == count
    return found


def test_every_launch_is_timed_while_that_is_asked_for(target: Target, add: Callable[[], None]) -> None:
    for number, on in enumerate((False, True, False)):
        target.profile_launches(on)
        target.begin_frame(number)
        with target.phase("both"):
            add()
            add()
        target.end_frame()
    target.profile_launches(False)
    before, profiled, after = finished(target, 3)
    assert set(before.phases_ms) == set(after.phases_ms) == {"both"}
    assert set(profiled.phases_ms) == {"both", "launch.add_one"}
    assert 0.0 < profiled.phases_ms["launch.add_one"] <= profiled.phases_ms["both"]


@pytest.fixture
def values(target: Target) -> Array:
    target.synchronize()
    target.finished_frames()
    return target.zeros(N, "i4", "contract")


@pytest.fixture
def add(target: Target, values: Array) -> Callable[[], None]:
    """One launch that adds one to all values."""
    count, unit = target.upload(np.array([N], "i4"), "contract"), target.unit(UNIT)
    return lambda: target.launch(unit, "add_one", N, values=values, count=count)


def test_phases_add_up_in_order_of_first_use(target: Target, add: Callable[[], None]) -> None:
    target.begin_frame(41)
    for name, launches in (("animate", 1), ("build.sort", 3), ("animate", 2)):
        with target.phase(name):
            for _ in range(launches):
                add()
    target.end_frame()
    (timing,) = finished(target, 1)
    assert timing.frame_id == 41
    assert list(timing.phases_ms) == ["animate", "build.sort"]
    assert timing.launches == 6
    assert all(0 < ms < 1000 for ms in timing.phases_ms.values())
    assert sum(timing.phases_ms.values()) <= timing.span_ms * 1.001 + 0.01
    assert not target.finished_frames()


def test_a_long_phase_takes_longer_than_a_short_one(target: Target, add: Callable[[], None]) -> None:
    """By the best of several tries: others on the machine may take the processor from any one."""
    tries = 7
    for number in range(tries):
        target.begin_frame(number)
        for name, launches in (("short", 1), ("long", 200)):
            with target.phase(name):
                for _ in range(launches):
                    add()
        target.end_frame()
    timings = finished(target, tries)
    best = {name: min(timing.phases_ms[name] for timing in timings) for name in ("short", "long")}
    assert best["long"] > 3 * best["short"] > 0.0


def test_an_empty_frame_is_a_frame(target: Target) -> None:
    target.synchronize()
    target.finished_frames()
    target.begin_frame(7)
    target.end_frame()
    (timing,) = finished(target, 1)
    assert (timing.frame_id, timing.phases_ms, timing.launches, timing.span_ms) == (7, {}, 0, 0.0)


def test_frames_finish_in_order(target: Target, add: Callable[[], None]) -> None:
    for frame_id in range(20):
        target.begin_frame(frame_id)
        with target.phase("work"):
            add()
        target.end_frame()
    assert [timing.frame_id for timing in finished(target, 20)] == list(range(20))


def test_work_outside_a_frame_counts_for_none(target: Target, add: Callable[[], None]) -> None:
    with target.phase("before"):
        add()
    target.begin_frame(2)
    with target.phase("inside"):
        add()
    target.end_frame()
    add()
    (timing,) = finished(target, 1)
    assert (list(timing.phases_ms), timing.launches) == (["inside"], 1)


def test_an_error_inside_a_phase_leaves_the_clock_whole(target: Target, add: Callable[[], None]) -> None:
    target.begin_frame(3)
    with pytest.raises(ZeroDivisionError), target.phase("broken"):
        add()
        raise ZeroDivisionError
    with target.phase("whole"):
        add()
    target.end_frame()
    (timing,) = finished(target, 1)
    assert list(timing.phases_ms) == ["broken", "whole"]


def test_a_captured_body_does_its_work_at_every_call(target: Target, values: Array, add: Callable[[], None]) -> None:
    add()

    def body() -> None:
        for _ in range(3):
            add()

    replay = target.capture(body)
    for _ in range(10):
        replay()
    np.testing.assert_array_equal(target.download(values), np.full(N, 31))


def test_a_captured_body_sees_what_was_written_before_it(target: Target) -> None:
    unit = target.unit(UNIT)
    source, out = target.zeros(64, "f4", "contract"), target.zeros(64, "f4", "contract")

    def body() -> None:
        target.launch(unit, "scale_values", 64, values=source, n=64, factor=3.0, out=out)

    body()
    replay = target.capture(body)
    readers = []
    for step in range(12):
        target.write(source, np.full(64, step, "f4"))
        replay()
        readers.append(target.read_later(out))
    target.synchronize()
    for step, reader in enumerate(readers):
        np.testing.assert_array_equal(reader(), np.full(64, step * 3.0))


def test_phases_of_a_captured_body_are_timed_at_every_replay(target: Target, add: Callable[[], None]) -> None:
    def body() -> None:
        with target.phase("build"):
            add()
            add()
        with target.phase("trace"):
            add()

    body()
    replay = target.capture(body)
    for frame_id in range(12):
        target.begin_frame(frame_id)
        with target.phase("animate"):
            add()
        replay()
        with target.phase("shade"):
            add()
        target.end_frame()
    timings = finished(target, 12)
    assert [timing.frame_id for timing in timings] == list(range(12))
    for timing in timings:
        assert list(timing.phases_ms) == ["animate", "build", "trace", "shade"]
        assert all(0 < ms < 1000 for ms in timing.phases_ms.values())
        assert timing.launches == 5
        assert sum(timing.phases_ms.values()) <= timing.span_ms * 1.001 + 0.01


def test_two_replays_in_a_frame_add_up(target: Target, add: Callable[[], None]) -> None:
    def body() -> None:
        with target.phase("work"):
            add()

    body()
    replay = target.capture(body)
    target.begin_frame(5)
    for _ in range(7):
        replay()
    target.end_frame()
    (timing,) = finished(target, 1)
    assert list(timing.phases_ms) == ["work"]
    assert timing.launches == 7


def test_sorting_and_scanning_can_be_captured(target: Target) -> None:
    keys = np.random.default_rng(9).integers(0, 1 << 62, 50_000).astype("u8")
    given, work = target.upload(keys, "contract"), target.empty(keys.shape, "u8", "contract")
    sums = target.zeros(keys.size, "i4", "contract")
    ones = target.upload(np.ones(keys.size, "i4"), "contract")
    unit = target.unit(UnitSource("tests/gpu/target/copy.cu"))
    results: list[Array] = []

    def body() -> None:
        target.launch(unit, "copy_keys", keys.size, keys=given, n=keys.size, out=work)
        results.append(target.sort_keys(work, (32, 62), "contract.capture"))
        target.exclusive_scan(ones, sums, "contract.capture.scan")

    body()
    replay = target.capture(body)
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(keys)
        target.write(given, shuffled)
        replay()
        order = np.argsort((shuffled >> np.uint64(32)) & np.uint64((1 << 30) - 1), kind="stable")
        np.testing.assert_array_equal(target.download(results[-1]), shuffled[order])
        np.testing.assert_array_equal(target.download(sums), np.arange(keys.size))


def test_a_forgotten_capture_harms_nothing(target: Target, values: Array, add: Callable[[], None]) -> None:
    add()
    replay = target.capture(add)
    target.begin_frame(1)
    replay()
    del replay
    gc.collect()
    with target.phase("after"):
        add()
    target.end_frame()
    (timing,) = finished(target, 1)
    assert timing.launches == 2
    np.testing.assert_array_equal(target.download(values), np.full(N, 3))


FORBIDDEN: dict[str, Callable[[Target, Array], object]] = {
    "reserve memory": lambda target, values: target.fill(target.empty(10, "f4", "contract"), 0),
    "grow scratch memory": lambda target, values: target.scratch("contract.new", 1 << 20, "f4"),
    "write": lambda target, values: target.write(values, np.zeros(10, "i4")),
    "download": lambda target, values: target.download(values),
    "read later": lambda target, values: target.read_later(values),
    "compile": lambda target, values: target.unit(
        UnitSource("tests/gpu/target/copy.cu", constants=(("UNUSED_IN_A_CAPTURE", 1),))
    ),
    "capture": lambda target, values: target.capture(lambda: None),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_capture_that_fails_leaves_the_target_usable(target: Target, name: str) -> None:
    unit = target.unit(UNIT)
    values, count = target.zeros(10, "i4", "contract"), target.upload(np.array([10], "i4"), "contract")

    def body() -> None:
        assert target.is_capturing
        target.launch(unit, "add_one", 10, values=values, count=count)
        FORBIDDEN[name](target, values)

    with pytest.raises(TargetError, match="captured"):
        target.capture(body)
    assert not target.is_capturing
    target.launch(unit, "add_one", 10, values=values, count=count)
    np.testing.assert_array_equal(target.download(values), np.ones(10))


def test_a_replay_has_the_arguments_of_its_capture(target: Target) -> None:
    """Numbers and structs as they were, whatever becomes of the caller's; the launches of the capture itself do
    nothing."""
    unit = target.unit(UNIT)
    source, out = target.upload(np.ones(64, "f4"), "contract"), target.zeros(64, "f4", "contract")
    factor = 3.0

    def body() -> None:
        target.launch(unit, "scale_values", 64, values=source, n=64, factor=factor, out=out)

    replay = target.capture(body)
    np.testing.assert_array_equal(target.download(out), np.zeros(64))
    factor = 5.0
    replay()
    np.testing.assert_array_equal(target.download(out), np.full(64, 3.0))


def test_a_replay_has_the_structs_of_its_capture(target: Target) -> None:
    unit = target.unit(UNIT)
    offsets, out = target.upload(np.ones(64, "f4"), "contract"), target.zeros(64, "u4", "contract")
    affine = make_struct(
        struct_dtype([("offsets", "pointer"), ("scale", "float"), ("repeat", "int")]),
        offsets=offsets,
        scale=2.0,
        repeat=5,
    )
    replay = target.capture(lambda: target.launch(unit, "apply_affine", 64, affine=affine, n=64, out=out))
    affine["repeat"] = 9
    replay()
    np.testing.assert_array_equal(target.download(out), np.full(64, 7))
