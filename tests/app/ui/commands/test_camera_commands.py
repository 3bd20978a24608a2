"""The Camera menu and panel: each command is one step of undo, and a file's camera is left for the free one when
someone moves."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QPushButton, QWidget

from raygrove.app.camera import moves as cameras
from raygrove.app.camera.walls import is_room
from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.ui.commands.camera_commands import CameraCommands, Take
from raygrove.app.ui.panels.camera_panel import CameraPanel
from raygrove.app.ui.picture.navigation import Navigator
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.camera import Camera, Vector
from raygrove.gpu.scene import Node, Scene, SceneCamera
from tests.app.stand_ins import take_places

POINT: Vector = (1.0, 1.0, 0.5)
LINE_EDIT_MARGIN = 2
"""Pixels that Qt leaves free on both sides of a text."""


class Stage:
    """A document with a scene that has a camera of its own, and commands whose pointer and pick are what a test
    says."""

    def __init__(self) -> None:
        self.document = Document()
        scene = Scene(
            "one",
            (Node(translation=(9.0, 0.0, 0.0)),),
            cameras=(SceneCamera("file's", 0, 30.0),),
            lower=(0, 0, 0),
            upper=(2, 2, 1),
        )
        self.document.set_scene(SceneReference("demo", ("one",)), scene)
        self.place: tuple[float, float] | None = (0.5, 0.5)
        self.point: Vector | None = POINT
        self.commands = CameraCommands(self.document, lambda: 1.5, lambda: self.place, self.pick)

    def pick(self, across: float, down: float, take: Take) -> None:
        take(self.point)

    @property
    def camera(self) -> Camera:
        return self.document.state.camera_of(0)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_each_command_is_a_step_that_undo_takes_back(stage: Stage) -> None:
    moves, start = stage.commands, stage.document.state
    commands = (
        moves.focus, moves.fit, lambda: moves.look_from("top"), moves.toggle_orthographic, moves.next_up_axis,
        lambda: moves.zoom(1.0),
        lambda: moves.scale_speed(2.0), moves.bookmark, lambda: moves.choose("1"), lambda: moves.change_field("near",
        0.5),
    )  # fmt: skip
    seen = []
    for command in commands:
        before = stage.document.state
        command()
        assert stage.document.state != before
        seen.append(before)
    for before in reversed(seen):
        stage.document.undo()
        assert stage.document.state == before
    assert stage.document.state == start and not stage.document.can_undo


def test_focus_looks_at_the_point_or_at_all(stage: Stage) -> None:
    direction = stage.camera.basis()[2]
    stage.commands.focus()
    assert stage.camera.look_at == POINT and stage.camera.basis()[2] == pytest.approx(direction)
    stage.point = None
    stage.commands.focus()
    assert stage.camera.look_at == pytest.approx((1.0, 1.0, 0.5))
    stage.place, stage.point = None, (9.0, 9.0, 9.0)
    stage.commands.focus()
    assert stage.camera.look_at == pytest.approx((1.0, 1.0, 0.5)), "a pointer outside the picture points at nothing"


@pytest.mark.parametrize("aspect", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("orthographic", [False, True])
def test_fit_shows_every_corner_in_every_window(stage: Stage, aspect: float, orthographic: bool) -> None:
    moves = CameraCommands(stage.document, lambda: aspect, lambda: None, stage.pick)
    if orthographic:
        moves.toggle_orthographic()
    moves.fit()
    right, up, forward = moves.camera.basis()
    for corner in itertools.product((0.0, 2.0), (0.0, 2.0), (0.0, 1.0)):
        offset = np.subtract(corner, moves.camera.eye)
        depth = float(offset @ forward)
        half = moves.camera.height / 2.0 if orthographic else depth * np.tan(np.radians(moves.camera.fov) / 2.0)
        assert depth > 0.0 and abs(offset @ up) <= half and abs(offset @ right) <= half * aspect


def test_moving_leaves_the_files_camera_in_one_step(stage: Stage) -> None:
    stage.commands.choose("1")
    own, before = stage.document.state.cameras[1], stage.document.state
    stage.commands.zoom(1.0)
    state = stage.document.state
    assert state.views[0].camera == 0 and state.cameras[1] == own
    assert state.cameras[0] == dataclasses.replace(own, fov=own.fov * 0.95)
    stage.document.undo()
    assert stage.document.state == before


def test_reset_undoes_every_move(stage: Stage) -> None:
    first = stage.camera
    stage.commands.look_from("back")
    stage.commands.toggle_orthographic()
    stage.commands.reset()
    assert stage.camera == first


def test_u_goes_round_the_axes_and_is_kept_for_the_next_scene(stage: Stage) -> None:
    axes = []
    for _ in range(3):
        stage.commands.next_up_axis()
        axes.append((stage.commands.up_axis(), stage.document.state.settings.camera.up_axis))
    assert axes == [("z", "z"), ("x", "x"), ("y", "y")]


@pytest.mark.parametrize("axis", ["y", "z"])
@pytest.mark.parametrize("side", ["top", "bottom"])
def test_what_is_up_stays_up_after_a_look_from_the_top(stage: Stage, side: str, axis: str) -> None:
    """The picture's upper edge is another axis there, and yet the front is where it was."""
    stage.commands.set_up_axis(axis)
    for other in ("front", "right", "corner"):
        stage.commands.look_from(other)
        before = stage.camera
        stage.commands.look_from(side)
        assert stage.commands.up_axis() == axis
        stage.commands.look_from(other)
        assert stage.camera == before
    stage.commands.look_from(side)
    stage.commands.next_up_axis()
    assert stage.commands.up_axis() == {"y": "z", "z": "x"}[axis]


def test_bookmarks_are_named_reached_renamed_and_deleted(stage: Stage) -> None:
    moves = stage.commands
    moves.bookmark()
    kept = stage.camera
    moves.look_from("left")
    moves.bookmark()
    assert [one.name for one in stage.document.state.bookmarks] == ["View 1", "View 2"]
    moves.go_to(0)
    assert stage.camera == kept
    moves.go_to(7)
    assert stage.camera == kept
    moves.rename_bookmark(0, " door ")
    moves.rename_bookmark(1, "  ")
    moves.delete_bookmark(1)
    assert [one.name for one in stage.document.state.bookmarks] == ["door"]
    moves.bookmark()
    assert [one.name for one in stage.document.state.bookmarks] == ["door", "View 1"]


def drag(widget: QWidget, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    kinds = (
        (QEvent.Type.MouseButtonPress, 200, left, left),
        *((QEvent.Type.MouseMove, x, none, left) for x in (220, 260)),
    )
    for kind, x, button, buttons in (*kinds, (QEvent.Type.MouseButtonRelease, 260, left, none)):
        place = QPointF(x, 150)
        QApplication.sendEvent(widget, QMouseEvent(kind, place, widget.mapToGlobal(place), button, buttons, modifiers))


@pytest.mark.parametrize(
    ("mode", "pivot"), [("orbit", "pointer"), ("axis-free", "pointer"), ("orbit", "centre"), ("fly", "pointer")]
)
def test_a_left_drag_does_what_the_mode_says(qtbot: Any, stage: Stage, mode: str, pivot: str) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(400, 300)
    Navigator(widget, stage.document, stage.pick)
    stage.document.change("settings.camera.mode", mode)
    stage.document.change("settings.camera.pivot", pivot)
    before = stage.camera
    drag(widget)
    after = stage.camera
    about = before.eye if mode == "fly" else POINT if pivot == "pointer" else before.look_at
    assert after != before
    assert np.linalg.norm(np.subtract(after.eye, about)) == pytest.approx(
        np.linalg.norm(np.subtract(before.eye, about))
    )
    turn = {"orbit": cameras.orbit, "axis-free": cameras.turn_freely, "fly": cameras.orbit}[mode]
    sign = -1.0 if mode == "fly" else 1.0
    assert after.eye == pytest.approx(turn(before, sign * 0.2, 0.0, about).eye)
    stage.document.undo()
    assert stage.camera == before
    if mode == "axis-free":
        drag(widget, Qt.KeyboardModifier.ControlModifier)
        assert stage.camera.eye == pytest.approx(before.eye) and stage.camera.up != pytest.approx(before.up)


def test_a_double_click_wants_focus(qtbot: Any, stage: Stage) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    navigator = Navigator(widget, stage.document, stage.pick)
    with qtbot.waitSignal(navigator.focus_wanted):
        qtbot.mouseDClick(widget, Qt.MouseButton.LeftButton)


def test_the_panel_shows_and_takes_numbers(qtbot: Any, stage: Stage) -> None:
    panel = CameraPanel(stage.document, stage.commands)
    qtbot.addWidget(panel)
    panel.show()
    stage.commands.look_from("top")
    qtbot.waitUntil(lambda: panel.form.editors["eye"].value() == pytest.approx(stage.camera.eye, abs=1e-4))
    boxes = {box.objectName(): box for box in panel.findChildren(QDoubleSpinBox)}
    boxes["fov"].setValue(60.0)
    assert stage.camera.fov == 60.0
    boxes["near"].setValue(5.0)
    boxes["far"].setValue(2.0)
    assert stage.camera.far == 0.0 and "beyond the near one" in panel.form.editors["far"].error
    keep, delete = panel.findChild(QPushButton, "keep"), panel.findChild(QPushButton, "delete")
    assert not delete.isEnabled(), "there is nothing to delete"
    keep.click()
    qtbot.waitUntil(lambda: panel.list.count() == 1)
    assert not delete.isEnabled(), "none is chosen"
    panel.list.item(0).setText("above")
    assert stage.document.state.bookmarks[0].name == "above"
    stage.commands.look_from("front")
    panel.list.itemDoubleClicked.emit(panel.list.item(0))
    assert stage.camera.near == 5.0 and stage.camera.up == pytest.approx((0.0, 0.0, -1.0))
    panel.list.setCurrentRow(0)
    assert delete.isEnabled()
    delete.click()
    assert stage.document.state.bookmarks == ()
    qtbot.waitUntil(lambda: panel.list.count() == 0)
    assert not delete.isEnabled()


def test_the_menu_lists_bookmarks_by_name(scene_window: MainWindow) -> None:
    actions = scene_window.commands.actions
    assert not actions["camera.bookmark_1"].isVisible()
    actions["camera.bookmark"].trigger()
    assert actions["camera.bookmark_1"].isVisible() and actions["camera.bookmark_1"].text() == "View 1"
    actions["camera.left"].trigger()
    actions["camera.bookmark_1"].trigger()
    assert scene_window.document.state.camera_of(0) == scene_window.document.state.bookmarks[0].camera


def test_every_number_of_the_camera_is_seen_whole(scene_window: MainWindow, qtbot: Any) -> None:
    """With its unit, in the room that the panel gets when it opens."""
    document, panel = scene_window.document, scene_window.camera_panel
    scene_window.resize(1280, 900)
    scene_window.commands.actions["view.dock.camera"].trigger()
    qtbot.waitUntil(panel.isVisible)
    numbers = (-14.557130302953492, 0.00123456, -12345.678)
    camera = dataclasses.replace(document.state.camera_of(0), eye=numbers, look_at=numbers[::-1], fov=33.34567)
    document.change("cameras.0", dataclasses.replace(camera, height=1234.567, orthographic=True, near=0.25))
    take_places()
    qtbot.waitUntil(lambda: panel.form.editors["eye"].value() == pytest.approx(numbers))
    texts: dict[str, str] = {}
    for box in panel.form.findChildren(QDoubleSpinBox):
        texts.setdefault(box.accessibleName(), box.text())
        line = box.lineEdit()
        needed = line.fontMetrics().horizontalAdvance(box.text()) + 2 * LINE_EDIT_MARGIN
        assert line.visibleRegion().boundingRect().width() >= needed, (box.accessibleName(), box.text(), line.width())
    assert texts["Eye x"] == "-14.55713" and texts["Look at x"] == "-12345.68" and texts["Field of view"] == "33.34567°"
    assert texts["Height"] == "1234.567 scene units"
    assert texts["Near"] == "0.25 scene units" and texts["Far"] == "automatic"


def test_a_closed_room_is_fitted_from_within() -> None:
    """From outside there is a grey box; without walls, cut open, or where it opens outside, one looks from there."""
    stage = Stage()
    scene = make_demo("orbit", 2000)
    stage.document.set_scene(SceneReference("demo", ("orbit",)), scene)

    def is_within() -> bool:
        stage.commands.fit()
        eye = np.asarray(stage.commands.camera.eye)
        return bool(np.all((scene.lower < eye) & (eye < scene.upper)))

    before = stage.commands.camera.basis()[2]
    assert is_within() and np.allclose(stage.commands.camera.basis()[2], before), "from the same side"
    walls = next(index for index, thing in enumerate(scene.objects) if scene.meshes[thing.mesh].name == "room")
    stage.document.change("hidden", (walls,))
    assert not is_within()
    stage.document.change("hidden", ())
    stage.document.change("settings.clip.on", True)
    assert not is_within()
    stage.document.change("settings.clip.on", False)
    assert is_within()
    assert not is_room(scene, (9.0, 0.0, 0.0)) and not is_room(make_demo("walker", 2000), (0.0, 0.5, 0.0))
