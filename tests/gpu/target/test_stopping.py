"""Launches that are stopped: what nobody has begun is left out, and all that is launched afterwards goes on as ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from raygrove.gpu.target.base import Target, TargetOptions, UnitSource
from raygrove.gpu.target.checks import CheckFailedError
from raygrove.gpu.target.host import _STOPPABLE_BLOCKS_A_THREAD, HostTarget
from raygrove.gpu.target.stopping import Stopped
from tests.waiting import EVENT_S

SOURCE = UnitSource("tests/gpu/target/kernels_for_tests.cu")
CHECKS = UnitSource("tests/gpu/target/checks.cu")
ITEMS = 1 << 16


@pytest.fixture(params=(1, 2))
def host(request: pytest.FixtureRequest) -> Iterator[HostTarget]:
    target = HostTarget(TargetOptions(threads=request.param))
    yield target
    target.close()


def is_stopped(launch_all: Callable[[], None]) -> bool:
    """Whether launches were stopped."""
    try:
        launch_all()
    except Stopped:
        return True
    return False


def test_a_stopped_target_does_nothing_within_and_everything_elsewhere(host: HostTarget) -> None:
    unit, visits = host.unit(SOURCE), host.zeros(ITEMS, np.int32, "test")

    def within() -> None:
        with host.stoppable():
            host.launch(unit, "count_visits", ITEMS, n=ITEMS, visits=visits)

    replay = host.capture(within)
    host.stop()
    assert is_stopped(within) and is_stopped(replay) and not visits.any()
    host.launch(unit, "count_visits", ITEMS, n=ITEMS, visits=visits)
    assert (visits == 1).all(), "who computes a structure is not stopped"
    host.go_on()
    assert not is_stopped(within) and not is_stopped(replay) and (visits == 3).all()


def test_rays_that_are_given_so_long_are_stopped_then_and_no_other(host: HostTarget) -> None:
    unit, visits = host.unit(SOURCE), host.zeros(ITEMS, np.int32, "test")

    def last(builds: bool, seconds: float) -> bool:
        """Whether launches that go on for so long are stopped."""

        def within() -> None:
            end = time.monotonic() + seconds
            with host.stoppable(builds):
                while time.monotonic() < end:
                    host.launch(unit, "count_visits", ITEMS, n=ITEMS, visits=visits)

        return is_stopped(within)

    host.be_patient(0.02)
    assert last(False, EVENT_S) and not last(True, 0.1), "a build takes as long as it takes"
    host.go_on()
    host.be_patient(EVENT_S)
    assert not last(False, 0.0)
    host.be_patient(0.0)
    deadline, flags = host._stop_flag._deadline, host._stop_flag._flags
    deadline.begin(0.02)
    deadline.end()
    time.sleep(0.1)
    assert not flags.any(), "what was there in time stops nobody behind it"
    assert not last(False, 0.1), "nobody waits for an end any more"


def test_what_is_begun_is_done_and_the_rest_left_out(host: HostTarget) -> None:
    """The kernel's own first block stops it."""
    unit, owner = host.unit(SOURCE), host.empty(ITEMS, np.int32, "test")
    for _ in range(50 * host.threads):
        host.fill(owner, -1)
        with pytest.raises(Stopped), host.stoppable():
            host.launch(unit, "record_blocks", ITEMS, n=ITEMS, owner=owner, count=host._stop_flag._flags)
        host.go_on()
        blocks, items = np.unique(owner[owner >= 0], return_counts=True)
        assert (items == ITEMS // (_STOPPABLE_BLOCKS_A_THREAD * host.threads)).all(), (
            "a block that was begun was not ended"
        )
        if host.threads == 1:
            assert list(blocks) == [0]
    visits = host.zeros(ITEMS, np.int32, "test")
    host.launch(unit, "count_visits", ITEMS, n=ITEMS, visits=visits)
    assert (visits == 1).all()


@pytest.mark.parametrize("stops_builds", (False, True))
def test_a_build_ends_at_its_next_launch_where_builds_are_stopped(host: HostTarget, stops_builds: bool) -> None:
    unit, visits, done = host.unit(SOURCE), host.zeros(ITEMS, np.int32, "test"), list[int]()

    def build() -> None:
        with host.stoppable(builds=True):
            for number in range(2):
                host.launch(unit, "count_visits", ITEMS, n=ITEMS, visits=visits)
                done.append(number)

    replay = host.capture(build)
    done.clear()
    host.stop(builds=stops_builds)
    assert (is_stopped(build), is_stopped(replay)) == (stops_builds, stops_builds)
    assert (visits == (0 if stops_builds else 4)).all() and done == ([] if stops_builds else [0, 1])
    host.launch(unit, "count_visits", ITEMS, n=ITEMS, visits=visits)
    assert (visits == (1 if stops_builds else 5)).all(), "behind it nothing is stopped"
    host.go_on()
    assert not is_stopped(build) and not is_stopped(replay)


def test_an_error_within_ends_the_watch(host: HostTarget) -> None:
    unit, visits = host.unit(SOURCE), host.zeros(ITEMS, np.int32, "test")
    with pytest.raises(ValueError), host.stoppable():
        raise ValueError
    host.stop()
    host.launch(unit, "count_visits", ITEMS, n=ITEMS, visits=visits)
    assert (visits == 1).all()


def test_a_failed_check_in_a_replay_ends_the_watch(checked_target: Target) -> None:
    if not checked_target.can_stop:
        pytest.skip("nothing is stopped there")
    unit, out = checked_target.unit(CHECKS), checked_target.zeros(10, np.int32, "out")

    def within() -> None:
        with checked_target.stoppable():
            checked_target.launch(unit, "write_behind", 1, out=out, **{"from": 11}, place=0)

    replay = checked_target.capture(within)
    with pytest.raises(CheckFailedError):
        replay()
    visits = checked_target.zeros(ITEMS, np.int32, "test")
    checked_target.stop()
    try:
        checked_target.launch(checked_target.unit(SOURCE), "count_visits", ITEMS, n=ITEMS, visits=visits)
    finally:
        checked_target.go_on()
    assert (visits == 1).all()


def test_a_target_that_cannot_stop_goes_on(target: Target) -> None:
    if target.can_stop:
        target.go_on()
    else:
        target.stop()
    with target.stoppable():
        visits = target.zeros(8, np.int32, "test")
        target.launch(target.unit(SOURCE), "count_visits", 8, n=8, visits=visits)
    assert (target.download(visits) == 1).all()
