"""A worker of a sweep: scenes from strangers stay within their limits, a scene is read once, another version and a
broken device end it."""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli import job_running
from raygrove.app.cli.job_running import DeviceBrokenError, Runner
from raygrove.app.cli.job_worker import do_order
from raygrove.app.cli.main import main
from raygrove.app.cli.sweep_plan import Jobs
from raygrove.bench.store.folder import Store
from raygrove.bench.store.jobs import Job, digest_of_sources
from raygrove.bench.store.plans import plan_of
from raygrove.gpu.target.base import OutOfMemoryError, TargetError
from raygrove.version import VERSION
from tests.app.scene_io import writers
from tests.waiting import PROCESS_S

FIXED: dict[str, Any] = {"measure": "build", "size": "16x12", "device": "cpu", "repeat": 1, "warmup": 0,
                         "demo": {"triangles": 120}}  # fmt: skip
PLAN = """[fixed]
measure = "build"
configuration = "lbvh"
device = "cpu"
repeat = 1
warmup = 0
import.seconds = 20.0
import.file_mib = 1
[axes]
scene = ["outside.gltf", "bomb.obj.gz", "broken.glb", "good.obj"]
"""
"""The limits of imports are settings like others; here they are small."""


def jobs_of(folder: Path, **tables: Any) -> list[Job]:
    names = argparse.Namespace(allow_outside=None)
    return list(Jobs(plan_of(tables), folder / "plan.toml", digest_of_sources(), "cpu", names))


def test_scenes_of_strangers_keep_the_limits_of_imports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file outside the model's folder, an archive without an end and a damaged model each become a result that says
    so; the worker lives, and does the rest."""
    folder = tmp_path / "scenes"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(36))
    gltf = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"uri": "../secret.bin", "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0],
                       "max": [0, 0, 0]}],
    }  # fmt: skip
    (folder / "outside.gltf").write_text(json.dumps(gltf))
    (folder / "bomb.obj.gz").write_bytes(gzip.compress(b"v 0 0 0\n" * 400_000))
    whole = writers.write_animated_glb(folder / "broken.glb").read_bytes()
    (folder / "broken.glb").write_bytes(whole[:600])
    writers.write_obj(folder / "good.obj", *writers.sphere())
    (folder / "plan.toml").write_text(PLAN)
    assert main(["sweep", str(folder / "plan.toml"), "--store", str(tmp_path / "store"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["done"], told["failed"], told["crashed"]) == (1, 3, 0)
    said = {Path(one["files"][0]).name: one.get("sentence", "") for one in Store(tmp_path / "store").records()}
    assert "outside" in said["outside.gltf"] and "cut short" in said["broken.glb"] and said["good.obj"] == ""
    assert "unpacks to more than 1 MiB" in said["bomb.obj.gz"]


def test_a_scene_is_read_once_for_all_its_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    whole = job_running.open_scene

    def counted(reference: Any, settings: Any) -> Any:
        read.append(reference.title)
        return whole(reference, settings)

    monkeypatch.setattr(job_running, "open_scene", counted)
    axes = {"scene": ["walker", "cloth", "blob"], "configuration": ["lbvh", "hploc"]}
    store = Store.made(tmp_path / "store")
    runner = Runner(store)
    jobs = jobs_of(tmp_path, fixed=FIXED, axes=axes)
    assert [runner.run(job)["status"] for job in jobs] == ["done"] * 6
    assert len(read) == 3
    for job in (jobs[-3], jobs[0]):
        store.forget(job.sha)
    runner.run(jobs[-3])
    assert len(read) == 3, "two scenes are kept"
    runner.run(jobs[0])
    assert len(read) == 4, "and the oldest went"


def test_a_worker_of_another_version_does_nothing(tmp_path: Path) -> None:
    (job,) = jobs_of(tmp_path, fixed={**FIXED, "scene": "walker", "configuration": "lbvh"})
    store = Store.made(tmp_path / "store")
    for changed, words in (({"version": "0.1"}, f"version is {VERSION}, and the jobs' 0.1"),
                           ({"sources": "f00"}, "and the jobs' f00")):  # fmt: skip
        answer = do_order({"job": {**job.what, **changed}, "files": [], "store": str(store.folder)})
        assert words in answer["fatal"] and "give all machines one version" in answer["fatal"]
    assert not list(store.hashes())
    order = {"job": dict(job.what), "files": [], "store": str(store.folder)}
    assert do_order(order)["status"] == "done" and store.has(job.sha)
    assert "no such folder" in do_order({**order, "store": str(tmp_path / "elsewhere")})["fatal"]


@pytest.mark.parametrize(
    ("error", "device", "is_broken"),
    [(TargetError, "cuda", True), (TargetError, "cpu", False), (OutOfMemoryError, "cuda", False)],
)
def test_a_device_that_failed_is_not_used_again(
    error: type[TargetError], device: str, is_broken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By this process: memory that ran out is the job's own fault, and the host has no device to lose."""

    def fail(*_: object) -> None:
        raise error("the kernel was ended")

    monkeypatch.setattr(job_running, "choose", fail)
    (job,) = jobs_of(tmp_path, fixed={**FIXED, "scene": "walker", "configuration": "lbvh", "device": device})
    store = Store.made(tmp_path / "store")
    if is_broken:
        with pytest.raises(DeviceBrokenError):
            Runner(store).run(job)
        assert not list(store.hashes())
    else:
        assert Runner(store).run(job)["status"] == "failed"


def test_a_worker_whose_device_failed_ends_without_an_answer(tmp_path: Path) -> None:
    """So that another process takes its place, and the job is done again."""
    store = Store.made(tmp_path / "store")
    code = f"""
import sys
from raygrove.app.cli import job_worker
def fail(runner, job):
    raise job_worker.DeviceBrokenError("the device is lost")
job_worker.Runner.run = fail
sys.exit(job_worker.main({str(store.folder)!r}))
"""
    order = json.dumps({"job": {"measure": "build"}, "files": []}) + "\n"
    done = subprocess.run(
        [sys.executable, "-c", code], input=order * 2, capture_output=True, text=True, timeout=PROCESS_S
    )
    assert done.returncode == 1 and len(done.stdout.splitlines()) == 1 and "the device is lost" in done.stderr


def test_what_another_sweep_measured_meanwhile_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sweeps of one plan wait for the device with the same job; who comes second finds its result."""
    (job,) = jobs_of(tmp_path, fixed={**FIXED, "scene": "walker", "configuration": "lbvh"})
    store = Store.made(tmp_path / "store")

    @contextlib.contextmanager
    def second(device: str, waits: job_running.Waits) -> Iterator[None]:
        store.put({"job": dict(job.what), "status": "done", "seconds": 1.5, "rows": []})
        yield

    monkeypatch.setattr(job_running, "alone_on", second)
    monkeypatch.setattr(job_running, "measured", lambda *_: pytest.fail("it was measured again"))
    assert job_running.answer_of(Runner(store).run(job)) == {"status": "done", "seconds": 1.5}


def test_waiting_for_the_device_is_told_and_no_time_of_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_running, "temporary_folder", lambda: tmp_path)
    monkeypatch.setattr(job_running, "measured", lambda *_: [])
    (job,) = jobs_of(tmp_path, fixed={**FIXED, "scene": "walker", "configuration": "lbvh"})
    heard: list[bool] = []
    with contextlib.ExitStack() as other:
        other.enter_context(job_running.alone_on("host"))

        def waits(is_waiting: bool) -> None:
            heard.append(is_waiting)
            if is_waiting:
                time.sleep(1.0)
                other.close()

        begin = time.perf_counter()
        done = Runner(Store.made(tmp_path / "store"), waits).run(job)
        assert time.perf_counter() - begin - done["seconds"] >= 1.0
    assert done["status"] == "done" and heard == [True, False]


def test_a_job_that_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask sends a job again where the worker that did it ends before its answer was fetched; and a worker that lost
    its scheduler may still be at one that another has done meanwhile."""
    fixed = {"measure": "render", "size": "16x12", "device": "cpu", "demo": {"triangles": 120}, "frames": "0:1",
             "scene": "walker", "configuration": "lbvh"}  # fmt: skip
    (job,) = jobs_of(tmp_path, fixed=fixed)
    store = Store.made(tmp_path / "store")
    first = Runner(store).run(job)
    about = store.path_of(job.sha).stat()
    whole = Runner._done
    monkeypatch.setattr(Runner, "_done", lambda *_: pytest.fail("it was done again"))
    assert Runner(store).run(job) == {**first, "sha": job.sha} and store.path_of(job.sha).stat() == about

    def overtaken(runner: Runner, job: Job) -> dict[str, Any]:
        done = whole(runner, job)
        store.put({**first, "seconds": 1.5})
        return done

    store.forget(job.sha)
    monkeypatch.setattr(Runner, "_done", overtaken)
    assert Runner(store).run(job)["seconds"] == store.get(job.sha)["seconds"] == 1.5
    store.path_of(job.sha).write_text("{")  # damaged by a disk
    monkeypatch.setattr(Runner, "_done", whole)
    assert Runner(store).run(job)["status"] == store.get(job.sha)["status"] == "done"
