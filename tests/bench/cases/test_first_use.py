"""First uses: what the table says of starts and structures, and that each structure begins with the same cache."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from raygrove.bench.cases import first_use
from raygrove.bench.measured_window import WindowError


def test_the_median_is_of_those_that_were_drawn_and_the_worst_is_named() -> None:
    uses = [{"structure": "a", "seconds": 2.0}, {"structure": "b", "seconds": 9.0}, {"structure": "c", "seconds": 3.0},
            {"structure": "d", "problem": "It takes no such scene."}]  # fmt: skip
    rows = first_use.rows_of({"first page": [0.9, 0.5, 0.6], "first picture": [1.5]}, uses)
    found = {row["what"]: (row["seconds"], row["is_reached"]) for row in rows}
    assert found == {
        "first page": (0.6, True), "first picture": (1.5, False),
        "first use, median of 3": (3.0, True), "first use, the worst: b": (9.0, None),
    }  # fmt: skip


def test_each_structure_begins_with_the_same_cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "base.so").write_text("kernels of the scene")
    asked: list[tuple[str, set[str]]] = []

    def ask(what: str, job: dict[str, Any], seconds: float, environment: dict[str, str]) -> dict[str, Any]:
        cache = pathlib.Path(environment["RAYGROVE_CACHE"])
        asked.append((job["structure"], {path.name for path in cache.iterdir()}))
        (cache / f"{job['structure']}.so").write_text("compiled")
        if job["structure"] == "grid":
            raise WindowError("it fell over", "")
        return {"seconds": 1.0, "pictures_meanwhile": 3, "longest_gap_s": 0.1, "shown_at": 0.0}

    monkeypatch.setattr(first_use, "ask_window", ask)
    found = first_use.measure_first_uses({"demo": "explode"}, tmp_path / "cache", ["hploc", "grid", "ploc"])
    assert asked == [(name, {"base.so"}) for name in ("hploc", "grid", "ploc")]
    assert [one.get("seconds") for one in found] == [1.0, None, 1.0] and "fell over" in found[1]["problem"]


def test_a_window_is_whole_after_its_picture(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"": {"shown_at": 10.5}, "explode": {"shown_at": 10.3, "picture_at": 10.9, "whole_at": 11.4}}
    monkeypatch.setattr(first_use, "ask_window", lambda what, job, seconds, environment: answers[job["demo"]])
    monkeypatch.setattr(first_use.time, "time", lambda: 10.0)
    starts = first_use.measure_starts({"demo": "explode"}, tmp_path, 2)
    rows = {row["what"]: (round(row["seconds"], 3), row["goal"]) for row in first_use.rows_of(starts, [])}
    assert rows == {"first page": (0.5, 0.7), "first picture": (0.9, 1.0), first_use.WHOLE: (1.4, None)}
