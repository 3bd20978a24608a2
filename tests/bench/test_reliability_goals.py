"""Bars of reliability are read from campaigns that were whole, and from no others."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from raygrove.bench.reliability_goals import RELIABILITY
from raygrove.bench.saved_goals import saved_goals

DAMAGED = "crashes, hangs and wrong outcomes in 6,000 damaged files"
HOUR = "memory after an hour's soak without a window over that after a minute"
HOSTILE = "memory that a hostile file takes beyond its honest reading"
KILLS = "results lost or wrong after 50 kills"
MUTANTS = "planted faults that tests find"
MANY = "100,000 meshes, channels, clips or instances opened"


def kept(folder: pathlib.Path, what: str, words: str = "", **content: Any) -> None:
    about = {"date": "2026-11-29T10:00", "commit": "abc", "command": ["python", *words.split()]}
    path = folder / f"xeon-2cores-2026-11-29-{what}.json"
    path.write_text(json.dumps({"context": about, **content}), encoding="utf-8")


def measured(folder: pathlib.Path) -> dict[str, float | None]:
    bars = {one.what for one in RELIABILITY}
    return {goal.what: goal.measured for goal in saved_goals("host", folder) if goal.what in bars}


def looks(first: float, *later: float) -> list[dict[str, Any]]:
    return [{"taken": {"MiB": mib}} for mib in (first, *later)]


def tried(value: int, finding: int) -> dict[str, Any]:
    return {"file": "glb", "value": value, "sentence": 0, "crash in the child": 0, "finding": finding}


@pytest.mark.parametrize(
    ("what", "file", "words", "content", "figure"),
    [
        (DAMAGED, "damaged-files", "", {"results": [tried(5999, 1)]}, 1.0),
        (DAMAGED, "damaged-files", "", {"results": [tried(1, 1), tried(5997, 0)]}, None),
        (HOUR, "soak", "", {"minutes": 60.0, "results": looks(100.0, 180.0, 101.0)}, 1.01),
        (HOUR, "soak", "", {"minutes": 20.0, "results": looks(100.0, 101.0)}, None),
        (HOSTILE, "hostile", "hostile", {"results": [{"mib": 9.0}, {"mib": 1124.0}], "plain_mib": 100.0}, 1.0),
        (HOSTILE, "hostile", "hostile --only bomb", {"results": [{"mib": 1124.0}], "plain_mib": 100.0}, None),
        (KILLS, "kills", "", {"results": [{"kills": 50, "findings": []}, {"kills": 51, "findings": ["lost"]}]}, 1.0),
        (KILLS, "kills", "", {"results": [{"kills": 50, "findings": []}, {"kills": 49, "findings": []}]}, None),
        (MUTANTS, "mutants", "mutants", {"results": [{"caught": 1}, {"caught": 0}]}, 0.5),
        (MUTANTS, "mutants", "mutants --only a", {"results": [{"caught": 1}]}, None),
        (MUTANTS, "mutants", "mutants --minutes 1 --out a", {"results": [{"caught": 1}]}, None),
        (MUTANTS, "mutants", "mutants --minutes=1 --out a", {"results": [{"caught": 1}]}, None),
        (MUTANTS, "mutants", "mutants --out a", {"results": []}, None),
        (MANY, "many", "", {"results": [{"both": 2.0, "count": 100_000}, {"both": 4.0, "count": 100_000}]}, 4.0),
        (MANY, "many", "", {"results": [{"both": 2.0, "count": 50_000}]}, None),
    ],
)  # fmt: skip
def test_a_figure_is_of_a_whole_run(
    tmp_path: pathlib.Path, what: str, file: str, words: str, content: dict[str, Any], figure: float | None
) -> None:
    assert set(measured(tmp_path).values()) == {None}
    kept(tmp_path, file, words, **content)
    found = measured(tmp_path)
    assert found[what] == figure and sum(value is not None for value in found.values()) == (figure is not None)
