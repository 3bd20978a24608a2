"""What the statistics show, as plain rows under five headings: no widget here. Every row has its place whether or not
it has a figure. Texts are translated in the context "Statistics"."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from raygrove.app.frames.frame_history import PARTS, FrameFigures, Sample, Spread
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.settings import option_tables
from raygrove.app.ui.panels.memory_rows import memory_rows
from raygrove.app.ui.panels.simulation_rows import simulation_rows
from raygrove.app.ui.panels.stats_row import DASH, Row, four_digits, milliseconds, plain, span_of, whole_span_of
from raygrove.app.ui.panels.structure_rows import structure_rows
from raygrove.gpu.brief import filled, percent
from raygrove.gpu.stats import FrameStatistics, ViewStatistics

TITLES: dict[str, Any] = {
    "animate": QT_TRANSLATE_NOOP("Statistics", "Animate"),
    "build": QT_TRANSLATE_NOOP("Statistics", "Build"),
    "refit": QT_TRANSLATE_NOOP("Statistics", "Refit"),
    "optimise": QT_TRANSLATE_NOOP("Statistics", "Optimise"),
    "trace": QT_TRANSLATE_NOOP("Statistics", "Trace"),
    "shade": QT_TRANSLATE_NOOP("Statistics", "Shade"),
    "display": QT_TRANSLATE_NOOP("Statistics", "Display"),
    "other": QT_TRANSLATE_NOOP("Statistics", "Other"),
    "rebuild": QT_TRANSLATE_NOOP("Statistics", "rebuilt"),
    "nothing": QT_TRANSLATE_NOOP("Statistics", "reused"),
}
PART_TIPS: dict[str, Any] = {
    "animate": QT_TRANSLATE_NOOP("Statistics", "Key frames, skins and morph targets -> the scene at this instant."),
    "build": QT_TRANSLATE_NOOP("Statistics", "From the primitives' boxes to finished nodes, without optimising."),
    "refit": QT_TRANSLATE_NOOP("Statistics", "The tree of before, its boxes fitted to what has moved."),
    "optimise": QT_TRANSLATE_NOOP("Statistics", "The optimiser's passes over the tree."),
    "trace": QT_TRANSLATE_NOOP("Statistics", "Rays through the structure."),
    "shade": QT_TRANSLATE_NOOP("Statistics", "From hits to the colours of pixels."),
    "display": QT_TRANSLATE_NOOP("Statistics", "The picture onto the screen."),
    "other": QT_TRANSLATE_NOOP(
        "Statistics",
        "What the phases above leave of the frame: work between them, and waiting for a busy processor.",
    ),
}


def translate(text: str) -> str:
    """A text in the user's language."""
    return QCoreApplication.translate("Statistics", text)


def rows_of(figures: FrameFigures, compared: str = "", details: str = "") -> list[Row]:
    """The rows of some frames: Frame, Build, Trace, Structure, Memory. `compared` says how the SAH cost stands to that
    of the reference, and `details` both of them, where that was asked for."""
    frame, statistics = figures.sample.frame, figures.sample.statistics
    rows = _frame_rows(figures)
    if statistics is None:
        return rows
    view = figures.sample.view
    if view is not None:
        settings = frame.request.state.settings
        rows += _build_rows(figures, view, statistics) + _trace_rows(figures, view)
        rows += structure_rows(view, statistics, settings, figures.found, compared, details)
    return rows + memory_rows(statistics) + simulation_rows(statistics.simulation)


def decision(frame: FinishedFrame) -> str:
    """What became of the structure and why, in a line of its own where that may change from frame to frame."""
    views = frame.statistics.views if frame.statistics is not None else ()
    if not views or option_tables.update_policies()[frame.request.state.settings.update.mode].is_fixed:
        return ""
    text = f"{_updated(views[0].update)}: {views[0].reason}."
    return text[0].upper() + text[1:]


def as_text(rows: list[Row]) -> str:
    """The rows as lines of text, steps indented."""
    depths: dict[str, int] = {}
    for row in rows:
        depths[row.key] = depths.get(row.parent, -1) + 1
    named = [("  " * depths[row.key] + row.name, row) for row in rows]
    width = max((len(name) for name, _ in named), default=0)
    lines = [f"{name:<{width}}  {plain(row.value):>14}  {plain(row.spread)}".rstrip() for name, row in named]
    return "\n".join(lines) + "\n"


def _ms_row(figures: FrameFigures, key: str, name: str, parent: str, figure: str, tip: str = "") -> Row:
    """A row of milliseconds: median and range, dashes where there is nothing."""
    if not figures.is_there(figure):
        return Row(key, name, DASH, parent, tip)
    spread = figures.found[figure]
    return Row(key, name, milliseconds(spread.median), parent, tip, span_of(spread))


# -- frame ------------------------------------------------------------------------------------------------------------
def _frame_rows(figures: FrameFigures) -> list[Row]:
    tr, sample = QCoreApplication.translate, figures.sample
    frame, whole = sample.frame, figures.found.get("frame", Spread(0.0, 0.0, 0.0))
    tip = tr("Statistics", "What one picture takes, from its first phase to the screen: the phases below add up to it.")
    rows = [Row("frame", tr("Statistics", "Frame"), milliseconds(whole.median), "", tip, span_of(whole))]
    rows.append(_rate_row(figures))
    for name in PARTS:
        row = _ms_row(figures, name, translate(TITLES[name]), "frame", name, translate(PART_TIPS[name]))
        share = figures.found[name].median / whole.median if figures.is_there(name) and whole.median > 0.0 else None
        rows.append(row._replace(share=share, part=name))
    tip = tr("Statistics", "Kernels that were compiled and data that was made for the first picture of its kind; not "
             "counted above.")  # fmt: skip
    prepared = milliseconds(frame.preparing_ms) if frame.preparing_ms >= 1.0 else DASH
    view_size = sample.view_size
    drawn = f"{frame.drawn[0]} x {frame.drawn[1]}"
    if frame.drawn != view_size:
        share_of_pixels = frame.drawn[0] * frame.drawn[1] / max(view_size[0] * view_size[1], 1)
        drawn = f"{drawn} ({percent(share_of_pixels)})"
    drawn_tip = tr("Statistics", (
        "The view has {whole} pixels; fewer are drawn while something moves, where that keeps it fluent."
    )).format(whole=f"{view_size[0]} x {view_size[1]}")  # fmt: skip
    samples = tr("Statistics", "{there} of {wanted}").format(there=frame.samples, wanted=f"{frame.samples_wanted:,}")
    if frame.noise is not None:
        samples += tr("Statistics", ", noise {noise}").format(noise=percent(frame.noise, 1))
    return [
        *rows,
        Row("prepared", tr("Statistics", "Preparation"), prepared, "frame", tip),
        Row("drawn", tr("Statistics", "Drawn size"), drawn, "frame", drawn_tip),
        Row("samples", tr("Statistics", "Samples"), samples, "frame"),
        *_way_rows(sample),
    ]


def _rate_row(figures: FrameFigures) -> Row:
    tr, sample = QCoreApplication.translate, figures.sample
    tip = tr("Statistics", "Pictures that arrived in the last second.")
    name = tr("Statistics", "Frames/s")
    if not sample.frame.request.is_moving:
        return Row("fps", name, tr("Statistics", "still"), "frame", tip)
    found = figures.found.get("fps")
    return Row("fps", name, four_digits(figures.fps), "frame", tip, span_of(found) if found is not None else "")


def _way_rows(sample: Sample) -> list[Row]:
    """How old the phases are, what draws, and how pictures come into the window."""
    tr, frame = QCoreApplication.translate, sample.frame
    age = sample.statistics.phases_age if sample.statistics is not None else 0
    when = filled(tr("Statistics", "{age} frames ago"), age=age) if age else tr("Statistics", "in this frame")
    tip = tr("Statistics", (
        "Of frames that a GPU repeats as a graph, every eighth times its phases, and twenty a second at least; others "
        "show those of the newest like it. While Cost over time is open, every frame does."
    ))  # fmt: skip
    drawn = [Row("spheres", tr("Statistics", "Drawn by OpenGL"), milliseconds(sample.paint_ms), "frame")]
    return [
        *(drawn if frame.request.state.settings.display.spheres != "rays" else []),
        Row("timed", tr("Statistics", "Timed"), when, "frame", tip),
        Row("device", tr("Statistics", "Device"), f"{frame.device_name} ({frame.device})", "frame"),
        Row("way", tr("Statistics", "View"), sample.way, "frame"),
    ]


# -- build ------------------------------------------------------------------------------------------------------------
def _build_rows(figures: FrameFigures, view: ViewStatistics, statistics: FrameStatistics) -> list[Row]:
    """What became of the structure, how often and why, and the steps of that; where it was reused, what its last build
    or refit took."""
    tr = QCoreApplication.translate
    rows = [Row("update", tr("Statistics", "Build"), _updated(view.update), tip=view.reason)]
    rows.append(Row("reason", tr("Statistics", "Because"), view.reason, "update", view.reason))
    for key, name in (("rebuild", tr("Statistics", "Each rebuild")), ("refit", tr("Statistics", "Each refit"))):
        rows.append(_update_row(figures, key, name))
    rows += _step_rows(figures, ("build", "refit", "optimise"), "update")
    last = figures.sample.frame.last_update
    rows += _last_update_rows(view, last if view.update == "nothing" else None)
    tip = tr("Statistics", "Kernels launched in the frame.")
    return [*rows, Row("launches", tr("Statistics", "Launches"), f"{statistics.launches:,}", "update", tip)]


def _update_row(figures: FrameFigures, key: str, name: str) -> Row:
    """What a rebuild or a refit takes, and in how many of the frames there was one."""
    tr, count, all_of = QCoreApplication.translate, figures.updates.get(key, 0), sum(figures.updates.values())
    row = _ms_row(figures, f"each.{key}", name, "update", f"update.{key}")
    tip = tr("Statistics", "Over the frames that did it, optimising included.")
    often = filled(tr("Statistics", "{count} of {all} frames"), count=count, all=all_of)
    return row._replace(tip=f"{tip} {often}.", spread=often if count and count < all_of else row.spread)


def _last_update_rows(view: ViewStatistics, last: FrameStatistics | None) -> list[Row]:
    """What it cost to build or refit the structure that a frame reused, and the steps of that; a dash where it is
    another's."""
    tr = QCoreApplication.translate
    name = tr("Statistics", "Last build")
    built = last.views[0] if last is not None and last.views else None
    if last is None or built is None or (built.hierarchy, built.layout) != (view.hierarchy, view.layout):
        return [Row("last_update", name, DASH, "update")]
    spent = sum(one.build_ms + one.refit_ms for one in last.views)
    tip = tr("Statistics", "Why it was last built or refitted: {reason}.").format(reason=built.reason)
    text = f"{_updated(built.update)}, {milliseconds(spent)}"
    stages = ("build", "refit", "optimise")
    steps = {key: value for key, value in built.phases_ms.items() if key.partition(".")[0] in stages and "." in key}
    return [
        Row("last_update", name, text, "update", tip),
        *(Row(f"last.{key}", _step_name(key), milliseconds(value), "last_update") for key, value in steps.items()),
    ]


# -- trace ------------------------------------------------------------------------------------------------------------
def _trace_rows(figures: FrameFigures, view: ViewStatistics) -> list[Row]:
    """Rays, those of each kind and depth, and the steps of tracing and shading."""
    tr, found = QCoreApplication.translate, figures.found
    rate, rays = found.get("rate"), found.get("rays")
    unit = tr("Statistics", "M rays/s")
    rows = [
        Row(
            "rate", tr("Statistics", "Trace"), f"{four_digits(rate.median)} {unit}" if rate is not None else DASH, "",
            tr("Statistics", "All rays of the ray type over the time of tracing, in millions per second."),
            span_of(rate) if rate is not None else "",
        ),
        Row("rays", tr("Statistics", "Rays"), f"{rays.median:,.0f}" if rays is not None else DASH, "rate", "",
            whole_span_of(rays) if rays is not None else ""),
    ]  # fmt: skip
    kinds = list(view.rays_by_kind) if len(view.rays_by_kind) > 1 else []
    text = tr("Statistics", "{count:,.0f} at {rate} M/s")
    tip = tr("Statistics", "Rays of this kind, and millions of them per second.")
    for kind in kinds:
        count, speed = found[f"rays.{kind}"].median, found[f"rate.{kind}"].median
        rows.append(Row(f"rays.{kind}", kind, text.format(count=count, rate=four_digits(speed)), "rays", tip))
    rows += _step_rows(figures, ("trace", "shade", "resolve"), "rate")
    if view.primary not in ("", "structure"):
        tip = tr("Statistics", "How tiles find what the camera's rays hit first, and who chose that arrangement.")
        rows.append(Row("primary", tr("Statistics", "First hits"), view.primary, "rate", tip))
    return rows


# -- steps ------------------------------------------------------------------------------------------------------------
def _step_rows(figures: FrameFigures, stages: tuple[str, ...], parent: str) -> list[Row]:
    """The steps of phases under a heading, in the order of the frame."""
    named = [key.removeprefix("step.") for key in figures.found if key.startswith("step.")]
    return [
        _ms_row(figures, key, _step_name(key), parent, f"step.{key}")
        for stage in stages
        for key in named
        if key.partition(".")[0] == stage and key not in ("build", "refit", "trace", "shade")
    ]


def _step_name(step: str) -> str:
    """A step by its last word; an optimiser's says so, for its boxes are fitted by steps of the same names as the
    builder's."""
    stage, _, name = step.partition(".")
    words = step.rpartition(".")[2].replace("_", " ")
    if stage == "optimise":
        return QCoreApplication.translate("Statistics", "optimise: {step}").format(step=name.replace("_", " "))
    if stage == "shade":  # beside those of tracing, under their heading
        return f"{stage}: {words}"
    return words


def _updated(update: str) -> str:
    """What happened to a structure, in a word."""
    return (
        QCoreApplication.translate("Statistics", "refitted")
        if update == "refit"
        else translate(TITLES.get(update, update))
    )
