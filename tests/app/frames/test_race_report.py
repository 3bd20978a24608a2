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


class HeardJob(Job):
    """One that keeps what it reports."""

    heard: list[tuple[float | None, str]]

    def report(self, progress: float | None = None, message: str = "") -> None:
        super().report(progress, message)
        self.heard.append((progress, message))


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
    job = HeardJob("racing")
    heard = job.heard = []
    state, command = small(moving_scene), "raygrove race --demo two --contestants lbvh,lbvh@refit"
    found = report(job, moving_scene, state, ("lbvh", "lbvh@refit"), str(tmp_path / "race.json"), command)
    written = json.loads((tmp_path / "race.json").read_text())
    assert written["mismatches"] == found.mismatches == 0
    assert [one["configuration"] for one in written["contestants"]] == ["lbvh", "lbvh@refit"]
    assert found.frames == tuple(range(len(found.frames))) and 2 <= len(found.frames) <= 3
    shares = [share for share, _ in heard if share is not None]
    assert len(shares) == len(heard) and heard[-1] == (1.0, "Writing the report.")
    assert shares[0] == 0.0 and shares == sorted(shares)
    assert len(set(shares)) == 1 + len(found.frames) * (-(-3 // len(found.frames)) + race_report.REPEAT + 1)
    assert {"Warming up, pass 1.", "Pass 7 of 7.", "Comparing hits."} < {said for _, said in heard}


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


def test_a_report_is_cancelled_between_two_frames(moving_scene: Scene, tmp_path: Path) -> None:
    class Ended(Job):
        calls = 0

        def report(self, progress: float | None = None, message: str = "") -> None:
            self.calls += 1
            if self.calls == 3:
                self.cancel()
            super().report(progress, message)

    job = Ended("racing")
    with pytest.raises(Cancelled):
        report(job, moving_scene, small(moving_scene), ("lbvh",), str(tmp_path / "race.json"), "")
    assert job.calls == 3 and not list(tmp_path.iterdir())


def test_a_report_can_be_cancelled(moving_scene: Scene, tmp_path: Path) -> None:
    job = Job("racing")
    job.cancel()
    with pytest.raises(Cancelled):
        report(job, moving_scene, small(moving_scene), ("lbvh",), str(tmp_path / "race.json"), "")
    assert not list(tmp_path.iterdir())
