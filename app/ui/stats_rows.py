"""What the stats panel shows, as plain rows: no widget here."""

from __future__ import annotations

import dataclasses

from app.render_thread import FinishedFrame
from gpu.stats import FrameStatistics, ViewStatistics

PHASES = ("animate", "build", "refit", "trace", "shade", "display")
"""The phases of a frame, in its order; the chart's lines."""


@dataclasses.dataclass(frozen=True)
class Row:
    """One line: a key that stays, a name, a value with its unit, and the key of the row it belongs under."""

    key: str
    name: str
    value: str
    parent: str = ""
    tip: str = ""


def rows_of(frame: FinishedFrame, fps: float, paint_ms: float, view_size: tuple[int, int], way: str) -> list[Row]:
    """The rows of a finished frame."""
    drawn = f"{frame.drawn[0]} x {frame.drawn[1]}"
    if frame.drawn != view_size:
        drawn += f" of {view_size[0]} x {view_size[1]}"
    rows = [
        Row("fps", "Frames per second", f"{fps:.1f}" if frame.request.is_moving else "still", tip="Pictures that arrived in the last second."),
        Row("frame", "Frame", _ms(frame.frame_ms), tip="The render thread's time for the whole frame."),
        Row("drawn", "Drawn size", drawn, tip="Smaller than the view while something moves, where that keeps it fluent."),
        Row("samples", "Samples", f"{frame.samples} of {frame.samples_wanted}"),
    ]
    statistics = frame.statistics
    if statistics is not None:
        rows += _phase_rows(statistics, paint_ms)
        for view in statistics.views[:1]:
            rows += _view_rows(view, statistics)
        rows += _memory_rows(statistics)
    rows += [
        Row("target", "Target", frame.target_name),
        Row("device", "Device", frame.device_name),
        Row("way", "View", way),
    ]
    return rows


def phases_of(statistics: FrameStatistics, paint_ms: float) -> dict[str, float]:
    """Milliseconds of each phase of PHASES."""
    views = statistics.views
    return {
        "animate": statistics.animate_ms,
        "build": sum(view.build_ms for view in views),
        "refit": sum(view.refit_ms for view in views),
        "trace": sum(view.trace_ms for view in views),
        "shade": sum(view.shade_ms for view in views),
        "display": paint_ms,
    }


def bottleneck(frame: FinishedFrame, fps: float, paint_ms: float, minimum_fps: float) -> str:
    """A sentence that says what takes the time, where frames come more slowly than they should; else an empty text."""
    is_slow = max(frame.frame_ms, paint_ms) > 1000.0 / minimum_fps  # else few pictures came because few were asked for
    if frame.statistics is None or not frame.request.is_moving or not is_slow or fps <= 0.0 or fps >= minimum_fps:
        return ""
    phases = phases_of(frame.statistics, paint_ms)
    name = frame.limited_by or max(phases, key=lambda phase: phases[phase])
    spent = f" ({_ms(phases[name])} of {_ms(frame.frame_ms)})" if name in phases else ""
    shown = f"{fps:.0f}" if fps >= 10.0 else f"{fps:.1f}"
    return f"{shown} frames a second: {name} takes the time{spent}."


def as_text(rows: list[Row]) -> str:
    """The rows as lines of text, steps indented."""
    width = max((len(row.name) + (2 if row.parent else 0) for row in rows), default=0)
    return "\n".join(f"{('  ' if row.parent else '') + row.name:<{width}}  {row.value}" for row in rows) + "\n"


def _phase_rows(statistics: FrameStatistics, paint_ms: float) -> list[Row]:
    rows: list[Row] = []
    view = statistics.views[0] if statistics.views else None
    for name, spent in phases_of(statistics, paint_ms).items():
        if name in ("build", "refit") and spent == 0.0 and view is not None and view.update != {"build": "rebuild"}.get(name, name):
            continue
        tip = view.reason if view is not None and name in ("build", "refit") else ""
        rows.append(Row(name, name.capitalize(), _ms(spent), tip=tip))
        steps = view.phases_ms if view is not None else {}
        rows += [Row(key, key.rpartition(".")[2], _ms(value), parent=name) for key, value in steps.items() if _phase_of(key) == name and key != name]
    if view is not None:
        rows.append(Row("update", "Structure was", {"rebuild": "rebuilt", "refit": "refitted"}.get(view.update, "kept"), tip=view.reason))
    return rows


def _phase_of(step: str) -> str:
    """The phase a step belongs to; resolving the film counts as shading."""
    return "shade" if step == "resolve" else step.partition(".")[0]


def _view_rows(view: ViewStatistics, statistics: FrameStatistics) -> list[Row]:
    structure = view.structure
    return [
        Row("mrays", "MRays/s", f"{view.mrays_per_s:,.1f}", tip="All rays of the ray type over the time of tracing."),
        Row("rays", "Rays", f"{view.rays:,}"),
        Row("triangles", "Triangles", f"{statistics.triangles:,}"),
        Row("structure", "Structure", f"{view.hierarchy}, {view.layout}"),
        Row("nodes", "Nodes", f"{structure.node_count:,}", tip="Inner nodes."),
        Row("leaves", "Leaves", f"{structure.leaf_count:,}"),
        Row("depth", "Depth", "…" if structure.depth is None else str(structure.depth), tip="Of the deepest leaf; the root has 0."),
        Row("sah", "SAH cost", "…" if structure.sah_cost is None else f"{structure.sah_cost:.2f}", tip="Computed at most ten times a second."),
        Row("inactive", "Inactive primitives", f"{structure.inactive_count:,}"),
        Row("launches", "Launches", f"{statistics.launches:,}", tip="Kernels launched in the frame."),
    ]


def _memory_rows(statistics: FrameStatistics) -> list[Row]:
    total = sum(statistics.bytes.values())
    largest_first = sorted(statistics.bytes.items(), key=lambda item: -item[1])
    rows = [Row(f"memory.{tag}", tag, _mib(count), parent="memory") for tag, count in largest_first]
    return [Row("memory", "Memory", _mib(total), tip="Reserved on the target."), *rows]


def _ms(value: float) -> str:
    return f"{value:.3f} ms" if value < 10.0 else f"{value:.1f} ms"


def _mib(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB"
