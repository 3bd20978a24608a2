"""Cost over the key frames, as a person sees it: lines that grow, a click that jumps, figures that freeze."""

from __future__ import annotations

import dataclasses
from time import monotonic
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from raygrove.app.document.state import State
from raygrove.app.frames.frame_history import PARTS, Sample
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.playback.timeline import Span
from raygrove.app.ui.colors import phase_color, scheme
from raygrove.app.ui.panels.cost_panel import CostPanel
from raygrove.app.ui.widgets.line_chart import Line, LineChart, log_ticks, logarithms, ticks
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Moment, Scene
from tests.app.stand_ins import made_statistics

SPAN = Span(4.0, 30.0, tuple(index * 0.1 for index in range(41)))


def frame(time: float, sah: float, **changes: Any) -> FinishedFrame:
    made = made_statistics(time=time)
    view = dataclasses.replace(
        made.views[0],
        **changes,
        structure=dataclasses.replace(made.views[0].structure, sah_cost=sah, measured_time=time),
    )
    request = FrameRequest(Scene("a scene"), State(), Moment(time), ())
    return FinishedFrame(
        request, 1, (64, 48), 1, 1, dataclasses.replace(made, views=(view,)), 5.0, "host", "a processor"
    )


def sample(time: float, sah: float, **changes: Any) -> Sample:
    return Sample(frame(time, sah, **changes), time, 0.5)


@pytest.fixture
def panel(qtbot: Any) -> CostPanel:
    made = CostPanel()
    qtbot.addWidget(made)
    made.resize(700, 260)
    made.show()
    made.begin(SPAN)
    for index in range(41):
        made.take(sample(index * 0.1, 50.0 + index))
    qtbot.waitUntil(lambda: bool(made.chart.lines))
    return made


def shown(panel: CostPanel, quantity: str) -> Line:
    """The newest structure's line of a quantity, once that is chosen."""
    panel.quantity.setCurrentIndex(panel.quantity.findData(quantity))
    panel.show_latest()
    return panel.chart.lines[-1]


def test_it_says_whether_it_is_looked_at(panel: CostPanel, qtbot: Any) -> None:
    said: list[bool] = []
    panel.watched.connect(said.append)
    panel.hide()
    panel.show()
    assert said == [False, True]


def mode() -> str:
    return State().settings.update.mode


def test_lines_show_every_key(panel: CostPanel) -> None:
    (sah,) = panel.chart.lines
    trace = shown(panel, "trace_ms")
    assert sah.values.tolist() == [50.0 + index for index in range(41)] and sah.times[-1] == pytest.approx(4.0)
    assert trace.values.tolist() == [12.0] * 41 and shown(panel, "total_ms").values.tolist() == [18.5] * 41
    name = f"Linear BVH, 4-wide, {mode()}"
    assert name in panel.legend.text() and panel.grab().toImage().width() == 700
    assert len(panel.table()[1]) == 41 and panel.text().splitlines()[1].startswith(
        f"lbvh, bvh4, {mode()}\t1\t0.0\t50.0\t2.0"
    )


def test_the_chart_shows_where_a_line_goes(panel: CostPanel) -> None:
    panel.begin(SPAN)
    for index in range(41):
        panel.take(sample(index * 0.1, 50.0, trace_ms=50.0 + index))
    shown(panel, "trace_ms")  # a phase has its colour
    chart = panel.chart
    image = chart.grab().toImage()
    for index in (5, 20, 35):  # the line climbs from the lower left to the upper right, with its margin of the range
        place = chart.place_of(index * 0.1)
        bottom, height = chart.height() - 20, chart.height() - 28
        y = bottom - (0.06 * 40 + index) / (40 * 1.12) * height
        color = image.pixelColor(round(place.x() * image.devicePixelRatio()), round(y * image.devicePixelRatio()))
        assert color.blue() > color.red() + 40, (index, color.name())


def test_skipped_keys_are_a_gap_and_a_lonely_one_a_dot(panel: CostPanel) -> None:
    panel.begin(SPAN)
    for index in (0, 1, 2, 20, 38, 39, 40):
        panel.take(sample(index * 0.1, 50.0))
    shown(panel, "trace_ms")
    chart = panel.chart
    image, middle = chart.grab().toImage(), chart.place_of(0.0).y()
    ratio = image.devicePixelRatio()

    def is_drawn(index: float) -> bool:
        at = round(chart.place_of(index * 0.1).x() * ratio)
        colors = [
            image.pixelColor(at + dx, round((middle + dy) * ratio)) for dx in (-1, 0, 1) for dy in (-2, -1, 0, 1, 2)
        ]
        return any(color.blue() > color.red() + 40 for color in colors)

    assert is_drawn(1) and is_drawn(20) and is_drawn(39)
    assert not any(is_drawn(index) for index in (6, 10, 15, 25, 30, 35))


def test_an_old_structure_stays_as_a_thin_line(panel: CostPanel) -> None:
    made = frame(1.0, 70.0)
    assert made.statistics is not None
    view = dataclasses.replace(made.statistics.views[0], hierarchy="sweep")
    panel.take(Sample(dataclasses.replace(made, statistics=dataclasses.replace(made.statistics, views=(view,))), 0.0))
    panel.show_latest()
    assert [line.is_old for line in panel.chart.lines] == [True, False] and "Sweep" in panel.legend.text()


def test_lines_are_told_apart_by_letters_and_dashes_and_colours_are_the_phases(panel: CostPanel) -> None:
    for place, name in enumerate(("hploc", "binned_sah", "ploc", "sbvh")):
        for index in range(41):
            panel.take(sample(index * 0.1, 60.0 + 10 * place, hierarchy=name))
    panel.show_latest()
    lines = panel.chart.lines
    assert [line.letter for line in lines] == list("ABCDE")
    assert len({line.style for line in lines[:4]}) == 4 and lines[4].style == lines[0].style
    assert {line.color for line in lines} == {scheme().text}, "what is no phase is in ink"
    assert all(part in panel.legend.text() for part in ("<b>A</b>", "<b>E</b>", "H-PLOC", "Binned SAH"))
    places = panel.chart.letter_places()
    assert set(places) == set("ABCDE") and max(place.x() for place in places.values()) < panel.chart.width() - 8
    heights = sorted(place.y() for place in places.values())
    assert min(np.diff(heights)) >= 11.9, "no letter lies upon another"
    assert shown(panel, "build_ms").color == phase_color("build").name()


def test_every_part_of_a_frame_can_be_shown_and_they_add_up(panel: CostPanel) -> None:
    names = [panel.quantity.itemData(place) for place in range(panel.quantity.count())]
    assert names == ["total_ms", *(f"{part}_ms" for part in PARTS), "sah_cost"]
    assert shown(panel, "display_ms").values[7] == 0.5 and shown(panel, "other_ms").values[7] == 0.25
    colors = {name: shown(panel, name).color for name in names}
    assert {colors[f"{part}_ms"] for part in PARTS} == {phase_color(part).name() for part in PARTS}
    values = [shown(panel, f"{part}_ms").values[7] for part in PARTS]
    assert sum(values) == shown(panel, "total_ms").values[7] == panel.log.rows()[7]["total_ms"]


def test_a_log_scale_is_a_choice(panel: CostPanel) -> None:
    for index in range(41):
        panel.take(sample(index * 0.1, 10.0 ** (1 + index / 20)))
    panel.show_latest()
    assert not panel.chart.is_log and np.nanmax(panel.chart.lines[0].values) == pytest.approx(1000.0)
    panel.is_log.click()
    values = panel.chart.lines[0].values
    assert panel.chart.is_log and np.diff(values) == pytest.approx([0.05] * 40), "equal ratios are equal steps"
    assert shown(panel, "trace_ms").values == pytest.approx(np.log10([12.0] * 41))
    panel.quantity.setCurrentIndex(panel.quantity.findData("refit_ms"))
    assert panel.chart.lines == (), "nothing has no logarithm"


def test_numbers_of_a_log_scale_are_round() -> None:
    assert [round(10**value, 6) for value in log_ticks(0.0, 2.0, 9)] == [1, 2, 5, 10, 20, 50, 100]
    assert [round(10**value, 6) for value in log_ticks(-1.2, 3.1, 6)] == [0.1, 1, 10, 100, 1000]
    assert len(log_ticks(-6.0, 6.0, 4)) <= 4
    assert np.isnan(logarithms(np.array([0.0, -1.0, np.nan]))).all() and logarithms(np.array([100.0]))[0] == 2.0


def test_a_screen_reader_hears_the_lines(panel: CostPanel) -> None:
    assert panel.quantity.accessibleName() == "Quantity" and panel.chart.accessibleName() == "SAH cost"
    said = panel.chart.accessibleDescription()
    assert said == f"A Linear BVH, 4-wide, {mode()}: 50 to 90 at 41 of 41 instants"
    shown(panel, "trace_ms")
    assert panel.chart.accessibleName() == "Trace, ms"


def test_a_long_animation_keeps_its_spikes() -> None:
    times, values = np.linspace(0.0, 4.0, 4096), np.ones(4096)
    values[1234] = 99.0
    chart = LineChart("ms")
    chart.resize(300, 150)
    chart.show_lines([Line(times, values, "#ff0000")], 4.0)
    points = chart._points(chart.lines[0], chart._area())
    assert len(points) <= 2 * 300 and min(point.y() for point in points) < 35.0 < max(point.y() for point in points)


@pytest.mark.parametrize(
    ("low", "high", "count", "expected"),
    [
        (0.0, 1.0, 5, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (47.6, 92.4, 4, [60.0, 80.0]),
        (0.0, 0.013, 3, [0.0, 0.005, 0.01]),
        (2.0, 2.0, 3, [2.0]),
    ],
)
def test_numbers_along_an_axis_are_round(low: float, high: float, count: int, expected: list[float]) -> None:
    assert ticks(low, high, count) == expected


def test_a_click_jumps_to_the_nearest_key(panel: CostPanel) -> None:
    heard: list[float] = []
    panel.jumped.connect(heard.append)
    QTest.mouseClick(panel.chart, Qt.MouseButton.LeftButton, pos=panel.chart.place_of(1.52).toPoint())
    QTest.mouseClick(panel.chart, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert heard == pytest.approx([1.5])


def test_a_mark_that_moves_draws_no_line_anew(panel: CostPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[object] = []
    panel.grab()
    monkeypatch.setattr(LineChart, "_draw", lambda chart, picture: drawn.append(chart))
    for time in (0.5, 1.0, 3.0):
        panel.chart.show_mark(time)
        panel.grab()
    assert drawn == []


def test_frozen_lines_stay(panel: CostPanel, qtbot: Any) -> None:
    panel.bar.pause.click()
    panel.take(sample(0.0, 999.0))
    qtbot.wait(600)
    assert panel.log.rows()[0]["sah_cost"] == 50.0


def test_another_scene_begins_anew(panel: CostPanel) -> None:
    panel.begin(Span())
    assert panel.chart.lines == () and "does not move" in panel.legend.text()


def test_drawing_comes_at_most_twice_a_second(panel: CostPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []
    monkeypatch.setattr(panel.chart, "show_lines", lambda *_, **__: shown.append(1))
    start = monotonic()
    for index in range(60):
        panel.take(sample(index * 0.05, 50.0))
        qtbot.wait(10)
    assert len(shown) <= 2 + 2 * (monotonic() - start)
    qtbot.waitUntil(lambda: bool(shown))


def test_in_the_window_a_jump_moves_the_head_and_pauses(scene_window: MainWindow, qtbot: Any) -> None:
    document, cost = scene_window.document, scene_window.inspectors.cost
    assert cost.log.times[-1] == 2.0
    scene_window.commands.actions["animation.play"].trigger()
    cost.jumped.emit(0.5)
    assert document.state.timeline.time == 0.5 and not document.state.timeline.is_playing


def test_in_the_window_a_late_frame_of_another_scene_or_clip_tells_nothing(scene_window: MainWindow) -> None:
    document, costs, arrived = scene_window.document, scene_window.inspectors.cost.log, scene_window.loop.frame_arrived
    other = dataclasses.replace(
        document.state, timeline=dataclasses.replace(document.state.timeline, clip=document.state.timeline.clip + 1)
    )
    scene = document.scene
    assert scene is not None
    arrived.emit(frame(1.0, 98.0))
    arrived.emit(dataclasses.replace(frame(1.0, 99.0), request=FrameRequest(scene, other, Moment(1.0), ())))
    assert not {98.0, 99.0} & {row["sah_cost"] for row in costs.rows()}
    arrived.emit(dataclasses.replace(frame(1.0, 70.0), request=FrameRequest(scene, document.state, Moment(1.0), ())))
    assert 70.0 in {row["sah_cost"] for row in costs.rows()}


def test_a_click_on_a_key_leaves_what_it_cost_while_it_played(panel: CostPanel) -> None:
    panel.log.begin(SPAN)
    played = frame(1.0, 50.0)
    assert played.statistics is not None
    large = dataclasses.replace(
        played.statistics, views=(dataclasses.replace(played.statistics.views[0], trace_ms=300.0),)
    )
    moving = dataclasses.replace(played.request, is_moving=True)
    panel.take(Sample(dataclasses.replace(played, request=moving), 0.0))
    panel.take(Sample(dataclasses.replace(played, statistics=large), 0.1))
    assert [row["trace_ms"] for row in panel.log.rows()] == [12.0]
