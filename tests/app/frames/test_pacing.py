"""Slow pictures at rest: small first, then whole, some rows at a time, and whoever interrupts sees his own."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames import maker, pacing
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.overlays import Overlays
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.frames.resolution import ROWS_LIMIT_MS
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.target.stopping import Stopped

from .fake_engine import SCENE, Clock, Makers, NeverEnlarged


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take the time that they are said to take, whatever else the machine does."""
    monkeypatch.setattr(maker, "time", Clock())


def test_a_slow_picture_at_rest_is_shown_small_and_then_whole_and_tells_what_all_of_its_rows_cost() -> None:
    makers = Makers(full_ms=3000.0)
    small = makers.draw()
    assert (small.samples, small.samples_wanted) == (0, 1) and makers.slot.drawn[0] < 400
    engine = makers.engines[0]
    engine.rows.clear()
    part = makers.draw_rows()
    assert not part.is_whole and part.samples == 0 and makers.slot.drawn[0] < 400, "nothing new is shown yet"
    assert engine.rows == [8], "50 ms of 9.4 a row"
    assert part.share == 8 / 320
    whole = makers.draw()
    assert whole.share == 1.0
    assert makers.slot.drawn == (400, 320) and whole.samples == whole.samples_wanted == 1 and sum(engine.rows) == 320
    view = whole.statistics.views[0]
    assert (
        view.rays == 400 * 320
        and view.trace_ms == pytest.approx(3000.0)
        and whole.whole_ms == pytest.approx(3000.0, rel=0.05)
    )


def test_rows_follow_the_pace_that_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    makers = Makers(full_ms=400.0)
    makers.draw(replaced(State(), "settings.display.still_samples", 1))
    engine = makers.engines[0]
    engine.rows.clear()
    monkeypatch.setattr(maker, "time", engine)
    makers.draw(replaced(State(), "settings.display.still_samples", 1), time=0.5)
    assert engine.rows[0] == 32 and len(engine.rows) > 4 and set(engine.rows[:-2]) <= {16, 32}
    assert sum(engine.rows) == 320
    engine.rows.clear()
    engine.full_ms = 40.0
    makers.draw(replaced(State(), "settings.display.still_samples", 1), time=0.7)
    assert engine.rows == [32, 288], "so quick a rest is drawn at once"


def test_samples_of_a_slow_picture_add_up_and_who_chooses_its_size_has_it_whole() -> None:
    makers = Makers(full_ms=3000.0)
    state = replaced(replaced(State(), "settings.display.adapt_resolution", False), "settings.render.samples", 3)
    state = replaced(state, "settings.display.still_samples", 1)
    drawn = [makers.draw(state) for _ in range(4)]
    assert [one.samples for one in drawn] == [1, 2, 3, 3] and set(makers.engines[0].sizes) == {(400, 320)}
    assert makers.engines[0].rows[0] == 40, "a part of a picture of which nothing is known"


def test_another_picture_than_the_one_that_was_interrupted_is_shown_for_sure() -> None:
    makers = Makers(full_ms=3000.0)
    makers.draw()
    assert not makers.draw_rows().is_whole
    for index in range(1, 4):
        turned = replaced(State(), "cameras.0.fov", 30.0 + index)
        part = makers.draw_rows(turned)
        assert not part.is_whole and part.is_kept, "others wait for it"
        outcome = makers.draw(turned)
        assert makers.slot.drawn == (200, 160), "as small as one that moves"
        assert outcome.samples < outcome.samples_wanted, "there is more to draw"
        assert not (part := makers.draw_rows(turned)).is_whole and not part.is_kept
    makers.draw(turned)
    assert makers.draw(turned).samples == 1 and makers.slot.drawn == (400, 320)
    fixed = replaced(turned, "settings.display.adapt_resolution", False)
    assert not (part := makers.draw_rows(replaced(fixed, "cameras.0.fov", 50.0))).is_whole and not part.is_kept
    assert not (part := makers.draw_rows(replaced(fixed, "cameras.0.fov", 60.0))).is_whole and part.is_kept


@pytest.mark.parametrize(("least", "smallest"), [(0.5, (200, 160)), (0.25, (100, 80)), (1.0, (200, 160))])
def test_a_slow_picture_that_moves_keeps_its_size_and_is_drawn_some_rows_at_a_time(
    monkeypatch: pytest.MonkeyPatch, least: float, smallest: tuple[int, int]
) -> None:
    makers = Makers(full_ms=20_000.0)
    state = replaced(State(), "settings.display.minimum_scale", least)
    makers.draw(state, moving=True)
    engine = makers.engines[0]
    monkeypatch.setattr(maker, "time", engine)
    for index in range(1, 6):
        makers.draw(state, time=index / 10, moving=True)
    assert makers.slot.drawn == smallest
    assert min(width for width, _ in engine.sizes[2:]) == smallest[0], "behind the two that were tried"
    engine.rows.clear()
    part = makers.draw_rows(state, time=0.6, moving=True)
    is_slow = 20_000.0 * smallest[0] * smallest[1] / 128_000.0 > ROWS_LIMIT_MS
    assert part.is_whole != is_slow and part.is_kept == is_slow
    assert not is_slow or engine.rows == [8]


def test_a_quick_picture_that_moves_is_drawn_at_once() -> None:
    makers = Makers(full_ms=300.0)
    assert all(makers.draw_rows(time=index / 10, moving=True).is_whole for index in range(6))
    assert makers.engines[0].rows[-1] == makers.slot.drawn[1] >= 160


@pytest.mark.parametrize("ray_type", ["smooth", "path", "steps"])
def test_rows_of_an_engine_make_the_same_picture(
    moving_scene: Scene, monkeypatch: pytest.MonkeyPatch, ray_type: str
) -> None:
    state = replaced(replaced(State(), "settings.render.device", "cpu"), "settings.render.ray_type", ray_type)
    state = replaced(replaced(state, "settings.display.still_samples", 3), "settings.render.layout", "bvh2")
    state = replaced(state, "settings.display.filter_samples", 0)
    pictures, counts = [], []
    monkeypatch.setattr(pacing.Pacing, "dare", lambda pace, may_stop, asked_at: None)  # or the first would have no rows
    for rows in (0, 16):
        monkeypatch.setattr(pacing, "rows_at_once", lambda row_ms, left, rows=rows: rows if left > rows else 0)
        with contextlib.closing(FrameMaker()) as made:
            slot, calls, outcome = HostSlot(75, 50), 0, None
            while outcome is None or outcome.samples < 3:
                outcome = made.draw(moving_scene, state, Moment(0.5), [slot], is_moving=False)
                calls += 1
                assert made.pick(0.5, 0.5) is not None, "whoever asks in between is answered"
            assert calls == (12 if rows else 3)
            assert outcome.statistics is not None and outcome.statistics.views[0].samples == 3
            pictures.append(slot.pixels.copy())
            counts.append(steps_in(made.flush()))
            assert np.array_equal(counts[-1], steps_in(outcome.statistics))
    assert np.array_equal(*pictures)
    assert np.array_equal(*counts) and counts[0].sum() == (75 * 50 if ray_type == "steps" else 0)


def steps_in(statistics: FrameStatistics | None) -> np.ndarray:
    """How many pixels have how many steps: what a heat map is fitted to."""
    steps = statistics.views[0].steps if statistics is not None else None
    return steps.histogram if steps is not None else np.zeros(1)


class SlowlyEnlarged(NeverEnlarged):
    """Enlarging would take so long."""

    def __init__(self, ms: float) -> None:
        super().__init__()
        self.ms = ms

    def fill(self, target: Any, slots: Sequence[Any]) -> None:
        """Not at all, but that takes its time."""
        self.spent_ms = self.ms


def test_pictures_leave_room_for_what_is_drawn_over_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes of nodes take 15 ms and more on a processor."""
    clock, widths = Clock(), []
    monkeypatch.setattr(maker, "time", clock)
    for spent_s in (0.0, 0.015):

        def paint(*given: Any, spent_s: float = spent_s, **named: Any) -> None:
            clock.now += spent_s

        monkeypatch.setattr(Overlays, "paint", paint)
        makers = Makers(full_ms=70.0)
        widths.append([makers.draw(time=index / 10, moving=True).drawn[0] for index in range(12)][-1])
    assert widths[0] > widths[1] >= 200


def test_pictures_leave_room_for_what_enlarges_them() -> None:
    widths = []
    for spent_ms in (0.0, 8.0):
        makers = Makers(full_ms=70.0)
        makers.maker._enlarged = SlowlyEnlarged(spent_ms)
        widths.append([makers.draw(time=index / 10, moving=True).drawn[0] for index in range(12)][-1])
    assert widths[0] > widths[1] > 200


def test_a_dared_picture_that_is_not_there_in_time_is_left_for_a_tiny_one_once_a_choice() -> None:
    makers = Makers(full_ms=1000.0)
    assert makers.draw(time=0.0).samples == 1 and makers.slot.drawn == (400, 320)
    engine, other = makers.engines[0], replaced(State(), "settings.render.layout", "bvh2")
    assert engine.left_sizes == [(400, 320)] and engine.sizes[0][0] * engine.sizes[0][1] <= 1250
    makers.draw(time=0.1)
    assert len(engine.left_sizes) == 1 and engine.target.patience_s == 0.0, "others take as long as they take"
    makers.draw(other)
    assert len(engine.left_sizes) == 2, "another choice is dared anew"


def test_what_is_lost_to_a_picture_that_is_left_counts_as_preparing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(pacing, "time", clock)
    monkeypatch.setattr(clock, "perf_counter", functools.partial(next, itertools.count(step=0.2)))
    quick, slow = (Makers(full_ms=full_ms).draw(time=0.0).preparing_ms for full_ms in (1.0, 1000.0))
    assert slow > quick + 200.0
    again = Makers(full_ms=1000.0)
    again.draw(time=0.0)
    assert again.draw(time=0.1).preparing_ms < slow - 200.0, "it is lost once"


@pytest.mark.parametrize("way", ["always", "unstoppable"])
def test_only_what_can_be_stopped_is_dared(way: str) -> None:
    makers = Makers()
    state = replaced(State(), "settings.update.always", way == "always")
    makers.draw(state)
    makers.targets[0].can_stop = way != "unstoppable"  # type: ignore[misc]
    engine, other = makers.engines[0], replaced(state, "settings.render.layout", "bvh2")
    engine.sizes.clear()
    makers.draw(other)
    assert engine.sizes[0][0] * engine.sizes[0][1] <= 1250, "a tiny picture goes before it"


def asked(makers: Makers, name: str, spent_ms: float, **more: Any) -> tuple[int, int]:
    """The size at which the first picture by a structure is drawn that was asked for so long ago."""
    makers.maker.asked_at = -spent_ms / 1000.0  # the clock stands near 0
    makers.draw(replaced(State(), "settings.render.hierarchy", name), **more)
    return makers.engines[0].sizes[-1]


@pytest.mark.parametrize(
    ("spent_ms", "least", "width"),
    [(10.0, 0.5, 400), (24.0, 0.5, 200), (17.0, 0.5, 284), (24.0, 0.84, 400), (60.0, 0.5, 400)],
    ids=["in time", "late", "a little late", "not so small", "late anyway"],
)
def test_a_first_picture_that_would_be_late_is_smaller_where_that_one_is_in_time(
    monkeypatch: pytest.MonkeyPatch, spent_ms: float, least: float, width: int
) -> None:
    monkeypatch.setattr(pacing, "time", Clock())
    makers = Makers(full_ms=28.0)
    assert asked(makers, "lbvh", 60.0, time=0.0) == (400, 320), "nothing is known of what it takes"
    makers.maker.asked_at = -spent_ms / 1000.0
    state = replaced(State(), "settings.render.hierarchy", "hploc")
    state = replaced(state, "settings.display.minimum_scale", least)
    first = makers.draw(state)
    assert first.drawn[0] == width and makers.engines[0].views[0].borrows
    assert makers.engines[0].made_ready[-1] == (400, 320), "what it waits for is there before its size is chosen"
    if width < 400:
        assert first.samples < first.samples_wanted, "the whole one follows"
        whole = makers.draw(state)
        assert whole.drawn == (400, 320) and whole.samples == 1
        assert makers.engines[0].views[0].borrows, "by the same tree, or it would come behind another build"
    makers.draw(state)
    assert makers.engines[0].sizes[-1] == (400, 320) and not makers.engines[0].views[0].borrows
    assert not makers.engines[0].left_sizes and min(makers.engines[0].sizes) >= (200, 160), "nothing tiny"


def test_what_a_choice_took_is_remembered_for_the_same_rays_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "time", Clock())
    makers = Makers(full_ms=10.0)
    asked(makers, "lbvh", 0.0)
    makers.engines[0].full_ms = 28.0
    assert asked(makers, "octree_complete", 24.0) == (400, 320), "thought as quick as the one before"
    makers.engines[0].full_ms = 10.0
    assert asked(makers, "lbvh", 24.0) == (400, 320), "it was quick the last time"
    makers.engines[0].full_ms = 28.0
    assert asked(makers, "octree_complete", 24.0) == (200, 160), "it was slow"
    makers.maker.asked_at = -0.024
    makers.draw(replaced(State(), "settings.render.ray_type", "path"))
    assert makers.engines[0].sizes[-1] == (400, 320), "nothing is known of other rays"


def test_the_first_picture_of_what_moves_is_dared_at_the_size_of_those_before() -> None:
    makers = Makers(full_ms=70.0)
    for index in range(8):
        makers.draw(time=index / 10, moving=True)
    engine, before = makers.engines[0], makers.slot.drawn
    assert 200 <= before[0] < 400
    engine.sizes.clear()
    makers.draw(replaced(State(), "settings.render.layout", "bvh2"), time=1.0, moving=True)
    assert engine.sizes == [before] and not engine.left_sizes, "nothing tiny before it"
    engine.full_ms = 3000.0
    makers.draw(replaced(State(), "settings.render.layout", "bvh8"), time=1.1, moving=True)
    assert engine.left_sizes == [before] and engine.sizes[1][0] * engine.sizes[1][1] <= 1250, "it was too slow for that"


@pytest.mark.parametrize("is_moving", [True, False])
def test_who_chooses_again_and_again_sees_every_second_choice(is_moving: bool) -> None:
    """Each first picture was stopped by the next choice: the window stood still while an option was dragged, or an
    arrow key was held down in a sheet."""
    makers = Makers(full_ms=70.0)
    makers.draw(time=0.0)
    switch, engine, shown = makers.maker.switch, makers.engines[0], []
    draw = engine.render_frame

    def interrupted(moment: Moment, views: Any) -> FrameStatistics:
        if switch._target is not None:
            switch.stop(builds=True)
            raise Stopped(is_build=False)
        return draw(moment, views)

    engine.render_frame = interrupted  # type: ignore[method-assign]
    for index in range(6):
        switch.go_on()
        with contextlib.suppress(Stopped):
            chosen = replaced(State(), "settings.render.hierarchy", ("hploc", "binned_sah")[index % 2])
            makers.draw(chosen, time=index / 10, moving=is_moving)
            shown.append(index)
    assert shown == [1, 3, 5]


def test_who_stops_a_picture_that_was_seen_has_the_first_one_of_the_next_choice_at_once() -> None:
    """A picture at rest is refined for long: nobody has missed one that is stopped then."""
    makers = Makers(full_ms=70.0)
    assert makers.draw(time=0.0).samples == 1
    draw, engine = makers.engines[0].render_frame, makers.engines[0]
    engine.render_frame = lambda *given: (_ for _ in ()).throw(Stopped(is_build=False))  # type: ignore[method-assign]
    makers.maker.switch.stop()
    with pytest.raises(Stopped):
        makers.draw(time=0.0)
    makers.maker.switch.go_on()
    engine.render_frame = draw  # type: ignore[method-assign]
    engine.sizes.clear()
    makers.draw(replaced(State(), "settings.render.hierarchy", "hploc"), time=0.0)
    assert engine.sizes == [(200, 160)], "dared, nothing tiny before it"


def test_of_many_choices_the_latest_are_remembered() -> None:
    """Each step of an option that is dragged is a choice."""
    makers = Makers(full_ms=10.0)
    for samples in range(1, pacing.KEPT_CHOICES + 20):
        makers.draw(replaced(State(), "settings.render.samples", samples), time=0.0)
    kept = makers.maker._pacing._full_ms
    assert len(kept) == pacing.KEPT_CHOICES
    assert [choice[0].samples for choice in kept] == [*range(19, pacing.KEPT_CHOICES + 19)]  # type: ignore[index]


def test_four_pictures_beside_each_other_share_the_time_that_is_dared() -> None:
    makers = Makers(full_ms=30.0)
    patience: list[float] = []
    makers.draw()
    target = makers.targets[0]
    target.be_patient = lambda seconds: patience.append(seconds)  # type: ignore[method-assign]
    views = tuple(dataclasses.replace(State().views[0], name=f"view {index}") for index in range(4))
    state = dataclasses.replace(State(), views=views)
    makers.maker.draw(SCENE, state, Moment(0.0), [HostSlot(40, 32) for _ in range(4)], False)
    assert patience[0] == pytest.approx(pacing.DARED_S / 4)
