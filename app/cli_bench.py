"""`bench`: measure a structure's build, its rays or whole frames. Tables on stdout, or with --json everything that was measured.

`bench suite` is cli_suite's."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from app import timeline as timelines
from app.cli_common import scene_from, settings_from, state_from, target_from
from app.cli_render import frames_of
from app.cli_rows import context_row, resolved_traversal
from app.export.tables import json_text
from app.export.whole_files import check_writable, write_atomically
from app.problems import UsageError
from app.settings import set_option
from app.state import State
from app.views import view_settings
from bench.build import run_build
from bench.frame import run_frame
from bench.measure import Task
from bench.rows import Row
from bench.table import build_table, frame_table, trace_table
from bench.trace import run_trace
from gpu.scene import Moment, Scene
from gpu.target.base import Target

if TYPE_CHECKING:
    from app.cli import Words

REPEAT, WARMUP, MOMENTS = 20, 5, 8
TABLES = {"build": build_table, "trace": trace_table, "frame": frame_table}


def run(names: argparse.Namespace, words: Words) -> int:
    """Measure what was asked for; returns the exit code."""
    if names.kind == "suite":
        from app import cli_suite

        return cli_suite.run(names, words)
    if names.out and not names.out.endswith(".json"):
        raise UsageError(f"--out {names.out}: bench writes its figures as JSON; name a file that ends in .json.")
    if names.out:
        check_writable(Path(names.out).parent)
    settings = settings_from(names, words)
    if settings.clip.on:
        words.say("bench measures the whole scene: clip.on is left out.")
        settings = set_option(settings, "clip.on", False)
    if names.kind != "frame" and names.ray_type:
        words.say(f"bench {names.kind} shades nothing: --ray-type is left out.")
    reference, scene = scene_from(names, settings, words)
    state = state_from(names, settings, reference, scene)
    with contextlib.closing(target_from(settings, words)) as target:
        context = context_row(target, state)
        measured = measure(names.kind, target, task_of(names, scene, state))
    rows = [dataclasses.replace(row, traversal=resolved_traversal(state, row.layout)) for row in measured]
    words.say(f"{context['device']}: {rows[0].hierarchy}, layout {rows[0].layout}, traversal {rows[0].traversal}.")
    text = json_text({"context": context, "results": [row.as_json() for row in rows]})
    if names.out:
        write_atomically(Path(names.out), lambda file: file.write(text.encode() + b"\n"))
        words.say(f"Wrote {names.out}.")
    print(text if names.json else TABLES[names.kind](rows))
    return 0


def measure(kind: str, target: Target, task: Task) -> list[Row]:
    """The rows of one kind of measurement. On the host other programs that are installed trace the same rays."""
    if kind == "build":
        return [run_build(target, task)]
    if kind == "trace":
        return run_trace(target, task, peers=("embree",) if target.kind == "host" else ())
    return [run_frame(target, task)]


def task_of(names: argparse.Namespace, scene: Scene, state: State) -> Task:
    """What to measure: at the frames or the time asked for; else whole frames at instants spread over the animation, the rest at its beginning."""
    render = state.settings.render
    instants = [time for _, time in frames_of(names, scene, state)]
    duration = timelines.span_of(scene, state.timeline, state.settings.timeline).duration
    if names.kind == "frame" and names.frames is None and names.time is None and duration > 0.0:
        instants = [duration * index / MOMENTS for index in range(MOMENTS)]
    return Task(
        scene=scene,
        settings=view_settings(state),
        size=(render.width, render.height),
        moments=tuple(Moment(time, state.timeline.clip, number) for number, time in enumerate(instants)),
        repeat=names.repeat or REPEAT,
        warmup=WARMUP if names.warmup is None else names.warmup,
        camera=state.camera_of(0),
    )
