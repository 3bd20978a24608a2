"""What the stats panel shows, as plain rows: no widget here. Texts are translated in the context "Statistics"."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from raygrove.app.frames.render_thread import FinishedFrame
from raygrove.app.settings import option_tables, titles
from raygrove.app.ui.panels.simulation_rows import simulation_rows
from raygrove.app.ui.panels.stats_row import Row
from raygrove.gpu.stats import FrameStatistics, HierarchyStatistics, KeyStreaming, ViewStatistics

PHASES = ("animate", "build", "refit", "trace", "shade", "display")
"""The phases of a frame, in its order; the chart's lines."""

TITLES: dict[str, Any] = {
    "animate": QT_TRANSLATE_NOOP("Statistics", "Animate"),
    "build": QT_TRANSLATE_NOOP("Statistics", "Build"),
    "refit": QT_TRANSLATE_NOOP("Statistics", "Refit"),
    "trace": QT_TRANSLATE_NOOP("Statistics", "Trace"),
    "shade": QT_TRANSLATE_NOOP("Statistics", "Shade"),
    "display": QT_TRANSLATE_NOOP("Statistics", "Display"),
    "rebuild": QT_TRANSLATE_NOOP("Statistics", "rebuilt"),
    "nothing": QT_TRANSLATE_NOOP("Statistics", "reused"),
}


MEMORY_TIPS: dict[str, Any] = {
    "hierarchy": QT_TRANSLATE_NOOP("Statistics", "The structure, in its layout."),
    "scratch": QT_TRANSLATE_NOOP(
        "Statistics", "Temporary memory of building and tracing, for this structure and this ray type."
    ),
    "surface": QT_TRANSLATE_NOOP("Statistics", "The scene's vertices and triangles at this instant."),
    "animation": QT_TRANSLATE_NOOP("Statistics", "The scene's key frames, skins and morph targets."),
    "film": QT_TRANSLATE_NOOP("Statistics", "The samples of the picture."),
}


def translate(text: str) -> str:
    """A text in the user's language."""
    return QCoreApplication.translate("Statistics", text)


def rows_of(frame: FinishedFrame, fps: float, paint_ms: float, view_size: tuple[int, int], way: str) -> list[Row]:
    """The rows of a finished frame; where it reused its structure, also what the last build or refit cost."""
    tr = QCoreApplication.translate
    drawn = f"{frame.drawn[0]} x {frame.drawn[1]}"
    if frame.drawn != view_size:
        share = frame.drawn[0] * frame.drawn[1] / max(view_size[0] * view_size[1], 1)
        drawn = f"{drawn} ({share:.0%})"
    samples = tr("Statistics", "{there} of {wanted}").format(there=frame.samples, wanted=frame.samples_wanted)
    if frame.noise is not None:
        samples += tr("Statistics", ", noise {noise}").format(noise=f"{frame.noise:.1%}")
    rows = [
        Row(
            "fps", tr("Statistics", "Frames per second"), f"{fps:.1f}" if frame.request.is_moving else tr("Statistics",
            "still"),
            tip=tr("Statistics", "Pictures that arrived in the last second."),
        ),
        Row("frame", tr("Statistics", "Frame"), _ms(frame.frame_ms), tip=tr("Statistics", (
            "The render thread's time "
            "for the whole frame."
        ))),
        Row(
            "drawn", tr("Statistics", "Drawn size"), drawn,
            tip=tr("Statistics", (
                "The view has {whole} pixels; fewer are drawn while something moves, where that "
                "keeps it fluent."
            )).format(
                whole=f"{view_size[0]} x {view_size[1]}"
            ),
        ),
        Row("samples", tr("Statistics", "Samples"), samples),
    ]  # fmt: skip
    statistics = frame.statistics
    if statistics is not None:
        rows += _phase_rows(statistics, paint_ms, frame.last_update)
        for view in statistics.views[:1]:
            rows += _view_rows(view, statistics, frame.request.state.settings.render.optimiser)
        rows += _key_rows(statistics.key_frames) + simulation_rows(statistics.simulation) + _memory_rows(statistics)
    if frame.spheres is not None:
        rows.append(Row("spheres", tr("Statistics", "Drawn by OpenGL"), _ms(paint_ms)))
    rows += [
        Row("device", tr("Statistics", "Device"), f"{frame.device_name} ({frame.device})"),
        Row("way", tr("Statistics", "View"), way),
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


def decision(frame: FinishedFrame) -> str:
    """What became of the structure and why, in a line of its own where that may change from frame to frame."""
    views = frame.statistics.views if frame.statistics is not None else ()
    if not views or option_tables.update_policies()[frame.request.state.settings.update.mode].is_fixed:
        return ""
    text = f"{_updated(views[0].update)}: {views[0].reason}."
    return text[0].upper() + text[1:]


def as_text(rows: list[Row]) -> str:
    """The rows as lines of text, steps indented."""
    width = max((len(row.name) + (2 if row.parent else 0) for row in rows), default=0)
    return "\n".join(f"{('  ' if row.parent else '') + row.name:<{width}}  {row.value}" for row in rows) + "\n"


def _phase_rows(statistics: FrameStatistics, paint_ms: float, last_update: FrameStatistics | None) -> list[Row]:
    tr = QCoreApplication.translate
    rows: list[Row] = []
    view = statistics.views[0] if statistics.views else None
    for name, spent in phases_of(statistics, paint_ms).items():
        if name in ("build", "refit") and not spent and view and view.update != {"build": "rebuild"}.get(name, name):
            continue
        tip = view.reason if view is not None and name in ("build", "refit") else ""
        rows.append(Row(name, translate(TITLES[name]), _ms(spent), tip=tip))
        steps = view.phases_ms if view is not None else {}
        rows += _step_rows(steps, name, view.update if view is not None else "")
    age = statistics.phases_age
    when = tr("Statistics", "{age} frames ago").format(age=age) if age else tr("Statistics", "in this frame")
    rows.append(
        Row(
            "timed", tr("Statistics", "Phases timed"), when,
            tip=tr("Statistics", "Of frames that a GPU repeats as a graph, every eighth times its phases, and twenty "
            "a second at least; others "
                   "show those of the newest like it. While Cost over time is open, every frame does."),
        )
    )  # fmt: skip
    if view is not None:
        rows.append(Row("update", tr("Statistics", "Structure was"), _updated(view.update), tip=view.reason))
        rows.append(Row("reason", tr("Statistics", "Because"), view.reason, tip=view.reason))
        if view.primary not in ("", "structure"):
            rows.append(Row("primary", tr("Statistics", "First hits"), view.primary, tip=view.primary))
        if view.update == "nothing" and last_update is not None:
            rows += _last_update_rows(view, last_update)
    return rows


def _step_rows(steps: dict[str, float], phase: str, update: str, parent: str = "") -> list[Row]:
    """The steps of a phase under its row, or under another."""
    found = {key: value for key, value in steps.items() if _phase_of(key, update) == phase and key != phase}
    return [
        Row(f"{parent}.{key}" if parent else key, _step_name(key), _ms(value), parent=parent or phase)
        for key, value in found.items()
    ]


def _step_name(step: str) -> str:
    """A step by its last word; an optimiser's says so, for its boxes are fitted by steps of the same names as the
    builder's."""
    stage, _, name = step.partition(".")
    return (
        QCoreApplication.translate("Statistics", "optimise: {step}").format(step=name)
        if stage == "optimise"
        else step.rpartition(".")[2]
    )


def _last_update_rows(view: ViewStatistics, last: FrameStatistics) -> list[Row]:
    """What it cost to build or refit the structure that a frame reused, and the steps of that; nothing where it is
    another's."""
    built = last.views[0]
    if (built.hierarchy, built.layout) != (view.hierarchy, view.layout):
        return []
    tr, spent = QCoreApplication.translate, sum(one.build_ms + one.refit_ms for one in last.views)
    tip = tr("Statistics", "Why it was last built or refitted: {reason}.").format(reason=built.reason)
    phase = "refit" if built.update == "refit" else "build"
    text = f"{_updated(built.update)}, {_ms(spent)}"
    return [
        Row("last_update", tr("Statistics", "Last build"), text, tip=tip),
        *_step_rows(built.phases_ms, phase, built.update, "last_update"),
    ]


def _updated(update: str) -> str:
    """What happened to a structure, in a word."""
    return (
        QCoreApplication.translate("Statistics", "refitted")
        if update == "refit"
        else translate(TITLES.get(update, update))
    )


def _phase_of(step: str, update: str) -> str:
    """The phase a step belongs to: resolving the film counts as shading, optimising a tree as the build or the refit
    that it ends."""
    phase = step.partition(".")[0]
    return {"resolve": "shade", "optimise": "refit" if update == "refit" else "build"}.get(phase, phase)


def _view_rows(view: ViewStatistics, statistics: FrameStatistics, optimiser: str) -> list[Row]:
    structure, tr = view.structure, QCoreApplication.translate
    depth = "…" if structure.depth is None else str(structure.depth)
    cost = "…" if structure.sah_cost is None else f"{structure.sah_cost:.2f}"
    if structure.sah_cost is None and structure.depth is not None:  # measured, and it has none
        cost = tr("Statistics", "not defined")
    cost_tip = tr(
        "Statistics",
        "What a ray through the scene is expected to cost: areas of inner nodes times the traversal cost, of "
        "leaves times their references and the "
        "intersection cost, over the root's. Settings > Statistics has both constants. Measured at most ten times "
        "a second; kd-trees and octrees weigh cells, and grids have none.",
    )
    tip = tr("Statistics", "Of hidden objects: they are in no structure.")
    hidden = (
        [Row("hidden", tr("Statistics", "Hidden primitives"), f"{statistics.hidden:,}", tip=tip)]
        if statistics.hidden
        else []
    )
    return [
        Row(
            "mrays",
            "MRays/s",
            f"{view.mrays_per_s:,.1f}",
            tip=tr("Statistics", "All rays of the ray type over the time of tracing."),
        ),
        Row("rays", tr("Statistics", "Rays"), f"{view.rays:,}"),
        *_ray_rows(view),
        Row("triangles", tr("Statistics", "Primitives"), f"{statistics.triangles - statistics.hidden:,}"),
        *hidden,
        *_structure_rows(view, optimiser),
        Row("nodes", tr("Statistics", "Nodes"), f"{structure.node_count:,}", tip=tr("Statistics", "Inner nodes.")),
        Row("leaves", tr("Statistics", "Leaves"), f"{structure.leaf_count:,}"),
        *_reference_rows(structure),
        Row("depth", tr("Statistics", "Depth"), depth, tip=tr("Statistics", "Of the deepest leaf; the root has 0.")),
        Row("sah", tr("Statistics", "SAH cost"), cost, tip=cost_tip),
        *_quality_rows(structure),
        Row("inactive", tr("Statistics", "Inactive primitives"), f"{structure.inactive_count:,}"),
        Row(
            "launches",
            tr("Statistics", "Launches"),
            f"{statistics.launches:,}",
            tip=tr("Statistics", "Kernels launched in the frame."),
        ),
    ]


def _structure_rows(view: ViewStatistics, optimiser: str) -> list[Row]:
    """Builder, optimiser and layout, a row each: side by side they are longer than the panel is wide."""
    tr = QCoreApplication.translate
    said = tr("Statistics", "{title}. In settings: {name}.")

    def row(key: str, label: str, group: str, name: str, parent: str = "") -> Row:
        tip = said.format(title=titles.title(group, name), name=name)
        return Row(key, label, titles.short_title(group, name), parent, tip)

    rows = [row("structure", tr("Statistics", "Structure"), "hierarchy", view.hierarchy)]
    if optimiser != "none":
        rows.append(row("structure.optimiser", tr("Statistics", "optimiser"), "optimiser", optimiser, "structure"))
    return [*rows, row("structure.layout", tr("Statistics", "layout"), "layout", view.layout, "structure")]


def _reference_rows(structure: HierarchyStatistics) -> list[Row]:
    """Leaves that hold nothing, where there are any, and how often primitives are listed; whether the tree is one of an
    earlier frame."""
    tr, count = QCoreApplication.translate, structure.primitive_count
    rows = []
    if structure.is_stale:
        tip = tr(
            "Statistics",
            "The newest tree needed more memory than was reserved: the picture shows an earlier tree until there "
            "is enough.",
        )
        rows.append(Row("behind", tr("Statistics", "Tree"), tr("Statistics", "of an earlier frame"), tip=tip))
    if structure.empty_leaf_count:
        tip = tr("Statistics", "Leaves without a reference: kd-trees cut off empty space, grids have cells there.")
        rows.append(
            Row("empty", tr("Statistics", "empty"), f"{structure.empty_leaf_count:,}", parent="leaves", tip=tip)
        )
    if structure.reference_count and count:
        tip = tr("Statistics", "Entries in leaves: a primitive that reaches into several has several.")
        rows.append(Row("references", tr("Statistics", "References"), f"{structure.reference_count:,}", tip=tip))
        each = f"{structure.reference_count / count:.2f}"
        rows.append(Row("references.each", tr("Statistics", "per primitive"), each, parent="references"))
    filled = structure.leaf_count - structure.empty_leaf_count
    if structure.reference_count and structure.empty_leaf_count and filled:
        tip = tr("Statistics", "Of leaves that are not empty.")
        each = f"{structure.reference_count / filled:.2f}"
        rows.append(Row("references.leaf", tr("Statistics", "per leaf"), each, parent="references", tip=tip))
    return rows


def _ray_rows(view: ViewStatistics) -> list[Row]:
    """Rays of each kind and depth under the rays' row, where there are others than primary ones."""
    if len(view.rays_by_kind) < 2:
        return []
    rates = view.mrays_per_s_by_kind
    text = QCoreApplication.translate("Statistics", "{count:,} at {rate:,.1f} M/s")
    tip = QCoreApplication.translate("Statistics", "Rays of this kind, and millions of them a second.")
    return [
        Row(f"rays.{kind}", kind, text.format(count=count, rate=rates[kind]), parent="rays", tip=tip)
        for kind, count in view.rays_by_kind.items()
    ]


def _quality_rows(structure: HierarchyStatistics) -> list[Row]:
    """What is measured on request alone (statistics.quality), and the nodes of each level under the levels' row."""
    tr = QCoreApplication.translate
    rows = []
    if structure.end_point_overlap is not None:
        tip = tr(
            "Statistics",
            "End-point overlap: the area of surfaces in boxes they do not belong to, weighed by costs. Cells of "
            "kd-trees have 0.",
        )
        rows.append(Row("epo", tr("Statistics", "Overlap (EPO)"), f"{structure.end_point_overlap:.3f}", tip=tip))
    if structure.leaf_variability is not None:
        tip = tr(
            "Statistics",
            "Leaf-count variability: the standard deviation of how many leaves that are not empty a line through "
            "the scene meets.",
        )
        rows.append(Row("lcv", tr("Statistics", "Leaf variability"), f"{structure.leaf_variability:.2f}", tip=tip))
    if structure.levels:
        rows.append(
            Row(
                "levels",
                tr("Statistics", "Levels"),
                tr("Statistics", "{count}, inner + leaves").format(count=len(structure.levels)),
                tip=tr(
                    "Statistics",
                    "Inner nodes and leaves of each depth; Structure > Show or hide the boxes has them as bars.",
                ),
            )
        )
        for depth, (inner, leaves) in enumerate(structure.levels):
            rows.append(Row(f"levels.{depth}", str(depth), f"{inner:,} + {leaves:,}", parent="levels"))
    return rows


def _key_rows(keys: KeyStreaming | None) -> list[Row]:
    """How many key frames lie on the target; where not all do, how they stream."""
    tr = QCoreApplication.translate
    if keys is None:
        return []
    there = tr("Statistics", "{slots} of {keys}").format(slots=f"{keys.slots:,}", keys=f"{keys.keys:,}")
    rows = [
        Row(
            "keys",
            tr("Statistics", "Key frames loaded"),
            there,
            tip=tr("Statistics", "Key frames that fit into the device's memory at once."),
        )
    ]
    if keys.slots == keys.keys:
        return rows
    return rows + [
        Row("keys.streamed", tr("Statistics", "streamed"), _mib(keys.bytes_streamed), parent="keys"),
        Row(
            "keys.stalls", tr("Statistics", "frames that waited"), f"{keys.stalls:,}", parent="keys",
            tip=tr("Statistics", "Frames that had to wait for a key frame to be copied: one after a jump of the "
                   "playing head, none in steady play."),
        ),
    ]  # fmt: skip


def _memory_rows(statistics: FrameStatistics) -> list[Row]:
    """What this scene, its structure and its pictures take on the target, by what it is for; and what the target keeps
    for the next arrays."""
    tr = QCoreApplication.translate
    total = sum(statistics.bytes.values())
    largest_first = sorted(statistics.bytes.items(), key=lambda item: -item[1])
    rows = [
        Row(f"memory.{tag}", tag, _mib(count), parent="memory", tip=translate(MEMORY_TIPS.get(tag, "")))
        for tag, count in largest_first
    ]
    tip = tr(
        "Statistics",
        "Memory of the device that this scene, its structure and its pictures use. That of earlier scenes and "
        "structures has been freed.",
    )
    rows.insert(0, Row("memory", tr("Statistics", "Memory"), _mib(total), tip=tip))
    if statistics.idle_bytes:
        tip = tr(
            "Statistics",
            "Not counted above: memory that is reserved but empty, for the next arrays.",
        )
        rows.append(Row("idle", tr("Statistics", "Kept for reuse"), _mib(statistics.idle_bytes), tip=tip))
    return rows


def _ms(value: float) -> str:
    return f"{value:.3f} ms" if value < 10.0 else f"{value:.1f} ms"


def _mib(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB"
