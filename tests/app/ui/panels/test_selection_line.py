"""The line of the selection: each panel of Inspect has the same words, and each part leads to the panel that shows
it."""

from __future__ import annotations

import dataclasses
import html
import re
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from raygrove.app.edits.objects import names_of
from raygrove.app.ui.panels.selection_line import SelectionLine
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.ui.panels.test_hot_tools import show

PANELS = ("ray", "tree", "build", "hot_spots", "divergence")


def line_of(window: MainWindow, name: str) -> SelectionLine:
    (found,) = (line for line in window.findChildren(SelectionLine) if line.parent().objectName() == name)
    return found


def words(line: SelectionLine) -> str:
    return html.unescape(re.sub("<[^>]*>", "", line.text()))


def test_every_panel_says_what_is_selected(scene_window: MainWindow, qtbot: Any) -> None:
    window, inspection = scene_window, scene_window.session.inspection
    lines = [line_of(window, name) for name in PANELS]
    qtbot.waitUntil(lambda: window.loop.last_frame is not None)
    assert {words(line) for line in lines} == {"Nothing is selected"}
    size = window.loop.last_frame.request.size
    inspection.select(pixel=(0.5, 0.999), warp=(3, 4), node=~17, primitive=12_345, object=0)
    pixel = f"pixel {size[0] // 2}, {int(0.999 * size[1])}"
    name = names_of(window.document.scene)[0]
    said = f"{pixel} › ray › tile 3, 4 › leaf ~17 › primitive 12,345 › {name}"
    assert {words(line) for line in lines} == {said}
    inspection.select(node=8841)
    assert {words(line) for line in lines} == {said.replace("leaf ~17", "node 8841")}
    inspection.clear()
    assert {words(line) for line in lines} == {name}


def test_what_is_picked_is_selected_as_far_as_its_object(scene_window: MainWindow, qtbot: Any) -> None:
    window = scene_window
    assert window.document.scene is not None
    name = names_of(window.document.scene)[0]
    window.inspectors.pick_at(0.4, 0.5)
    qtbot.waitUntil(lambda: words(line_of(window, "tree")).endswith(f"primitive 1 › {name}"))
    assert window.document.state.selection.object == 0


def test_pixels_are_those_of_the_picture_that_is_shown(scene_window: MainWindow, qtbot: Any) -> None:
    window = scene_window
    window.resize(1200, 800)
    qtbot.waitUntil(lambda: window.loop.last_frame is not None)
    window.session.inspection.select(pixel=(0.5, 0.5))
    before = words(line_of(window, "tree"))
    window.resize(900, 600)
    qtbot.waitUntil(lambda: words(line_of(window, "tree")) != before)
    width, height = window.loop.last_frame.request.size
    assert words(line_of(window, "tree")).startswith(f"pixel {width // 2}, {height // 2} ")


@pytest.mark.parametrize("name", ["<b>beam & post</b>", ""])
def test_names_of_objects_are_text(scene_window: MainWindow, name: str) -> None:
    window = scene_window
    scene = window.document.scene
    assert scene is not None
    meshes = tuple(dataclasses.replace(mesh, name=name) for mesh in scene.meshes)
    nodes = tuple(dataclasses.replace(node, name="") for node in scene.nodes)
    window.document._scene = dataclasses.replace(scene, meshes=meshes, nodes=nodes)
    window.session.inspection.select(object=0)
    assert words(line_of(window, "tree")) == (name or "Object 1")


def test_objects_of_one_mesh_are_told_apart(scene_window: MainWindow) -> None:
    window = scene_window
    scene = window.document.scene
    assert scene is not None
    nodes = tuple(dataclasses.replace(node, name=f"ball {number}") for number, node in enumerate(scene.nodes))
    window.document._scene = dataclasses.replace(scene, nodes=nodes, objects=scene.objects[:1])
    window.session.inspection.select(object=0)
    assert words(line_of(window, "tree")) == nodes[scene.objects[0].node].name


def test_a_part_leads_to_its_panel_by_mouse_and_keyboard(scene_window: MainWindow, qtbot: Any) -> None:
    window = scene_window
    show(window, "hot_spots")
    line = line_of(window, "hot_spots")
    window.session.inspection.select(node=5)
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(8, line.height() // 2))
    qtbot.waitUntil(window.ray_tools.tree.isVisible)
    show(window, "hot_spots")
    line.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(line, Qt.Key.Key_Tab)
    QTest.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(window.ray_tools.tree.isVisible)
