"""Who draws when in the window's race: all the same instant, in an order that rotates, the clock behind the last."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.app.frames.race_turns import PATIENCE, RaceTurns
from raygrove.gpu.analysis.racing import WARM_FRAMES
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import View, ViewSettings
from raygrove.gpu.scene import Moment
from raygrove.gpu.shade.steps import StepsOptions
from raygrove.gpu.stats import STEP_BUCKETS, FrameStatistics, StepCounts, bucket_edges
from tests.gpu.analysis.race_views import frame, view


class Engine:
    """Remembers who drew what; times arrive at once, or `late` frames later."""

    def __init__(self, turns: RaceTurns, late: int = 0) -> None:
        self.turns, self.late = turns, late
        self.drawn: list[tuple[str, float, int]] = []
        self.waiting: list[FrameStatistics] = []

    def render_frame(self, moment: Moment, views: Any) -> None:
        (one,) = views
        self.drawn.append((one.name, moment.time, moment.frame_id))
        self.waiting.append(frame(moment.frame_id, view(float(ord(one.name)), 1.0)))
        while len(self.waiting) > self.late:
            self.turns.hear(self.waiting.pop(0))


STEPS = ViewSettings(ray_type="steps", ray_type_options=StepsOptions(automatic=True))
VIEWS = [View(ViewSettings(), Camera(), None, name) for name in "ABC"]  # type: ignore[arg-type]


def run(engine: Engine, turns: RaceTurns, count: int, choice: object = "a choice") -> list[FrameStatistics | None]:
    found = []
    for number in range(count):
        first = 1 + max((one[2] for one in engine.drawn), default=0)
        found.append(turns.draw(engine, VIEWS, Moment(0.1 * number), choice, first))
    return found


class CountingEngine(Engine):
    """Contestant A's rays take up to 40 steps, B's 90 and C's 10 times as many as `factor`; `ranges` are those of the
    colours that were asked for."""

    def __init__(self, turns: RaceTurns) -> None:
        super().__init__(turns)
        self.factor = 1.0
        self.ranges: list[tuple[bool, int, int]] = []

    def render_frame(self, moment: Moment, views: Any) -> None:
        (one,) = views
        options = one.settings.ray_type_options
        self.ranges.append((options.automatic, options.minimum, options.maximum))
        most = {"A": 40, "B": 90, "C": 10}[one.name] * self.factor
        steps = np.arange(2, int(most) + 1)
        histogram = np.bincount(np.searchsorted(bucket_edges(), steps, "right") - 1, minlength=STEP_BUCKETS)
        counts = StepCounts("nodes", histogram, 0, 1)
        seen = dataclasses.replace(view(1.0, 1.0), steps=counts)
        self.turns.hear(frame(moment.frame_id, seen))


def test_heat_maps_that_fit_each_picture_have_one_range_for_all() -> None:
    turns = RaceTurns()
    engine = CountingEngine(turns)
    fitted = [dataclasses.replace(one, settings=STEPS) for one in VIEWS]

    def instant(number: int, choice: str = "a choice") -> set[tuple[bool, int, int]]:
        engine.ranges.clear()
        shared = turns.with_one_range(fitted, choice)
        turns.draw(engine, shared, Moment(0.1 * number), choice, 1 + 3 * number)
        return set(engine.ranges)

    assert instant(0) == {(True, 0, 96)}, "nothing is counted yet"
    for number in range(1, WARM_FRAMES + 2):
        ranges = instant(number)
    ((is_own, low, high),) = ranges
    assert not is_own and low == 2 and 80 <= high <= 96, "what the dearest takes"
    engine.factor = 1.05
    assert [instant(number) for number in range(40, 43)] == [ranges] * 3, "it does not follow every change"
    engine.factor = 2.0
    instant(50)
    ((_, _, higher),) = instant(51)
    assert higher > 1.6 * high
    assert instant(60, "another choice") == {(True, 0, 96)}
    plain = [dataclasses.replace(one, settings=ViewSettings(ray_type="steps", ray_type_options=StepsOptions()))
             for one in VIEWS]  # fmt: skip
    assert turns.with_one_range(plain, "another choice") is plain, "a range that was chosen stays"


def test_all_draw_an_instant_before_the_next_and_the_order_rotates() -> None:
    turns = RaceTurns()
    engine = Engine(turns)
    run(engine, turns, 6)
    rounds = [engine.drawn[first : first + 3] for first in range(0, 18, 3)]
    for number, drawn in enumerate(rounds):
        assert {name for name, _, _ in drawn} == set("ABC") and {time for _, time, _ in drawn} == {0.1 * number}
    firsts = [drawn[0][0] for drawn in rounds]
    assert firsts[:3] != firsts[1:4] and sorted(firsts[:3]) == list("ABC") == sorted(firsts[3:])
    assert [one[2] for one in engine.drawn] == list(range(1, 19)), "each frame has a number of its own"


@pytest.mark.parametrize("late", [0, 2])
def test_figures_are_those_of_one_instant_in_the_contestants_order(late: int) -> None:
    turns = RaceTurns()
    engine = Engine(turns, late)
    found = run(engine, turns, 8)
    assert found[:WARM_FRAMES] == [None] * WARM_FRAMES, "what warms up is not counted"
    assert found[-1] is not None
    assert [one.build_ms for one in found[-1].views] == [65.0, 66.0, 67.0]
    assert found[-1].animate_ms == pytest.approx(1.5) and found[-1].launches == 9
    numbers = [one.frame_id for one in found if one is not None]
    assert numbers == sorted(numbers) and len(set(numbers)) >= len(numbers) - 1


def test_another_choice_warms_up_anew_and_old_figures_do_not_come_back() -> None:
    turns = RaceTurns()
    engine = Engine(turns, late=2)
    assert run(engine, turns, 6)[-1] is not None
    assert run(engine, turns, WARM_FRAMES, "another")[-1] is None


def test_an_instant_in_which_a_tree_had_too_little_room_does_not_count() -> None:
    turns = RaceTurns()
    engine = Engine(turns)
    before = run(engine, turns, 5)[-1]
    original, engine.render_frame = engine.render_frame, lambda moment, views: None  # type: ignore[method-assign]
    turns.draw(engine, VIEWS, Moment(9.0), "a choice", 100)
    for number in (100, 101, 102):
        turns.hear(frame(number, view(1.0, 1.0), is_stale=number == 101))
    engine.render_frame = original  # type: ignore[method-assign]
    assert turns.draw(engine, VIEWS, Moment(9.1), "a choice", 200) is not before
    assert turns.draw(engine, VIEWS, Moment(9.2), "a choice", 300) is not None


def test_the_shared_size_changes_seldom() -> None:
    turns = RaceTurns()
    assert turns.settled(1.0) == 1.0
    assert [turns.settled(0.84) for _ in range(PATIENCE)] == [1.0] * (PATIENCE - 1) + [0.84]
    assert [turns.settled(scale) for scale in (1.0, 0.84) * PATIENCE] == [0.84] * 2 * PATIENCE, "noise changes nothing"
    assert turns.settled(0.5) == 0.5, "much too slow is answered at once"
