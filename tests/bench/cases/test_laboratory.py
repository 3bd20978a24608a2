"""Figures of the laboratory: each part is measured on the target that is given, and is about what it says."""

from __future__ import annotations

import re

import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.cases import laboratory
from raygrove.gpu.target.base import Target


@pytest.fixture(autouse=True)
def two_contestants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laboratory, "CONTESTANTS", ("lbvh", "ploc"))


def test_parts_are_of_what_they_say(target: Target) -> None:
    listed, *hot = laboratory.hot_rows(target, make_demo("orbit"), "lbvh", (64, 48), 1)
    assert listed["what"] == "hot spots, counted and listed" and listed["figure"] > hot[0]["ms"]
    rows = [
        hot[0],
        laboratory.debugger_row(target, make_demo("explode", 2000), (64, 48), 1),
        laboratory.race_row(target, make_demo("orbit"), (32, 24), 1),
        *laboratory.validation_rows(target, make_demo("blob", 1000), 1),
    ]
    assert all(row["figure"] > 0.0 for row in rows)
    assert all(row["figure"] == pytest.approx(row["ms"] / row["trace_ms"]) for row in hot)
    assert [row["what"] for row in hot[:2]] == ["hot spots over trace", "divergence over trace"]
    assert hot[2]["ms"] > hot[0]["ms"] and hot[3]["ms"] > hot[1]["ms"], "reading comes on top"
    events = re.fullmatch(r"(\d+) events", rows[1]["beside"])
    assert events and int(events[1]) > 3
    assert rows[2]["figure"] == pytest.approx(rows[2]["together_ms"] / sum(rows[2]["alone_ms"]))
    assert [row["what"].startswith("validation") for row in rows] == [False] * 3 + [True] * 3
    nodes = re.fullmatch(r"([\d,]+) nodes", rows[3]["of"])
    assert nodes and 500 <= int(nodes[1].replace(",", "")) < 1000
