"""Reactions: what the table says of structures, drags and pauses, and whose bars they are."""

from __future__ import annotations

import argparse
from typing import Any

import pytest

from raygrove.bench.arguments import UsageError
from raygrove.bench.cases import reactions
from raygrove.bench.window_goals import REACTIONS, WINDOW_GOALS

LATE = {"name": "tour, step 3", "wall_ms": 120.0, "cpu_ms": 30.0, "queue_ms": 80.0, "waited_ms": 10.0,
        "stack": ["docks.py, line 12 in _look"]}  # fmt: skip
ANSWER: dict[str, Any] = {
    "structures_ms": {
        "a": {"first": [40.0], "again": [20.0, 10.0, 30.0]},
        "b": {"first": [45.0], "again": [400.0]},
        "c": {"first": [900.0], "again": []},
    },
    "drags_ms": {"stopped": [12.0, 30.0, 13.0], "painted": [50.0, 60.0, 40.0]},
    "walk": {"pauses_ms": [5.0] * 197 + [60.0, 70.0, 120.0], "late": [LATE]},
}


def test_each_bar_has_its_figure_and_the_worst_is_named() -> None:
    rows = {row["what"]: (row["ms"], row["is_reached"]) for row in reactions.rows_of(ANSWER)}
    assert [rows[what] for what in REACTIONS] == [(45.0, True), (30.0, True), (60.0, False), (120.0, True)]
    assert rows["the same, the worst: c"] == (900.0, None) and rows["chosen again, the worst: b"] == (400.0, None)
    assert rows["chosen again, median of all"] == (210.0, None)
    assert rows["the same, less the queue for a processor"] == (40.0, None)
    kept = {"results": reactions.rows_of(ANSWER)}
    read = {goal.what: goal.read(kept) for goal in WINDOW_GOALS if goal.file == "reactions"}
    assert [read[what] for what in REACTIONS] == [45.0, 30.0, 60.0, 120.0]


def test_a_part_that_was_not_measured_has_no_rows() -> None:
    rows = reactions.rows_of({"drags_ms": ANSWER["drags_ms"]})
    assert [row["what"] for row in rows][0] == reactions.DRAG and len(rows) == 3


def test_where_the_thread_stood_in_the_longest_pauses_is_told() -> None:
    text = reactions.told(ANSWER, reactions.rows_of(ANSWER))
    assert "120 ms (cpu 30, queue 80, waited 10) in: tour, step 3\n    docks.py, line 12 in _look" in text
    assert "MISSED" in text and "reached" in text


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no swich; there are switch, drag, walk"):
        reactions.parts_of(argparse.Namespace(parts="swich,walk"))


@pytest.mark.parametrize(("share", "expected"), [(0.99, 99.0), (0.5, 50.0), (1.0, 100.0), (0.001, 1.0)])
def test_a_percentile_is_one_of_the_samples(share: float, expected: float) -> None:
    assert reactions.percentile([float(number) for number in range(100, 0, -1)], share) == expected
