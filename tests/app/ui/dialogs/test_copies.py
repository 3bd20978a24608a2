"""Edit > Copy as command, Copy as Python and Copy as configuration put on the clipboard what the window shows."""

from __future__ import annotations

import shlex

import pytest
from PySide6.QtGui import QGuiApplication

from raygrove.app.cli.arguments import parse
from raygrove.app.document.state import Bookmark
from raygrove.app.frames import as_command
from raygrove.app.settings.file import settings_of, user_file
from raygrove.app.ui.dialogs.palette import entries_of, rank
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.program import COMMAND


def copied(window: MainWindow, name: str) -> str:
    QGuiApplication.clipboard().setText("before")
    window.commands.actions[name].trigger()
    return QGuiApplication.clipboard().text()


def test_a_command_of_the_picture_as_it_is_shown(scene_window: MainWindow) -> None:
    document = scene_window.document
    document.change("settings.render.ray_type", "flat")
    document.change("cameras.0.fov", 33.0)
    document.change("timeline.time", 1.5)
    line = copied(scene_window, "edit.copy_command")
    names = parse(shlex.split(line)[len(COMMAND) :], "1")
    assert (names.command, names.demo, names.ray_type, names.fov, names.time) == ("render", "two", "flat", 33.0, 1.5)
    assert names.size == scene_window.view.device_size() and names.samples == "16" and names.out == as_command.OUT
    assert as_command.OUT in scene_window.statusBar().currentMessage()


def test_a_program_of_the_picture_as_it_is_shown(scene_window: MainWindow) -> None:
    scene_window.document.change("cameras.0.fov", 33.0)
    text = copied(scene_window, "edit.copy_python")
    compile(text, "copied.py", "exec")
    width, height = scene_window.view.device_size()
    assert "fov=33.0" in text and f"rg.ArrayPixels(target, {width}, {height})" in text and "samples=16" in text
    scene_window.document.change("settings.boxes.show", True)
    assert copied(scene_window, "edit.copy_python") == "before"
    assert "boxes of nodes" in scene_window.toasts.messages()[-1].sentence


@pytest.mark.parametrize("name", ["edit.copy_command", "edit.copy_python"])
def test_without_a_scene_there_is_nothing_to_copy(window: MainWindow, name: str) -> None:
    assert copied(window, name) == "before"
    assert "open a scene first" in window.toasts.messages()[0].sentence


def test_the_configuration_is_a_settings_file(scene_window: MainWindow) -> None:
    document = scene_window.document
    document.change("settings.render.ray_type", "flat")
    document.change("settings.hierarchy.lbvh.max_leaf_size", 2)
    text = copied(scene_window, "edit.copy_configuration")
    assert settings_of(text, user_file()) == document.state.settings and text.startswith(as_command.HEAD)


def test_the_palette_knows_them(scene_window: MainWindow) -> None:
    scene_window.document.change("bookmarks", (Bookmark("Copy"),))
    entries = entries_of(scene_window.menuBar().actions(), scene_window.document.state.settings, lambda table: None)
    found = {entry.text for entry in entries if rank("copy as", entry.text) is not None}
    assert {"Edit › Copy as command", "Edit › Copy as Python", "Edit › Copy as configuration"} <= found
