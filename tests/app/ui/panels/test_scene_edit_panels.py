"""Materials and lights edited as a person does: choose, change, undo, add, remove, reset."""

from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from raygrove.app.document.state import SceneReference
from raygrove.app.edits.scene_edits import edited_lights, edited_materials
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Light, Material, Scene


@pytest.fixture
def opened(window: MainWindow, moving_scene: Scene) -> MainWindow:
    """A window with a scene of two materials and one light."""
    materials = (Material("stone", roughness=0.9), Material("pane", transmission=1.0, ior=1.5))
    scene = dataclasses.replace(
        moving_scene, materials=materials, lights=(Light("spot", (3.0, 3.0, 1.5), name="lamp"),)
    )
    window.document.set_scene(SceneReference("demo", ("walker",)), scene)
    return window


def press(panel: object, name: str) -> None:
    QTest.mouseClick(panel.findChild(QPushButton, name), Qt.MouseButton.LeftButton)  # type: ignore[attr-defined]


def test_a_material_is_chosen_changed_undone_and_reset(opened: MainWindow) -> None:
    panel, document = opened.inspectors.materials, opened.document
    assert [panel.chooser.itemText(index) for index in range(panel.chooser.count())] == ["stone", "pane"]
    assert (
        panel.editors["roughness"].value() == 0.9
        and not panel.reset.isEnabled()
        and panel.editors["attenuation_distance"].isHidden()
    )
    panel.choose("pane")
    assert panel.editors["ior"].value() == 1.5 and not panel.editors["attenuation_distance"].isHidden()
    panel.editors["ior"].edited.emit(2.4)
    panel.editors["base_color"].edited.emit((0.5, 0.25, 1.0))
    changed = edited_materials(document.scene, document.state.settings.material)[1]  # type: ignore[arg-type]
    assert (
        (changed.ior, changed.base_color) == (2.4, (0.5, 0.25, 1.0, 1.0))
        and panel.editors["ior"].value() == 2.4
        and panel.reset.isEnabled()
    )
    document.undo()
    assert panel.editors["base_color"].value() == pytest.approx((0.8, 0.8, 0.8)) and panel.editors["ior"].value() == 2.4
    press(panel, "reset")
    assert panel.editors["ior"].value() == 1.5 and not panel.reset.isEnabled()
    document.undo()
    assert panel.editors["ior"].value() == 2.4, "one step took all of it back"


def test_a_lamp_gets_one_side_and_two(opened: MainWindow) -> None:
    panel, document = opened.inspectors.materials, opened.document

    def stone() -> Material:
        return edited_materials(document.scene, document.state.settings.material)[0]  # type: ignore[arg-type]

    assert panel.editors["double_sided"].isHidden(), "what does not shine has no dark side"
    panel.editors["emission"].edited.emit((2.0, 1.0, 0.5))
    assert not panel.editors["double_sided"].isHidden() and panel.editors["double_sided"].value() == "yes"
    panel.editors["double_sided"].edited.emit("no")
    assert not stone().is_double_sided and panel.editors["double_sided"].value() == "no"
    document.undo()
    assert stone().is_double_sided and stone().emission == (2.0, 1.0, 0.5)


def test_selecting_an_object_chooses_its_material(opened: MainWindow) -> None:
    panel = opened.inspectors.materials
    panel.choose("pane")
    opened.document.change("selection.object", 0)
    assert panel.key == "stone"


def test_lights_are_added_changed_and_taken_away(opened: MainWindow) -> None:
    panel, document = opened.inspectors.lights, opened.document

    def lights() -> tuple[Light, ...]:
        return edited_lights(document.scene, document.state.settings.light)  # type: ignore[arg-type]

    assert (
        panel.key == "lamp"
        and panel.editors["strength"].value() == 3.0
        and panel.editors["color"].value() == pytest.approx((1.0, 1.0, 0.5))
    )
    assert panel.editors["radius"].isHidden() and not panel.editors["outer_angle"].isHidden()
    press(panel, "add")
    assert (
        panel.key == "added_1" and len(lights()) == 2 and lights()[1].kind == "point" and max(lights()[1].color) > 0.0
    )
    panel.editors["kind"].edited.emit("sphere")
    panel.editors["position"].edited.emit((1.0, 2.0, 3.0))
    assert (lights()[1].kind, lights()[1].position) == ("sphere", (1.0, 2.0, 3.0)) and not panel.editors[
        "radius"
    ].isHidden()
    panel.choose("lamp")
    panel.editors["position"].edited.emit((4.0, 5.0, 6.0))
    assert lights()[0].position == (4.0, 5.0, 6.0)
    document.undo()
    assert lights()[0].position == (0.0, 0.0, 0.0)
    press(panel, "remove")
    assert [light.name for light in lights()] == ["added_1"] and panel.key == "added_1"
    press(panel, "remove")
    assert lights() == () and "lit from the eye" in panel.note.text() and not panel.remove.isEnabled()
    document.undo()
    assert len(lights()) == 1
