"""Bars of sweeps and stores are read from runs that measured what was promised, and from no others."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from raygrove.bench.saved_goals import saved_goals
from raygrove.bench.store_goals import SWEEPS

HANDING_OUT = "overhead of local jobs of 1 s"
BALANCE = "longest of 1 to 8 simulated devices over their mean"


def kept(folder: pathlib.Path, name: str, words: str, **content: Any) -> None:
    about = {"date": f"{name[12:22]}T10:00", "commit": "abc", "command": ["python", *words.split()]}
    (folder / f"{name}.json").write_text(json.dumps({"context": about, **content}), encoding="utf-8")


def runs(*rows: tuple[int, float, float]) -> list[dict[str, float]]:
    return [{"devices": devices, "overhead": overhead, "balance": balance} for devices, overhead, balance in rows]


def measured(folder: pathlib.Path, kind: str = "host") -> dict[str, float | None]:
    bars = {one.what for one in SWEEPS}
    return {goal.what: goal.measured for goal in saved_goals(kind, folder) if goal.what in bars}


def test_what_workers_cost_is_of_jobs_of_a_second_on_as_many_devices_as_cores(tmp_path: pathlib.Path) -> None:
    assert set(measured(tmp_path).values()) == {None}
    long = "scaling --simulated --devices 1,8"
    kept(tmp_path, "epyc-2cores-2026-11-20-scaling", long, runs=runs((1, 0.5, 0.0), (8, 0.9, 0.04)))
    found = measured(tmp_path)
    assert found[BALANCE] == 1.04 and found[HANDING_OUT] is None
    short = "scaling --simulated --spread=1 --seconds 1"
    kept(tmp_path, "epyc-2cores-2026-11-21-scaling", short, runs=runs((1, 0.01, 0.0), (2, 0.02, 0.9), (4, 0.4, 0.9)))
    kept(tmp_path, "epyc-2cores-2026-11-21-scaling-dask", short, runs=runs((1, 0.04, 0.0)))
    found = measured(tmp_path)
    assert (found[HANDING_OUT], found[BALANCE]) == (0.02, 1.04), "each of the newest run that measured it"
    assert found["overhead of Dask, jobs of 1 s"] == 0.04
    real = "scaling --spread 1 --seconds 1"
    kept(tmp_path, "epyc-2cores-2026-11-22-scaling", real, runs=runs((1, 0.9, 0.0), (8, 0.9, 0.9)))
    assert measured(tmp_path) == found, "devices that work are no simulated ones"


def test_gpus_are_compared_by_200_jobs(tmp_path: pathlib.Path) -> None:
    two, four = (f"200 jobs by {count} GPUs over one" for count in ("two", "four"))

    def of(devices: int, done: int, speed_up: float) -> dict[str, float]:
        return {"devices": devices, "done": done, "speed_up": speed_up}

    kept(tmp_path, "h200-2026-11-20-scaling", "scaling --devices 1,2", runs=[of(1, 200, 1.0), of(2, 199, 1.95)])
    kept(tmp_path, "h200-2026-11-21-scaling", "scaling --simulated", runs=[of(2, 200, 2.0)])
    assert measured(tmp_path, "cuda") == {two: None, four: None}
    kept(tmp_path, "h200-2026-11-22-scaling", "scaling --devices 1,2", runs=[of(1, 200, 1.0), of(2, 200, 1.8)])
    assert measured(tmp_path, "cuda") == {two: 1.8, four: None}


def test_stores_are_read_of_as_many_as_were_promised(tmp_path: pathlib.Path) -> None:
    rows = [{"what": what, "count": count, "figure": 0.25} for what, count in
            (("skip", 10_000), ("query", 99_999), ("usd", 100_000))]  # fmt: skip
    kept(tmp_path, "epyc-2cores-2026-11-20-stores", "stores", results=rows)
    found = measured(tmp_path)
    assert found["10,000 finished jobs skipped"] == found["USD of 10 time samples of 100,000 points opened"] == 0.25
    assert found["a query over 100,000 results"] is None
