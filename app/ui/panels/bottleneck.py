"""The line above the statistics: what takes the time of a frame that takes too long. Texts are translated in the
context "Statistics"."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from raygrove.app.frames.render_thread import FinishedFrame
from raygrove.app.frames.resolution import STILL_LIMIT_MS, scaled
from raygrove.app.ui.panels.stats_rows import phases_of


def bottleneck(
    frame: FinishedFrame, fps: float, paint_ms: float, minimum_fps: float, view_size: tuple[int, int]
) -> str:
    """A sentence that says what takes the time, where frames come more slowly than they should; else an empty text."""
    if not frame.request.is_moving:
        return _not_whole(frame, view_size)
    if frame.statistics is None or fps <= 0.0 or fps >= minimum_fps:
        return ""
    tr, phases = QCoreApplication.translate, phases_of(frame.statistics, 0.0)
    whole = max(frame.frame_ms, frame.statistics.frame_ms)  # a GPU draws while the thread that asked it is done
    if max(whole, paint_ms) <= 1000.0 / minimum_fps:
        return ""  # few pictures came because few were asked for, or the one before was waited for
    if paint_ms > whole:
        return tr("Statistics", "Showing a picture takes {paint}, longer than drawing it ({whole}).").format(
            paint=_time(paint_ms), whole=_time(whole)
        )
    rest = whole - frame.preparing_ms - sum(phases.values())
    name = frame.limited_by if frame.limited_by in phases else max(phases, key=lambda phase: phases[phase])
    most = max(phases[name], frame.preparing_ms, rest)
    if most == phases[name] and name in ("trace", "shade") and _is_smallest(frame, view_size):
        text = tr(
            "Statistics",
            "A frame takes {whole}: {phase} takes the time ({part}). Pictures are not drawn smaller than {least} of "
            "each side (Settings > display > minimum scale).",
        )
    elif most == phases[name]:
        text = tr("Statistics", "A frame takes {whole}: {phase} takes the time ({part}).")
    elif most == frame.preparing_ms:
        text = tr(
            "Statistics",
            "This picture took {whole}, of which {part} to prepare it (kernels, the scene). The next frames need not.",
        )
    else:
        text = tr(
            "Statistics",
            "A frame takes {whole}, of which {part} belongs to no phase: waiting for a busy processor or for the "
            "window, and work between the phases.",
        )
    least = f"{frame.request.state.settings.display.minimum_scale:.0%}"
    return text.format(whole=_time(whole), phase=name, part=_time(most), least=least)


def _is_smallest(frame: FinishedFrame, view_size: tuple[int, int]) -> bool:
    """Whether a picture was drawn just as small as display.minimum_scale lets it, where that is below full size. One
    that would take too long even then is smaller (resolution.least_scale)."""
    display = frame.request.state.settings.display
    smallest = scaled(*view_size, display.minimum_scale)
    return display.adapt_resolution and frame.drawn[0] == smallest[0] < view_size[0]


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
            "pixels. Turn off Settings > display > adapt resolution to draw all pixels.",
        )
    share = frame.drawn[0] * frame.drawn[1] / max(view_size[0] * view_size[1], 1)
    return text.format(whole=_time(frame.whole_ms), share=f"{share:.0%}")


def _time(ms: float) -> str:
    return f"{ms / 1000.0:.3g} s" if ms >= 1000.0 else f"{ms:.1f} ms"
