"""Every structure on the same scenes, in one run.

What docs/structures.md quotes, of two built-in scenes. A structure that is too slow for the full scene is measured on
the largest of the smaller ones that it builds within `--seconds`; the row's `triangles` says which. With FILE models
instead, as they are: there what is too slow is left out, and said. Structures are those of the registry.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import pathlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.registry import optimisers, structures
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target, TargetError

from ..arguments import DEVICE, EYE, LOOK_AT, OUT, argument, check_view, chosen, repeat
from ..build import run_build
from ..context import context, heading
from ..measure import Stage, Task
from ..replay import build_as_graph
from ..rows import Row
from ..saved import keep
from ..table import build_table, trace_table
from ..trace import run_trace

SIZES = {"cuda": (2_000, 20_000, 100_000, 512_000), "host": (500, 2_000, 20_000, 100_000)}
SCENES = ("blob", "room")


@dataclasses.dataclass(frozen=True)
class Subject:
    """What structures are measured on: the scene `name` as `make` gives it for a number of triangles, one of `sizes`;
    seen by `camera`, or as the scene itself has it."""

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
    choices = [
        ViewSettings(name, layout=layout)
        for name in names
        for layout in (structures()[name].layouts() if all_layouts else ("auto",))
    ]
    return choices + [ViewSettings("lbvh", optimiser=name) for name in optimisers() if "lbvh" in names]


def measure_structures(
    target: Target,
    subjects: Sequence[Subject],
    choices: Sequence[ViewSettings],
    seconds: float,
    repeat: int,
    say: Callable[[str], None],
) -> tuple[list[Row], list[str]]:
    """A build row and two trace rows (primary and diffuse rays, 1024x768) for each choice and scene; and what could not
    be measured, in words. A build row's sample `graph_ms` is the build captured once and replayed, as frames do it;
    functions on the host are not."""
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
                built = run_build(target, task)
                if not structures()[settings.hierarchy].capabilities.builds_on_host:
                    graph = build_as_graph(target, task.scene, settings, repeat)
                    built = dataclasses.replace(built, samples={**built.samples, "graph_ms": [graph.spent_ms]})
                rows.append(built)
                rows += run_trace(target, task, kinds=("primary", "diffuse"))
            except (TargetError, HierarchyError) as error:
                failed.append(f"{what}: {error}")
    return rows, failed


def _size(target: Target, settings: ViewSettings, subject: Subject, seconds: float) -> int | None:
    """The largest of the subject's sizes on which a build and a small picture's rays both take at most `seconds` by the
    clock, on the second try. Of several the smallest counts as fast enough; of one alone None where it is not."""
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


ARGUMENTS = (
    argument("files", nargs="*", type=pathlib.Path, metavar="FILE", help="models instead of the built-in scenes"),
    EYE,
    LOOK_AT,
    argument(
        "--layout",
        choices=("auto", "all"),
        default="auto",
        help="all: every layout of each structure, not its default alone",
    ),
    DEVICE,
    repeat(10),
    argument("--seconds", type=float, default=0.25, help="most time of one build; slower ones get smaller scenes"),
    argument("--hierarchy", nargs="*", choices=list(structures()), default=list(structures()), help="only these"),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for. Words go to stderr, tables to stdout."""
    check_view(names)
    models = [
        as_it_is(load([file]), Camera(eye=names.eye, look_at=names.look_at) if names.eye else None)
        for file in names.files
    ]
    with chosen(names.device) as target:
        about = context(target, command=names.command)
        choices = choices_of(names.hierarchy, names.layout == "all")
        subjects = models or built_in(target)
        rows, failed = measure_structures(
            target, subjects, choices, names.seconds, names.repeat, lambda words: print(words, file=sys.stderr)
        )
    print(text := _page(about, rows, failed))
    keep(names.out, {"context": about, "results": [row.as_json() for row in rows], "not_measured": failed}, text)
    return 0


def _page(about: dict[str, Any], rows: list[Row], failed: list[str]) -> str:
    builds, traces = [row for row in rows if row.build_ms is not None], [row for row in rows if row.build_ms is None]
    return "\n".join([*heading(about), "", build_table(builds), "", trace_table(traces), *failed])
