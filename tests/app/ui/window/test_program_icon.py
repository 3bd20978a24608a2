"""The program's windows have its icon."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QColor

from raygrove.app.ui.colors import DARK
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.program_icon import SIDES, program_icon


def test_each_size_has_lines_on_a_plate(qapp: Any) -> None:
    icon = program_icon()
    assert sorted(size.width() for size in icon.availableSizes()) == sorted(SIDES)
    for side in SIDES:
        image = icon.pixmap(side, side).toImage()
        colors = {image.pixelColor(x, y).name() for x in range(side) for y in range(side)}
        assert QColor(DARK.panel).name() in colors and len(colors) > 3, side
        brightest = max(image.pixelColor(x, y).lightness() for x in range(side) for y in range(side))
        assert brightest > 180, f"the lines are seen at {side} pixels"


def test_a_window_gets_it_once_it_is_shown(window: MainWindow, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: not window.windowIcon().isNull())
    assert len(window.windowIcon().availableSizes()) == len(SIDES)
