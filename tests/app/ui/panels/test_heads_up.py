"""The line of figures over the picture."""

from __future__ import annotations

import dataclasses
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor

from raygrove.app.frames.frame_history import figures_of
from raygrove.app.ui.panels.heads_up import HeadsUp, line_of
from raygrove.app.ui.window.main_window import MainWindow

from .test_stats_panel import REQUEST, frame, sample


def line(*, is_pinned: bool = False, **changes: Any) -> str:
    made = dataclasses.replace(sample(), fps=61.04, **changes)
    return line_of(figures_of([made]), is_pinned=is_pinned).replace("\u202f", " ")


def test_the_line_says_rate_time_and_structure() -> None:
    assert line() == "61.0 frames/s   20.30 ms   Linear BVH / BVH4"
    assert line(is_pinned=True) == "Frame 7   20.30 ms   Linear BVH / BVH4"
    still = dataclasses.replace(REQUEST, is_moving=False)
    assert line(frame=frame(request=still)) == "still   20.30 ms   Linear BVH / BVH4"
    assert line(frame=frame(statistics=None)) == "61.0 frames/s   20.30 ms"


def test_it_is_switched_by_a_setting_and_a_command(scene_window: MainWindow, qtbot: Any) -> None:
    window, shown = scene_window, scene_window.place.heads_up
    window.session.figures.take(sample(5000))
    qtbot.waitUntil(shown.isVisible)
    action = window.commands.actions["view.heads_up"]
    assert action.isChecked()
    action.trigger()
    assert shown.isHidden() and not action.isChecked() and not window.document.state.settings.display.heads_up
    action.trigger()
    assert shown.isVisible()


def test_saved_pictures_have_no_line(scene_window: MainWindow, qtbot: Any) -> None:
    window = scene_window
    window.session.figures.take(sample(5000))
    qtbot.waitUntil(window.place.heads_up.isVisible)
    window.place.heads_up.grab()
    picture = window.view.picture()
    assert picture is not None
    place = window.place.heads_up.geometry().center()
    seen, saved = window.view.grab().toImage().pixelColor(place), picture.pixelColor(place)
    assert QColor(seen).lightness() != saved.lightness()


def test_what_runs_does_not_cover_the_line(scene_window: MainWindow, qtbot: Any) -> None:
    shown, strip = scene_window.place.heads_up, scene_window.running.strip
    scene_window.session.figures.take(sample(5000))
    scene_window.session.figures.tell()
    top = shown.y()
    strip.show_progress("Compiling", 0.5)
    qtbot.waitUntil(strip.isVisible)
    assert not strip.geometry().intersects(shown.geometry().translated(scene_window.place.view.pos()))
    strip.hide()
    assert shown.y() == top


def test_a_narrow_picture_has_a_smaller_line(scene_window: MainWindow) -> None:
    shown: HeadsUp = scene_window.place.heads_up
    scene_window.session.figures.take(sample(5000))
    scene_window.session.figures.tell()
    heights = []
    for width in (1280, 320, 220):
        shown.place(QSize(width, 400))
        heights.append(shown.height())
        assert shown.x() + shown.width() <= width or width == 220
    assert heights[0] > heights[1] >= heights[2]
