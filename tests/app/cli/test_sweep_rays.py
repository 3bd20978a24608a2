"""Rays as an axis of sweeps: of files, which may be recorded, and of sensors."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli.job_running import RefusedError, Runner
from raygrove.app.cli.main import main
from raygrove.app.cli.sweep_plan import Jobs, files_of, words_of
from raygrove.app.problems.problems import UsageError
from raygrove.bench.store.folder import Store
from raygrove.bench.store.jobs import described
from raygrove.bench.store.plans import plan_of
from raygrove.bench.store.tables import flat_rows

FIXED: dict[str, Any] = {
    "measure": "trace", "scene": "walker", "configuration": "lbvh", "repeat": 6, "warmup": 0, "size": "16x12",
    "device": "cpu", "demo": {"triangles": 120},
}  # fmt: skip
DOME = "dome:rows=4:columns=32:node=head"


def jobs_of(folder: Path, **tables: Any) -> Jobs:
    return Jobs(plan_of(tables, folder / "plan.toml"), folder / "plan.toml", "s", "cpu",
                argparse.Namespace(allow_outside=None))  # fmt: skip


def rays_in(path: Path, down: float = -1.0) -> str:
    """Six rays from above, straight down or up."""
    origins = np.array([[x, 3.0, z] for x in (-0.5, 0.0, 0.5) for z in (0.0, 0.1)], np.float32)
    np.savez(path, origins=origins, directions=np.tile(np.array([0.0, down, 0.0], np.float32), (6, 1)))
    return path.name


def test_rays_are_an_axis_whose_files_count_by_what_they_hold(tmp_path: Path) -> None:
    texts = ["picture", "dome:node=head:columns=32:rows=4", rays_in(tmp_path / "down.npz")]
    jobs = list(jobs_of(tmp_path, fixed=FIXED, axes={"rays": texts, "time": [0.0, 0.5]}))
    assert len(jobs) == 6 and len({job.sha for job in jobs}) == 6
    whats = [job.what.get("rays") for job in jobs if job.what["time"] == 0.5]
    assert whats[:2] == [None, "dome:node=head:rows=4:columns=32"] and str(whats[2]).startswith("sha256:")
    assert jobs[0].sha == next(iter(jobs_of(tmp_path, fixed={**FIXED, "time": 0.0}))).sha, "the picture's are not said"
    path = str(tmp_path / "down.npz")
    assert files_of(jobs[-1].what, jobs[-1].files) == ((), (path,)) and files_of(jobs[0].what, ()) == ((), ())
    assert f"--rays={path}" in words_of(jobs[-1].what, jobs[-1].files)
    assert "--rays=dome:node=head:rows=4:columns=32" in words_of(jobs[2].what, jobs[2].files)
    assert len(described(jobs[-1].what).partition("rays=")[2].split()[0]) == 19
    (tmp_path / "there").mkdir()
    rays_in(tmp_path / "there" / "other.npz")
    (same,) = jobs_of(tmp_path / "there", fixed={**FIXED, "time": 0.5, "rays": "other.npz"})
    assert same.sha == jobs[-1].sha, "wherever the file lies and whatever it is called"


def test_a_scene_of_files_and_rays_of_a_file_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (job,) = jobs_of(tmp_path, fixed={**FIXED, "scene": "one.obj", "rays": rays_in(tmp_path / "down.npz")})
    scene, rays = files_of(job.what, job.files)
    assert scene == (str(tmp_path / "one.obj"),) and rays == (str(tmp_path / "down.npz"),)
    words = words_of(job.what, job.files)
    assert words[:3] == ["bench", "trace", scene[0]] and not any(word.startswith("--demo=") for word in words)
    with pytest.raises(RefusedError, match="down.npz was changed since"):
        rays_in(tmp_path / "down.npz", down=1.0)
        Runner(Store.made(tmp_path / "store")).run(job)
    (tmp_path / "down.npz").unlink()
    with pytest.raises(RefusedError, match="down.npz cannot be read"):
        Runner(Store(tmp_path / "store")).run(job)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    (
        ({"rays": "lidra"}, "rays = lidra"),
        ({"rays": "lidar:rows=0"}, "rows"),
        ({"rays": "none.npz"}, "none.npz, which is not there"),
        ({"rays": "../outside.npz"}, "--allow-outside"),
        ({"rays": DOME, "measure": "frame"}, 'rays means nothing for measure = "frame"'),
        ({"rays.measured": DOME}, "it is said by rays"),
    ),
)
def test_rays_that_no_job_can_have_are_a_sentence(tmp_path: Path, changed: dict[str, Any], sentence: str) -> None:
    rays_in(tmp_path / "outside.npz")
    (tmp_path / "in").mkdir()
    with pytest.raises(UsageError, match=sentence):
        jobs_of(tmp_path / "in", fixed={**FIXED, **changed})


def test_recorded_rays_and_those_of_a_sensor_are_swept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As many rays and hits as `bench trace --rays` has of them; the picture's beside."""
    record = ["record", "--demo", "walker", "--set", "demo.triangles=120", "--device", "cpu", "--size", "16x12",
              "--only", "primary", "--out", str(tmp_path / "rays.npz")]  # fmt: skip
    assert main(record) == 0
    store = Store.made(tmp_path / "store")
    jobs = list(jobs_of(tmp_path, fixed=FIXED, axes={"rays": ["picture", "rays.npz", DOME]}))
    for job in jobs:
        Runner(store).run(job)
    found = [store.get(job.sha) for job in jobs]
    assert [record["status"] for record in found] == ["done"] * 3
    kinds = [[row["ray_type"] for row in record["rows"]] for record in found]
    assert kinds[0][0] == "primary" and kinds[1] == kinds[2] == ["measured", "measured any-hit"]
    pictures, recorded, dome = (record["rows"][0] for record in found)
    assert (recorded["rays"], recorded["hits"]) == (16 * 12, pictures["hits"]) and pictures["hits"] > 0
    assert dome["rays"] == 4 * 32 and 0 < dome["hits"] < dome["rays"]
    flat = [row for row in flat_rows(found) if row["ray_type"] == "measured"]
    assert [row["rays"] for row in flat] == [jobs[1].what["rays"], jobs[2].what["rays"]]
    assert len(found[1]["rows"][0]["rounds"]["trace_ms"]) == 6
