"""Numbers for people."""

from __future__ import annotations

import pytest

from raygrove.gpu.brief import brief, filled, least_percent, percent


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (4.567, 3, "4.57"),
        (1072.4, 3, "1,072"),
        (999.6, 3, "1,000"),
        (283.0, 2, "283"),
        (99.7, 2, "100"),
        (8.04, 2, "8"),
        (0.0000204, 2, "0.00002"),
        (-0.00000123, 2, "-0.0000012"),
        (1e12, 3, "1,000,000,000,000"),
        (0.0, 2, "0"),
    ],
)
def test_no_number_is_told_by_an_exponent(value: float, digits: int, text: str) -> None:
    assert brief(value, digits) == text


def test_what_is_no_number_is_said_so() -> None:
    assert brief(float("nan")) == "nan" and brief(float("inf")) == "inf"


def test_shares_are_spelt_alike() -> None:
    assert (percent(0.124), percent(0.0), percent(0.1234, 1), percent(1.5)) == ("12 %", "0 %", "12.3 %", "150 %")
    assert (least_percent(0.000042), least_percent(0.25)) == ("0.0042 %", "25 %")


def test_a_lone_one_counts_one_thing() -> None:
    """Not what a number ends in, nor what a name says."""
    assert filled("{steps:,} steps", steps=1) == "1 step" and filled("{steps:,} steps", steps=1001) == "1,001 steps"
    assert filled("{n} of {all} frames", n=0, all=1) == "0 of 1 frame" and filled("{n} boxes", n="1") == "1 box"
    assert filled("{rate} frames/s, {s:.1f} seconds", rate="1", s=1.0) == "1 frame/s, 1.0 seconds"
    assert filled("Recorded {count:,} rays: {path}.", count=1, path="1 rays.npz") == "Recorded 1 ray: 1 rays.npz."
    assert filled("{count:,} have no value.", count=1) == "1 has no value."
    assert filled("{n} colliding pairs of {m} primitives", n=1, m=2) == "1 colliding pair of 2 primitives"
