"""The camera's path in the window: order and times, the preview as one step of undo, and the export along it."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from PySide6.QtWidgets import QCheckBox, QPushButton

from raygrove.app.camera.path import CameraPath
from raygrove.app.document.state import Bookmark, SceneReference
from raygrove.app.ui.dialogs.export_dialog import ExportDialog
from raygrove.app.ui.panels.path_panel import PathPlayer
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene

MARKS = tuple(Bookmark(f"View {k}", Camera(eye=(float(k), 1.0, 5.0)), 1.0 + k) for k in range(3))


@pytest.fixture
def opened(window: MainWindow, moving_scene: Scene) -> MainWindow:
    """A window with a scene and three bookmarks, its camera panel shown."""
    window.document.set_scene(SceneReference("demo", ("walker",)), moving_scene)
    window.document.change("bookmarks", MARKS)
    window.camera_panel.show_state()
    return window


def names(window: MainWindow) -> list[str]:
    return [one.name for one in window.document.state.bookmarks]


def press(window: MainWindow, name: str) -> None:
    button = window.camera_panel.path.findChild(QPushButton, name)
    assert button is not None and button.isEnabled()
    button.click()


def test_order_and_times_are_changed_and_taken_back(opened: MainWindow) -> None:
    panel = opened.camera_panel
    assert not panel.path.seconds.isEnabled() and panel.path.length.text() == "Path: 3.0 s through 3 views"
    panel.list.setCurrentRow(0)
    assert panel.path.seconds.value() == 1.0
    press(opened, "down")
    assert names(opened) == ["View 1", "View 0", "View 2"] and panel.path.length.text() == "Path: 3.0 s through 3 views"
    opened.camera_panel.show_state()
    panel.list.setCurrentRow(1)
    panel.path.seconds.edited.emit(4.5)
    assert (
        opened.document.state.bookmarks[1].seconds == 4.5 and panel.path.length.text() == "Path: 6.5 s through 3 views"
    )
    panel.path.boxes["closed"].setChecked(True)
    assert opened.document.state.settings.path.closed and panel.path.length.text() == "Path: 9.5 s through 3 views"
    for _ in range(3):
        opened.document.undo()
    assert opened.document.state.bookmarks == MARKS and not panel.path.boxes["closed"].isChecked()
    opened.document.change("bookmarks", MARKS[:1])
    assert panel.path.length.text() == "A path needs two bookmarks." and not panel.path.play.isEnabled()


def test_the_preview_moves_the_camera_and_is_one_step_of_undo(opened: MainWindow) -> None:
    document, now = opened.document, [100.0]
    player = PathPlayer(document, opened, lambda: now[0])
    before = document.state.camera_of(0)
    heard: list[bool] = []
    player.changed.connect(heard.append)
    player.toggle()
    for seconds in (0.0, 0.25, 1.7):
        now[0] = 100.0 + seconds
        player.step()
        assert document.state.camera_of(0) == CameraPath(MARKS).at(now[0] - 100.0)
    now[0] = 103.5
    player.step()
    assert document.state.camera_of(0) == MARKS[2].camera and not player.is_playing and heard == [True, False]
    document.undo()
    assert document.state.camera_of(0) == before
    player.toggle()
    document.change("cameras.0", Camera(eye=(9.0, 9.0, 9.0)))
    player.step()
    assert not player.is_playing and document.state.camera_of(0).eye == (9.0, 9.0, 9.0), "who moves the camera has it"


def test_the_command_plays_and_stops(opened: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    action, player = opened.commands.actions["camera.play_path"], opened.camera_panel.path.player
    seconds = itertools.count()
    monkeypatch.setattr(player, "_clock", lambda: next(seconds) / 1000.0)  # the path is never at its end
    action.trigger()
    assert player.is_playing and opened.camera_panel.path.play.text() == "Stop"
    qtbot.waitUntil(lambda: opened.document.state.camera_of(0).eye[0] > 0.01)
    action.trigger()
    assert not player.is_playing and opened.camera_panel.path.play.text() == "Play the path"
    opened.document.close_scene()
    action.trigger()
    assert not player.is_playing


def test_an_export_goes_along_the_bookmarks(opened: MainWindow, qtbot: Any) -> None:
    dialog = ExportDialog(opened.session, opened)
    qtbot.addWidget(dialog)
    box = dialog.findChild(QCheckBox, "path")
    assert box is not None
    dialog.turns.setChecked(True)
    box.setChecked(True)
    assert not dialog.turns.isChecked() and "frame_%04d.png" in dialog.out.text()
    fps = opened.document.span.fps
    plan = dialog.plan()
    assert plan is not None and plan.path is not None and plan.camera_of is not None and plan.turntable == 0
    assert [number for number, _ in plan.frames] == list(range(round(3.0 * fps) + 1))
    assert plan.camera_of(0) == MARKS[0].camera and plan.camera_of(round(3.0 * fps)) == MARKS[2].camera
    assert plan.frames[3][1] == pytest.approx(3 / fps), "the animation runs on"
    dialog.frames.setCurrentIndex(0)
    plan = dialog.plan()
    assert (
        plan is not None
        and plan.path is not None
        and len({time for _, time in plan.frames}) == 1
        and len(plan.frames) > 3
    )
    opened.document.change("bookmarks", (dataclasses.replace(MARKS[0]),))
    other = ExportDialog(opened.session, opened)
    qtbot.addWidget(other)
    assert not other.path.isEnabled() and "add two bookmarks first" in other.path.text()
