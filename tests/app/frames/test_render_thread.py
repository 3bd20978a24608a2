"""The render thread: the latest request wins, samples add up, errors are told once, and it never dies."""

from __future__ import annotations

import dataclasses
import functools
import gc
import os
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from raygrove.app.document.state import replaced
from raygrove.app.frames import render_thread, row_words
from raygrove.app.frames.render_thread import RenderThread
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import NoDeviceError
from tests.waiting import EVENT_S

from .fake_maker import Bench, Maker, exchange, request


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.maker.gate.set()
    assert made.thread.stop(EVENT_S)


def test_a_request_becomes_a_frame(bench: Bench) -> None:
    asked = request(0.5)
    bench.thread.submit(asked)
    bench.wait(lambda: bool(bench.frames))
    frame = bench.frames[0]
    assert frame.request is asked and frame.drawn == (8, 4) and frame.samples == 1 and frame.device_name == "a test"
    assert asked.exchanges[0].newest_finished() is not None


def test_the_latest_request_wins(bench: Bench) -> None:
    slots = exchange()
    bench.maker.gate.clear()
    bench.thread.submit(request(0.0, slots))
    for index in range(1, 50):
        bench.thread.submit(request(index / 10, slots))
    bench.maker.gate.set()
    bench.wait(lambda: bool(bench.maker.times) and bench.maker.times[-1] == 4.9)
    assert len(bench.maker.times) <= 3


@pytest.mark.parametrize("other", [{"settings__render__hierarchy": "ploc"}, {"settings__device__threads": 1}])
def test_another_choice_ends_what_is_compiled_for_this_one(bench: Bench, other: dict[str, Any]) -> None:
    bench.compile()
    bench.thread.submit(
        request(0.5, settings__render__hierarchy="binned_sah")
    )  # another instant needs the same kernels
    bench.compile_on()
    assert not bench.maker.engines_closed and not bench.frames
    bench.thread.submit(request(0.0, **other))
    bench.wait(lambda: bool(bench.frames))
    assert bench.maker.engines_closed == 1 and not bench.problems and not bench.maker.is_closed


@pytest.mark.parametrize("ends", ["stop", "close the scene"])
def test_nobody_waits_for_a_compiler(bench: Bench, ends: str) -> None:
    bench.compile()
    if ends == "stop":
        assert bench.thread.stop(EVENT_S)
    else:
        bench.thread.submit(None)
        bench.wait(lambda: bench.maker.engines_closed == 1)
    assert not bench.problems


def test_a_closed_scene_is_not_kept_for_its_failure(bench: Bench) -> None:
    asked = request(settings__render__hierarchy="brute_force")
    gone = weakref.ref(asked)
    bench.thread.submit(asked)
    bench.wait(lambda: bool(bench.problems))
    del asked
    bench.thread.submit(None)
    bench.wait(lambda: gc.collect() >= 0 and gone() is None)


def test_samples_add_up_until_there_are_enough_then_it_idles(bench: Bench) -> None:
    slots = exchange()
    bench.thread.submit(request(0.0, slots, settings__render__samples=5))
    bench.wait(lambda: bench.shows(slots, 5))
    time.sleep(0.05)
    assert [frame.samples for frame in bench.frames] == [1, 2, 3, 4, 5]
    assert all(frame.samples_wanted == 5 for frame in bench.frames)
    bench.thread.submit(request(0.0, slots, settings__render__samples=5))
    time.sleep(0.05)
    assert len(bench.frames) == 5, "the same picture is not drawn again"


@pytest.mark.parametrize("ends", ["painted", "another picture", "a question"])
def test_a_first_picture_is_painted_before_a_second_sample_is_drawn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr(render_thread, "PAINT_PATIENCE", EVENT_S)
    slots, answers = exchange(), list[Any]()
    bench.thread.submit(request(0.0, slots, settings__render__samples=3))
    bench.wait(lambda: bench.shows(slots, 1))
    time.sleep(0.05)
    assert bench.maker.drawing == 1
    if ends == "painted":
        bench.thread.has_painted()
        bench.wait(lambda: bench.shows(slots, 3))
    elif ends == "another picture":
        bench.thread.submit(request(2.0, slots))
        bench.wait(lambda: bench.maker.times == [0.0, 2.0])
    else:
        bench.thread.ask("what", lambda maker: 1, answers.append)
        bench.wait(lambda: answers == [1])


def test_it_comes_after_the_thread_of_the_window(bench: Bench) -> None:
    found = list[int]()
    bench.thread.ask("priority", lambda maker: os.getpriority(os.PRIO_PROCESS, 0), found.append)
    bench.wait(lambda: bool(found))
    assert found[0] > os.getpriority(os.PRIO_PROCESS, 0) or found[0] == 19


def test_what_is_never_painted_is_refined_all_the_same(bench: Bench) -> None:
    slots = exchange()
    bench.thread.submit(request(0.0, slots, settings__render__samples=3))
    bench.wait(lambda: bench.shows(slots, 3))


def test_a_moving_picture_has_one_sample(bench: Bench) -> None:
    bench.thread.submit(request(0.0, moving=True, settings__render__samples=64))
    bench.wait(lambda: bool(bench.frames))
    time.sleep(0.03)
    assert len(bench.frames) == 1
    assert bench.maker.flushes == 0, "a playing animation never waits for the target"


def test_a_picture_that_stays_has_its_own_statistics(bench: Bench) -> None:
    bench.thread.submit(request())
    bench.wait(lambda: bool(bench.frames))
    assert bench.maker.flushes == 1


def test_what_is_always_updated_is_drawn_again_and_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_thread, "PAINT_PATIENCE", EVENT_S)
    slots = exchange()
    bench.thread.submit(request(0.0, slots, settings__update__always=True))
    bench.wait(lambda: bench.shows(slots, -1) or len(bench.frames) > 20)
    assert bench.maker.flushes == 0
    bench.thread.submit(None)


def test_without_a_free_slot_it_waits_for_one_and_still_hears(bench: Bench) -> None:
    slots = exchange()
    lent = [slots.take_free(), slots.take_free()]
    bench.thread.submit(request(0.0, slots))
    bench.thread.submit(request(1.0, slots))
    time.sleep(0.06)
    assert not bench.frames
    assert lent[0] is not None
    slots.finish(lent[0], is_drawn=False)
    bench.wait(lambda: bool(bench.frames))
    assert bench.maker.times == [1.0]


def test_a_failure_is_told_once_and_another_choice_works(bench: Bench) -> None:
    slots = exchange()
    for index in range(20):
        bench.thread.submit(request(index / 10, slots, settings__render__hierarchy="brute_force"))
        time.sleep(0.002)
    bench.wait(lambda: bool(bench.problems))
    time.sleep(0.03)
    assert [(problem.exit_code, "brute_force" in problem.sentence) for problem in bench.problems] == [(4, True)]
    assert bench.maker.is_closed == 1
    assert slots.newest_finished() is None, "a failed picture is never shown"
    bench.thread.submit(request(0.0, slots))
    bench.wait(lambda: bool(bench.frames))
    bench.thread.submit(request(0.0, slots, settings__render__hierarchy="brute_force"))
    bench.wait(lambda: len(bench.problems) == 2)


def test_a_structure_that_refuses_an_instant_is_tried_at_another_and_keeps_its_engine(bench: Bench) -> None:
    kd_tree: dict[str, Any] = {"settings__render__hierarchy": "sah_events"}
    slots = exchange()
    bench.thread.submit(request(1.5, slots, **kd_tree))
    bench.wait(lambda: len(bench.problems) == 1)
    bench.thread.submit(request(1.5, exchange(16), **kd_tree))  # the same triangles in a larger picture
    bench.thread.submit(request(1.5, slots, **kd_tree, cameras__0__fov=20.0))
    time.sleep(0.03)
    assert bench.maker.refused == [1.5] and bench.maker.is_closed == 0
    bench.thread.submit(request(1.7, slots, **kd_tree))
    bench.wait(lambda: len(bench.problems) == 2)
    bench.thread.submit(request(1.7, slots, **kd_tree, hidden=(0,)))
    bench.wait(lambda: len(bench.problems) == 3)
    bench.thread.submit(request(2.5, slots, **kd_tree))
    bench.wait(lambda: bench.maker.times == [2.5])
    assert bench.maker.refused == [1.5, 1.7, 1.7] and bench.maker.is_closed == 0


def test_who_plays_hears_each_time_that_nothing_comes(bench: Bench) -> None:
    slots = exchange()
    for index in range(3):
        bench.thread.submit(
            request(index / 10, slots, settings__render__hierarchy="brute_force", timeline__is_playing=True)
        )
        bench.wait(lambda count=index + 1: len(bench.problems) == count)  # type: ignore[misc]
    assert bench.maker.is_closed == 1, "it was tried once"


def test_what_failed_is_tried_again_on_demand_alone(bench: Bench) -> None:
    kd_tree = request(1.5, settings__render__hierarchy="sah_events")
    bench.thread.submit(kd_tree)
    bench.wait(lambda: len(bench.problems) == 1)
    bench.thread.submit(kd_tree)
    time.sleep(0.03)
    assert bench.maker.refused == [1.5]
    bench.thread.retry(kd_tree)
    bench.wait(lambda: len(bench.problems) == 2)
    assert bench.maker.refused == [1.5, 1.5]


def test_every_newest_request_is_answered_also_where_its_picture_is_there_already(bench: Bench) -> None:
    """A camera comes to rest and the animation starts before the thread has looked: the request for the picture at rest
    is never taken."""
    slots = exchange()
    moving, resting = request(0.5, slots, moving=True), request(0.5, slots)
    bench.thread.submit(moving)
    bench.wait(lambda: bench.shows(slots, 1))
    with bench.thread._mail:  # it does not look
        bench.thread.submit(resting)
        again = dataclasses.replace(moving, moment=Moment(0.5, 0, 3))
        bench.thread.submit(again)
    bench.wait(lambda: bench.frames[-1].request is again)
    bench.shows(slots, 1)
    count = len(bench.frames)
    time.sleep(0.03)
    assert len(bench.frames) == count, "and then it sleeps"


def test_no_scene_draws_nothing(bench: Bench) -> None:
    bench.thread.submit(request())
    bench.wait(lambda: bool(bench.frames))
    bench.thread.submit(None)
    time.sleep(0.03)
    assert len(bench.frames) == 1


def test_a_new_size_is_a_new_picture(bench: Bench) -> None:
    bench.thread.submit(request(0.0, exchange(8)))
    bench.wait(lambda: len(bench.frames) == 1)
    bench.thread.submit(request(0.0, exchange(16)))
    bench.wait(lambda: len(bench.frames) == 2)
    assert bench.frames[1].drawn == (16, 4)


def test_a_closed_exchange_is_left_alone(bench: Bench) -> None:
    slots = exchange()
    assert slots.close()
    bench.thread.submit(request(0.0, slots))
    time.sleep(0.06)
    assert not bench.frames and not bench.problems
    bench.thread.submit(request(0.0))
    bench.wait(lambda: bool(bench.frames))


def test_questions_are_answered_between_frames_and_the_newest_of_a_key_wins(bench: Bench) -> None:
    heard: list[Any] = []
    bench.maker.gate.clear()
    bench.thread.submit(request(moving=True))
    bench.wait(lambda: bench.maker.drawing > 0)  # the frame is being drawn: questions wait, who asks does not
    for number in range(5):
        bench.thread.ask(
            "where", functools.partial(lambda number, maker: (number, len(maker.times)), number), heard.append
        )
    bench.thread.ask("what", lambda maker: maker is bench.maker and threading.current_thread().name, heard.append)
    assert heard == []
    bench.maker.gate.set()
    bench.wait(lambda: len(heard) == 2)
    assert heard == [(4, 1), "render"]


def test_a_question_that_fails_is_a_problem_and_the_thread_goes_on(bench: Bench) -> None:
    heard: list[Any] = []

    def fail(maker: Any) -> Any:
        raise NoDeviceError("It cannot be told.")

    bench.thread.ask("what", fail, heard.append)
    bench.wait(lambda: bool(heard))
    assert heard == [None] and "It cannot be told." in bench.problems[0].sentence
    bench.thread.submit(request())
    bench.wait(lambda: bool(bench.frames))


def test_stopping_gives_everything_back() -> None:
    made = Bench()
    made.thread.submit(request())
    made.wait(lambda: bool(made.frames))
    assert made.thread.stop(EVENT_S)
    assert made.maker.is_closed == 1


def test_a_thread_that_never_started_stops() -> None:
    assert RenderThread(print, print, make_maker=Maker).stop()  # type: ignore[arg-type]


def test_what_counts_as_the_same_picture() -> None:
    slots = exchange()
    one = request(1.0, slots)
    assert one.shows_same(dataclasses.replace(one, moment=Moment(1.0, 0, 99)))
    counted = replaced(one.state, "settings.hot_spots.by", "object")
    followed = replaced(one.state, "selection.pixel", (0.5, 0.5))
    assert all(one.shows_same(dataclasses.replace(one, state=state)) for state in (counted, followed))
    outlined = replaced(one.state, "selection.object", 0)
    assert not one.shows_same(dataclasses.replace(one, state=outlined))
    assert not one.shows_same(request(2.0, slots))
    assert not one.shows_same(request(1.0))
    assert not one.shows_same(None)
    assert one.choice_equals(request(2.0, slots))
    assert not one.choice_equals(request(2.0, slots, settings__render__ray_type="flat"))


def test_between_the_rows_of_a_picture_another_one_is_heard(bench: Bench) -> None:
    slots = exchange()
    heard: list[int] = []
    bench.maker.parts = 1_000_000_000
    bench.thread.submit(request(0.5, slots))
    bench.wait(lambda: len(bench.maker.times) == 1)
    bench.thread.ask("what", lambda maker: len(bench.maker.times), heard.append)
    bench.maker.between.set()
    bench.wait(lambda: bool(heard) and len(bench.maker.times) > 3)
    assert heard == [1] and not bench.frames and slots.newest_finished() is None, "nothing is shown before it is whole"
    bench.thread.submit(request(1.5, slots))
    bench.wait(lambda: 1.5 in bench.maker.times)
    bench.maker.parts = 0
    bench.wait(lambda: bool(bench.frames))
    assert bench.frames[0].request.moment.time == 1.5 and slots.newest_finished() is not None


def test_a_picture_that_is_kept_is_whole_before_another_of_the_same_choice(bench: Bench) -> None:
    """While something moves that is slow, no request is the newest for long: each would stop the one before."""
    slots = exchange()
    bench.maker.parts, bench.maker.is_kept = 3, True
    bench.thread.submit(request(0.5, slots, moving=True))
    bench.wait(lambda: len(bench.maker.times) == 1)
    bench.thread.submit(request(1.5, slots, moving=True))
    bench.maker.between.set()
    bench.wait(lambda: len(bench.frames) == 2)
    assert bench.maker.times == [0.5, 0.5, 0.5, 0.5, 1.5]
    assert [frame.request.moment.time for frame in bench.frames] == [0.5, 1.5]


@pytest.mark.parametrize("changed", ["structure", "size", "nothing more", "stop"])
def test_a_picture_that_is_kept_is_stopped_by_another_choice(bench: Bench, changed: str) -> None:
    slots = exchange()
    bench.maker.parts, bench.maker.is_kept = 1_000_000_000, True
    bench.thread.submit(request(0.5, slots, moving=True))
    bench.wait(lambda: len(bench.maker.times) == 1)
    others = {
        "structure": request(0.5, slots, moving=True, settings__render__hierarchy="ploc"),
        "size": request(0.5, exchange(16), moving=True),
        "nothing more": None,
    }
    if changed == "stop":
        bench.maker.between.set()
        assert bench.thread.stop(EVENT_S)
        return
    bench.thread.submit(others[changed])
    bench.maker.between.set()
    if changed == "nothing more":
        bench.wait(lambda: slots.take_free(0.0) is not None and bench.thread._is_complete)
    else:
        bench.wait(lambda: bench.thread._present is others[changed])
    assert not bench.frames
    bench.maker.parts = 0


def test_how_far_a_slow_picture_is_is_said_until_it_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_words, "LONG_MS", -1.0)
    said, prepared = list[Any](), list[str]()
    frames: list[Any] = []
    thread = RenderThread(frames.append, said.append, prepared.append, said.append, make_maker=Maker)  # type: ignore[arg-type]
    maker: Maker = thread._maker  # type: ignore[assignment]
    maker.parts = 3
    maker.between.set()
    thread.start()
    thread.submit(request(0.0))
    end = time.monotonic() + EVENT_S
    while not frames and time.monotonic() < end:
        time.sleep(0.002)
    assert thread.stop(EVENT_S)
    assert said == ["Drawing nothing: 50 % of the picture"] * 3 + [""] and not prepared, "there is nothing to take back"
