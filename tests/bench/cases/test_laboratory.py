"""Figures of the laboratory: each part is measured on the target that is given, and is about what it says."""

from __future__ import annotations

import re

import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.cases import laboratory, main
from raygrove.bench.laboratory_goals import LABORATORY
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
        *laboratory.race_rows(target, make_demo("orbit"), (32, 24), 1),
        *laboratory.large_rows(target, make_demo("blob", 1000), ("browser", "validation"), 1),
    ]
    assert all(row["figure"] > 0.0 for row in rows)
    assert all(row["figure"] == pytest.approx(row["ms"] / row["trace_ms"]) for row in hot)
    assert [row["what"] for row in hot[:2]] == ["hot spots over trace", "divergence over trace"]
    assert hot[2]["ms"] > hot[0]["ms"] and hot[3]["ms"] > hot[1]["ms"], "reading comes on top"
    events = re.fullmatch(r"(\d+) events", rows[1]["beside"])
    assert events and int(events[1]) > 3
    assert rows[2]["figure"] == pytest.approx(rows[2]["together_ms"] / sum(rows[2]["alone_ms"]))
    assert rows[3]["figure"] == pytest.approx(1e3 / rows[2]["together_ms"]) and rows[3]["unit"] == "frames/s"
    assert [row["what"] for row in rows[4:6]] == ["tree browser, opened", "tree browser, a page"]
    assert [row["what"].startswith("validation") for row in rows[4:]] == [False] * 2 + [True] * 3
    for row in rows[4:]:
        nodes = re.fullmatch(r"([\d,]+) nodes", row["of"])
        assert nodes and 500 <= int(nodes[1].replace(",", "")) < 1000
    pages = re.match(r"(\d+) down to a leaf, the longest ([\d.]+) ms", rows[5]["beside"])
    assert pages and int(pages[1]) > 3 and float(pages[2]) >= rows[5]["figure"] - 1e-3
    alone = laboratory.large_rows(target, make_demo("blob", 300), ("browser",), 1)
    assert [row["unit"] for row in alone] == ["s", "ms"]


def test_advice_is_timed_over_all_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laboratory, "ADVICE_SIZE", (32, 24))
    monkeypatch.setattr(laboratory, "WARMING", 2)
    row = laboratory.advice_row(make_demo("explode", 400), range(5), "cpu")
    assert row["figure"] > 0.0 and row["of"].startswith("5 frames of ") and "every" in row["beside"]
    content = {"results": [row, {**row, "figure": 1e9}, {"what": "race of 4", "figure": 12.5}]}
    figures = {one.what: one.read(content) for one in LABORATORY if one.kind == "host" and one.file == "laboratory"}
    assert figures["advisor on 100 frames of 100,000 triangles"] == 1e9
    assert figures["race of 4 on orbit, 512x384 each, without a window"] == 12.5


def test_parts_that_are_none_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["laboratory", "--device", "cpu", "--parts", "hot,tea"])
    assert "not tea" in capsys.readouterr().err
