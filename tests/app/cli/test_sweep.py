"""`sweep` as it is typed: plans in the program's words, jobs that are measured and drawn, results that stay."""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import re
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli import job_running, sweep
from raygrove.app.cli.job_running import RefusedError, Runner
from raygrove.app.cli.main import main
from raygrove.app.cli.sweep_plan import Jobs, words_of
from raygrove.app.document.state import Bookmark, SceneReference
from raygrove.app.problems.problems import UsageError
from raygrove.app.user_files import bookmarks
from raygrove.bench.store.folder import MARK, Store
from raygrove.bench.store.plans import plan_of
from raygrove.gpu.camera import Camera
from raygrove.version import VERSION

TINY: dict[str, Any] = {"size": "16x12", "device": "cpu", "demo": {"triangles": 120}}
FRAME = {"measure": "frame", "repeat": 6, "warmup": 0, **TINY}
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
DOCS = Path(__file__).resolve().parents[3] / "docs"


def jobs_of(folder: Path, *, allow_outside: bool = False, **tables: Any) -> Jobs:
    plan = plan_of(tables, folder / "plan.toml")
    return Jobs(
        plan, folder / "plan.toml", "s", "cpu", argparse.Namespace(allow_outside="true" if allow_outside else None)
    )


def test_a_job_says_all_that_its_result_follows_from(tmp_path: Path) -> None:
    jobs = jobs_of(
        tmp_path,
        fixed={**TINY, "measure": "frame", "frames": "0:4"},
        axes={"configuration": ["lbvh", "hploc/auto/auto@refit"], "scene": ["walker", "cloth"]},
    )
    whats = [dict(job.what) for job in jobs]
    assert len(jobs) == 4 and jobs.devices == ("cpu",)
    assert [(one["scene"], one["configuration"]) for one in whats] == [
        ("walker", "lbvh"),
        ("walker", "hploc@refit"),
        ("cloth", "lbvh"),
        ("cloth", "hploc@refit"),
    ]  # fmt: skip - a scene's jobs follow one another
    assert whats[0] == {
        "format": 1, "version": VERSION, "sources": "s", "measure": "frame", "scene": "walker",
        "configuration": "lbvh", "device": "cpu", "size": [16, 12], "frames": [0, 4], "seed": 0, "ray_type": "smooth",
        "repeat": 20, "warmup": 5, "demo.triangles": 120,
    }  # fmt: skip
    words = words_of(whats[1], ())
    assert words[:3] == ["bench", "frame", "--demo=walker"] and "--hierarchy=hploc@refit" in words
    assert "--frames=0:4" in words and "--size=16x12" in words and "demo.triangles=120" in words


@pytest.mark.parametrize("page", ["sweeps.md", "guide.md"])
def test_the_plans_of_pages_are_plans(tmp_path: Path, page: str) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "dragon.obj").write_text(TRIANGLE)
    blocks = re.findall(r"^```toml\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (plan,) = (tomllib.loads(block) for block in blocks if "[axes]" in block)
    jobs = list(jobs_of(tmp_path, **plan))
    assert len({job.sha for job in jobs}) == len(jobs) == 12
    paths = [job.what for job in jobs if job.what["ray_type"] == "path"]
    assert [what["ray_type.path.bounces"] for what in paths] == [4] * (6 if page == "sweeps.md" else 0)


def test_frames_in_chunks_are_an_axis(tmp_path: Path) -> None:
    fixed = {"measure": "render", "scene": "walker", "configuration": "lbvh", "frames": "0:10", "chunk": 4}
    assert [job.what["frames"] for job in jobs_of(tmp_path, fixed=fixed)] == [[0, 4], [4, 8], [8, 10]]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"scene": "wlaker"}, "no built-in scene 'wlaker'"),
        ({"scene": "none.obj"}, "none.obj"),
        ({"configuration": "lbhv"}, "lbvh"),
        ({"configuration": "lbvh:leaf=oops"}, "there is no setting"),
        ({"ray_type": "aoo"}, "ray_type"),
        ({"size": "16"}, "is not a size"),
        ({"size": [16, 12]}, "is no text or number"),
        ({"hierarchy": "lbvh"}, "say it in configuration"),
        ({"render": {"layout": "bvh2"}}, "it is said by configuration"),
        ({"demo": {"triangels": 5}}, "there is no setting demo.triangels"),
        ({"device": "cuda:1"}, "kind of device"),
        ({"measure": "build"}, "mean nothing for measure"),
        ({"measure": "speed"}, "write build, trace, frame, render"),
        ({"time": 1.0, "frames": "0:2"}, "do not go together"),
        ({"chunk": 4}, "chunk and frames"),
    ],
)
def test_what_no_job_can_have_is_a_sentence(tmp_path: Path, changed: dict[str, Any], sentence: str) -> None:
    fixed = {**FRAME, "ray_type": "smooth", "eye": "0,0,4", "scene": "walker", "configuration": "lbvh", **changed}
    with pytest.raises((UsageError, ValueError), match=sentence):
        jobs_of(tmp_path, fixed=fixed)


@pytest.mark.parametrize("missing", ["measure", "scene", "configuration"])
def test_what_every_job_needs_is_asked_for(tmp_path: Path, missing: str) -> None:
    fixed = {"measure": "build", "scene": "walker", "configuration": "lbvh"}
    with pytest.raises(UsageError, match=f"jobs have no {missing}"):
        jobs_of(tmp_path, fixed={key: value for key, value in fixed.items() if key != missing})


def test_a_scene_is_what_its_files_hold(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    fixed = {**FRAME, "configuration": "lbvh", "scene": "one.obj"}
    for name in ("a/one.obj", "b/one.obj", "outside.obj"):
        (tmp_path / name).write_text(TRIANGLE)
    first, same = (next(iter(jobs_of(tmp_path / name, fixed=fixed))) for name in "ab")
    assert first.sha == same.sha and first.files == (str(tmp_path / "a" / "one.obj"),)
    assert first.what["scene"].startswith("sha256:")
    (tmp_path / "b" / "one.mtl").write_text("newmtl red\n")
    assert next(iter(jobs_of(tmp_path / "b", fixed=fixed))).sha != first.sha
    with pytest.raises(UsageError, match="--allow-outside"):
        jobs_of(tmp_path / "a", fixed={**fixed, "scene": "../outside.obj"})
    outside = jobs_of(tmp_path / "a", fixed={**fixed, "scene": "../outside.obj"}, allow_outside=True)
    assert next(iter(outside)).sha == first.sha


@pytest.mark.parametrize("measure", ["build", "trace", "frame"])
def test_a_measurement_keeps_its_samples_and_where_it_was_made(tmp_path: Path, measure: str) -> None:
    fixed = {**FRAME, "measure": measure, "scene": "walker", "configuration": "lbvh@refit", "frames": "0:2"}
    (job,) = jobs_of(tmp_path, fixed=fixed)
    store = Store.made(tmp_path / "store")
    Runner(store).run(job)
    found = store.get(job.sha)
    assert found["status"] == "done" and found["job"] == job.what and found["seconds"] > 0.0
    assert found["context"]["device"] and found["context"]["load"] is not None and isinstance(found["noise"], list)
    assert found["context"]["command"] == ["raygrove", *words_of(found["job"], ())], "what measures it again by itself"
    names = {"build": ["build_ms", "refit_ms"], "trace": ["trace_ms"], "frame": ["frame_ms"]}[measure]
    assert len(found["rows"]) == (4 if measure == "trace" else 1)
    for row in found["rows"]:
        assert list(row["rounds"]) == names and row["layout"]
        for name in names:
            assert len(row["rounds"][name]) == 6 and min(row["rounds"][name]) > 0.0
            assert sum(row["rounds"][name]) / 6 == pytest.approx(sum(row["samples"][name]) / len(row["samples"][name]))


def test_pictures_are_the_same_bytes_wherever_they_are_drawn(tmp_path: Path) -> None:
    fixed = {**TINY, "measure": "render", "scene": "walker", "configuration": "lbvh", "samples": 1}
    (whole,) = jobs_of(tmp_path, fixed={**fixed, "frames": "0:3"})
    chunks = list(jobs_of(tmp_path, fixed={**fixed, "frames": "0:3", "chunk": 2}))
    stores = [Store.made(tmp_path / name) for name in ("here", "there")]
    for store in stores:
        Runner(store).run(whole)
    pictures = [sorted(store.pictures_of(whole.sha).iterdir()) for store in stores]
    assert [path.name for path in pictures[0]] == ["frame_0000.png", "frame_0001.png", "frame_0002.png"]
    assert [one.read_bytes() for one in pictures[0]] == [one.read_bytes() for one in pictures[1]]
    rows = stores[0].get(whole.sha)["rows"]
    for row, path in zip(rows, pictures[0], strict=True):
        assert row["file"] == path.name and row["file_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    in_chunks = [row["image_sha256"] for job in chunks for row in Runner(stores[1]).run(job)["rows"]]
    assert in_chunks == [row["image_sha256"] for row in rows]  # and however the frames are shared out


def test_what_a_structure_cannot_do_is_a_result(tmp_path: Path) -> None:
    (job,) = jobs_of(tmp_path, fixed={**FRAME, "scene": "walker", "configuration": "median_sah@refit"})
    store = Store.made(tmp_path / "store")
    assert Runner(store).run(job)["status"] == "failed"
    assert "cannot be refitted" in store.get(job.sha)["sentence"]


def test_a_job_has_no_camera_that_only_this_user_keeps(tmp_path: Path) -> None:
    bookmarks.save(SceneReference("demo", ("walker",)), (Bookmark("Near", Camera(eye=(0.0, 1.0, 6.0)), 0.5),))
    fixed = {**TINY, "measure": "render", "scene": "walker", "configuration": "lbvh", "camera": "Near"}
    (job,) = jobs_of(tmp_path, fixed=fixed)
    store = Store.made(tmp_path / "store")
    assert Runner(store).run(job)["status"] == "failed"
    assert "no camera of that name: its file has none" in store.get(job.sha)["sentence"]


def test_a_scene_that_was_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.obj").write_text(TRIANGLE)
    (job,) = jobs_of(tmp_path, fixed={**FRAME, "scene": "one.obj", "configuration": "lbvh"})
    (tmp_path / "one.obj").write_text(TRIANGLE.replace("1 0 0", "2 0 0"))
    store = Store.made(tmp_path / "store")
    with pytest.raises(RefusedError, match="was changed since"):
        Runner(store).run(job)
    (tmp_path / "one.obj").unlink()
    with pytest.raises(RefusedError, match="cannot be read"):
        Runner(store).run(job)
    assert not list(store.hashes())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.ENOTCONN])
def test_a_full_disk_or_one_that_is_gone_is_no_result(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (job,) = jobs_of(tmp_path, fixed={**TINY, "measure": "render", "scene": "walker", "configuration": "lbvh"})
    store = Store.made(tmp_path / "store")

    def full(*_: object, **named: object) -> None:
        raise OSError(number, os.strerror(number), "frame_0000.png")

    monkeypatch.setattr(job_running, "save_png", full)
    with pytest.raises(OSError, match=os.strerror(number)):
        Runner(store).run(job)
    assert not list(store.hashes())


def test_who_measures_is_alone_on_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_running, "temporary_folder", lambda: tmp_path)
    waited: list[float] = []

    class TooBusyError(Exception):
        pass

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            raise TooBusyError

    monkeypatch.setattr(job_running.time, "sleep", wait)
    heard: list[bool] = []
    with job_running.alone_on("host", waits=heard.append):
        with job_running.alone_on("cuda:0", waits=heard.append):
            assert not waited and not heard
        with pytest.raises(TooBusyError), job_running.alone_on("host", waits=heard.append):
            pass
    with job_running.alone_on("host"):
        assert len(waited) == 3 and heard == [True]


PLAN = """
[fixed]
measure = "frame"
size = "16x12"
repeat = 6
warmup = 0
device = "cpu"
demo.triangles = 120
[axes]
scene = ["walker"]
configuration = ["lbvh", "lbvh@refit", "median_sah@refit"]
"""


def test_a_sweep_is_done_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, store = tmp_path / "plan.toml", tmp_path / "store"
    plan.write_text(PLAN)
    words = ["sweep", str(plan), "--store", str(store)]
    assert main([*words, "--dry-run"]) == 0
    assert capsys.readouterr().out == "3 jobs, 0 with results, 3 to do: nothing tells yet how long one takes.\n"
    assert not store.exists()
    assert main([*words, "--shard", "1/2", "--json"]) == 1
    first = capsys.readouterr()
    assert {key: json.loads(first.out)[key] for key in ("done", "failed", "crashed", "skipped")} == {
        "done": 1, "failed": 1, "crashed": 0, "skipped": 0,
    }  # fmt: skip
    assert "cannot be refitted" in first.err
    assert main([*words, "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["jobs"], told["have_results"], told["to_do"]) == (3, 2, 1) and told["estimated_seconds"] > 0.0
    kept = {path: path.read_bytes() for path in store.rglob("*.json")}
    assert main(words) == 0
    assert "1 job in" in (said := capsys.readouterr().err) and "2 had their results: 1 done" in said
    assert all(path.read_bytes() == data for path, data in kept.items()) and len(list(Store(store).hashes())) == 3
    assert main([*words, "--again", "failed,crashed", "--shard", "2/2"]) == 0  # whose jobs are all done
    assert len(list(Store(store).hashes())) == 3
    sweep.forget(Store(store), sweep.jobs_of(_names(plan)), sweep.Shard(), "failed")
    assert len(list(Store(store).hashes())) == 2


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_a_worker_for_each_gpu_and_as_many_as_asked_for(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,GPU-7f")
    lanes = sweep.lanes_of(engine, "cuda")
    assert [(lane.name, dict(lane.environment)) for lane in lanes] == [
        ("cuda:2", {"CUDA_VISIBLE_DEVICES": "2"}),
        ("cuda:GPU-7f", {"CUDA_VISIBLE_DEVICES": "GPU-7f"}),
    ]
    assert len(sweep.lanes_of(engine, "cpu")) == 1 and len(sweep.lanes_of(f"{engine}:3", "cpu")) == 3
    assert len(sweep.lanes_of("dask://127.0.0.1:1", "cuda")) == 1
    for wrong in (f"{engine}:0", f"{engine}:", "slurm"):
        with pytest.raises(UsageError, match="write local"):
            sweep.lanes_of(wrong, "cpu")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "name a plan and a folder"),
        (["none.toml", "--store", "s"], 2, "none.toml: there is no such file"),
        (["plan.toml"], 2, "name a plan and a folder"),
        (["plan.toml", "--store", "."], 3, "holds other things"),
        (["plan.toml", "--store", "s", "--shard", "5/4"], 2, "no part of a sweep"),
        (["plan.toml", "--store", "s", "--jobs", "slurm"], 2, "write local"),
        (["plan.toml", "--store", "s", "--again", "bad"], 2, "results are done, failed"),
    ],
)
def test_what_cannot_be_swept_is_a_sentence(
    words: list[str],
    code: int,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *words]) == code
    assert sentence in capsys.readouterr().err


def test_two_thousand_finished_jobs_are_left_out_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plan.toml").write_text(
        PLAN.replace('scene = ["walker"]', f"seed = {list(range(500))}\nscene = ['walker', 'cloth']").replace(
            ', "median_sah@refit"', ""
        )
    )
    store = Store.made(tmp_path / "store")
    made = sweep.jobs_of(_names(tmp_path / "plan.toml"))
    for prefix in range(256):
        (store.folder / f"{prefix:02x}").mkdir()
    for job in made:
        os.link(store.folder / MARK, store.path_of(job.sha))
    begin = time.process_time()
    mine = sweep.Mine(made, sweep.Shard(), "cpu", store)
    assert list(mine) == [] and mine.skipped == len(made) == 2000
    assert time.process_time() - begin < 0.2  # 10,000 in a second


def _names(plan: Path) -> Any:
    from raygrove.app.cli.arguments import parse

    return parse(["sweep", str(plan), "--store", "s"], VERSION)
