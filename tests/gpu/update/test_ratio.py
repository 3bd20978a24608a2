"""The policy ratio_optimiser against the made-up machines of test_costs.py."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from raygrove.gpu.update.costs import Ticket, UpdateCosts
from raygrove.gpu.update.ratio import FIRST_RATIO, RefitRatio

from .test_costs import MACHINES, SCENES, Player


class BothCosts(UpdateCosts):
    """Costs that tell a ratio of what they learn."""

    def __init__(self) -> None:
        super().__init__()
        self.ratio = RefitRatio()

    def learn(self, ticket: Ticket, update_ms: float, trace_ms: float, rays: int) -> None:
        super().learn(ticket, update_ms, trace_ms, rays)
        self.ratio.learn(ticket, update_ms, trace_ms, rays)


class RatioPlayer(Player):
    """Plays by the ratio."""

    def __init__(self, scene: str, machine: str, noise: float = 0.03, seed: int = 0) -> None:
        super().__init__(scene, machine, "ratio_optimiser", noise, seed)
        self.costs = BothCosts()

    def _choose(self) -> str:
        assert isinstance(self.costs, BothCosts)
        return "refit" if self.frame and self.costs.age < self.costs.ratio.refits_for_each_rebuild() else "rebuild"


def best_fixed(scene: str, machine: str) -> float:
    return min(Player(scene, machine, mode).play().total for mode in ("rebuild", "refit"))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("scene", SCENES)
def test_it_is_near_the_best_fixed_choice_or_better(scene: str, machine: str) -> None:
    ratios = [RatioPlayer(scene, machine, seed=seed).play().total for seed in range(3)]
    assert np.mean(ratios) <= 1.06 * best_fixed(scene, machine)


def test_auto_is_at_most_about_two_per_cent_behind_it() -> None:
    worst = {}
    for scene, machine in itertools.product(SCENES, MACHINES):
        auto = np.mean([Player(scene, machine, "auto", seed=seed).play().total for seed in range(3)])
        worst[scene, machine] = auto / np.mean(
            [RatioPlayer(scene, machine, seed=seed).play().total for seed in range(3)]
        )
    assert max(worst.values()) <= 1.025, worst


def test_what_wears_out_by_a_line_gets_the_best_cycle() -> None:
    played = RatioPlayer("explode", "few rays", noise=0.0).play(240)
    ages = np.diff(np.flatnonzero(np.array(played.updates) == "rebuild"))[4:]
    # Premium 2 ms, 0.08 ms more each frame: sqrt(2 * 2 / 0.08) = 7 frames from one rebuild to the next.
    assert np.median(ages) == 7


def test_where_a_refit_is_dearer_it_is_tried_now_and_then() -> None:
    played = RatioPlayer("walker", "refit dearer").play(300)
    assert 4 <= played.updates[20:].count("refit") <= 20


def test_nothing_is_learnt_of_frames_without_times() -> None:
    ratio = RefitRatio()
    ratio.learn(Ticket("nothing", 1, 0), 0.0, 5.0, 100)
    assert ratio.refits_for_each_rebuild() == FIRST_RATIO and ratio.slope == 0.0
    ratio.learn(Ticket("rebuild", 1, 0), 3.0, 0.0, 0)
    ratio.learn(Ticket("refit", 1, 1), 1.0, 0.0, 0)
    assert ratio.slope == 0.0
    ratio.learn(Ticket("rebuild", 2, 0), 3.0, 1.0, 100)
    ratio.learn(Ticket("refit", 2, 1), 1.0, 4.0, 200)
    assert ratio.slope == pytest.approx(1.0), "scaled to the rays of the cycle's first frame"


def cycle(ratio: RefitRatio, number: int, refits: int, slope: float) -> None:
    """A rebuild and so many refits; tracing becomes dearer by `slope` with each."""
    for age in range(refits + 1):
        ratio.learn(Ticket("refit" if age else "rebuild", number, age), 1.0 if age else 3.0, 5.0 + slope * age, 100)


def test_where_tracing_stays_as_it_is_thousands_of_refits_follow() -> None:
    """From cycle to cycle twice as many, but never more than 4,096: what happens later would go unseen."""
    ratio = RefitRatio()
    for number, refits in enumerate((700, 3000)):
        cycle(ratio, number, refits, 0.0)
        ratio.learn(Ticket("rebuild", 9, 0), 3.0, 5.0, 100)
        assert ratio.refits_for_each_rebuild() == (1400, 4096)[number]


def test_an_older_cycle_counts_half_as_much() -> None:
    """Two cycles of four refits, of slope 2 and then 0.2: the line through both, the older by half."""
    ratio = RefitRatio()
    cycle(ratio, 1, 4, 2.0)
    cycle(ratio, 2, 4, 0.2)
    assert ratio.slope == pytest.approx((0.2 + 0.5 * 2.0) / 1.5)
    ratio.learn(Ticket("rebuild", 3, 0), 3.0, 5.0, 100)
    assert ratio.slope == pytest.approx((0.2 + 0.5 * 2.0) / 1.5), "the cycle at hand has begun, and says nothing yet"
