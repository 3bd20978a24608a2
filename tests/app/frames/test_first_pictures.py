"""The first picture of a choice, by the render thread: whoever waits sees it before anything finer is drawn."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from raygrove.app.frames import render_thread
from tests.waiting import EVENT_S

from .fake_maker import Bench, exchange, request


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.maker.gate.set()
    assert made.thread.stop()


def test_a_smaller_first_picture_is_painted_before_the_whole_one_is_drawn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render_thread, "PAINT_PATIENCE", EVENT_S)
    slots, bench.maker.small = exchange(), 1
    bench.thread.submit(request(0.0, slots))
    bench.wait(lambda: bench.shows(slots, 0))
    time.sleep(0.05)
    assert bench.maker.drawing == 1
    bench.thread.has_painted()
    bench.wait(lambda: bench.shows(slots, 1))


def test_what_draws_hears_when_a_picture_was_asked_for_however_late_it_is_drawn(bench: Bench) -> None:
    slots = exchange()
    bench.maker.gate.clear()
    bench.thread.submit(request(0.0, slots))
    bench.wait(lambda: bench.maker.drawing == 1)
    began = time.perf_counter()
    bench.thread.submit(request(1.0, slots, settings__render__samples=2))
    asked = time.perf_counter()
    time.sleep(0.02)
    bench.thread.submit(request(1.0, slots, settings__render__samples=2))
    asked_again = time.perf_counter()
    bench.maker.gate.set()
    bench.wait(lambda: bench.shows(slots, 2))
    assert bench.maker.asked_at is not None and asked < bench.maker.asked_at <= asked_again, "the one that was taken"
    bench.thread.submit(request(1.0, slots, settings__render__samples=2))
    bench.thread.submit(request(3.0, slots))
    bench.wait(lambda: bench.maker.times[-1] == 3.0)
    assert bench.maker.asked_at > asked_again > began
