"""The library's first call is measured by programs of their own, and its bar and that of the face's rays read it."""

from __future__ import annotations

import argparse
import json
import pathlib

import pytest

from raygrove.bench.cases import worlds
from raygrove.bench.first_call import FirstCallError, first_call, first_call_row
from raygrove.bench.saved_goals import saved_goals
from raygrove.gpu.target.base import Target

BARS = ("first call of the library, warm cache", "rays a second of the library over the tracer's own figure")


def test_programs_are_timed_from_their_start_to_their_hits(host_target: Target) -> None:
    said: list[str] = []
    row = first_call_row(host_target, 2, said.append)
    assert row["hits"] == 1024 and "1,024 hits" in said[0]
    assert len(row["samples"]) == 2 and row["cpu_seconds"] > 0.0 and 0.05 < row["seconds"] <= max(row["samples"])


def test_a_program_that_fails_says_why() -> None:
    with pytest.raises(FirstCallError, match="first call failed.*There is no device 'abacus'"):
        first_call("abacus")


def test_both_bars_of_the_host_are_read_from_a_run_of_those_parts(
    host_target: Target, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worlds, "first_call_row", lambda *_: {"case": "first call", "seconds": 0.4})
    prefix = tmp_path / "epyc-2cores-2026-11-29-worlds"
    names = {"device": "cpu", "parts": "face,first", "rays": 4096, "repeat": 1, "command": [], "out": str(prefix)}
    assert worlds.run(argparse.Namespace(**names)) == 0
    (face, _) = json.loads(prefix.with_suffix(".json").read_text(encoding="utf-8"))["results"]
    assert face["rays"] == 4096 and face["ratio"] == pytest.approx(face["engine_ms"] / face["ms"])
    found = {goal.what: goal for goal in saved_goals("host", tmp_path)}
    assert [found[what].measured for what in BARS] == [0.4, face["ratio"]]
    assert all("worlds --device cpu --parts face,first" in found[what].how for what in BARS)
    assert found[BARS[0]].state == "reached"
