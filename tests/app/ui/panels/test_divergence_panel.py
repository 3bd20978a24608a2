"""What the panel Divergence calls the warps of a picture, and those of other rays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from PySide6.QtCore import Qt

from raygrove.app.ui.panels.divergence_panel import DivergencePanel
from raygrove.gpu.analysis.divergence import Divergence


def test_warps_of_rays_that_are_not_the_pictures_are_no_tiles(qtbot: Any) -> None:
    steps = np.array([5, 3], np.int64)
    found = Divergence(steps, steps - 1, np.ones_like(steps), 20 * steps, steps)
    panel = DivergencePanel()
    qtbot.addWidget(panel)

    def first() -> tuple[str, str]:
        rows = panel.lines.rows
        return rows.headerData(0, Qt.Orientation.Horizontal), rows.rows[0][0] if rows.rows else ""

    assert first() == ("Tile", "")
    panel.take(found)
    assert first() == ("Warp", "0") and panel.map.isHidden()
    panel.take(dataclasses.replace(found, tiles=(2, 1)))
    assert first() == ("Tile", "0, 0") and not panel.map.isHidden()
    panel.take(found)
    panel.clear()
    assert first() == ("Tile", "")


def test_the_columns_fill_the_panel(qtbot: Any) -> None:
    first = np.arange(1, 60, dtype=np.int64)
    panel = DivergencePanel()
    qtbot.addWidget(panel)
    panel.resize(470, 600)
    panel.show()
    for steps in (first, 1000 * first):
        panel.take(Divergence(steps, steps - 1, np.ones_like(steps), 20 * steps, steps))
        lines = panel.lines
        qtbot.waitUntil(lambda lines=lines: lines.horizontalHeader().length() == lines.viewport().width())
