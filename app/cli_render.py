"""`render`: pictures without a window, their statistics as a table or as JSON on stdout."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from app import timeline as timelines
from app.cli_common import scene_from, settings_from, state_from, target_from
from app.cli_rows import COLUMNS, context_row, frame_row
from app.export.images import save_png, write_atomically
from app.export.sequence import OutputError, is_folder, picture_path
from app.export.tables import csv_table, json_text, text_table
from app.headless import Frame, render_frames
from app.problems import UsageError
from app.state import State
from gpu.scene import Scene

if TYPE_CHECKING:
    from app.cli import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Draw what was asked for; returns the exit code."""
    settings = settings_from(names, words)
    count = names.frames[1] - names.frames[0] if names.frames else 1
    check_output(names.out, count)
    reference, scene = scene_from(names, settings, words)
    state = state_from(names, settings, reference, scene)
    frames = frames_of(names, scene, state)
    rows: list[dict[str, Any]] = []
    begin = time.perf_counter()
    with contextlib.closing(target_from(settings, words)) as target:
        context = context_row(target, state)
        repeat, warmup = names.repeat or 1, names.warmup or 0
        for frame in render_frames(target, scene, state, frames, repeat=repeat, warmup=warmup, with_totals=names.json):
            rows.append({"frame": frame.number, "time": frame.time, **frame_row(frame, scene, state, target), "image_sha256": digest(frame.pixels)})
            _write(names.out, frame, count, words)
            words.detail(f"Frame {frame.number} at {frame.time:.3f} s.")
    _report(names, context, rows, time.perf_counter() - begin, words)
    return 0


def check_output(out: str | None, frame_count: int) -> None:
    """Refuse an output that cannot be, before any work. Raises UsageError."""
    if out is None:
        return
    if not out:
        raise UsageError("--out names nothing: give FILE.png or DIR/.")
    try:
        picture_path(out, 0, frame_count)
    except OutputError as error:
        raise UsageError(f"--out {error}") from error


def frames_of(names: argparse.Namespace, scene: Scene, state: State) -> list[tuple[int, float]]:
    """Numbers and times of the frames asked for: --frames by their number, else --time, else the beginning."""
    options = state.settings.timeline
    span = timelines.span_of(scene, state.timeline, options)
    if names.frames:
        return [(number, timelines.frame_time(number, span, options.repeat)) for number in range(*names.frames)]
    seconds = names.time or 0.0
    if span.duration <= 0.0:
        return [(0, 0.0)]
    return [(int(seconds * span.fps), timelines.frame_time_at(seconds, span, options.repeat))]


def digest(pixels: np.ndarray) -> str:
    """The SHA-256 of a picture's RGBA bytes, rows from the top."""
    return hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()


def _write(out: str | None, frame: Frame, count: int, words: Words) -> None:
    if out is not None:
        path = picture_path(out, frame.number, count)
        save_png(path, frame.pixels)
        words.detail(f"Wrote {path}.")


def _report(names: argparse.Namespace, context: dict[str, Any], rows: Sequence[dict[str, Any]], seconds: float, words: Words) -> None:
    """The table on stdout, or JSON; beside a sequence the table as CSV."""
    first = rows[0]
    words.say(f"{context['device']}: {first['hierarchy']}, layout {first['layout']}, ray type {first['ray_type']}.")
    if names.out is not None and is_folder(names.out):
        table = csv_table(rows, ("frame", "time", *COLUMNS, "image_sha256"))
        write_atomically(Path(names.out) / "statistics.csv", lambda file: file.write(table.encode()))
    if names.json:
        print(json_text({"context": context, "frames": list(rows)}))
    else:
        print(text_table(rows, ("frame", "time", *COLUMNS)))
    pictures = f", written to {names.out}" if names.out else "; no picture was kept (--out FILE.png or DIR/ does)"
    words.say(f"{len(rows)} frame{'s' if len(rows) > 1 else ''} in {seconds:.2f} s{pictures}.")
