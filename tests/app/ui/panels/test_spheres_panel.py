"""Spheres coloured and selected by attributes as a person does: choose, drag, undo; and the curves of picked ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from raygrove.app.camera.gestures import Gestures
from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.app.frames.questions import Picked
from raygrove.app.ui.panels.pick_panel import PickPanel
from raygrove.app.ui.panels.spheres_panel import SpheresPanel
from raygrove.app.ui.widgets.range_histogram import RangeHistogram, bars
from raygrove.gpu.attributes import FAR, values_at
from raygrove.gpu.engine import Hit
from raygrove.gpu.scene import Attribute, Material, Node, Object, Scene, SphereKeys, Spheres
from raygrove.gpu.stats import AttributeCounts

COUNTS = AttributeCounts("charge", np.arange(128), -1.0, 3.0, 4, 7)


def scene() -> Scene:
    """Three spheres over two seconds, one number of which changes."""
    centres = np.zeros((2, 3, 3), np.float32)
    charge = Attribute("charge", np.array([[0.0, 1.0, np.nan], [2.0, 3.0, 4.0]], np.float32), "e")
    force = Attribute("force", np.tile(np.array([3.0, 4.0, 0.0], np.float32), (3, 1)))
    keys = SphereKeys(np.array([0.0, 2.0], np.float32), centres)
    ions = Spheres("ions", centres[0], np.ones(3, np.float32), attributes=(charge, force), key_frames=keys)
    return Scene("ions", (Node("cell"),), objects=(Object(0, spheres=0),), spheres=(ions,), materials=(Material(),))


@pytest.fixture
def document() -> Document:
    made = Document()
    made.set_scene(SceneReference("files", ("ions.xyz",)), scene())
    return made


@pytest.fixture
def panel(document: Document, qtbot: Any) -> SpheresPanel:
    made = SpheresPanel(document)
    qtbot.addWidget(made)
    made.resize(300, 500)
    made.show()
    return made


def choose(panel: SpheresPanel, name: str, value: str) -> None:
    box = panel.names[name]
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def test_attributes_are_chosen_and_counted(panel: SpheresPanel, document: Document, qtbot: Any) -> None:
    assert [panel.names["color_by"].itemData(i) for i in range(4)] == ["", "charge", "force", "force.x"]
    assert "Choose an attribute" in panel.figures.text()
    with qtbot.waitSignal(panel.counts_wanted):
        choose(panel, "color_by", "charge")
    assert document.state.settings.spheres.color_by == "charge"
    assert not panel.editors["minimum"].isEnabled(), "the whole range"
    assert (panel.editors["minimum"].value(), panel.editors["maximum"].value()) == (0.0, 4.0), "which is shown"
    panel.contours["halos"].edited.emit(True)
    assert document.state.settings.contours.halos and panel.contours["halos"].value()
    panel.editors["automatic"].edited.emit(False)
    assert panel.editors["minimum"].isEnabled()
    assert (panel.editors["minimum"].value(), panel.editors["maximum"].value()) == (0.0, 1.0), "what was chosen"
    panel.take_counts(COUNTS)
    assert panel.range.counts is COUNTS
    assert panel.figures.text() == "8,132 spheres by charge. 4 have no value. 7 are not selected."
    panel.take_counts(AttributeCounts("force", COUNTS.histogram, 0.0, 5.0, 0, 0))
    assert panel.range.counts is None, "of another attribute, drawn before"
    document.change("hidden", (0,))
    none = AttributeCounts("charge", np.zeros(128, np.int64), 0.0, 4.0, 0, 0)
    panel.take_counts(none)
    assert panel.figures.text() == "Only hidden objects have charge."
    document.change("hidden", ())
    panel.take_counts(none)
    assert panel.figures.text() == "0 spheres by charge."
    document.change("settings.spheres.color_by", "of another scene")
    panel.take_counts(None)
    assert panel.figures.text() == "No spheres of this scene have of another scene."
    document.set_scene(SceneReference("demo", ("two",)), Scene("two"))
    assert panel.figures.text() == "The scene has no spheres." and not panel.names["color_by"].isEnabled()


def test_a_range_is_dragged_and_taken_back(panel: SpheresPanel, document: Document) -> None:
    choose(panel, "color_by", "charge")
    panel.take_counts(COUNTS)
    bar = panel.range
    start, middle = bar.place_of(-1.0).toPoint(), bar.place_of(1.0).toPoint()
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(bar, middle)
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=middle)
    options = document.state.settings.spheres
    assert options.select_by == "charge" and options.select_from == pytest.approx(1.0, abs=0.05)
    assert options.select_to == FAR and bar.ends() == (options.select_from, 3.0)
    document.undo()
    assert document.state.settings.spheres.select_by == "" and bar.ends() == (-1.0, 3.0), "one step"
    document.redo()
    choose(panel, "select_by", "force")
    options = document.state.settings.spheres
    assert (options.select_by, options.select_from) == ("force", -FAR), "a range is of an attribute"
    document.undo()
    assert document.state.settings.spheres.select_from > 0.5, "one step"
    document.change("settings.spheres.select_by", "")
    assert document.state.settings.spheres.select_from == -FAR and bar.ends() == (-1.0, 3.0), "wherever it is emptied"
    document.undo()
    assert document.state.settings.spheres.select_from > 0.5, "one step"
    panel.take_counts(COUNTS)
    QTest.mouseDClick(bar, Qt.MouseButton.LeftButton, pos=middle)
    assert document.state.settings.spheres.select_from == -FAR


def test_handles_stay_in_order(qtbot: Any) -> None:
    bar = RangeHistogram()
    qtbot.addWidget(bar)
    bar.resize(300, 120)
    bar.show_counts(COUNTS)
    bar.show_range(0.0, 1.0)
    QTest.mousePress(bar, Qt.MouseButton.LeftButton, pos=bar.place_of(0.1).toPoint())
    QTest.mouseMove(bar, bar.place_of(2.5).toPoint())
    QTest.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=QPoint(290, 20))
    assert bar.ends() == (1.0, 1.0)
    assert len(bars(COUNTS.histogram)) == 64 and bars(COUNTS.histogram).max() == 1.0
    assert not bars(np.zeros(128, np.int64)).any()


def test_picked_spheres_tell_attributes_and_curves(qtbot: Any) -> None:
    panel, ions = PickPanel(Gestures()), scene()
    qtbot.addWidget(panel)
    panel.show()
    for sphere in (0, 2):
        found = values_at(ions.spheres[0], sphere, 0.5)
        hit = Hit(sphere, 1.0, 0.0, 0.0, (0.0, 0.0, 0.0), 0, 0, -1, 0, 0, sphere, -1, 1.0, found)
        panel.show_picked(Picked(hit), ions, "charge")
    rows = dict(panel.rows)
    assert rows["charge"] == "no value e" and rows["force"] == "3, 4, 0 (length 5)"
    curves = panel.curves
    assert curves.isVisible() and curves.names.currentText() == "charge" and curves.names.findText("force") < 0
    old, new = curves.lines()
    assert old.is_old and not new.is_old and old.times.tolist() == [0.0, 2.0] and old.values.tolist() == [0.0, 2.0]
    assert np.isnan(new.values[0]) and new.values[1] == 4.0
    with qtbot.waitSignal(panel.jumped) as jumped:
        QTest.mouseClick(curves.chart, Qt.MouseButton.LeftButton, pos=curves.chart.place_of(1.0).toPoint())
    assert jumped.args[0] == pytest.approx(1.0, abs=0.1)
    panel.clear()
    assert not curves.isVisible() and not curves.picked
