"""When a soak looks at what it has taken, and what of that is a finding."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.campaign import soak


def test_the_first_look_waits_for_the_steps_of_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(soak.time, "monotonic", lambda: now[0])
    looks = soak.Looks(1000)
    looks.start(60.0)
    now[0] += 59.0
    assert not looks.are_due(Counter(draw=2000)), "the minute is not over"
    now[0] += 200.0
    assert not looks.are_due(Counter(draw=900, open=99)) and looks.are_due(Counter(draw=900, open=100))
    looks.add({"MiB": 50.0}, Counter())
    assert looks.end == 160.0 + 3600.0
    assert not looks.are_due(Counter(draw=5000))
    now[0] += soak.LOOK_S + 1.0
    assert looks.are_due(Counter(draw=1001))
    looks.add({"MiB": 51.0}, Counter())
    assert looks.first == {"MiB": 50.0} and looks.last == {"MiB": 51.0}


def test_a_short_soak_waits_for_half_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(soak.time, "monotonic", lambda: now[0])
    looks = soak.Looks(1000)
    looks.start(1.0)
    now[0] = 31.0
    assert looks.are_due(Counter(draw=500)) and not looks.are_due(Counter(draw=499))


def test_what_has_grown_is_a_finding() -> None:
    first = {"MiB": 100.0, "own MiB": 60.0, "device MiB": 10.0, "descriptors": 6.0, "threads": 2.0, "files": 0.0}
    within = {"MiB": 101.9, "own MiB": 61.1, "device MiB": 10.4}
    assert not soak.grown(first, first | within), "0.02, or half a megabyte"
    beyond = {"MiB": 102.1, "own MiB": 61.3, "device MiB": 10.6, "descriptors": 7.0, "threads": 3.0, "files": 1.0}
    for key, value in beyond.items():
        assert soak.grown(first, {**first, key: value}) == [key], key
