"""Settings from files in the window, and scenes that are made anew when a setting says so."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference, State, replaced
from raygrove.app.scene_io.limits import FOR_ALL, FOR_PARTICLES, LIMITS, ImportLimits
from raygrove.app.settings.file import load_settings
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.session import settings_files
from raygrove.app.ui.session.settings_files import made_with, show_remarks
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Scene, SphereKeys, Spheres
from tests.app.scene_io import writers


def said(window: MainWindow) -> str:
    return " ".join(label.text() for label in window.toasts.findChildren(QLabel))


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    action, button, modifier = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), action, data, button, modifier))


def test_a_dropped_file_in_meisters_form_opens_with_its_scene(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    writers.write_sequence(tmp_path, 3)
    path = tmp_path / "gallop.env"
    path.write_text(
        "Scene {\nfilefilter frame_*.obj\nscale 2\n}\nBvh {\nmortonCodeBits 45\n}\nCamera {\nposition 0 0 "
        "20\nfieldOfView 60\n}\n"
    )
    drop(window, path)
    qtbot.waitUntil(lambda: window.document.scene is not None)
    scene, camera = window.document.scene, window.document.state.cameras[0]
    assert scene is not None and len(scene.key_times()) == 3 and scene.upper[0] > 2.0
    assert camera.eye == (0.0, 0.0, 20.0) and camera.fov == 60.0
    assert "mortonCodeBits 45 is kept and not used" in said(window)
    window.opened_dialogs.show_settings()
    dialog = window.opened_dialogs.settings
    assert dialog is not None
    dialog.presets.save_file(str(tmp_path / "out.toml"))
    again = load_settings(tmp_path / "out.toml")
    assert (
        again.meister == {"mortonCodeBits": "45"}
        and again.start.scene == str(tmp_path / "frame_*.obj")
        and again.importer.scale == 2.0
    )
    dialog.accept()


def test_a_wrong_file_is_a_sentence_and_changes_nothing(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "bad.env"
    path.write_text("Bvh {\n maxLeafSize 99\n}\n")
    window.open_files([str(path)])
    assert window.document.state.settings == Settings() and "line 2: Bvh.maxLeafSize" in said(window)


def test_what_was_not_used_at_the_start_stands_in_a_banner(window: MainWindow) -> None:
    show_remarks(window.session.notices, ())
    assert "more)" not in said(window)
    show_remarks(window.session.notices, ["first sentence.", "second sentence."])
    assert "first sentence. (and 1 more)" in said(window)


def test_a_demo_is_made_anew_when_its_settings_change(window: MainWindow, qtbot: Any) -> None:
    window.document.change("settings.demo.triangles", 500)
    window.open_demo("walker")
    qtbot.waitUntil(lambda: window.document.scene is not None)
    first = window.document.scene
    assert first is not None
    for count in (1000, 2000, 4000):
        window.document.change("settings.demo.triangles", count)
    assert not window.document.jobs, "not while one still turns the wheel"
    qtbot.waitUntil(lambda: window.document.scene is not first)
    scene = window.document.scene
    assert scene is not None and scene.triangle_count > 2 * first.triangle_count
    window.document.change("settings.import.scale", 2.0)
    qtbot.wait(600)
    assert window.document.scene is scene, "a file's scale is nothing to a built-in scene"


def test_particles_are_read_anew_when_a_setting_of_their_import_changes(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    atoms = '3\nLattice="9 0 0 0 9 0 0 0 9"\nO 1 1 1\nH 2 1 1\nH 1 2 1\n'
    (tmp_path / "water.xyz").write_text(atoms * 2)
    window.open_files([str(tmp_path / "water.xyz")])
    qtbot.waitUntil(lambda: window.document.scene is not None)
    for changes, counts in (
        ({"copies_a": 2, "every_frame": 2}, (6, 0, 0)),
        ({"copies_a": 1, "bonds": "cut_off"}, (3, 4, 0)),
    ):
        before = window.document.scene
        for name, value in changes.items():
            window.document.change(f"settings.import.{name}", value)
        qtbot.waitUntil(lambda before=before: window.document.scene is not before)
        scene = window.document.scene
        assert scene is not None and (scene.sphere_count, scene.glyph_count, len(scene.key_times())) == counts


def test_every_setting_of_an_import_reads_its_file_again_or_is_a_limit() -> None:
    """None may change silently beside a scene that was made without it."""
    names = {field.name for field in dataclasses.fields(ImportLimits)}
    assert names == {*FOR_ALL, *FOR_PARTICLES, *LIMITS, "environment"}
    assert len(names) == len(FOR_ALL) + len(FOR_PARTICLES) + len(LIMITS) + 1
    particles = Scene("atoms", spheres=(Spheres("atoms", np.zeros((1, 3), np.float32), np.ones(1, np.float32)),))
    state = State(SceneReference("files", ("atoms.xyz",)))
    other = {"bonds": "file", "arrows": "velocity", "environment": "sky.hdr", "wrap": True}
    for name in names:
        changed = replaced(state, f"settings.importer.{name}", other.get(name, 64))
        assert (made_with(changed, particles) != made_with(state, particles)) == (name not in LIMITS), name
        assert (made_with(changed, Scene("house")) != made_with(state, Scene("house"))) == (
            name in (*FOR_ALL, "environment")
        ), name


def test_sizes_of_spheres_make_no_other_scene_anew() -> None:
    for name, is_made_anew in (("spheres", True), ("cloth", False)):
        state = State(SceneReference("demo", (name,)))
        wide = replaced(state, "settings.demo.sphere_pixels", 8.0)
        assert (made_with(wide, None) != made_with(state, None)) == is_made_anew, name
        assert made_with(replaced(state, "settings.demo.seed", 3), None) != made_with(state, None)


def test_another_frame_rate_reads_key_frames_again_that_come_at_it() -> None:
    state = State(SceneReference("files", ("atoms.xyz",)))
    faster = replaced(state, "settings.timeline.fps", 60.0)
    keys = SphereKeys(np.arange(2, dtype=np.float32), np.zeros((2, 1, 3), np.float32))
    still = Spheres("atoms", np.zeros((1, 3), np.float32), np.ones(1, np.float32))
    moving = dataclasses.replace(still, key_frames=keys)
    assert made_with(faster, Scene("atoms", spheres=(moving,))) != made_with(state, Scene("atoms", spheres=(moving,)))
    assert made_with(faster, Scene("atoms", spheres=(still,))) == made_with(state, Scene("atoms", spheres=(still,)))


def test_key_frames_of_a_trajectory_follow_the_frame_rate(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "water.xyz").write_text("1\n\nO 1 1 1\n1\n\nO 2 1 1\n")
    window.open_files([str(tmp_path / "water.xyz")])
    qtbot.waitUntil(lambda: window.document.scene is not None)
    before = window.document.scene
    window.document.change("settings.timeline.fps", 4.0)
    qtbot.waitUntil(lambda: window.document.scene is not before)
    assert window.document.scene is not None and window.document.span.duration == 0.25


def test_another_scene_is_not_made_anew_by_what_was_changed_before_it(
    document: Document, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause in which one may still turn the wheel ends with the scene it was about."""
    made: list[State] = []
    monkeypatch.setattr(settings_files, "PAUSE_MS", 20)
    monkeypatch.setattr(document, "reopen", lambda: made.append(document.state))
    settings_files.Remaker(document)
    document.set_scene(SceneReference("demo", ("walker",)), Scene("one"))
    document.change("settings.demo.triangles", 700)
    document.set_scene(SceneReference("demo", ("orbit",)), Scene("another"))
    qtbot.wait(100)
    assert not made
    document.change("settings.demo.triangles", 900)
    qtbot.waitUntil(lambda: bool(made))
    assert len(made) == 1
