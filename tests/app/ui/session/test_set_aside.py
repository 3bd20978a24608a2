"""What a program that crashed has left is opened again, as it was; a clean end leaves nothing."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton

from raygrove.app.document import saved_state
from raygrove.app.document.state import SceneReference, State
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.window.application import open_scene
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.user_files import running_state

SCENE = SceneReference("demo", ("walker",))
GONE = 999_999_999
"""The number of no process."""


def left_behind(state: State, attempts: int = 0) -> None:
    """What a process has left that set this state aside and runs no more."""
    running_state.save(saved_state.texts_of(state), attempts)
    running_state.own_file().rename(running_state.folder() / f"{GONE}.json")


def crashed(state: State) -> None:
    """The same by a process that dies."""
    program = (
        "import json, os, sys; from raygrove.app.user_files import running_state as r; "
        "r.save(json.loads(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    texts = json.dumps(saved_state.texts_of(state))
    ended = subprocess.run([sys.executable, "-c", program, texts], env={**os.environ})
    assert ended.returncode == -9


@pytest.fixture
def left() -> State:
    settings = Settings()
    for key, value in {"demo.triangles": 500, "render.ray_type": "normals", "render.hierarchy": "hploc"}.items():
        settings = set_option(settings, key, value)
    state = State(SCENE, settings)
    camera = dataclasses.replace(state.cameras[0], eye=(1.0, 2.0, 3.0), fov=33.0)
    return dataclasses.replace(
        state, cameras=(camera,), timeline=dataclasses.replace(state.timeline, time=1.5), hidden=(1,)
    )


def test_the_program_opens_where_it_was(window: MainWindow, left: State, qtbot: Any) -> None:
    crashed(left)
    open_scene(window, None)
    qtbot.waitUntil(lambda: window.document.scene is not None)
    state = window.document.state
    assert (state.scene, state.cameras[0], state.timeline.time, state.hidden) == (SCENE, left.cameras[0], 1.5, (1,))
    assert (state.settings.render.ray_type, state.settings.render.hierarchy) == ("normals", "hploc")
    (notice,) = window.toasts.messages()
    assert "without closing" in notice.sentence and running_state.left() is None
    drop = notice.findChild(QPushButton, "drop_left")
    assert drop is not None
    drop.click()
    assert window.document.scene is None and window.stack.currentWidget() is window.welcome


def test_what_the_command_line_names_comes_first(window: MainWindow, left: State, qtbot: Any) -> None:
    left_behind(left)
    window.open_demo("cloth")
    open_scene(window, None)
    qtbot.waitUntil(lambda: window.document.scene is not None)
    assert window.document.state.scene.names == ("cloth",) and running_state.left() is not None


@pytest.mark.each_value
def test_what_has_crashed_twice_is_only_offered(window: MainWindow, left: State, qtbot: Any) -> None:
    left_behind(left, attempts=2)
    open_scene(window, None)
    assert not window.document.jobs and window.document.scene is None
    (notice,) = window.toasts.messages()
    assert "twice" in notice.sentence
    again = notice.findChild(QPushButton, "open_left")
    assert again is not None
    again.click()
    qtbot.waitUntil(lambda: window.document.scene is not None)
    assert window.document.state.scene == SCENE


def test_it_is_set_aside_while_it_runs_and_gone_after_a_clean_end(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.set_aside.save()
    qtbot.waitUntil(running_state.own_file().exists)
    assert running_state.left() is None, "its process runs"
    kept = json.loads(running_state.own_file().read_text())
    assert '"two"' in kept["texts"]["raygrove.scene"] and kept["attempts"] == 0
    scene_window.close()
    assert not running_state.own_file().exists()


def test_a_state_that_came_back_counts_its_attempts(window: MainWindow, left: State, qtbot: Any) -> None:
    left_behind(left, attempts=1)
    open_scene(window, None)
    qtbot.waitUntil(lambda: window.document.scene is not None)
    window.set_aside.save()
    qtbot.waitUntil(running_state.own_file().exists)
    assert json.loads(running_state.own_file().read_text())["attempts"] == 2


ENDLESS = '{"texts": {}, "attempts": 1e999, "began": "1"}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"texts": {"a": 1}, "attempts": 0, "began": "1"}',
        '{"texts": {}}',
        ENDLESS,
        pytest.param("[" * 100_000, id="nested"),
    ],
)
def test_a_damaged_file_is_taken_away(own_folders: Any, text: str) -> None:
    path = running_state.folder() / f"{GONE}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert running_state.left() is None and not path.exists()


def test_what_has_not_changed_is_not_written_again(scene_window: MainWindow, qtbot: Any) -> None:
    """Else a laptop's disk would be woken every few seconds."""
    scene_window.set_aside.save()
    qtbot.waitUntil(running_state.own_file().exists)
    running_state.own_file().unlink()
    for _ in range(3):
        scene_window.set_aside.save()
        qtbot.wait(20)
    assert not running_state.own_file().exists()
    scene_window.document.change("settings.render.samples", 9)
    scene_window.set_aside.save()
    qtbot.waitUntil(running_state.own_file().exists)


def test_panels_are_where_they_were_after_a_kill(scene_window: MainWindow, qtbot: Any) -> None:
    dock = next(one for one in scene_window.docks if one.objectName() == "dock.heat")
    scene_window.resize(1280, 720)
    dock.show()
    qtbot.waitUntil(dock.isVisible)
    scene_window.set_aside.save()
    scene_window.toggle_full_screen()
    scene_window.set_aside.save()
    scene_window.toggle_full_screen()
    scene_window.show_welcome()
    scene_window.set_aside.save()
    scene_window.show_picture()
    dock.hide()
    assert scene_window.memory.restore_docks(scene_window, scene_window.workspaces.current), "nothing was remembered"
    assert dock.isVisible(), "what is away for a while is none of what is remembered"


def test_a_layout_that_stays_is_written_once(scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = list[None]()
    scene_window.resize(1280, 720)
    monkeypatch.setattr(scene_window.workspaces, "save", lambda: saved.append(None))
    for _ in range(3):
        scene_window.set_aside.save()
    assert len(saved) == 1
