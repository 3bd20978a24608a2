"""Numbers for people."""

from __future__ import annotations

import pytest

from raygrove.gpu.brief import brief, least_percent, percent


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
