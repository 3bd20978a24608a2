"""Every structure on the same two scenes, in one run: `python -m bench.structures [--target host|cuda] [--out PREFIX]`.

What docs/structures.md quotes. A structure that is too slow for the full scene is measured on the largest of the smaller ones that it builds within
`--seconds`; the row's `triangles` says which. Structures are those of the registry.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

from app.scene_io.demos import make_demo
from gpu.engine import ViewSettings
from gpu.hierarchy.base import HierarchyError
from gpu.hierarchy.registry import optimisers, structures
from gpu.scene import Moment
from gpu.target import choose
from gpu.target.base import NoDeviceError, Target, TargetError

from .build import run_build
from .context import context
from .goals import build_as_graph
from .measure import Stage, Task
from .rows import Row
from .table import build_table, trace_table
from .trace import run_trace

SIZES = {"cuda": (2_000, 20_000, 100_000, 512_000), "host": (500, 2_000, 20_000, 100_000)}
SCENES = ("blob", "room")


def measure_structures(
    target: Target, names: tuple[str, ...], seconds: float, repeat: int, say: Callable[[str], None]
) -> tuple[list[Row], list[str]]:
    """A build row and two trace rows (primary and diffuse rays, 1024x768) for each structure and scene, then for lbvh with each optimiser; and what
    could not be measured, in words. A build row's sample `graph_ms` is the build captured once and replayed, as frames do it."""
    rows: list[Row] = []
    failed = []
    choices = [ViewSettings(hierarchy=name) for name in names]
    if "lbvh" in names:
        choices += [ViewSettings(hierarchy="lbvh", optimiser=name) for name in optimisers()]
    for settings in choices:
        for scene_name in SCENES:
            what = f"{settings.hierarchy}, optimiser {settings.optimiser}, on {scene_name}"
            say(what)
            try:
                task = Task(make_demo(scene_name, _size(target, settings, scene_name, seconds)), settings, repeat=repeat, warmup=3)
                built, graph = run_build(target, task), build_as_graph(target, task.scene, settings, repeat)
                rows.append(dataclasses.replace(built, samples={**built.samples, "graph_ms": [graph.spent_ms]}))
                rows += run_trace(target, task, kinds=("primary", "diffuse"))
            except (TargetError, HierarchyError) as error:
                failed.append(f"{what}: {error}")
    return rows, failed


def _size(target: Target, settings: ViewSettings, scene_name: str, seconds: float) -> int:
    """The largest of SIZES on which a build and a small picture's rays both take at most `seconds` by the clock, on the second try."""
    fits = SIZES[target.kind][0]
    for size in SIZES[target.kind]:
        task = Task(make_demo(scene_name, size), settings, size=(128, 96))
        with contextlib.closing(Stage(target, task.scene, task.settings)) as stage:
            primitives = stage.show(Moment()).primitives
            spent = [_seconds(stage, lambda: stage.hierarchy.build(primitives)) for _ in range(2)][-1]  # noqa: B023 (the first compiles)
            if spent <= seconds:
                rays = stage.rays(task.view_from(), task.size)
                spent = max(spent, *[_seconds(stage, lambda: stage.trace(rays)) for _ in range(2)][1:])  # noqa: B023
        if spent > seconds:
            break
        fits = size
    return fits


def _seconds(stage: Stage, body: Callable[[], object]) -> float:
    started = time.perf_counter()
    body()
    stage.target.synchronize()
    return time.perf_counter() - started


def main(arguments: list[str] | None = None) -> int:
    """The script. Words go to stderr, tables to stdout."""
    parser = argparse.ArgumentParser(prog="python -m bench.structures", description="Measure every structure on the same scenes in one run.")
    parser.add_argument("--target", default="auto", help="auto, host, cuda or cuda:N")
    parser.add_argument("--repeat", type=int, default=10, help="runs of each measurement; the median counts")
    parser.add_argument("--seconds", type=float, default=0.25, help="most time of one build: slower structures get smaller scenes")
    parser.add_argument("--hierarchy", nargs="*", choices=list(structures()), default=list(structures()), help="only these")
    parser.add_argument("--out", help="also write PREFIX.json and PREFIX.txt")
    names = parser.parse_args(arguments)
    try:
        target = choose(names.target)
    except (NoDeviceError, ValueError) as error:
        print(error, file=sys.stderr)
        return 4
    with contextlib.closing(target):
        about = context(target, command=["python", "-m", "bench.structures", *(sys.argv[1:] if arguments is None else arguments)])
        rows, failed = measure_structures(target, tuple(names.hierarchy), names.seconds, names.repeat, lambda words: print(words, file=sys.stderr))
    text = _page(about, rows, failed)
    if names.out:
        content = {"context": about, "results": [row.as_json() for row in rows], "not_measured": failed}
        pathlib.Path(names.out + ".json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        pathlib.Path(names.out + ".txt").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def _page(about: dict[str, Any], rows: list[Row], failed: list[str]) -> str:
    lines = [f"{key}: {about[key]}" for key in ("device", "driver", "compiler", "commit", "date", "load")]
    builds, traces = [row for row in rows if row.build_ms is not None], [row for row in rows if row.build_ms is None]
    return "\n".join([*lines, "", build_table(builds), "", trace_table(traces), *failed])


if __name__ == "__main__":
    raise SystemExit(main())
