"""Rounds of samples, and what makes them doubtful."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.bench.store.noise import noise_of, rounds_of


@pytest.mark.parametrize("moments_first", [True, False])
def test_a_round_is_the_mean_over_the_instants(moments_first: bool) -> None:
    costs = np.array([[1.0, 2.0, 9.0], [3.0, 4.0, 11.0]])  # of two repetitions at three instants
    samples = costs.T if moments_first else costs
    assert rounds_of(samples.ravel().tolist(), 2, moments_first=moments_first) == [4.0, 6.0]
    assert rounds_of([1.0, 2.0, 3.0], 2, moments_first=moments_first) == [1.0, 2.0, 3.0]
    assert rounds_of([], 2, moments_first=moments_first) == []


def test_steady_samples_on_a_quiet_machine_are_no_noise() -> None:
    assert noise_of({"frame_ms": [5.0, 5.01, 5.02, 5.0, 4.99, 5.01, 5.0]}, 1.9, 2, ({"sm": 1980}, {"sm": 1950})) == []
    assert noise_of({"frame_ms": [5.0, 9.0]}, None, 2) == []  # too few to tell


def test_wide_intervals_load_and_clocks_are_said() -> None:
    found = noise_of({"build_ms": [5.0, 9.0, 5.0, 9.0, 6.0, 7.0]}, 3.5, 2, ({"sm": 1980.0}, {"sm": 1400.0}))
    assert found == [
        "the clock sm went from 1980 to 1400 MHz",
        "the load before it was 3.5 on 2 processors",
        "the median of build_ms is known to ±31 % only",
    ]
