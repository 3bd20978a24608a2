"""Sweeps on one and on several devices: plans that hold the work asked for, figures by their definitions, pictures that
differ are named."""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
import tomllib

import pytest

from raygrove.bench import device_scaling
from raygrove.bench.cases import main
from raygrove.bench.device_scaling import CPU, CUDA, Run, ScalingError, Sweeps, differing, toml_of
from raygrove.bench.simulated_devices import jobs_of
from raygrove.bench.store.folder import Store
from raygrove.bench.store.workers import Progress


def test_a_plan_is_toml() -> None:
    text = toml_of({"measure": "frame", "demo.triangles": 5}, {"seed": [0, 1]}, [{"scene": "walker"}, {"repeat": 2}])
    assert tomllib.loads(text) == {
        "fixed": {"measure": "frame", "demo": {"triangles": 5}},
        "axes": {"seed": [0, 1]},
        "jobs": [{"scene": "walker"}, {"repeat": 2}],
    }


def test_figures_of_a_run_by_their_definitions() -> None:
    one = Run(1, 10, 21.0, 20.0, (20.0,))
    two = Run.of(2, 11.0, Progress(done=10, seconds=20.0, busy={"a": 9.0, "b": 11.0}))
    assert (one.balance, one.overhead) == (0.0, pytest.approx(0.05))
    assert (two.balance, two.overhead) == (pytest.approx(0.1), pytest.approx(0.1))
    assert two.as_json(one)["speed_up"] == pytest.approx(21.0 / 11.0)


def test_pictures_that_differ_or_are_missing_are_named() -> None:
    assert differing([{"a": "1", "b": "2"}, {"a": "1", "b": "2"}]) == []
    assert differing([{"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}]) == ["b", "c"]


class _Timed(Sweeps):
    """Sweeps whose jobs take 0.3 s and a time for each unit of work, which every scene has otherwise."""

    def run(self, name: str, plan: str, devices: int) -> tuple[Run, Store]:
        tables = tomllib.loads(plan)
        store = Store.made(self._folder / name)
        for number, table in enumerate(tables["jobs"]):
            seconds = 0.3 + 0.001 * (1 + number % 7) * table["repeat"]
            store.put({"job": table, "status": "done", "seconds": seconds})
        return Run(devices, 1, 1.0, 1.0, (1.0,)), store


def test_the_work_of_jobs_is_what_takes_as_long_as_asked(tmp_path: pathlib.Path) -> None:
    tables = _Timed(CUDA, tmp_path, lambda words: None).calibrated(1.2, 2)
    took = [0.3 + 0.001 * (1 + number % 7) * table["repeat"] for number, table in enumerate(tables)]
    assert len(took) == 20 and all(1.1 < seconds < 1.3 for seconds in took)


def test_simulated_devices_share_jobs_evenly(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [job.what["wait"] for job in jobs_of(3, 1.0, 5.0)] == pytest.approx([1.0, 3.472136, 1.944272])
    words = ["scaling", "--simulated", "--devices", "1,2", "--jobs", "12", "--seconds", "0.02", "--spread", "1"]
    main([*words, "--device", "cpu", "--folder", str(tmp_path / "stores"), "--out", str(tmp_path / "kept")])
    found = json.loads((tmp_path / "kept.json").read_text())
    assert [(row["devices"], row["done"]) for row in found["runs"]] == [(1, 12), (2, 12)]
    assert all(len(row["busy"]) == row["devices"] and sum(row["busy"]) >= 0.24 for row in found["runs"])
    assert "simulated devices, which wait" in capsys.readouterr().out


STAND_IN = """
import json, os, pathlib, sys
from raygrove.bench.store.folder import Store
plan, _, place, *rest = sys.argv[1:]
folder = Store.made(place).pictures_of("ab" * 32)
folder.mkdir(parents=True)
(folder / "frame_0000.png").write_bytes(b"picture")
(pathlib.Path(place) / "words").write_text(json.dumps([os.environ.get("CUDA_VISIBLE_DEVICES"), *rest]))
print(json.dumps({"done": 1, "wall_seconds": 2.0, "seconds": 1.5, "busy": {"a": 1.5}}))
sys.exit("ao" in pathlib.Path(plan).read_text())
"""
"""In place of the command `sweep`: keeps a picture and what it was told."""


def test_each_run_is_a_sweep_on_so_many_devices(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_scaling, "SWEEP", (sys.executable, "-c", STAND_IN))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,3,1")
    told: list[str] = []
    pictures = Sweeps(CUDA, tmp_path, told.append).pictures((1, 2))
    assert pictures == [{f"ab/{'ab' * 32}/frame_0000.png": hashlib.sha256(b"picture").hexdigest()}] * 2
    assert told == ["pictures: 1 jobs on 1 in 2.0 s.", "pictures: 1 jobs on 2 in 2.0 s."]
    words = [json.loads((tmp_path / f"pictures-{count}" / "words").read_text()) for count in (1, 2)]
    assert words == [[seen, "--json", "--jobs", "local"] for seen in ("5", "5,3")]
    with pytest.raises(ScalingError, match="jobs: the sweep on 2 devices ended with exit code 1"):
        Sweeps(CPU, tmp_path, told.append).timed([{"scene": "walker"}], 1, (2,))


def test_one_device_is_what_others_are_compared_with(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["scaling", "--devices", "2,4"])
    assert "one of them is 1" in capsys.readouterr().err
