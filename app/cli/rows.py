"""What `render --json` says of each frame: a bench row's fields, medians over the times a frame was drawn."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

from raygrove.app.document.state import State
from raygrove.app.frames.headless import Frame
from raygrove.app.frames.views import view_settings
from raygrove.app.settings import option_tables
from raygrove.app.settings.file import to_table
from raygrove.bench.context import context
from raygrove.bench.rows import row_of_frame
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target

COLUMNS = (
    "update",
    "animate_ms",
    "build_ms",
    "refit_ms",
    "trace_ms",
    "shade_ms",
    "frame_ms",
    "mrays_per_s",
    "sah_cost",
    "depth",
    "launches",
)
"""What a table for people shows of a row."""

MEDIANS = ("build_ms", "refit_ms", "trace_ms", "mrays_per_s")


def context_row(target: Target, state: State) -> dict[str, Any]:
    """The `context` of the JSON: bench's, and the settings that differ from the built-in ones."""
    return {**context(target, state.settings.render.seed), "settings": to_table(state.settings)}


def frame_row(frame: Frame, scene: Scene, state: State, target: Target) -> dict[str, Any]:
    """A frame as a bench row, with the raw times of each repetition in `samples` and the phases outside the view beside
    them. `hidden` says how many of the scene's triangles the structure knows nothing of."""
    rows = [row_of_frame(scene.name, target, view_settings(state), drawn).as_json() for drawn in frame.statistics]
    row = rows[-1]
    row["hidden"] = frame.statistics[-1].hidden
    others = {
        name: [getattr(drawn, name) for drawn in frame.statistics] for name in ("animate_ms", "frame_ms", "host_ms")
    }
    others["shade_ms"] = [drawn.views[0].shade_ms for drawn in frame.statistics]
    for name in MEDIANS:
        row[name] = _median([one[name] for one in rows])
        row["samples"][name] = [one[name] for one in rows]
    row["samples"].update(others)
    streaming = frame.statistics[-1].key_frames
    row["key_frames"] = None if streaming is None else dataclasses.asdict(streaming)
    simulation = frame.statistics[-1].simulation
    row["simulation"] = None if simulation is None else dataclasses.asdict(simulation)
    row.update(hits=frame.hits, sum_t=frame.sum_t, traversal=resolved_traversal(state, row["layout"]))
    row.update({name: _median(values) for name, values in others.items()})
    return row


def resolved_traversal(state: State, layout: str) -> str:
    """The traversal that was chosen, or the one that `auto` means for a layout."""
    settings = view_settings(state)
    if settings.traversal != "auto":
        return settings.traversal
    return next(iter(option_tables.traversals(settings.hierarchy, layout)), "")


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
