"""A whole race run from the window: its files are those of the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raygrove.app.document.jobs import Cancelled, Job
from raygrove.app.document.state import State
from raygrove.app.frames import race_report
from raygrove.app.frames.race_report import report
from raygrove.app.settings.settings import Settings, set_text
from raygrove.gpu.camera import fit
from raygrove.gpu.scene import Scene


def small(scene: Scene) -> State:
    settings = Settings()
    for key, value in (
        ("render.width", "16"),
        ("render.height", "12"),
        ("render.device", "cpu"),
        ("timeline.fps", "1"),
    ):
        settings = set_text(settings, key, value)
    return State(settings=settings, cameras=(fit(scene.lower, scene.upper, aspect=4 / 3),))


def test_the_report_has_the_whole_clip_and_the_command(moving_scene: Scene, tmp_path: Path) -> None:
    job = Job("racing")
    state, command = small(moving_scene), "raygrove race --demo two --contestants lbvh,lbvh@refit"
    found = report(job, moving_scene, state, ("lbvh", "lbvh@refit"), str(tmp_path / "race.json"), command)
    written = json.loads((tmp_path / "race.json").read_text())
    assert written["mismatches"] == found.mismatches == 0
    assert [one["configuration"] for one in written["contestants"]] == ["lbvh", "lbvh@refit"]
    assert found.frames == tuple(range(len(found.frames))) and 2 <= len(found.frames) <= 3
    assert job.message == "Comparing hits."


def test_a_report_that_ends_before_the_clip_says_so(
    moving_scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race_report, "MOST_FRAMES", 1)
    page = tmp_path / "race.html"
    found = report(Job("racing"), moving_scene, small(moving_scene), ("lbvh",), str(page), "")
    said = "The clip has 3 frames, of which the first 1 were raced: a race has no more."
    assert len(found.frames) == 1 and found.notes == (said,)
    assert f"<p>{said}</p>" in page.read_text()
    assert all(said in told for told in (found.to_latex(), found.to_json(), str(found)))


def test_a_report_can_be_cancelled(moving_scene: Scene, tmp_path: Path) -> None:
    job = Job("racing")
    job.cancel()
    with pytest.raises(Cancelled):
        report(job, moving_scene, small(moving_scene), ("lbvh",), str(tmp_path / "race.json"), "")
    assert not list(tmp_path.iterdir())
