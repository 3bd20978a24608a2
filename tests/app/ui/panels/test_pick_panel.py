"""The panel of what was picked, used as a person does: pick, choose, turn numbers, drag in the picture."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from raygrove.app.frames.cell_neighbours import Neighbours
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.frames.node_path import PathNode
from raygrove.app.ui.panels.near_controls import STEPS
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.region import Region
from tests.app.stand_ins import PaintedMaker


def click(
    window: MainWindow, across: float, down: float, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.ShiftModifier
) -> None:
    at = QPoint(round(window.view.width() * across), round(window.view.height() * down))
    QTest.mouseClick(window.view, Qt.MouseButton.LeftButton, modifier, at)


def test_shift_and_click_picks_and_marks(scene_window: MainWindow, qtbot: Any) -> None:
    inspectors, camera = scene_window.inspectors, scene_window.document.state.cameras[0]
    click(scene_window, 0.25, 0.5)
    qtbot.waitUntil(lambda: bool(inspectors.pick.rows))
    rows = dict(inspectors.pick.rows)
    assert (
        rows["Primitive"] == "1"
        and rows["Distance"] == "4.5"
        and rows["Material"].startswith("0")
        and rows["Mesh"] == "0 (two)"
    )
    assert [node.node_id for node in inspectors.pick.path] == [0, 2] == [node.node_id for node in inspectors.marks.path]
    assert inspectors.marks.isVisible() and np.isfinite(inspectors.marks.lines()).any() and inspectors.pick.isVisible()
    assert scene_window.document.state.cameras[0] == camera, "a pick moves no camera"
    lines = inspectors.pick.text().splitlines()
    assert lines[0].split() == ["Primitive", "1"] and lines[-1] == "leaf 2, 2 primitives, 50 %"
    assert inspectors.pick.table()[1][1]["kind"] == "leaf"
    inspectors.pick.tree.setCurrentItem(inspectors.pick.tree.topLevelItem(8).child(1))
    assert [node.node_id for node in inspectors.marks.path] == [2]
    click(scene_window, 0.75, 0.5)
    qtbot.waitUntil(lambda: not inspectors.pick.rows)
    assert "Nothing was hit" in inspectors.pick.hint.text() and not inspectors.marks.isVisible()


def test_what_is_near_is_listed_marked_and_counted_live(scene_window: MainWindow, qtbot: Any) -> None:
    pick, marks = scene_window.inspectors.pick, scene_window.inspectors.marks
    click(scene_window, 0.25, 0.5)
    qtbot.waitUntil(lambda: pick.found is not None)
    above = pick.tree.topLevelItem(9)
    assert above is not None and (above.text(0), above.text(1), above.childCount()) == ("Nearest", "8 primitives", 8)
    assert "primitive 2 at 0.1" in pick.text() and pick.near.found.isHidden()
    dots = marks.dots()
    assert len(dots) == 8 and all(dots[i].x() < dots[i + 1].x() for i in range(7)) and marks.isVisible()
    pick.near.count.setValue(3)
    qtbot.waitUntil(lambda: len(marks.dots()) == 3)
    assert pick.tree.topLevelItemCount() == 10 and marks.grab().toImage().width() > 100
    hit = pick.hit
    assert hit is not None
    pick.show_near(dataclasses.replace(hit), "of another hit")
    assert pick.found is not None, "an answer about what was picked before is left aside"
    pick.show_near(hit, "The structure grid answers no queries of regions.")
    assert "no queries" in pick.near.found.text() and marks.dots() == [] and pick.tree.topLevelItemCount() == 9
    click(scene_window, 0.75, 0.5)
    qtbot.waitUntil(lambda: pick.hit is None)
    assert marks.near is None and pick.near.found.isHidden()


def test_the_neighbours_of_the_cell_are_listed_and_outlined(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them, a group, one of them, and the path again; another pick takes them away."""
    beside = [PathNode(5 + i, 1, (i, 0, 0), (i + 1, 1, 1), 0.25, True, i) for i in range(1, 5)]
    found = Neighbours((beside[0], beside[1]), (beside[2],), (beside[3],), (9, 1, 1))
    monkeypatch.setattr(PaintedMaker, "neighbours", found)
    pick, marks = scene_window.inspectors.pick, scene_window.inspectors.marks
    click(scene_window, 0.25, 0.5)
    qtbot.waitUntil(lambda: pick.found is not None)
    above = pick.tree.topLevelItem(9)
    assert above is not None and (above.text(0), above.text(1)) == ("Neighbours", "11 cells") and not marks.cells
    assert above.isExpanded()
    groups = [above.child(i) for i in range(3)]
    assert [(one.text(0), one.text(1)) for one in groups] == [
        ("Across faces", "9 cells, the 2 nearest of them here"), ("Along edges", "1 cell"), ("At corners", "1 cell"),
    ]  # fmt: skip
    pick.tree.setCurrentItem(above)
    assert {name: len(nodes) for name, nodes in marks.cells.items()} == {"face": 2, "edge": 1, "corner": 1}
    assert [node.node_id for node in marks.path] == [2] and marks.lines(marks.cells["face"]).shape == (2, 12, 4)
    assert marks.grab().toImage().width() > 100
    pick.tree.setCurrentItem(groups[0])
    assert set(marks.cells) == {"face"} and len(marks.path) == 1
    pick.tree.setCurrentItem(groups[1].child(0))
    assert marks.cells == {"edge": (beside[2],)} and not marks.path and marks.isVisible()
    assert "edge: leaf 8, 3 primitives, 25 %" in pick.text()
    assert [row["kind"] for row in pick.table()[1]] == ["inner", "leaf", "face", "face", "edge", "corner"]
    pick.near.count.setValue(3)
    qtbot.waitUntil(lambda: len(marks.dots()) == 3)
    assert pick.tree.topLevelItemCount() == 11, "the path, the neighbours, the nearest"
    pick.tree.setCurrentItem(pick.tree.topLevelItem(0))
    assert not marks.cells and len(marks.path) == 2
    pick.tree.setCurrentItem(above)
    scene_window.commands.actions["animation.step"].trigger()
    assert not marks.cells and not marks.isVisible()
    click(scene_window, 0.75, 0.5)
    qtbot.waitUntil(lambda: pick.hit is None)
    assert pick.neighbours is None and pick.tree.topLevelItemCount() == 0


def test_a_region_is_counted_live_and_outlined(scene_window: MainWindow, qtbot: Any) -> None:
    """A ball by its number, a box by the slider; both while the scene moves, and none at size 0."""
    pick, marks, document = scene_window.inspectors.pick, scene_window.inspectors.marks, scene_window.document
    click(scene_window, 0.25, 0.5)
    qtbot.waitUntil(lambda: pick.found is not None)
    assert marks.ball() is None and len(marks.box()) == 0 and pick.near.contents.isHidden()
    dots = marks.dots()
    for size in (0.3, 0.5):
        said = f"{round(10 * size)} primitives in a ball of radius {size:g}, wherever they reach into it."
        pick.near.reach.setValue(size)
        qtbot.waitUntil(lambda said=said: pick.near.contents.text() == said)
        assert pick.near.slider.value() > 0 and said in pick.text()
    middle, wide = marks.ball() or (None, 0.0)
    assert middle is not None and wide == pytest.approx(dots[4].x() - middle.x(), rel=0.3)
    where = pick.near.slider.value()
    pick.near.slider.setValue(where + 40)
    assert pick.near.reach.value() == pytest.approx(0.5 * 10**0.4, rel=0.03), "a drag of the slider"
    assert pick.near.slider.value() == where + 40
    pick.near.reach.setValue(0.2)
    pick.near.shape.setCurrentIndex(1)
    said = "2 primitives in a box of side 0.4, wherever they reach into it."
    qtbot.waitUntil(lambda: pick.near.contents.text() == said)
    hit = pick.hit
    assert hit is not None and document.state.selection.region == Region("box", hit.position, 0.2)
    assert marks.ball() is None and len(marks.box()) == 12 and marks.grab().toImage().width() > 100
    document.move_head(dataclasses.replace(document.state.timeline, time=1.0))
    qtbot.waitUntil(lambda: pick.near.contents.text() == said.replace("2 prim", "1,002 prim"))
    assert len(marks.box()) == 12 and marks.isVisible(), "it stays where it is while the scene moves"
    pick.near.slider.setValue(0)
    assert len(marks.box()) == 0 and pick.near.contents.isHidden() and not document.state.selection.region.is_there
    pick.near.reach.setValue(0.2)
    click(scene_window, 0.75, 0.5)
    qtbot.waitUntil(lambda: not document.state.selection.region.is_there)
    assert pick.near.reach.value() == 0.2, "the size stays for what is picked next"


def test_a_region_is_dragged_in_the_picture(scene_window: MainWindow, qtbot: Any) -> None:
    pick, document, view = scene_window.inspectors.pick, scene_window.document, scene_window.view
    pick.near.shape.setCurrentIndex(1)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    start = QPoint(view.width() // 4, view.height() // 2)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, both, start)
    qtbot.waitUntil(lambda: scene_window.place.navigator._pivot is not None)
    camera, end = document.state.cameras[0], QPointF(start) + QPointF(30, 40)
    left = Qt.MouseButton.LeftButton
    event = QMouseEvent(QEvent.Type.MouseMove, end, view.mapToGlobal(end), left, left, both)
    QApplication.sendEvent(view, event)
    QTest.mouseRelease(view, left, both, end.toPoint())
    region, pivot = document.state.selection.region, scene_window.place.navigator._pivot
    assert pivot is not None and region.shape == "box" and region.centre == pivot
    depth = float(np.subtract(pivot, camera.eye) @ camera.basis()[2])
    tall = 2 * depth * np.tan(np.radians(camera.fov) / 2)
    assert region.size == pytest.approx(50 / view.height() * tall), "as far as the pointer is from it"
    assert document.state.cameras[0] == camera and pick.isVisible()
    assert pick.near.reach.value() == pytest.approx(region.size, abs=1e-6)
    assert pick.near.slider.value() < STEPS, "the slider goes up to the scene's size, though nothing was picked"
    assert document.state.selection.region == region, "rounding of the field does not come back"
    qtbot.waitUntil(lambda: "in a box of side" in pick.near.contents.text())
    pick.near.slider.setValue(STEPS)
    scene = document.scene
    assert scene is not None
    assert pick.near.reach.value() == pytest.approx(np.linalg.norm(np.subtract(scene.upper, scene.lower)))


def test_spheres_by_opengl_are_not_counted(scene_window: MainWindow, qtbot: Any) -> None:
    pick, document = scene_window.inspectors.pick, scene_window.document
    document.change("selection.region", Region("ball", (0.0, 0.0, 0.0), 1.0))
    assert pick.near.reach.value() == 1.0
    qtbot.waitUntil(lambda: "in a ball" in pick.near.contents.text())
    spheres: Any = object()
    frame: FinishedFrame | None = scene_window.loop.last_frame
    assert frame is not None
    scene_window.inspectors._show_contents(dataclasses.replace(frame, spheres=spheres))
    assert "What OpenGL draws is not counted" in pick.near.contents.text()
