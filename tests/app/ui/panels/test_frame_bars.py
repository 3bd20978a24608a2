"""The last frames as bars, and the frame that is pinned in every panel."""

from __future__ import annotations

import dataclasses
import gc
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from raygrove.app.frames.frame_history import MOST, PARTS, Sample
from raygrove.app.ui.panels.frame_bars import FrameBars, band_image
from raygrove.app.ui.panels.stats_panel import StatsPanel
from raygrove.app.ui.session.figures import Figures
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.stats import STEP_BUCKETS, StepCounts
from tests.app.stand_ins import made_statistics

from .test_stats_panel import frame, sample

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(qtbot: Any) -> StatsPanel:
    made = StatsPanel(Figures())
    qtbot.addWidget(made)
    made.resize(330, 700)
    made.show()
    for number in range(100):
        made.figures.take(traced(number, 10.0 + 0.01 * number))
    made.show_latest()
    return made


def traced(number: int, trace_ms: float) -> Sample:
    view = dataclasses.replace(made_statistics().views[0], trace_ms=trace_ms)
    statistics = made_statistics(views=(view,), frame_ms=trace_ms + 5.75)
    return dataclasses.replace(sample(number, number / 60.0), frame=frame(number, statistics=statistics, frame_ms=0.0))


def value(panel: StatsPanel, key: str) -> str:
    return next(row.value for row in panel.rows if row.key == key).replace("\u202f", " ")


def test_bars_have_every_part_in_a_range_that_one_tall_frame_does_not_set(panel: StatsPanel) -> None:
    bars = panel.bars
    assert bars.milliseconds().shape == (len(PARTS), 100) and bars.limit == 20.0
    assert bars.milliseconds()[:, -1] == pytest.approx([0.75, 2.0, 0.0, 0.0, 10.99, 3.0, 0.8, 0.0])
    panel.figures.take(traced(100, 900.0))
    panel.show_latest()
    assert bars.limit == 20.0
    for number in range(101, 500):
        panel.figures.take(traced(number, 900.0))
    panel.show_latest()
    assert bars.limit == 1000.0 and bars.milliseconds().shape == (len(PARTS), MOST)


def test_a_click_pins_a_frame_until_escape(panel: StatsPanel) -> None:
    bars = panel.bars
    newest = value(panel, "trace")
    x = round(bars._left() + 40.5 * bars._step())
    QTest.mouseClick(bars, LEFT, pos=QPoint(x, 40))
    pinned = panel.figures.pinned
    assert pinned is not None and pinned.frame.frame_id == 40 and value(panel, "trace") == "10.40 ms"
    assert all(row.spread == "" for row in panel.rows), "one frame has no range"
    assert panel.table_view.headerItem().text(1) == "this frame"
    for number in range(100, 400):
        panel.figures.take(traced(number, 50.0))
    panel.show_latest()
    assert value(panel, "trace") == "10.40 ms" and bars.sample_at(x) is pinned, "bars stand while one is looked at"
    QTest.keyClick(bars, Qt.Key.Key_Escape)
    assert panel.figures.pinned is None and value(panel, "trace") == "50.00 ms" != newest
    assert panel.table_view.headerItem().text(1) == "median"


def test_keys_go_from_frame_to_frame(panel: StatsPanel) -> None:
    bars, seen = panel.bars, []
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_PageUp, Qt.Key.Key_Home, Qt.Key.Key_Left,
                Qt.Key.Key_PageDown, Qt.Key.Key_End):  # fmt: skip
        QTest.keyClick(bars, key)
        assert panel.figures.pinned is not None
        seen.append(panel.figures.pinned.frame.frame_id)
    assert seen == [99, 98, 99, 89, 0, 0, 10, 99]


def test_a_screen_reader_hears_which_frame_is_pinned(panel: StatsPanel) -> None:
    bars = panel.bars
    assert bars.accessibleName() == "Last frames" and bars.accessibleDescription() == ""
    bars._figures.step(-100)
    said = bars.accessibleDescription().replace("\u202f", " ")
    assert said.startswith("Frame 0 at 0.000 s, 16.55 ms: Animate 0.750 ms, Build 2.000 ms, Trace 10.00 ms")
    assert "Refit" not in said


def test_another_scene_lets_go(panel: StatsPanel) -> None:
    panel.figures.step(-1)
    panel.clear()
    assert panel.figures.pinned is None and panel.rows == [] and panel.bars.sample_at(10.0) is None
    QTest.mouseClick(panel.bars, LEFT, pos=QPoint(50, 40))
    assert panel.figures.pinned is None


def test_bars_are_drawn_in_their_colours(qtbot: Any) -> None:
    figures = Figures()
    bars = FrameBars(figures)
    qtbot.addWidget(bars)
    bars.resize(MOST, bars.sizeHint().height())
    for number in range(MOST):
        figures.take(traced(number, 10.0))
    bars.show_frames()
    from raygrove.app.ui.colors import phase_color

    picture = bars.grab().toImage()
    column = {picture.pixelColor(120, y).name() for y in range(picture.height())}
    assert {phase_color(name).name() for name in ("build", "trace", "shade", "display")} <= column


def test_bands_lie_on_one_another_up_to_their_edges() -> None:
    edges = np.array([[1.0, 0.0, 4.0], [3.0, 0.0, 4.0]])
    image = band_image(edges, 4.0, 8, ["#ff0000", "#0000ff"])
    colors = [
        [image.pixelColor(column, row).name() if image.pixelColor(column, row).alpha() else "" for row in range(8)]
        for column in range(3)
    ]
    assert colors == [["", "", *["#0000ff"] * 4, *["#ff0000"] * 2], [""] * 8, ["#ff0000"] * 8]
    assert band_image(np.zeros((2, 0)), 1.0, 8, ["#ff0000", "#0000ff"]).isNull()
    hatched = band_image(np.full((1, 9), 9.0), 9.0, 9, ["#ff0000"], hatched=0)
    filled = sum(hatched.pixelColor(x, y).alpha() > 0 for x in range(9) for y in range(9))
    assert filled == 27, "every third pixel along a row: oblique lines"


def test_bars_without_frames_leave_no_buffer_behind() -> None:
    """As at the start of each scene: Qt's picture of none of the pixels of a buffer would keep that for ever."""
    before = sum(type(one) is memoryview for one in gc.get_objects())
    for _ in range(5):
        band_image(np.zeros((2, 0)), 1.0, 8, ["#ff0000", "#0000ff"])
    gc.collect()
    assert sum(type(one) is memoryview for one in gc.get_objects()) - before < 5


def test_every_panel_shows_the_pinned_frame(scene_window: MainWindow) -> None:
    """The heat map's counts, the boxes, the line over the picture and the statistics are of one frame."""
    window = scene_window
    newest = window.loop.last_frame
    assert newest is not None
    window.loop._thread.stop(60.0)
    window.document.change("settings.render.ray_type", "steps")
    made, request = [], dataclasses.replace(newest.request, state=window.document.state)
    for number in range(3):
        counts = StepCounts("Nodes visited", np.full(STEP_BUCKETS, number, np.int64), 0, 40 + number)
        view = dataclasses.replace(made_statistics().views[0], steps=counts, trace_ms=13.0 + number)
        statistics = made_statistics(views=(view,))
        made.append(dataclasses.replace(newest, frame_id=1000 + number, request=request, statistics=statistics))
        window.loop.frame_arrived.emit(made[-1])
    window.inspectors.heat.show_latest()
    figures = window.session.figures
    figures.step(-2)
    pinned = figures.pinned
    assert pinned is not None and pinned.frame.frame_id == 1001
    heat = window.inspectors.heat
    assert heat.counts is not None and heat.counts.histogram[0] == 1
    window.place.heads_up.show_latest()
    assert window.place.heads_up.text.startswith("Frame 1,001")
    window.pipeline.bar.show_latest()
    assert window.pipeline.bar.chips["rays"].face.cost == "17.0\u202fms"
    window.commands.actions["scene.unselect"].trigger()
    assert figures.pinned is None and heat.counts is not None and heat.counts.histogram[0] == 2
