"""Objects and the clipping plane, used as a person does: click, hide, isolate, undo, cut, slide."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton

from raygrove.app.document.state import SceneReference
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.clip import half_space
from raygrove.gpu.scene import Node, Object, Scene
from raygrove.gpu.stats import Collisions

CHECKED, UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


@pytest.fixture
def opened(window: MainWindow, moving_scene: Scene) -> MainWindow:
    """A window with a scene of four objects; the stand-in hits the first in the left half of the picture."""
    nodes = tuple(Node(name) for name in ("wall", "roof", "floor", "lamp"))
    scene = dataclasses.replace(moving_scene, nodes=nodes, objects=tuple(Object(index, 0) for index in range(4)))
    window.document.set_scene(SceneReference("demo", ("walker",)), scene)
    return window


def click(window: MainWindow, qtbot: Any, across: float, button: Qt.MouseButton = Qt.MouseButton.LeftButton) -> None:
    qtbot.waitUntil(lambda: window.loop.last_frame is not None)
    QTest.mouseClick(window.view, button, pos=window.view.rect().topLeft() + window.view.rect().center() * across * 2)


def hidden(window: MainWindow) -> tuple[int, ...]:
    return window.document.state.hidden


def run(window: MainWindow, name: str) -> None:
    window.commands.actions[name].trigger()


def test_a_click_selects_and_one_beside_selects_nothing(opened: MainWindow, qtbot: Any) -> None:
    click(opened, qtbot, 0.2)
    qtbot.waitUntil(lambda: opened.document.state.selection.object == 0)
    panel = opened.inspectors.objects
    assert panel.view.currentIndex().data() == "wall" and panel.summary.text().startswith(
        "wall is selected. 4 of 4 objects and 8 of 8 primitives"
    )
    click(opened, qtbot, 0.8)
    qtbot.waitUntil(lambda: opened.document.state.selection.object == -1)
    panel.view.setCurrentIndex(panel.rows.index(2, 0))
    assert opened.document.state.selection.object == 2
    run(opened, "scene.unselect")
    assert opened.document.state.selection.object == -1


def test_hiding_and_isolating_are_steps_of_undo(opened: MainWindow) -> None:
    run(opened, "scene.hide")
    assert hidden(opened) == () and "Select an object first" in opened.statusBar().currentMessage()
    opened.document.change("selection.object", 1)
    run(opened, "scene.hide")
    assert (
        hidden(opened) == (1,)
        and opened.inspectors.objects.model.index(1, 0).data(Qt.ItemDataRole.CheckStateRole) == UNCHECKED
    )
    opened.document.change("selection.object", 3)
    run(opened, "scene.isolate")
    assert (
        hidden(opened) == (0, 1, 2)
        and "1 of 4 objects and 2 of 8 primitives are seen" in opened.inspectors.objects.summary.text()
    )
    run(opened, "scene.isolate")
    assert hidden(opened) == () and not opened.commands.actions["scene.show_all"].isEnabled()
    for expected in ((0, 1, 2), (1,), ()):
        opened.document.undo()
        assert hidden(opened) == expected
    opened.document.redo()
    run(opened, "scene.show_all")
    assert hidden(opened) == () and opened.document.state.selection.object == 3


def test_boxes_in_the_panel_hide_and_the_search_finds(opened: MainWindow) -> None:
    panel = opened.inspectors.objects
    place = panel.model.index(2, 0)
    assert panel.rows.setData(
        panel.rows.mapFromSource(place), UNCHECKED.value, Qt.ItemDataRole.CheckStateRole
    ) and hidden(opened) == (2,)
    panel.model.setData(place, CHECKED.value, Qt.ItemDataRole.CheckStateRole)
    assert hidden(opened) == ()
    panel.search.setText("ROO")
    assert [panel.rows.index(row, 0).data() for row in range(panel.rows.rowCount())] == ["roof"]
    panel.view.setCurrentIndex(panel.rows.index(0, 0))
    for name, expected in (("isolate", (0, 2, 3)), ("show_all", ()), ("hide", (1,))):
        button = panel.findChild(QPushButton, name)
        assert button is not None
        button.click()
        assert hidden(opened) == expected
    opened.document.close_scene()
    assert panel.model.rowCount() == 0 and opened.document.state.hidden == ()


def test_many_thousand_objects_are_listed_at_once(opened: MainWindow, qtbot: Any) -> None:
    scene = opened.document.scene
    assert scene is not None
    many = dataclasses.replace(
        scene,
        nodes=tuple(Node(f"part {index}") for index in range(20_000)),
        objects=tuple(Object(k, 0) for k in range(20_000)),
    )
    begin = time.thread_time()  # what this thread computes, whatever else the machine has to do
    opened.inspectors.objects.show_scene(many)
    assert time.thread_time() - begin < 1.0 and opened.inspectors.objects.rows.rowCount() == 20_000


def test_the_menu_of_the_picture_acts_on_what_lies_there(opened: MainWindow, qtbot: Any) -> None:
    click(opened, qtbot, 0.2, Qt.MouseButton.RightButton)
    qtbot.waitUntil(lambda: opened.findChild(QMenu, "picture_menu") is not None)
    menu = opened.findChild(QMenu, "picture_menu")
    assert menu is not None
    titles = {action.text(): action for action in menu.actions()}
    assert {"Select wall", "Hide wall", "Isolate wall", "Look at this point", "Cut here, facing the camera"} <= set(
        titles
    )
    titles["Hide wall"].trigger()
    assert hidden(opened) == (0,)
    menu.close()


def test_a_cut_through_what_lies_under_the_pointer_faces_the_camera(opened: MainWindow, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: opened.loop.last_frame is not None)
    scene, camera = opened.document.scene, opened.document.state.camera_of(0)
    assert scene is not None
    opened.document.change("settings.clip.flip", True)
    opened.place.navigator.pointer = lambda: (0.25, 0.5)  # type: ignore[method-assign]
    run(opened, "scene.clip_here")
    qtbot.waitUntil(lambda: opened.document.state.settings.clip.on)
    plane = half_space(opened.document.state.settings.clip, scene.lower, scene.upper)
    assert plane is not None and plane[:3] == pytest.approx(tuple(-camera.basis()[2]), abs=1e-6)
    assert plane[0] * 0.25 + plane[1] * 0.5 == pytest.approx(plane[3], abs=1e-6)
    opened.document.undo()
    assert not opened.document.state.settings.clip.on and opened.document.state.settings.clip.flip
    opened.place.navigator.pointer = lambda: (0.75, 0.5)  # type: ignore[method-assign]
    run(opened, "scene.clip_here")
    qtbot.waitUntil(lambda: "Nothing lies there" in opened.statusBar().currentMessage())


def test_a_drag_of_the_slider_cuts_and_is_one_step_of_undo(opened: MainWindow) -> None:
    panel = opened.inspectors.clip
    for value in (400, 300, 250):
        panel.slider.setValue(value)
    panel.slider.sliderReleased.emit()
    clip = opened.document.state.settings.clip
    assert clip.on and clip.position == 0.25 and panel.editors["position"].value() == pytest.approx(0.25)
    assert opened.commands.actions["scene.clip"].isChecked() and not panel.editors["normal"].isEnabled()
    run(opened, "scene.clip_flip")
    assert opened.document.state.settings.clip.flip
    opened.document.undo()
    opened.document.undo()
    assert not opened.document.state.settings.clip.on and panel.slider.value() == 500


def test_the_periodic_box_is_drawn_or_not(opened: MainWindow) -> None:
    action = opened.commands.actions["scene.periodic_box"]
    for _ in range(2):
        assert not action.isChecked() and not opened.document.state.settings.periodic_box.show
        run(opened, "scene.periodic_box")
        assert action.isChecked() and opened.document.state.settings.periodic_box.show
        opened.document.undo()


def test_collisions_are_shown_and_counted(opened: MainWindow, qtbot: Any) -> None:
    """By the menu or the panel, which opens with them; the count follows the frames."""
    controls, action = opened.inspectors.objects.collisions, opened.commands.actions["scene.collisions"]
    dock = next(dock for dock in opened.docks if dock.objectName() == "dock.objects")
    run(opened, "scene.collisions")
    assert action.isChecked() and controls.editors["show"].value() and not dock.isHidden()
    qtbot.waitUntil(lambda: opened.loop.last_frame is not None)
    frame = opened.loop.last_frame
    assert frame is not None
    for pairs, sentence in ((1234, "1,234 colliding pairs of 56 primitives, found in 0.7 ms."), (0, "0 colliding")):
        controls.take(dataclasses.replace(frame, collisions=Collisions(pairs, 56, 0.7)))
        assert controls.sentence.text().startswith(sentence)
    controls.take(dataclasses.replace(frame, collisions=Collisions(why_not="This scene has glyphs.")))
    assert controls.sentence.text() == "This scene has glyphs."
    late = dataclasses.replace(frame, request=dataclasses.replace(frame.request, scene=Scene("another")))
    opened.loop.frame_arrived.emit(dataclasses.replace(late, collisions=Collisions(7, 8, 0.7)))
    assert controls.sentence.text() == "This scene has glyphs.", "a picture of the scene before says nothing"
    controls.editors["between"].edited.emit("selected")
    assert opened.document.state.settings.collisions.between == "selected"
    controls.editors["show"].edited.emit(False)
    assert not action.isChecked()
    controls.take(dataclasses.replace(frame, collisions=None))
    assert "colliding" not in controls.sentence.text()
