"""What is taken for chance of a tree, and what is not; and what another tree would save."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raygrove.gpu.update.chance import LASTS, SPREAD, Chance, saving

NOISE = 0.01


def after(*trees: list[float]) -> Chance:
    """Trees one after the other, by the milliseconds that tracing takes through each."""
    chance = Chance()
    for times in trees:
        chance.begin()
        for ms in times:
            chance.add(math.log(ms), NOISE)
    return chance


def test_of_the_first_tree_nothing_is_known() -> None:
    chance = after([10.0] * 20)
    assert chance.trees == 1 and chance.share == pytest.approx(0.0, abs=1e-9)


def test_a_tree_that_is_a_little_dearer_turned_out_so_by_chance() -> None:
    assert 0.01 < after([10.0] * 5, [10.4] * 5).share < 0.04
    assert -0.04 < after([10.0] * 5, [9.6] * 5).share < -0.01


def test_more_times_leave_less_doubt_and_more_trees_tell_the_level() -> None:
    few, many = after([10.0] * 5, [10.4]), after([10.0] * 5, [10.4] * 8)
    assert many.doubt < few.doubt < SPREAD
    beside_one, beside_four = after([10.0] * 5, [10.4] * 5), after(*[[10.0] * 5] * 4, [10.4] * 5)
    assert beside_four.doubt < beside_one.doubt and beside_four.share > beside_one.share


def test_noise_is_no_chance() -> None:
    random = np.random.default_rng(4)
    shares = []
    for _ in range(40):
        chance = Chance()
        for _ in range(4):
            chance.begin()
            for _ in range(6):
                chance.add(0.04 * random.standard_normal(), 0.04)
        shares.append(chance.share)
    assert np.std(shares) < 0.5 * SPREAD


@pytest.mark.parametrize("ms", [15.0, 20.0, 5.0])
def test_a_picture_that_costs_another_sum_is_no_chance(ms: float) -> None:
    """A camera that jumps in the frame of a rebuild would else have trees replaced for nothing, one after the other."""
    chance = after([10.0] * 5, [10.0] * 5, [ms] * 5)
    assert chance.share == pytest.approx(0.0, abs=1e-9) and chance.trees == 1
    assert after([10.0] * 5, [10.0 * (1.0 + 3.0 * SPREAD)] * 5).share > SPREAD


def test_a_pose_that_becomes_dearer_step_by_step_is_the_level() -> None:
    rising = [10.0 * 1.004**frame for frame in range(60)]
    assert abs(after(rising[:30], rising[30:]).share) < 0.4 * SPREAD


@pytest.mark.parametrize("wear", [0.0, 1e-5, 0.001, 0.01, 0.1])
@pytest.mark.parametrize("excess", [-0.03, 0.0, 0.02, 0.1])
def test_saving_is_the_mean_over_new_trees_of_what_they_are_cheaper(excess: float, wear: float) -> None:
    """Drawn at random, and added up frame by frame in small steps."""
    trees = SPREAD * np.random.default_rng(1).standard_normal(20_000)
    ages = (np.arange(150) + 0.5) * LASTS / 150
    by_frame = [np.maximum(excess - trees - wear * age, 0.0).mean() for age in ages]
    assert saving(excess, wear) == pytest.approx(LASTS * np.mean(by_frame), rel=0.03, abs=0.003)


def test_where_trees_are_nearly_alike_saving_is_that_of_the_best_cycle() -> None:
    """A premium P and a wear s: trees are given up where they have worn out by sqrt(2 P s)."""
    premium, wear = 2.0, 0.08
    assert saving(math.sqrt(2.0 * premium * wear), wear) == pytest.approx(premium, rel=0.02)
