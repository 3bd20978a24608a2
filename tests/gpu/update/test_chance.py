"""What is taken for chance of a tree, and what is not."""

from __future__ import annotations

import pytest

from raygrove.gpu.update.chance import SPREAD, Chance


def share_of(before_ms: float, times: list[float]) -> float:
    chance = Chance()
    chance.begin(10.0, 5, 10.0, 0.01)
    chance.begin(before_ms, 5, times[0], 0.01)
    for ms in times[1:]:
        chance.add(ms, 0.01)
    return chance.share


def test_a_tree_that_is_a_little_dearer_turned_out_so_by_chance() -> None:
    assert 0.0 < share_of(10.0, [10.4] * 5) < 0.04
    assert -0.04 < share_of(10.0, [9.6] * 5) < 0.0


@pytest.mark.parametrize("ms", [15.0, 20.0, 5.0])
def test_a_picture_that_costs_another_sum_is_no_chance(ms: float) -> None:
    """A camera that jumps in the frame of a rebuild would else have trees replaced for nothing, one after the other."""
    assert share_of(10.0, [ms] * 5) == 0.0
    assert abs(share_of(10.0, [10.0 * (1.0 + 3.0 * SPREAD)] * 5)) > 0.0
