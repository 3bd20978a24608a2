"""What panels may do while sixty frames per second come: how often each is painted and laid out. Counts, not times:
they hold on any machine."""

from __future__ import annotations

import collections
import dataclasses
import time
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.frames.node_boxes import BoxReport
from raygrove.app.ui.widgets.steady import Steady
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.stats import STEP_BUCKETS, StepCounts
from tests.app.stand_ins import made_statistics, take_places

SECONDS, FRAMES_A_SECOND = 1.5, 60
MOST_A_SECOND = {
    "rows": 5, "strip": 5, "heads_up": 5,
    "histogram": 5, "figures": 5, "levels": 5, "sentence": 5, "chart": 8, "scrubber": 22,
    "time": 5, "frame": 5,
    "objects": 1, "camera": 1, "clip": 1, "pick": 1, "dock": 1,
}  # fmt: skip
"""Paintings a second that a panel's part may have; the rest is as it was."""


class Counts(QObject):
    """Counts the paintings of widgets, by the names that a test gives them, and the times that a window is laid out."""

    def __init__(self, parts: dict[str, list[QWidget]]) -> None:
        super().__init__()
        self.names = {widget: name for name, widgets in parts.items() for widget in widgets}
        self.paints: collections.Counter[str] = collections.Counter()
        for widget in self.names:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Paint, QEvent.Type.LayoutRequest) and isinstance(watched, QWidget):
            self.paints[self.names[watched] + (" layout" if event.type() == QEvent.Type.LayoutRequest else "")] += 1
        return False


def parts_of(window: MainWindow) -> dict[str, list[QWidget]]:
    looks = window.inspectors
    return {
        "window": [window],
        "dock": list(window.docks),
        "rows": [window.stats_panel.table_view.viewport()],
        "strip": [window.stats_panel.bars],
        "heads_up": [window.place.heads_up],
        "histogram": [looks.heat.histogram],
        "figures": [looks.heat.figures],
        "levels": [looks.boxes.levels],
        "sentence": [looks.boxes.sentence],
        "chart": [looks.cost.chart],
        "scrubber": [window.timeline_bar.scrubber],
        "time": [window.timeline_bar.time_box],
        "frame": [window.timeline_bar.frame_box],
        "objects": [looks.objects.view.viewport()],
        "camera": [window.camera_panel],
        "clip": [looks.clip],
        "pick": [looks.pick],
    }


def frames(window: MainWindow, newest: FinishedFrame) -> list[FinishedFrame]:
    """Frames whose every figure differs from the one before."""
    made = []
    for index in range(round(SECONDS * FRAMES_A_SECOND)):
        statistics = made_statistics(time=index / 60)
        counts = StepCounts("boxes", np.full(STEP_BUCKETS, index, np.int64), 0, 40 + index)
        view = dataclasses.replace(statistics.views[0], trace_ms=10.0 + index, steps=counts)
        boxes = BoxReport((1, 2, 4), (0, 0, 4), index, 100, np.full((3, 3), 99, np.uint8))
        request = dataclasses.replace(newest.request, is_moving=True)
        made.append(
            dataclasses.replace(
                newest, request=request, statistics=dataclasses.replace(statistics, views=(view,)), boxes=boxes
            )
        )
    return made


@pytest.fixture
def busy(scene_window: MainWindow, qtbot: Any) -> tuple[collections.Counter[str], float]:
    """What was painted in a window whose panels are all shown, while sixty frames per second came and the head moved;
    and for how many seconds that went on, which a busy machine makes more."""
    window = scene_window
    assert window.loop.last_frame is not None
    made = frames(window, window.loop.last_frame)
    window.loop._thread.stop(60.0)
    named = {dock.objectName(): dock for dock in window.docks}
    for name in (
        "dock.pick",
        "dock.boxes",
        "dock.ray",
        "dock.tree",
        "dock.build",
        "dock.hot_spots",
        "dock.divergence",
        "dock.ranking",
    ):  # out of the place that they share with the heat map, where only one of them is seen
        window.removeDockWidget(named[name])
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, named[name])
    window.resize(1400, 4200)  # room for all of every panel: what scrolls out of sight is not painted
    take_places()
    for dock in window.docks:
        dock.show()
    head = dataclasses.replace(window.document.state.timeline, is_playing=True)
    window.document.change("timeline", head)
    qtbot.wait(700)
    take_places()
    counts = Counts(parts_of(window))
    begin = time.perf_counter()
    for frame in made:
        shown = time.perf_counter()
        window.document.tick(1.0 / FRAMES_A_SECOND)
        window.loop.frame_arrived.emit(frame)
        QApplication.processEvents()
        while time.perf_counter() - shown < 1.0 / FRAMES_A_SECOND:
            time.sleep(0.001)
            QApplication.processEvents()
    return counts.paints, time.perf_counter() - begin


def test_panels_are_painted_no_oftener_than_they_are_read(busy: tuple[collections.Counter[str], float]) -> None:
    paints, seconds = busy
    too_often = {name: paints[name] for name, most in MOST_A_SECOND.items() if paints[name] > most * seconds + 3}
    assert too_often == {}, busy
    unpainted = [
        name
        for name in ("rows", "strip", "histogram", "figures", "levels", "sentence", "chart", "scrubber", "time")
        if not paints[name]
    ]
    assert unpainted == [], "figures that stand still would be cheap as well"


def test_figures_that_change_lay_no_window_out(busy: tuple[collections.Counter[str], float]) -> None:
    paints, _ = busy
    assert paints["window layout"] <= 2 and paints["dock layout"] <= 4, busy


def test_a_steady_label_keeps_its_height(qtbot: Any) -> None:
    label = QLabel("short")
    steady = Steady(label, 2)
    qtbot.addWidget(steady)
    steady.resize(200, steady.sizeHint().height())
    steady.show()
    height = steady.sizeHint().height()
    label.setText("a sentence that is much longer than any place could be for it, and so on, and on " * 3)
    assert steady.sizeHint().height() == height and label.geometry() == steady.rect()
