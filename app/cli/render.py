"""`render`: pictures without a window, their statistics as a table or as JSON on stdout."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raygrove.app.cli import scene_out
from raygrove.app.cli.cameras import looked_through, path_from
from raygrove.app.cli.common import (
    camera_from,
    check_attributes,
    hidden_from,
    opened,
    reference_from,
    scene_from,
    settings_from,
    settings_of_flags,
    state_from,
    target_from,
)
from raygrove.app.cli.of_stores import OF_JOBS
from raygrove.app.cli.rows import COLUMNS, context_row, frame_row
from raygrove.app.cli.values import FRAME_LIMIT
from raygrove.app.document import saved_state
from raygrove.app.document.state import State
from raygrove.app.export.outputs import Output, open_output, write_table
from raygrove.app.export.scene_files import is_scene_file
from raygrove.app.export.sequence import OutputError, check_palette, is_folder, kind_of, place_of
from raygrove.app.export.sequence import check_output as check_place
from raygrove.app.export.tables import csv_table, json_text, text_table
from raygrove.app.export.video import even
from raygrove.app.export.whole_files import check_writable, write_atomically
from raygrove.app.frames import exporting
from raygrove.app.frames.headless import Frame, render_frames
from raygrove.app.frames.views import view_settings
from raygrove.app.playback import timeline as timelines
from raygrove.app.problems.problems import UsageError
from raygrove.app.scene_io import is_picture, load_picture
from raygrove.app.scene_io.errors import display_path
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.brief import percent
from raygrove.gpu.scene import Scene

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Draw what was asked for; returns the exit code."""
    if any(getattr(names, name) for name in OF_JOBS):
        from raygrove.app.cli import render_jobs  # whose workers import this module

        return render_jobs.run(names, words)
    settings = settings_from(names, words)
    check_output(names, names.frames[1] - names.frames[0] if names.frames else 1, settings.render.palette)
    scene, state = _start(names, settings, words)
    state = looked_through(names, state, scene)
    check_attributes(state.settings, scene)
    state = dataclasses.replace(state, settings=_with_smooth_edges(names, state.settings))
    if names.out is not None and is_scene_file(names.out):
        return scene_out.write(names, scene, state, frames_of(names, scene, state)[0][1], words)
    plan = plan_from(names, scene, state)
    check_output(names, len(plan.frames), state.settings.render.palette)
    _remark(plan, scene, state, words)
    rows: list[dict[str, Any]] = []
    said: set[str] = set()
    begin = time.perf_counter()
    with contextlib.closing(target_from(state.settings, words)) as target, contextlib.ExitStack() as stack:
        context = context_row(target, state)
        output = _open_output(stack, plan, state, context)
        drawn = render_frames(
            target, scene, state, plan.frames, repeat=names.repeat or 1, warmup=names.warmup or 0,
            with_totals=names.json,
            with_buffers=output is not None and output.needs_buffers, turntable=plan.turntable, path=plan.camera_of,
            check=_told_of_samples(names, scene, state, plan, words),
        )  # fmt: skip
        for frame in drawn:
            row, why = frame_row(frame, scene, state, target), frame.statistics[0].views[0].reason
            rows.append(
                {"frame": frame.number, "time": frame.time, **row, "reason": why, "image_sha256": digest(frame.pixels)}
            )
            if output is not None:
                takes = output.takes_palettes
                output.add(exporting.exported(state, scene, frame, target, rows[-1], takes_palettes=takes))
            words.detail(f"Frame {frame.number} at {frame.time:.3f} s.")
            _say_of_picture(frame, said, words)
    for path in output.files if output is not None else ():
        words.detail(f"Wrote {path}.")
    _report(names, context, rows, time.perf_counter() - begin, words)
    return 0


def _told_of_samples(
    names: argparse.Namespace, scene: Scene, state: State, plan: exporting.ExportPlan, words: Words
) -> Callable[[float], None]:
    """What is called after each sample, or some rows of it, and says now and then how much of all is drawn."""
    pictures, done = len(plan.frames) * (names.repeat or 1) + (names.warmup or 0), 0.0
    all_samples = max(1, pictures * view_settings(state).samples)

    def say(share: float) -> None:
        nonlocal done
        done += share
        of_all = "the picture" if pictures == 1 else f"{pictures:,} pictures"
        words.now_and_then(f"Drawing {scene.name}: {percent(done / all_samples)} of {of_all}.")

    return say


def _say_of_picture(frame: Frame, said: set[str], words: Words) -> None:
    """What is to know of a frame, unless it was `said` of one before it; spheres without what is shown."""
    refused = frame.collisions.why_not if frame.collisions is not None else ""
    for sentence in (*frame.statistics[-1].views[0].notices, refused):
        if sentence and sentence not in said:
            words.warn(f"Frame {frame.number}: {sentence}")
        said.add(sentence)
    if frame.attribute is not None and frame.attribute.missing:
        count, name = frame.attribute.missing, frame.attribute.name
        spheres = "1 sphere has" if count == 1 else f"{count:,} spheres have"
        words.say(f"Frame {frame.number}: {spheres} no {name} (spheres.missing is the colour).")


def check_output(names: argparse.Namespace, frame_count: int, colours: int = 0) -> None:
    """Refuse an output that cannot be, before any work. Raises UsageError, and OSError where nothing can be written."""
    try:
        if names.out is not None:
            if not names.out:
                raise UsageError("--out names nothing: give FILE.png, FILE.mp4 or DIR/.")
            if not is_scene_file(names.out):
                check_place(names.out, frame_count)
                check_palette(names.out, colours)
            elif names.statistics is not None:
                why = f"--out {names.out} is a model, for which nothing is drawn"
                raise UsageError(f"--statistics {names.statistics}: {why}. Leave one of them out.")
            check_writable(*place_of(names.out))
        if names.statistics is not None:
            place = Path(names.statistics)
            if place.suffix.lower() not in (".csv", ".json"):
                raise UsageError(f"--statistics {names.statistics}: tables are written as .csv or .json.")
            check_writable(place.parent, place.name)
    except OutputError as error:
        raise UsageError(f"--out {error}") from error


def _with_smooth_edges(names: argparse.Namespace, settings: Settings) -> Settings:
    """Settings whose written pictures are as smooth as still ones in the window, or have the samples that the command
    line names. Without a picture to keep, a frame is drawn as the settings say, for its figures."""
    if names.samples is not None or any(key == "render.samples" for key, _ in names.set):
        return exporting.with_samples(settings, settings.render.samples)
    if names.out is None or is_scene_file(names.out) or kind_of(names.out) not in ("png", "video"):
        return settings
    return exporting.with_samples(settings, exporting.smooth_samples(settings))


def state_of_picture(names: argparse.Namespace, settings: Settings, words: Words) -> State:
    """What the saved picture carries that is named, of its size, changed by the flags; nothing is opened."""
    reference_from(names, settings)
    path = names.files[0]
    texts, width, height = load_picture(path, settings.importer)
    remarks: list[str] = []
    state = saved_state.state_of(texts, path, settings, remarks)
    saved_state.check_files(state, path, settings)
    if names.size is None:
        width, height = saved_state.affordable_size(width, height, settings, path, remarks)
    else:
        width, height = names.size
    words.say(f"{display_path(path)} shows {state.scene.title}.")
    for sentence in remarks:
        words.warn(sentence)
    of_its_size = set_option(set_option(state.settings, "render.width", width), "render.height", height)
    return dataclasses.replace(state, settings=settings_of_flags(names, of_its_size))


def _start(names: argparse.Namespace, settings: Settings, words: Words) -> tuple[Scene, State]:
    """The scene and the state to draw: what the flags name, or what a saved picture carries, changed by the flags."""
    if not is_picture(names.files) or names.demo is not None:
        reference, scene = scene_from(names, settings, words)
        return scene, state_from(names, settings, reference, scene)
    state = state_of_picture(names, settings, words)
    scene = opened(state.scene, state.settings, words)
    state = saved_state.fitted(state, scene)
    if names.hide is not None or names.isolate is not None:
        state = dataclasses.replace(state, hidden=hidden_from(state.settings, scene))
    place = state.views[0].camera
    camera = camera_from(names, state.cameras[place], scene)
    return scene, dataclasses.replace(state, cameras=(*state.cameras[:place], camera, *state.cameras[place + 1 :]))


def plan_from(names: argparse.Namespace, scene: Scene, state: State) -> exporting.ExportPlan:
    """Which frames go where. A video, a turn or a path without --frames has all of it; with --time camera and turn go
    at one instant."""
    path = path_from(names, state)
    plan = dataclasses.replace(
        exporting.plan_of(state, scene, names.out or "", range(0), names.turntable or 0.0), path=path
    )
    drawn = frames_of(names, scene, state)
    if path is not None and not names.frames and names.time is not None:
        drawn = [(number, drawn[0][1]) for number in range(path.frame_count(plan.fps))]
    if plan.turntable and not names.frames:
        drawn = [(number, drawn[0][1]) for number in range(plan.turntable)]
    if (
        not names.frames
        and names.time is None
        and (plan.turntable or path or (names.out and kind_of(names.out) == "video"))
    ):
        span = timelines.span_of(scene, state.timeline, state.settings.timeline)
        count = path.frame_count(plan.fps) if path else plan.turntable or span.frame_count
        if count > FRAME_LIMIT:
            raise UsageError(
                f"that would be {count:,} frames, and {FRAME_LIMIT:,} can be written at once; name some by "
                f"--frames A:B."
            )
        return dataclasses.replace(
            exporting.plan_of(state, scene, plan.out, range(count), names.turntable or 0.0), path=path
        )
    return dataclasses.replace(plan, frames=tuple(drawn))


def frames_of(names: argparse.Namespace, scene: Scene, state: State) -> list[tuple[int, float]]:
    """Numbers and times of the frames asked for: --frames by their number, else --time, else where the head stands."""
    options = state.settings.timeline
    span = timelines.span_of(scene, state.timeline, options)
    if names.frames:
        return [(number, timelines.frame_time(number, span, options.repeat)) for number in range(*names.frames)]
    seconds = state.timeline.time if names.time is None else names.time
    if span.duration <= 0.0:
        return [(0, 0.0)]
    return [(int(seconds * span.fps), timelines.frame_time_at(seconds, span, options.repeat))]


def digest(pixels: np.ndarray) -> str:
    """The SHA-256 of a picture's RGBA bytes, rows from the top."""
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()


def _open_output(
    stack: contextlib.ExitStack, plan: exporting.ExportPlan, state: State, context: dict[str, Any]
) -> Output | None:
    render = state.settings.render
    if not plan.out:
        return None
    return stack.enter_context(
        open_output(plan.out, len(plan.frames), (render.width, render.height), plan.fps, context)
    )


def _remark(plan: exporting.ExportPlan, scene: Scene, state: State, words: Words) -> None:
    """What someone who waits for a video may not expect of it."""
    if not plan.out or kind_of(plan.out) != "video":
        return
    width, height = state.settings.render.width, state.settings.render.height
    if (even(width), even(height)) != (width, height):
        words.say(
            f"Video has even sides: {plan.out} becomes {even(width)}x{even(height)}, its last row or column repeated."
        )
    if len(plan.frames) == 1:
        words.say(f"{scene.name} does not move, so the video has one frame; --turntable 6 turns the camera round it.")


def _report(
    names: argparse.Namespace, context: dict[str, Any], rows: Sequence[dict[str, Any]], seconds: float, words: Words
) -> None:
    """The table on stdout, or JSON; beside a sequence in a folder the table as CSV, and where --statistics says."""
    first = rows[0]
    words.say(f"{context['device']}: {first['hierarchy']}, layout {first['layout']}, ray type {first['ray_type']}.")
    if names.out is not None and is_folder(names.out):
        table = csv_table(rows, ("frame", "time", *COLUMNS, "image_sha256"))
        write_atomically(Path(names.out) / "statistics.csv", lambda file: file.write(table.encode()))
    if names.statistics is not None:
        write_table(Path(names.statistics), rows, context)
    if names.json:
        print(json_text({"context": context, "frames": list(rows)}))
    else:
        print(text_table(rows, ("frame", "time", *COLUMNS)))
    is_named = names.out and Path(names.out).name not in ("", "..")
    place = names.out if is_named or not names.out else str(Path(names.out).resolve())
    pictures = f", written to {place}" if place else "; no picture was kept (--out FILE.png or DIR/ does)"
    words.say(f"{len(rows)} frame{'s' if len(rows) > 1 else ''} in {seconds:.2f} s{pictures}.")
