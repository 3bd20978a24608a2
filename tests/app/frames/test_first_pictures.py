"""The first picture of a choice: it is seen before anything finer is drawn, and the whole one is no other for it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import numpy as np
import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames import pacing, render_thread
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.gpu.scene import Moment, Scene
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


@pytest.mark.parametrize("structure", ["hploc", "median_sah", "octree_complete"])
def test_the_whole_picture_behind_a_smaller_one_is_the_one_without(
    moving_scene: Scene, monkeypatch: pytest.MonkeyPatch, structure: str
) -> None:
    state = replaced(replaced(State(), "settings.render.device", "cpu"), "settings.display.still_samples", 1)
    chosen = replaced(state, "settings.render.hierarchy", structure)
    pictures = []
    monkeypatch.setattr(pacing, "DARED_S", EVENT_S)
    for scale in (1.0, 0.5):
        monkeypatch.setattr(pacing, "first_scale", lambda *known, scale=scale: scale)
        with contextlib.closing(FrameMaker()) as made:
            slot = HostSlot(256, 192)
            made.draw(moving_scene, state, Moment(0.5), [slot], is_moving=False)
            shown = [made.draw(moving_scene, chosen, Moment(0.5), [slot], is_moving=False)]
            if scale < 1.0:
                assert shown[0].drawn == (128, 96) and shown[0].samples == 0, "no smaller than half of each side"
                shown.append(made.draw(moving_scene, chosen, Moment(0.5), [slot], is_moving=False))
            assert shown[-1].drawn == (256, 192) and shown[-1].samples == 1
            pictures.append(slot.pixels.copy())
            assert shown[-1].statistics.views[0].update == "nothing", "by the tree that was built to know its kernels"
            timed = made.draw(moving_scene, chosen, Moment(0.5), [slot], is_moving=False)
            assert timed.statistics.views[0].update == "rebuild" and timed.samples == 2, "the next one is timed"
    assert np.array_equal(*pictures) and np.ptp(pictures[0]) > 0
