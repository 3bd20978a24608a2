"""The line above the statistics: what takes the time of a frame that takes too long. Texts are translated in the
context "Statistics"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication

from raygrove.app.frames.frame_history import OTHER, PARTS, FrameFigures
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.frames.resolution import STILL_LIMIT_MS, scaled
from raygrove.app.ui.panels.stats_rows import TITLES, translate
from raygrove.app.ui.widgets.form import title_of
from raygrove.gpu.brief import brief, percent

FIXED = ("animate", "build", "refit", "optimise")
"""The phases that take as long whatever the picture's size."""


def bottleneck(figures: FrameFigures, minimum_fps: float) -> str:
    """A sentence that says what takes the time, where frames come more slowly than they should; else an empty text. It
    names what the figures beside it carry: medians of the same frames."""
    sample, tr = figures.sample, QCoreApplication.translate
    frame, paint_ms, view_size = sample.frame, sample.paint_ms, sample.view_size
    if not frame.request.is_moving:
        return _not_whole(frame, view_size)
    if frame.statistics is None or figures.fps <= 0.0 or figures.fps >= minimum_fps:
        return ""
    parts = {name: figures.found[name].median for name in PARTS if name in figures.found}
    shown_ms = parts.pop("display", 0.0)
    drawing, whole = sum(parts.values()), figures.found["frame"].median
    if frame.preparing_ms > drawing and frame.preparing_ms > 1000.0 / minimum_fps:
        return tr(
            "Statistics",
            "This picture took {whole}, of which {part} to prepare it (kernels, the scene). The next frames need not.",
        ).format(whole=_time(frame.frame_ms), part=_time(frame.preparing_ms))
    if max(drawing, shown_ms) <= 1000.0 / minimum_fps:
        return ""  # few pictures came because few were asked for, or the one before was waited for
    if shown_ms > drawing:
        return tr("Statistics", "Showing a picture takes {paint}, longer than drawing it ({whole}).").format(
            paint=_time(paint_ms if paint_ms > drawing else shown_ms), whole=_time(drawing)
        )
    name = max(parts, key=lambda part: parts[part])
    limits = _limits(parts, 1000.0 / minimum_fps) if frame.request.state.settings.display.adapt_resolution else []
    return _sentence(figures, name, limits).format(
        whole=_time(whole),
        phase=_named(name),
        part=_time(parts[name]),
        least=percent(frame.request.state.settings.display.minimum_scale),
        setting=_setting("minimum_scale"),
        limits=tr("Statistics", " and ").join(_named(limit) for limit in limits),
        limit_part=_time(sum(parts[limit] for limit in limits)),
    )


def _limits(parts: Mapping[str, float], budget_ms: float) -> list[str]:
    """The phases, as few as do it, that take longer than a frame may whatever the picture's size; none where they
    leave room for pixels."""
    found: list[str] = []
    for name in sorted((name for name in FIXED if name in parts), key=lambda name: -parts[name]):
        found.append(name)
        if sum(parts[one] for one in found) > budget_ms:
            return found
    return []


def _sentence(figures: FrameFigures, name: str, limits: Sequence[str]) -> str:
    """What is said of a frame of which the part `name` is the longest, and `limits` take more than there is."""
    tr, sample = QCoreApplication.translate, figures.sample
    if name == OTHER:
        return tr(
            "Statistics",
            "A frame takes {whole}, of which {part} belongs to no phase: waiting for a busy processor or for the "
            "window, and work between the phases.",
        )
    if name in ("trace", "shade") and len(limits) == 1:
        return tr(
            "Statistics",
            "A frame takes {whole}: {phase} takes the time ({part}). Drawing fewer pixels would not make it fast "
            "enough: {limits} takes {limit_part}, whatever the size.",
        )
    if name in ("trace", "shade") and limits:
        return tr(
            "Statistics",
            "A frame takes {whole}: {phase} takes the time ({part}). Drawing fewer pixels would not make it fast "
            "enough: {limits} take {limit_part} together, whatever the size.",
        )
    if name in ("trace", "shade") and _is_smallest(sample.frame, sample.view_size):
        return tr(
            "Statistics",
            "A frame takes {whole}: {phase} takes the time ({part}). Pictures are not drawn smaller than {least} of "
            "each side ({setting}).",
        )
    return tr("Statistics", "A frame takes {whole}: {phase} takes the time ({part}).")


def _is_smallest(frame: FinishedFrame, view_size: tuple[int, int]) -> bool:
    """Whether a picture was drawn just as small as display.minimum_scale lets it, which may be full size. One that
    would take too long even then is smaller (resolution.least_scale)."""
    display = frame.request.state.settings.display
    smallest = scaled(*view_size, display.minimum_scale)
    is_held = smallest[0] < view_size[0] or display.minimum_scale >= 1.0
    return display.adapt_resolution and is_held and frame.drawn[0] == smallest[0]


def _not_whole(frame: FinishedFrame, view_size: tuple[int, int]) -> str:
    """Why a picture at rest is smaller than the view, and whether the whole one comes."""
    if frame.drawn[0] >= view_size[0] or frame.whole_ms <= STILL_LIMIT_MS:
        return ""
    if frame.samples < frame.samples_wanted:
        text = QCoreApplication.translate(
            "Statistics",
            "This picture has {share} of its pixels. A finer one is being drawn; with all of them it takes about "
            "{whole}.",
        )
    else:
        text = QCoreApplication.translate(
            "Statistics",
            "The whole picture would take about {whole}, too long to wait for: this one has {share} of its "
            "pixels. Turn off {setting} to draw all pixels.",
        )
    share = frame.drawn[0] * frame.drawn[1] / max(view_size[0] * view_size[1], 1)
    return text.format(whole=_time(frame.whole_ms), share=percent(share), setting=_setting("adapt_resolution"))


def _setting(name: str) -> str:
    """Where a setting of the display stands, by the titles that the dialog shows."""
    place = QCoreApplication.translate("Statistics", "Settings > {page} > {name}")
    return place.format(page=title_of("display"), name=title_of(name))


def _named(part: str) -> str:
    return translate(TITLES[part]).lower()


def _time(ms: float) -> str:
    return f"{brief(ms / 1000.0)} s" if ms >= 1000.0 else f"{ms:.1f} ms"
