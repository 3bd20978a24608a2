"""The rail: a button for each drawer at the left of the picture, one of which is open."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDockWidget

from raygrove.app.document.state import SceneReference
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.rail import WIDTH, drawers
from raygrove.gpu.scene import Scene, Spheres
from tests.app.stand_ins import take_places


def at_left(window: MainWindow) -> set[str]:
    """The panels at the left that are shown."""
    take_places()
    left = {panel for _, panels in drawers().values() for panel in panels}
    return {name for name in left if not dock_of(window, name).isHidden()}


def dock_of(window: MainWindow, name: str) -> QDockWidget:
    return next(dock for dock in window.docks if dock.objectName() == f"dock.{name}")


def checked(window: MainWindow) -> set[str]:
    take_places()
    return {name for name, button in window.rail.buttons.items() if button.isChecked()}


def test_one_drawer_is_open_at_a_time(scene_window: MainWindow) -> None:
    window = scene_window
    window.resize(1280, 720)
    take_places()
    assert window.rail.isVisible() and window.rail.width() == WIDTH and at_left(window) == set()
    for name in ("objects", "camera", "lights", "clip"):
        window.rail.buttons[name].click()
        assert at_left(window) == set(drawers()[name][1]) and checked(window) == {name}
        assert not dock_of(window, drawers()[name][1][0]).visibleRegion().isEmpty(), "the first of them is seen"
        assert (window.width(), window.height()) == (1280, 720)
    window.rail.buttons["clip"].click()
    assert at_left(window) == checked(window) == set()


def test_menus_and_the_rail_say_the_same(scene_window: MainWindow) -> None:
    scene_window.commands.actions["view.dock.materials"].trigger()
    assert checked(scene_window) == {"lights"}
    scene_window.commands.actions["view.dock.objects"].trigger()
    assert checked(scene_window) == {"objects"}, "the tab in front"
    scene_window.rail.buttons["lights"].click()
    assert at_left(scene_window) == {"lights", "materials"} and checked(scene_window) == {"lights"}


def test_a_panel_that_floats_or_stands_elsewhere_stays(scene_window: MainWindow) -> None:
    scene_window.resize(1280, 720)
    objects, clip = dock_of(scene_window, "objects"), dock_of(scene_window, "clip")
    objects.show()
    objects.setFloating(True)
    scene_window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, clip)
    clip.show()
    scene_window.rail.buttons["camera"].click()
    assert at_left(scene_window) == {"objects", "clip", "camera"}


def test_spheres_have_a_button_where_there_are_some(window: MainWindow) -> None:
    button = window.rail.buttons["spheres"]
    for scene, is_there in (
        (Scene("one", spheres=(Spheres("one", np.zeros((1, 3), np.float32), np.ones(1, np.float32)),)), True),
        (Scene("still"), False),
    ):
        window.document.set_scene(SceneReference("demo", ("some",)), scene)
        take_places()
        assert button.isVisible() == is_there


def test_it_is_worked_by_keys(scene_window: MainWindow) -> None:
    """Also by those that mean something else in the window."""
    buttons = scene_window.rail.buttons
    is_playing = scene_window.document.state.timeline.is_playing
    buttons["objects"].setFocus()
    QTest.keyClick(buttons["objects"], Qt.Key.Key_Space)
    assert checked(scene_window) == {"objects"} and scene_window.document.state.timeline.is_playing == is_playing
    QTest.keyClick(buttons["objects"], Qt.Key.Key_Up)
    assert buttons["clip"].hasFocus()
    QTest.keyClick(buttons["clip"], Qt.Key.Key_Return)
    assert checked(scene_window) == {"clip"}


@pytest.mark.parametrize("workspace", ["race", "inspect"])
def test_it_belongs_to_the_workspace_that_explores(scene_window: MainWindow, workspace: str) -> None:
    for name, is_there in ((workspace, False), ("explore", True)):
        scene_window.workspaces.choose(name)
        take_places()
        assert scene_window.rail.isVisible() == is_there
    scene_window.toggle_full_screen()
    assert not scene_window.rail.isVisible()
    scene_window.toggle_full_screen()
    assert scene_window.rail.isVisible()
    scene_window.show_welcome()
    assert not scene_window.rail.isVisible()
