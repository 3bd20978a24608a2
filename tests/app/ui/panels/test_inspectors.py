"""The panels that look into a picture, used as a person does: point, click, fit, freeze, copy, save."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton, QToolButton

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference, State
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.node_boxes import BoxReport
from raygrove.app.frames.questions import Picked
from raygrove.app.ui.panels.boxes_panel import BoxesPanel
from raygrove.app.ui.panels.heat_panel import HeatPanel, is_read
from raygrove.app.ui.widgets.histogram import BARS, bars
from raygrove.app.ui.widgets.panel_bar import PanelBar
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import STEP_BUCKETS, RaySteps, Reading, StepCounts, bucket_edges
from tests.app.stand_ins import made_statistics, take_places
from tests.app.ui.panels.test_pick_panel import click

LABEL = "nodes visited per ray"


def counts(**rays_of_bucket: int) -> StepCounts:
    """Counts from buckets by number: counts(b10=5)."""
    histogram = np.zeros(STEP_BUCKETS, np.int32)
    for name, rays in rays_of_bucket.items():
        histogram[int(name[1:])] = rays
    return StepCounts(LABEL, histogram, 0, 96)


def frame(found: StepCounts | None) -> FinishedFrame:
    statistics = made_statistics()
    statistics = dataclasses.replace(statistics, views=(dataclasses.replace(statistics.views[0], steps=found),))
    request = FrameRequest(Scene("a scene"), State(), Moment(), ())
    return FinishedFrame(request, 1, (64, 48), 1, 1, statistics, 5.0, "host", "a processor")


def test_the_heat_panel_shows_what_was_counted(heat: HeatPanel, qtbot: Any) -> None:
    heat.take(frame(counts(b10=900, b40=95, b80=5)))
    qtbot.waitUntil(lambda: heat.counts is not None)
    edge = int(bucket_edges()[81]) - 1
    assert heat.figures.text() == f"{LABEL}: median 10, 99 % up to 40, highest {edge}"
    assert heat.histogram.heights.sum() == 1000
    heat.point_at(RaySteps(37, 5, 74))
    assert "37 nodes, 74 boxes, 5 primitives" in heat.pointer.text() and heat.histogram.marked == 37
    heat.point_at(None)
    assert heat.histogram.marked is None
    assert heat.grab().toImage().width() > 100


def test_the_range_fits_the_first_picture_and_no_other(heat: HeatPanel, qtbot: Any) -> None:
    heat.take(frame(counts(b12=996, b50=4)))
    qtbot.waitUntil(lambda: heat.counts is not None)
    first = (heat.options.minimum, heat.options.maximum)
    assert 10 <= first[0] <= 12 and 12 < first[1] < 20 and not heat.options.automatic
    heat.take(frame(counts(b60=500, b80=500)))
    heat.show_latest()
    assert (heat.options.minimum, heat.options.maximum) == first, "one scale for whatever comes next"


def test_another_scene_has_a_range_of_its_own_until_one_is_chosen(heat: HeatPanel, moving_scene: Scene) -> None:
    document, ends = heat._document, lambda: (heat.options.minimum, heat.options.maximum)

    def open_scene(name: str, found: StepCounts) -> None:
        document.set_scene(SceneReference("demo", (name,)), moving_scene)
        heat.clear()
        heat.take(frame(counts(b5=1000)))  # of the scene before, late
        heat.show_latest()
        late = frame(found)
        heat.take(dataclasses.replace(late, request=dataclasses.replace(late.request, scene=moving_scene)))
        heat.show_latest()

    open_scene("one", counts(b12=996, b50=4))
    assert ends() == (12, 13)
    open_scene("two", counts(b60=996, b80=4))
    assert ends()[0] > 50
    document.change("settings.ray_type.steps.maximum", 90)
    open_scene("three", counts(b12=996, b50=4))
    assert ends()[1] == 90, "chosen"


def test_who_has_chosen_a_range_keeps_it(heat: HeatPanel, qtbot: Any) -> None:
    heat._document.change("settings.ray_type.steps.maximum", 40)
    heat.take(frame(counts(b12=996, b50=4)))
    qtbot.waitUntil(lambda: heat.counts is not None)
    assert (heat.options.minimum, heat.options.maximum) == (0, 40)


def test_fit_once_keeps_one_scale_and_is_one_step_of_undo(heat: HeatPanel, qtbot: Any) -> None:
    document = heat._document
    document.change("settings.ray_type.steps.automatic", True)
    assert not heat.editors["maximum"].isEnabled()
    heat.take(frame(counts(b12=996, b50=4)))
    qtbot.waitUntil(lambda: heat.counts is not None)
    button = heat.findChild(QPushButton, "fit")
    assert button is not None
    button.click()
    options = document.state.settings.ray_type_options("steps")
    assert (options.automatic, options.minimum, options.maximum) == (False, 12, 13)
    document.change("settings.render.hierarchy", "brute_force")
    assert document.state.settings.ray_type_options("steps") == options, "another structure has the same scale"
    document.undo()
    document.undo()
    assert document.state.settings.ray_type_options("steps").automatic


def test_the_panel_follows_the_ray_type_and_its_unit(heat: HeatPanel, qtbot: Any) -> None:
    document = heat._document
    document.change("settings.render.ray_type", "depth")
    assert (
        set(heat.editors) == {"show", "colors", "minimum", "maximum", "automatic"}
        and not heat.editors["maximum"].isEnabled()
    )
    heat.take(frame(StepCounts("distance along the ray", counts(b12=996, b50=4).histogram, 12, 50, 0.5)))
    qtbot.waitUntil(lambda: heat.counts is not None)
    assert heat.figures.text() == "distance along the ray: median 6, 99 % up to 6, highest 25"
    heat.point_at(Reading("distance 8, depth 7", 8.0))
    assert heat.pointer.text() == "Under the pointer: distance 8, depth 7" and heat.histogram.marked == 16
    heat.fit_range()
    options = document.state.settings.ray_type_options("depth")
    assert (options.automatic, options.minimum, options.maximum) == (False, 6.0, 6.5)
    assert heat.table() == (
        ("from", "below", "pixels"),
        [{"from": 6.0, "below": 6.5, "pixels": 996}, {"from": 25.0, "below": 25.5, "pixels": 4}],
    )
    document.change("settings.render.ray_type", "ids")
    assert set(heat.editors) == {"show"} and "point at them" in heat.figures.text()
    document.change("settings.render.ray_type", "flat")
    assert heat.ray_type == "steps"


def test_the_panel_reads_radiosity(heat: HeatPanel) -> None:
    document = heat._document
    document.change("settings.render.ray_type", "radiosity")
    assert is_read("radiosity") and heat.ray_type == "radiosity"
    assert heat.figures.text() == "These colours do not stand for numbers: point at them."
    document.change("settings.render.ray_type", "smooth")
    assert not is_read("smooth") and heat.ray_type == "steps"


def test_frozen_figures_stay(heat: HeatPanel, qtbot: Any) -> None:
    heat.take(frame(counts(b10=1)))
    qtbot.waitUntil(lambda: heat.counts is not None)
    heat.bar.pause.click()
    heat.take(frame(counts(b20=1)))
    qtbot.wait(150)
    assert heat.table()[1] == [{"steps_from": 10, "steps_below": 11, "rays": 1}]
    heat.bar.pause.click()
    heat.take(frame(counts(b20=1)))
    qtbot.waitUntil(lambda: heat.table()[1][0]["steps_from"] == 20)


def test_updates_come_at_most_ten_times_a_second(heat: HeatPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []
    monkeypatch.setattr(heat, "_show_counts", lambda: shown.append(1))
    start = time.monotonic()
    for _ in range(60):
        heat.take(frame(counts(b10=1)))
        qtbot.wait(5)
    assert len(shown) <= 2 + 10 * (time.monotonic() - start)
    qtbot.waitUntil(lambda: bool(shown))


def test_bars_hold_every_ray() -> None:
    found = counts(b5=10, b63=20, b200=30)
    heights = bars(found, 128.0)
    assert len(heights) == BARS and heights.sum() == 60 and heights[2] == 10 and heights[31] == 20 and heights[-1] == 30


def test_a_panel_is_copied_and_written(qtbot: Any, tmp_path: Path) -> None:
    bar = PanelBar("figures", lambda: (("a", "b"), [{"a": 1, "b": "two"}, {"a": 3}]), lambda: "one line\n")
    qtbot.addWidget(bar)
    button = bar.findChild(QToolButton, "copy")
    assert button is not None
    button.click()
    assert QGuiApplication.clipboard().text() == "one line\n"
    assert bar.save(str(tmp_path / "a.csv"), "csv") == "" and (tmp_path / "a.csv").read_text() == "a,b\n1,two\n3,\n"
    assert bar.save(str(tmp_path / "a.json"), "json") == "" and json.loads((tmp_path / "a.json").read_text())[0] == {
        "a": 1,
        "b": "two",
    }
    problem = bar.save(str(tmp_path / "nowhere" / "a.csv"), "csv")
    assert "a.csv cannot be written" in problem and "Choose another place" in problem


def report(levels: int) -> BoxReport:
    """A full binary tree."""
    return BoxReport(
        tuple(2**level for level in range(levels)),
        (0,) * (levels - 1) + (2 ** (levels - 1),),
        7,
        9,
        np.zeros((levels, 3), np.uint8),
    )


def test_the_boxes_panel_counts_levels_and_dragging_chooses_them(qtbot: Any) -> None:
    document = Document()
    panel = BoxesPanel(document)
    qtbot.addWidget(panel)
    panel.show()
    panel.take(dataclasses.replace(frame(None), boxes=report(8)))
    qtbot.waitUntil(lambda: panel.report is not None)
    assert panel.sentence.text() == "7 of 9 boxes are drawn: those nearest to the eye."
    assert (
        panel.table()[1][7] == {"depth": 7, "nodes": 128, "leaves": 128} and panel.text().splitlines()[2] == "0\t1\t0"
    )
    levels, width = panel.levels, panel.levels.width() / 8
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    QTest.mousePress(levels, left, none, QPoint(round(4.5 * width), 20))
    QTest.mouseMove(levels, QPoint(round(2.5 * width), 20))
    QTest.mouseRelease(levels, left, none, QPoint(round(2.5 * width), 20))
    options = document.state.settings.boxes
    assert (options.first_depth, options.last_depth) == (2, 4) == (levels.first, levels.last)
    assert panel.editors["last_depth"].value() == 4
    document.undo()
    assert document.state.settings.boxes.last_depth == 8, "a drag is one step"
    assert panel.grab().toImage().width() > 100
    panel.bar.pause.click()
    panel.take(dataclasses.replace(frame(None), boxes=None))
    panel.show_latest()
    assert panel.report is not None
    panel.clear()
    assert panel.table()[1] == [] and "Show the boxes" in panel.sentence.text()
    document.change("settings.window.workspace", "race")
    assert panel.sentence.text() == "The pictures of a race are drawn without boxes."
    document.change("settings.window.workspace", "explore")
    assert "Show the boxes" in panel.sentence.text()


# -- in the window ----------------------------------------------------------------------------------------------------


def test_the_replay_goes_from_level_to_level(qtbot: Any) -> None:
    document = Document()
    panel = BoxesPanel(document)
    qtbot.addWidget(panel)
    panel.show()
    panel.report = BoxReport((1, 2, 4), (0, 0, 4), 1, 7, np.full((3, 3), 9, np.uint8))
    panel.replay.click()
    seen = [(document.state.settings.boxes.first_depth, document.state.settings.boxes.last_depth)]
    for _ in range(3):
        panel.step()
        seen.append((document.state.settings.boxes.first_depth, document.state.settings.boxes.last_depth))
    assert seen == [(0, 0), (0, 1), (0, 2), (0, 2)] and document.state.settings.boxes.show
    assert not panel.replay.isChecked() and not panel._steps.isActive(), "behind the last level it ends"


def test_a_plain_click_picks_only_in_the_mode_and_a_drag_never(scene_window: MainWindow, qtbot: Any) -> None:
    inspectors, none = scene_window.inspectors, Qt.KeyboardModifier.NoModifier
    picked: list[Picked] = []
    inspectors.pointer.clicked.connect(lambda *place: picked.append(place))  # type: ignore[arg-type]
    click(scene_window, 0.25, 0.5, none)
    assert picked == []
    inspectors.pick.mode.setChecked(True)
    click(scene_window, 0.25, 0.5, none)
    assert len(picked) == 1
    QTest.mousePress(scene_window.view, Qt.MouseButton.LeftButton, none, QPoint(50, 50))
    QTest.mouseMove(scene_window.view, QPoint(80, 60))
    QTest.mouseRelease(scene_window.view, Qt.MouseButton.LeftButton, none, QPoint(80, 60))
    assert len(picked) == 1


def test_the_pointer_reads_steps_while_they_are_shown(scene_window: MainWindow, qtbot: Any) -> None:
    inspectors = scene_window.inspectors
    scene_window.document.change("settings.render.ray_type", "steps")
    qtbot.waitUntil(lambda: inspectors.heat.isVisible())
    inspectors._count_at(0.5, 0.5)
    qtbot.waitUntil(lambda: inspectors.heat.pointed == (50, 5, 100))
    assert "50 nodes, 100 boxes, 5 primitives" in inspectors.heat.pointer.text()
    inspectors.pointer._place = (0.25, 0.5)
    inspectors._take(frame(counts(b10=5)))
    qtbot.waitUntil(lambda: inspectors.heat.pointed == (25, 5, 50))
    inspectors.heat.point_at(None)
    scene_window.document.change("settings.render.ray_type", "flat")
    inspectors._count_at(0.5, 0.5)
    qtbot.wait(50)
    assert inspectors.heat.pointed is None


def test_boxes_are_shown_by_a_key_and_open_their_panel(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.commands.actions["structure.boxes"].trigger()
    assert scene_window.document.state.settings.boxes.show and scene_window.inspectors.boxes.isVisible()
    scene_window.commands.actions["edit.undo"].trigger()
    assert not scene_window.document.state.settings.boxes.show


def test_the_panel_of_boxes_leaves_its_place_with_them(scene_window: MainWindow) -> None:
    window, boxes = scene_window, scene_window.inspectors.boxes
    docks = {dock.objectName(): dock for dock in window.docks}
    toggle = window.commands.actions["structure.boxes"].trigger
    window.resize(1280, 720)
    docks["dock.stats"].show()
    take_places()
    for _ in range(2):
        toggle()
        take_places()
        assert boxes.isVisible() and not window.stats_panel.isVisible()
        toggle()
        take_places()
        assert docks["dock.boxes"].isHidden() and window.stats_panel.isVisible()
    toggle()
    take_places()
    window.activateWindow()
    boxes.editors["show"].findChildren(QCheckBox)[0].setFocus()
    boxes.editors["show"].findChildren(QCheckBox)[0].click()
    take_places()
    assert not window.document.state.settings.boxes.show and boxes.isVisible(), "who uses it is not shown another"


def test_an_automatic_range_reaches_the_legend(scene_window: MainWindow, qtbot: Any) -> None:
    document, inspectors = scene_window.document, scene_window.inspectors
    document.change("settings.render.ray_type", "steps")
    document.change("settings.ray_type.steps.automatic", True)
    found = counts(b10=5)
    inspectors._take(frame(StepCounts(LABEL, found.histogram, 7, 55)))
    qtbot.waitUntil(
        lambda: (
            scene_window.place.legend.scale is not None
            and (scene_window.place.legend.scale.low, scene_window.place.legend.scale.high) == (7.0, 55.0)
        )
    )
    document.change("settings.ray_type.steps.automatic", False)
    qtbot.waitUntil(lambda: scene_window.place.legend.scale.high == 96.0)


@pytest.mark.parametrize("ray_type", ["ids", "barycentrics"])
def test_what_was_counted_before_is_no_range_of_colours_without_numbers(
    scene_window: MainWindow, ray_type: str
) -> None:
    document, heat = scene_window.document, scene_window.inspectors.heat
    document.change("settings.render.ray_type", "steps")
    heat.take(frame(counts(b10=5)))
    heat.show_latest()
    assert heat.fit.isEnabled() and heat.table()[1]
    document.change("settings.render.ray_type", ray_type)
    before = document.state.settings
    heat.fit_range()
    assert document.state.settings == before and not heat.fit.isEnabled() and not heat.table()[1]


def test_another_instant_takes_the_marks_away(scene_window: MainWindow, qtbot: Any) -> None:
    inspectors = scene_window.inspectors
    inspectors.pick_at(0.2, 0.2)
    qtbot.waitUntil(lambda: inspectors.marks.isVisible())
    scene_window.commands.actions["animation.step"].trigger()
    assert not inspectors.marks.isVisible() and inspectors.pick.rows, "the figures stay to be read"


@pytest.mark.parametrize(
    ("path", "value"), [("hidden", (0,)), ("settings.render.hierarchy", "hploc"), ("settings.render.layout", "bvh4")]
)
def test_another_tree_takes_the_marks_away(scene_window: MainWindow, qtbot: Any, path: str, value: Any) -> None:
    """Hiding what was picked left its boxes and its cross in the air."""
    inspectors = scene_window.inspectors
    inspectors.pick_at(0.2, 0.2)
    qtbot.waitUntil(lambda: inspectors.marks.isVisible())
    scene_window.document.change("cameras.0.fov", 41.0)
    assert inspectors.marks.isVisible(), "the same tree seen by another camera"
    scene_window.document.change(path, value)
    assert not inspectors.marks.isVisible() and inspectors.pick.rows, "the figures stay to be read"


def test_boxes_seen_from_a_cell_ask_for_its_node(qtbot: Any) -> None:
    document = Document()
    panel = BoxesPanel(document)
    qtbot.addWidget(panel)
    assert not panel.editors["cell"].isEnabled()
    panel.editors["visible_from"].edited.emit("cell")
    panel.editors["cell"].edited.emit(7)
    options = document.state.settings.boxes
    assert (options.visible_from, options.cell) == ("cell", 7) and panel.editors["cell"].isEnabled()
    sight = BoxReport((1, 2), (0, 2), 2, 2, np.zeros((2, 3), np.uint8), "1 of 2 cells are visible from the camera.")
    panel.take(dataclasses.replace(frame(None), boxes=sight))
    panel.show_latest()
    assert panel.sentence.text() == "2 boxes of 3 are drawn. 1 of 2 cells are visible from the camera."
