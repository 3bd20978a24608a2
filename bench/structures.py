"""Every structure on the same scenes, in one run: `python -m bench.structures [FILE ...] [--target host|cuda] [--layout all] [--out PREFIX]`.

What docs/structures.md quotes, of two built-in scenes. A structure that is too slow for the full scene is measured on the largest of the smaller ones
that it builds within `--seconds`; the row's `triangles` says which. With FILE models instead, as they are: there what is too slow is left out, and
said. Structures are those of the registry.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import json
import pathlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from app.scene_io import SceneError, load
from app.scene_io.demos import make_demo
from gpu.camera import Camera
from gpu.engine import ViewSettings
from gpu.hierarchy.base import HierarchyError
from gpu.hierarchy.registry import optimisers, structures
from gpu.scene import Moment, Scene
from gpu.target import choose
from gpu.target.base import NoDeviceError, Target, TargetError

from .build import run_build
from .context import context, heading
from .goals import build_as_graph
from .measure import Stage, Task
from .rows import Row
from .table import build_table, trace_table
from .trace import run_trace

SIZES = {"cuda": (2_000, 20_000, 100_000, 512_000), "host": (500, 2_000, 20_000, 100_000)}
SCENES = ("blob", "room")


@dataclasses.dataclass(frozen=True)
class Subject:
    """What structures are measured on: the scene `name` as `make` gives it for a number of triangles, one of `sizes`; seen by `camera`, or as the
    scene itself has it."""

    name: str
    make: Callable[[int], Scene]
    sizes: tuple[int, ...]
    camera: Camera | None = None


def built_in(target: Target) -> tuple[Subject, ...]:
    """The scenes of docs/structures.md."""
    return tuple(Subject(name, functools.partial(make_demo, name), SIZES[target.kind]) for name in SCENES)


def as_it_is(scene: Scene, camera: Camera | None = None) -> Subject:
    """A model of one size."""
    return Subject(scene.name, lambda _: scene, (scene.triangle_count,), camera)


def choices_of(names: Sequence[str], all_layouts: bool) -> list[ViewSettings]:
    """Each structure in its default layout or in all that it has, then lbvh with each optimiser."""
    choices = [ViewSettings(name, layout=layout) for name in names for layout in (structures()[name].layouts() if all_layouts else ("auto",))]
    return choices + [ViewSettings("lbvh", optimiser=name) for name in optimisers() if "lbvh" in names]


def measure_structures(
    target: Target, subjects: Sequence[Subject], choices: Sequence[ViewSettings], seconds: float, repeat: int, say: Callable[[str], None]
) -> tuple[list[Row], list[str]]:
    """A build row and two trace rows (primary and diffuse rays, 1024x768) for each choice and scene; and what could not be measured, in words. A
    build row's sample `graph_ms` is the build captured once and replayed, as frames do it."""
    rows: list[Row] = []
    failed = []
    for settings in choices:
        for subject in subjects:
            what = f"{settings.hierarchy}, layout {settings.layout}, optimiser {settings.optimiser}, on {subject.name}"
            say(what)
            try:
                size = _size(target, settings, subject, seconds)
                if size is None:
                    failed.append(f"{what}: a build or a small picture's rays take more than {seconds} s.")
                    continue
                task = Task(subject.make(size), settings, repeat=repeat, warmup=3, camera=subject.camera)
                built, graph = run_build(target, task), build_as_graph(target, task.scene, settings, repeat)
                rows.append(dataclasses.replace(built, samples={**built.samples, "graph_ms": [graph.spent_ms]}))
                rows += run_trace(target, task, kinds=("primary", "diffuse"))
            except (TargetError, HierarchyError) as error:
                failed.append(f"{what}: {error}")
    return rows, failed


def _size(target: Target, settings: ViewSettings, subject: Subject, seconds: float) -> int | None:
    """The largest of the subject's sizes on which a build and a small picture's rays both take at most `seconds` by the clock, on the second try. Of
    several the smallest counts as fast enough; of one alone None where it is not."""
    fits = subject.sizes[0] if len(subject.sizes) > 1 else None
    for size in subject.sizes:
        task = Task(subject.make(size), settings, size=(128, 96), camera=subject.camera)
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
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE", help="models instead of the built-in scenes")
    parser.add_argument("--eye", type=_point, metavar="X,Y,Z", help="where the camera stands in models")
    parser.add_argument("--look-at", type=_point, metavar="X,Y,Z", help="what it looks at")
    parser.add_argument("--layout", choices=("auto", "all"), default="auto", help="all: every layout of each structure, not its default alone")
    parser.add_argument("--target", default="auto", help="auto, host, cuda or cuda:N")
    parser.add_argument("--repeat", type=int, default=10, help="runs of each measurement; the median counts")
    parser.add_argument("--seconds", type=float, default=0.25, help="most time of one build: slower structures get smaller scenes")
    parser.add_argument("--hierarchy", nargs="*", choices=list(structures()), default=list(structures()), help="only these")
    parser.add_argument("--out", help="also write PREFIX.json and PREFIX.txt")
    names = parser.parse_args(arguments)
    if (names.eye is None) != (names.look_at is None):
        parser.error("--eye and --look-at go together")
    try:
        models = [as_it_is(load([file]), Camera(eye=names.eye, look_at=names.look_at) if names.eye else None) for file in names.files]
    except SceneError as error:
        print(error, file=sys.stderr)
        return 3
    try:
        target = choose(names.target)
    except (NoDeviceError, ValueError) as error:
        print(error, file=sys.stderr)
        return 4
    with contextlib.closing(target):
        about = context(target, command=["python", "-m", "bench.structures", *(sys.argv[1:] if arguments is None else arguments)])
        choices = choices_of(names.hierarchy, names.layout == "all")
        subjects = models or built_in(target)
        rows, failed = measure_structures(target, subjects, choices, names.seconds, names.repeat, lambda words: print(words, file=sys.stderr))
    text = _page(about, rows, failed)
    if names.out:
        content = {"context": about, "results": [row.as_json() for row in rows], "not_measured": failed}
        pathlib.Path(names.out + ".json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        pathlib.Path(names.out + ".txt").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def _point(text: str) -> tuple[float, float, float]:
    x, y, z = (float(part) for part in text.split(","))
    return x, y, z


def _page(about: dict[str, Any], rows: list[Row], failed: list[str]) -> str:
    builds, traces = [row for row in rows if row.build_ms is not None], [row for row in rows if row.build_ms is None]
    return "\n".join([*heading(about), "", build_table(builds), "", trace_table(traces), *failed])


if __name__ == "__main__":
    raise SystemExit(main())
