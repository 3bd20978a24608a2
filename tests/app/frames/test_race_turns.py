"""Who draws when in the window's race: all the same instant, in an order that rotates, the clock behind the last."""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.app.frames.race_turns import PATIENCE, RaceTurns
from raygrove.gpu.analysis.racing import WARM_FRAMES
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import View, ViewSettings
from raygrove.gpu.scene import Moment
from raygrove.gpu.stats import FrameStatistics
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


VIEWS = [View(ViewSettings(), Camera(), None, name) for name in "ABC"]  # type: ignore[arg-type]


def run(engine: Engine, turns: RaceTurns, count: int, choice: object = "a choice") -> list[FrameStatistics | None]:
    found = []
    for number in range(count):
        first = 1 + max((one[2] for one in engine.drawn), default=0)
        found.append(turns.draw(engine, VIEWS, Moment(0.1 * number), choice, first))
    return found


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
