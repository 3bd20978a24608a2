"""The goals' script: every promise of the target is there, with a figure or the reason why not, and it needs no desktop library."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

import bench.goals as goals
from bench.goals import Bars, Goal, main, measure_goals
from gpu.target.base import Target

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_a_goal_knows_whether_it_is_reached() -> None:
    assert Goal("build", 6.0, 5.9, "ms").is_reached is True
    assert Goal("build", 6.0, 6.1, "ms").is_reached is False
    assert Goal("frames", 30.0, 31.0, "1/s", at_most=False).is_reached is True
    assert Goal("frames", 30.0, 29.0, "1/s", at_most=False).is_reached is False
    assert Goal("frames", 30.0, None, "1/s").is_reached is None


def test_measures_every_goal_of_the_host(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {name: goals.make_demo(name, 300) for name in ("blob", "orbit", "room")}
    monkeypatch.setattr(goals, "make_demo", lambda name, count=None: small[name])
    monkeypatch.setattr(goals, "HOST", Bars({100_000: 6.0}, {100_000: 1.0}))
    said: list[str] = []
    report = measure_goals(host_target, 1, said.append)
    names = [goal.what for goal in report.goals]
    wanted_names = ("LBVH rebuild, 100,000", "refit, 100,000", "memory of bvh2", "memory of bvh4", "scratch", "Embree's packets", "orbit, 512x384")
    for wanted in wanted_names:
        assert any(wanted in name for name in names), wanted
    assert all(goal.measured is not None and goal.measured >= 0.0 for goal in report.goals if "Embree" not in goal.what)
    assert said and len(report.builds) == 2 and len(report.traces) == 2 and len(report.frames) == 1
    text = report.text()
    assert "reached" in text and "build.sort" in text
    found = json.loads(json.dumps(report.as_json({"device": "x"})))
    assert len(found["results"]) == 5 and len(found["goals"]) == len(names) and found["goals"][0]["is_reached"] in (True, False)


def test_a_target_that_is_not_there_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--target", "abacus"]) == 4
    assert "no target 'abacus'" in capsys.readouterr().err


def test_needs_no_desktop_library() -> None:
    """On a bare GPU machine there is numpy and the target's libraries."""
    code = "import sys, bench.goals; print(sorted({'PySide6', 'PIL', 'platformdirs', 'OpenGL', 'cupy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
