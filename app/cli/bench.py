"""`bench`: measure a structure's build, its rays or whole frames. Tables on stdout, or with --json everything that was
measured.

`bench suite` is suite.py's."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.common import scene_from, settings_from, state_from, target_from
from raygrove.app.cli.render import frames_of
from raygrove.app.cli.rows import context_row, resolved_traversal
from raygrove.app.cli.values import REPEAT, WARMUP
from raygrove.app.document.state import State
from raygrove.app.export.tables import json_text
from raygrove.app.export.whole_files import check_writable, write_atomically
from raygrove.app.frames.views import view_settings
from raygrove.app.playback import timeline as timelines
from raygrove.app.problems.problems import UsageError
from raygrove.app.settings.flags import OPTION_KEYS, flag_of
from raygrove.app.settings.ray_options import measures_others
from raygrove.app.settings.settings import set_option
from raygrove.bench.build import run_build
from raygrove.bench.frame import run_frame
from raygrove.bench.measure import Task
from raygrove.bench.rows import Row
from raygrove.bench.table import build_table, frame_table, trace_table
from raygrove.bench.trace import GIVEN, run_trace
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

MOMENTS = 8
SUITES_ALONE = ("data", "scenes", "most_triangles", "structures", "progress", "list")
"""Flags of `bench suite`, which mean nothing elsewhere."""

UNUSED = {
    "build": (
        "times a build and a refit, without rays",
        ("ray_type", "samples", "update", "eye", "look_at", "up", "fov"),
    ),
    "trace": ("casts primary and diffuse rays through one build, unshaded", ("ray_type", "samples", "update")),
    "frame": ("draws one sample per frame", ("samples",)),
}
"""What a kind of measurement does, and the flags that it therefore has no use for."""

TABLES = {"build": build_table, "trace": trace_table, "frame": frame_table}


def run(names: argparse.Namespace, words: Words) -> int:
    """Measure what was asked for; returns the exit code."""
    if names.kind == "suite":
        from raygrove.app.cli import suite

        return suite.run(names, words)
    alone = [flag_of(name) for name in SUITES_ALONE if getattr(names, name) is not None]
    if alone:
        raise UsageError(
            f"{' and '.join(alone)}: only bench suite takes that; bench {names.kind} measures the scene of FILE "
            f"or --demo."
        )
    if names.out and not names.out.endswith(".json"):
        raise UsageError(f"--out {names.out}: bench writes its figures as JSON; name a file that ends in .json.")
    if names.out:
        check_writable(Path(names.out).parent, Path(names.out).name)
    settings = settings_from(names, words)
    if settings.clip.on:
        words.say("bench measures the whole scene: clip.on is left out.")
        settings = set_option(settings, "clip.on", False)
    if any(settings.spheres.names):
        words.say("bench measures spheres as the scene has them: the settings [spheres] are left out.")
    _say_what_is_left_out(names, words)
    reference, scene = scene_from(names, settings, words)
    state = state_from(names, settings, reference, scene)
    with contextlib.closing(target_from(settings, words)) as target:
        context = context_row(target, state)
        task = task_of(names, scene, state)
        words.say(f"Measuring {scene.name}, which may take minutes; a smaller --repeat or --size takes less.")
        measured = measure(names.kind, target, task)
    rows = [dataclasses.replace(row, traversal=resolved_traversal(state, row.layout)) for row in measured]
    words.say(f"{context['device']}: {rows[0].hierarchy}, layout {rows[0].layout}, traversal {rows[0].traversal}.")
    text = json_text({"context": context, "results": [row.as_json() for row in rows]})
    if names.out:
        write_atomically(Path(names.out), lambda file: file.write(text.encode() + b"\n"))
        words.say(f"Wrote {names.out}.")
    print(text if names.json else TABLES[names.kind](rows))
    return 0


def _say_what_is_left_out(names: argparse.Namespace, words: Words) -> None:
    """Flags and settings that were typed and change nothing in this kind of measurement are named."""
    why, flags = UNUSED[names.kind]
    typed = {key for key, _ in names.set}
    unused = [flag_of(name) for name in flags if getattr(names, name) is not None]
    unused += [key for name in flags if (key := OPTION_KEYS.get(name, "")) in typed]
    if unused:
        words.say(f"bench {names.kind} {why}: {' and '.join(unused)} {'is' if len(unused) == 1 else 'are'} left out.")
    if names.rays is not None and names.kind != "trace":
        words.say(f"bench {names.kind} measures pictures: --rays is left out; bench trace takes it.")
    if names.kind == "trace" and names.frames and names.frames[1] - names.frames[0] > 1:
        words.say(f"bench trace measures one instant: of --frames the first, {names.frames[0]}, is taken.")


def measure(kind: str, target: Target, task: Task) -> list[Row]:
    """The rows of one kind of measurement. On the host other programs that are installed trace the same rays."""
    if kind == "build":
        return [run_build(target, task)]
    if kind == "trace":
        if task.rays is not None:
            return run_trace(target, task, kinds=tuple(GIVEN))
        return run_trace(target, task, peers=("embree",) if target.kind == "host" else ())
    return [run_frame(target, task)]


def task_of(names: argparse.Namespace, scene: Scene, state: State) -> Task:
    """What to measure: at the frames or the time asked for; else whole frames at instants spread over the animation,
    the rest at its beginning."""
    render = state.settings.render
    instants = [time for _, time in frames_of(names, scene, state)]
    duration = timelines.span_of(scene, state.timeline, state.settings.timeline).duration
    if names.kind == "frame" and names.frames is None and names.time is None and duration > 0.0:
        instants = [duration * index / MOMENTS for index in range(MOMENTS)]
    measured = state.settings.rays
    is_given = names.kind == "trace" and measures_others(measured)
    return Task(
        rays=workload_of(measured.measured, scene) if is_given else None,
        scene=scene,
        settings=view_settings(state),
        size=(render.width, render.height),
        moments=tuple(Moment(time, state.timeline.clip, number) for number, time in enumerate(instants)),
        repeat=names.repeat or REPEAT,
        warmup=WARMUP if names.warmup is None else names.warmup,
        camera=state.camera_of(0),
    )
