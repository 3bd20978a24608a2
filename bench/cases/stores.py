"""What a large store and a file of USD cost, in processor seconds.

Measured are leaving out jobs that have results, a query by SQL over a packed store, and opening USD of a mesh with time
samples once its library is loaded. Results are made up and lie in a folder that is deleted. The commands are those of a
user, in processes of their own, their start included. Prints the least of --repeat turns beside the bar, and by the
clock, which other programs prolong; the exit status is 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raygrove.app.scene_io import ImportLimits
from raygrove.gpu.target import choose

from ..arguments import OUT, argument, at_least_one, repeat
from ..context import context
from ..saved import keep
from ..store.folder import DONE, Store
from ..store.jobs import sha_of
from ..table import aligned

PROGRAM = (sys.executable, "-m", "raygrove")
SQL = "SELECT scene, configuration, median(trace_ms) AS ms FROM results GROUP BY ALL ORDER BY ms"
PLAN = """[fixed]
measure = "frame"
size = "16x12"
device = "cpu"
configuration = "lbvh"
[axes]
scene = ["walker", "cloth"]
seed = [{seeds}]
"""
HASHES = """import sys
from raygrove.app.cli import arguments, sweep
from raygrove.version import VERSION
for job in sweep.jobs_of(arguments.parse(sys.argv[1:], VERSION)):
    print(job.sha)
"""
"""A process that tells the hashes of a sweep's jobs: what words of a plan mean is the command line's to know."""
BARS = {"skip": 1.0, "query": 1.0, "usd": 0.5}
ARGUMENTS = (
    argument("--jobs", type=at_least_one, default=10_000, help="finished jobs that are left out (10,000)"),
    argument("--results", type=at_least_one, default=100_000, help="results that are asked (100,000)"),
    argument("--points", type=at_least_one, default=100_000, help="points of the mesh of USD (100,000)"),
    argument("--only", choices=BARS, help="one of them alone"),
    repeat(3),
    OUT,
)


@dataclasses.dataclass(frozen=True)
class Spent:
    """Seconds of a turn: the processor's, and by the clock."""

    cpu: float
    clock: float


Turn = Callable[[], Spent]


def commanded(*words: str) -> tuple[Spent, str]:
    """What a command of the program takes, and what it said."""
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run([*PROGRAM, *words], check=True, capture_output=True, text=True)
    after, clock = os.times(), time.perf_counter() - begin
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(spent, clock), done.stdout


def skip(folder: pathlib.Path, count: int) -> Turn:
    """A sweep whose jobs all have results; returns what it costs to find that out."""
    plan, store = folder / "plan.toml", Store.made(folder / "skipped")
    plan.write_text(PLAN.format(seeds=", ".join(map(str, range(-(-count // 2))))), encoding="utf-8")
    words = [sys.executable, "-c", HASHES, "sweep", str(plan), "--store", str(store.folder)]
    jobs = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    for sha in jobs:
        place = store.path_of(sha)
        place.parent.mkdir(exist_ok=True)
        place.write_text("{}", encoding="utf-8")  # whether it is there is all that is asked

    def turn() -> Spent:
        spent, said = commanded("sweep", str(plan), "--store", str(store.folder), "--json")
        if json.loads(said)["skipped"] != len(jobs):
            raise RuntimeError(f"not all of {len(jobs)} jobs were left out: {said}")
        return spent

    return turn


def ask(folder: pathlib.Path, count: int) -> Turn:
    """A packed store of made-up results of two rows each; returns what a query over all costs."""
    store = Store.made(folder / "asked")
    for number in range(count):
        what = {"measure": "trace", "scene": f"scene{number % 7}", "configuration": f"tree{number % 11}",
                "device": "cpu", "seed": number, "version": "1", "sources": "s"}  # fmt: skip
        rows = [{"ray_type": kind, "rounds": {"trace_ms": [1.0 + number % 13, 2.0]}} for kind in ("primary", "ao")]
        sha = sha_of(what)
        place = store.path_of(sha)
        place.parent.mkdir(exist_ok=True)
        record = {"job": what, "sha": sha, "status": DONE, "rows": rows, "context": {}}
        place.write_text(json.dumps(record), encoding="utf-8")
    commanded("store", "pack", str(store.folder))

    def turn() -> Spent:
        spent, said = commanded("results", str(store.folder), "--sql", SQL, "--json")
        if len(json.loads(said)["results"]) != min(count, 77):
            raise RuntimeError(f"the answer has another size than 7 scenes x 11 trees: {said[:200]}")
        return spent

    return turn


def usd(folder: pathlib.Path, count: int) -> Turn:
    """USD of so many points at 10 instants; returns what reading it costs, its library loaded before."""
    from pxr import Usd, UsdGeom, Vt

    from raygrove.app.scene_io.usd.reader import read_stage

    side = max(2, math.isqrt(count - 1) + 1)
    rows, columns = np.divmod(np.arange((side - 1) ** 2), side - 1)
    first = (rows * side + columns)[:, None] + np.array([0, 1, side + 1, side])
    stage = Usd.Stage.CreateNew(str(folder / "points.usdc"))
    mesh = UsdGeom.Mesh.Define(stage, "/mesh")
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(first), 4, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(first.astype(np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr("none")
    x, y = np.meshgrid(np.arange(side, dtype=np.float32), np.arange(side, dtype=np.float32))
    points = mesh.CreatePointsAttr()
    for sample in range(10):
        at = np.stack([x, y, np.sin(x + sample)], axis=-1).reshape(-1, 3)
        points.Set(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(at, np.float32)), sample)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(9)
    stage.GetRootLayer().Save()

    def turn() -> Spent:
        begin, clock = time.process_time(), time.perf_counter()
        scene = read_stage(str(folder / "points.usdc"), ImportLimits())
        spent = Spent(time.process_time() - begin, time.perf_counter() - clock)
        if scene.duration() <= 0.0 or scene.triangle_count != 2 * len(first):
            raise RuntimeError("the scene that was read is not the one that was written")
        return spent

    return turn


def run(names: argparse.Namespace) -> int:
    """Measure, print, keep; 1 where a bar is missed."""
    kinds: dict[str, tuple[str, Callable[[pathlib.Path, int], Turn], int]] = {
        "skip": (f"{names.jobs:,} finished jobs left out", skip, names.jobs),
        "query": (f"medians over {names.results:,} results, packed", ask, names.results),
        "usd": (f"USD of 10 x {names.points:,} points opened", usd, names.points),
    }
    with contextlib.closing(choose("cpu")) as target:
        about = context(target, command=names.command)
    rows: list[dict[str, Any]] = []
    lines: list[Sequence[Any]] = []
    for kind in [names.only] if names.only else kinds:
        what, made, count = kinds[kind]
        with tempfile.TemporaryDirectory(prefix="raygrove-stores-") as folder:
            turn = made(pathlib.Path(folder), count)
            spent = [turn() for _ in range(names.repeat)]
        cpu, clock = min(one.cpu for one in spent), min(one.clock for one in spent)
        samples = [dataclasses.asdict(one) for one in spent]
        rows.append(
            {"what": kind, "count": count, "figure": cpu, "clock": clock, "bar": BARS[kind], "samples": samples}
        )
        lines.append((what, cpu, clock, BARS[kind], "reached" if cpu <= BARS[kind] else "MISSED"))
    text = aligned(("", "CPU s", "clock s", "bar", ""), lines)
    print(text)
    keep(names.out, {"context": about, "results": rows}, text)
    return int(any(row["figure"] > row["bar"] for row in rows))
