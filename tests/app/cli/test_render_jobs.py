"""`render --store`: an animation drawn in parts has the pictures of one that was drawn at once, and goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli import render_jobs
from raygrove.app.cli.arguments import parse
from raygrove.app.cli.common import settings_of_flags
from raygrove.app.cli.job_running import Runner
from raygrove.app.cli.main import Words, main
from raygrove.app.cli.sweep_plan import Jobs
from raygrove.app.settings.settings import Settings
from raygrove.bench.store.folder import Store
from raygrove.bench.store.workers import Progress
from raygrove.version import VERSION

SMALL = ["--demo", "walker", "--size", "16x12", "--device", "cpu", "--set", "demo.triangles=120", "--samples", "1"]


def jobs_of(*words: str) -> Jobs:
    names = parse(["render", *words, "--store", "s"], VERSION)
    return render_jobs.jobs_of(names, settings_of_flags(names, Settings()), Words(names))


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Jobs are done in this process; those that were."""
    done: list[str] = []

    def do_jobs(names: Any, jobs: Jobs, store: Store, words: Words) -> tuple[Progress, dict[str, Any]]:
        progress, runner = Progress(), Runner(store)
        for number, job in enumerate(jobs):
            if not store.has(job.sha) and (names.shard is None or number % names.shard[1] == names.shard[0] - 1):
                progress.take(runner.run(job))
                done.append(job.sha)
        return progress, {"done": progress.done}

    monkeypatch.setattr(render_jobs, "do_jobs", do_jobs)
    return done


def test_a_part_says_all_that_its_pictures_follow_from() -> None:
    jobs = list(jobs_of(*SMALL, "--frames", "0:5", "--chunk", "2", "--hierarchy", "hploc/bvh4@refit", "--fov", "30",
                        "--eye", "1,2,3", "--set", "light.sun.color=1,0.5,0", "--seed", "7"))  # fmt: skip
    assert [job.what["frames"] for job in jobs] == [[0, 2], [2, 4], [4, 5]]
    first = dict(jobs[0].what)
    assert first.pop("sources") and first.pop("frames")
    assert first == {
        "format": 1, "version": VERSION, "measure": "render", "scene": "walker", "configuration": "hploc/bvh4@refit",
        "device": "cpu", "size": [16, 12], "samples": 1, "seed": 7, "ray_type": "smooth", "eye": [1.0, 2.0, 3.0],
        "fov": 30.0, "demo.triangles": 120, "light.sun.color": [1.0, 0.5, 0.0],
    }  # fmt: skip
    words = ["--fov", "30", "--hierarchy", "hploc/bvh4@refit", "--eye", "1,2,3", "--set", "light.sun.color=1,0.5,0"]
    same = jobs_of(*SMALL, "--frames", "0:5", "--chunk", "2", "--set", "window.theme=dark", "--seed", "7", *words)
    assert [job.sha for job in same] == [job.sha for job in jobs], "how the window looks is no part of a picture"


def test_all_of_an_animation_is_drawn_where_no_frames_are_named() -> None:
    jobs = list(jobs_of(*SMALL, "--fps", "4", "--chunk", "3"))
    spans = [job.what["frames"] for job in jobs]
    assert spans[0] == [0, 3] and all(one[1] == other[0] for one, other in zip(spans, spans[1:], strict=False))
    (still,) = jobs_of("--demo", "blob", *SMALL[2:])
    assert still.what["frames"] == [0, 1]
    (instant,) = jobs_of(*SMALL, "--time", "0.5")
    assert instant.what["time"] == 0.5 and "frames" not in instant.what


@pytest.mark.parametrize("look", [[], ["--ray-type", "steps"], ["--set", "render.palette=4"]])
def test_parts_are_the_pictures_of_one_run(look: list[str], in_process: list[str], tmp_path: Path) -> None:
    words = ["render", *SMALL, *look, "--size", "96x72", "--frames", "0:3"]
    assert main([*words, "--out", f"{tmp_path}/once/", "--quiet", "--json"]) == 0
    assert main([*words, "--out", f"{tmp_path}/parts/", "--store", str(tmp_path / "store"), "--chunk", "2"]) == 0
    assert len(in_process) == 2
    assert pixels(tmp_path / "once") == pixels(tmp_path / "parts") != {}
    assert main([*words, "--out", f"{tmp_path}/again/", "--store", str(tmp_path / "store"), "--chunk", "2"]) == 0
    assert len(in_process) == 2, "what is there is not drawn again"
    assert pixels(tmp_path / "again") == pixels(tmp_path / "once")


def pixels(folder: Path) -> dict[str, bytes]:
    from PIL import Image

    return {path.name: Image.open(path).convert("RGB").tobytes() for path in folder.glob("frame_*.png")}


def test_what_is_not_whole_is_not_put_together(
    in_process: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["render", *SMALL, "--frames", "0:4", "--chunk", "1", "--store", str(tmp_path / "store")]
    assert main([*words, "--shard", "1/2", "--out", f"{tmp_path}/out/"]) == 1
    assert "2 of 4 parts have no pictures yet" in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert main([*words, "--shard", "2/2", "--out", f"{tmp_path}/out/"]) == 0
    assert len(list((tmp_path / "out").iterdir())) == 4
    capsys.readouterr()
    assert main([*words, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["have_results"] == 4


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--jobs", "local"], "--jobs: name a folder for the parts"),
        (["--dry-run"], "--dry-run: name a folder"),
        (["--store", "s", "--turntable", "6"], "--turntable: with --store the camera stays"),
        (["--store", "s", "--statistics", "t.csv"], "--statistics: with --store"),
        (["--store", "s", "--device", "cuda:1"], "write auto, cpu or cuda"),
        (["--store", "s", "--out", "one.png", "--frames", "0:2"], "2 frames do not go into one picture"),
        (["--store", "s", "--out", "one.csv"], "a folder of pictures, or a video"),
        (["--store", "s", "--out", "one.glb"], "a folder of pictures, or a video"),
        (["--store", "s", "one.obj"], "not both"),
        (["--store", "s", "--allow-outside"], "--allow-outside: jobs read what lies in a model's own folder"),
        (["--store", "s", "--set", "demo.seed=3"], "one seed is that of everything random"),
        (["--store", "s", "--hierarchy", "lbhv"], "lbvh"),
    ],
)
def test_what_no_part_can_be_is_a_sentence(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", "--demo", "walker", *words]) == 2
    assert sentence in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_scene_of_files_is_drawn_from_wherever_it_lies(in_process: list[str], tmp_path: Path) -> None:
    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    words = ["render", str(tmp_path / "one.obj"), *SMALL[2:], "--store", str(tmp_path / "store")]
    assert main([*words, "--out", str(tmp_path / "one.png"), "--time", "0"]) == 0
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
