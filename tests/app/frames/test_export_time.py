"""What an export takes, as it is told before and meanwhile."""

from __future__ import annotations

import dataclasses

import pytest

from raygrove.app.frames.exporting import expected_seconds, roughly, time_left
from tests.app.stand_ins import made_statistics


def test_what_is_left_is_told_in_minutes() -> None:
    """By the pace of what is done; nothing of what is over soon."""
    assert time_left(80.0, 4, 180) == ", about 59 min left"
    assert time_left(80.0, 178, 180) == time_left(3600.0, 180, 180) == ""
    assert time_left(80.0, 1, 1000) == ", about 22 h left"


def test_what_an_export_takes_is_told_by_the_pictures_before() -> None:
    """The median picture: 12 ms of rays and 3 ms of shading, without those that are not its own; once a frame what
    moves."""
    seen = [made_statistics(), made_statistics(), made_statistics(phases_age=3), made_statistics(views=())]
    view = seen[0].views[0]
    size = (view.width * 3, view.height * 2)
    still = expected_seconds(100, size, 16, seen, None)
    assert still == pytest.approx(100 * 16 * 0.015 * 6)
    update = dataclasses.replace(seen[0], animate_ms=4.0)
    assert expected_seconds(100, size, 16, seen, update) == pytest.approx(still + 100 * (0.004 + 0.002))
    assert expected_seconds(100, size, 16, seen[2:], update) == 0.0 == expected_seconds(100, size, 16, (), None)
    assert [roughly(one) for one in (0.2, 42.4, 121.0, 719.0, 12600.0)] == ["1 s", "42 s", "2 min", "12 min", "3.5 h"]
