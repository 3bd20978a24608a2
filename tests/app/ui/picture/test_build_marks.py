"""A step of a build over the picture: many lines never make the window wait."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QPainter

from raygrove.app.ui.picture import build_marks
from raygrove.app.ui.picture.build_marks import LINES_AT_ONCE, BuildMarks
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.build_steps import BuildStep


def test_many_lines_are_drawn_by_and_by(scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And in the end all of them are there, as if they had been drawn at once."""
    marks = BuildMarks(scene_window.document, scene_window.view)
    marks.resize(200, 150)
    turn = np.linspace(0.0, 60.0, 5001)
    curve = np.stack([1 + np.cos(turn) * turn / 60, 1 + np.sin(turn) * turn / 60, 0.5 + 0 * turn], axis=1)
    step = BuildStep("a curve", lines=np.stack([curve[:-1], curve[1:]], axis=1))
    monkeypatch.setattr(build_marks, "TURN_S", math.inf)
    marks.show_step(step)
    whole = marks.grab().toImage()
    counts: list[int] = []

    class Counting(QPainter):
        def drawLines(self, *lines: Any) -> None:
            counts.append(len(lines[0]))
            super().drawLines(*lines)

    monkeypatch.setattr(build_marks, "QPainter", Counting)
    monkeypatch.setattr(build_marks, "TURN_S", 0.0)
    marks.show_step(step)
    first = marks.grab().toImage()
    assert counts == [LINES_AT_ONCE] and first != whole, "the rest waits for its turn"
    qtbot.waitUntil(lambda: not marks._timer.isActive() and marks.grab().toImage() == whole)
    assert max(counts) == LINES_AT_ONCE and sum(counts) == 2 * len(marks.lines(step.lines)) > 4000
    marks.show_step(step)
    marks.grab()
    marks.show_step(None)
    count = len(counts)
    qtbot.wait(20)
    assert len(counts) == count, "what nobody wants any more is not drawn on"
