"""What happened is said in place: notices that open their details, marks on panels, never a box that stands in the
way."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDockWidget,
    QFileDialog,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from raygrove.app.document.saved_state import texts_of
from raygrove.app.document.state import SceneReference, State
from raygrove.app.export.images import save_png
from raygrove.app.problems.problem import Problem
from raygrove.app.problems.problems import problem_of
from raygrove.app.ui.messages import panel_mark
from raygrove.app.ui.messages.panel_mark import PanelMark
from raygrove.app.ui.messages.signs import sign
from raygrove.app.ui.session.choices import Choices
from raygrove.app.ui.widgets.panel_bar import PanelBar
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.display.sphere_look import SphereDrawingError
from raygrove.gpu.glyphs.caster import check_scene
from raygrove.gpu.hierarchy.base import CannotRefitError
from tests.app.cli.test_info import AC3D
from tests.app.stand_ins import PaintedMaker


def test_one_error_is_counted_once_and_its_details_open_in_place(
    scene_window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.obj"
    bad.write_text("f 1 2 3\n")
    scene_window.open_files([str(bad)])
    qtbot.waitUntil(lambda: bool(scene_window.toasts.messages()) and not scene_window.document.jobs)
    assert scene_window.records.mark.text() == "1"
    (banner,) = scene_window.toasts.messages()
    scene_window.messages.show_problem(
        Problem("The scene cannot be opened", banner.sentence.partition(". ")[2], banner.details)
    )
    assert scene_window.records.mark.text() == "1", "said again, it is still one thing"
    (banner,) = scene_window.toasts.messages()
    full = banner.findChild(QPlainTextEdit, "full")
    assert full is not None and not full.isVisible()
    banner.findChild(QPushButton, "details").click()
    assert full.isVisible() and "Traceback" in full.toPlainText()
    assert QApplication.activeModalWidget() is None and not [
        box for box in scene_window.findChildren(QDialog) if box.isVisible()
    ]
    assert banner.findChild(QPushButton, "copy").text() == "Copy details"


def test_a_panel_that_cannot_write_its_figures_says_so_itself(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = iter([str(tmp_path / "absent" / "a.csv"), str(tmp_path / "a.csv")])
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (next(answers), ""))
    bar, mark = scene_window.stats_panel.findChild(PanelBar), scene_window.messages.panels.marks["stats"]
    dock = scene_window.findChild(QDockWidget, "dock.stats")
    bar.ask_and_save("csv")
    assert mark.isVisible() and "cannot be written" in mark.sentence and dock.windowTitle() == "Statistics ✕"
    assert scene_window.records.mark.text() == "1" and scene_window.toasts.messages() == []
    mark.findChild(QToolButton, "copy").click()
    assert "absent" in QGuiApplication.clipboard().text()
    bar.ask_and_save("csv")
    assert not mark.isVisible() and dock.windowTitle() == "Statistics"


def test_a_panels_sign_follows_the_theme(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    mark, drawn = PanelMark(page), []

    def drawing(kind: str, *sizes: Any) -> Any:
        drawn.append(kind)
        return sign(kind, *sizes)

    monkeypatch.setattr(panel_mark, "sign", drawing)
    page.setPalette(QPalette(QColor("black")))
    assert drawn == [], "nothing is said"
    mark.say("warning", "Something is odd.")
    page.setPalette(QPalette(QColor("white")))
    assert drawn == ["warning", "warning"]


def test_every_panel_has_a_mark(scene_window: MainWindow) -> None:
    panels = scene_window.messages.panels
    assert set(panels.marks) == {dock.objectName().removeprefix("dock.") for dock in scene_window.docks}
    for name in panels.marks:
        panels.say(name, "warning", f"{name} is odd.")
        dock = scene_window.findChild(QDockWidget, f"dock.{name}")
        dock.show()  # maybe behind a tab, where the panel rests hidden, mark and all
        assert not panels.marks[name].isHidden() and dock.windowTitle().endswith("⚠")
        panels.marks[name].findChild(QToolButton, "close").click()
        assert panels.marks[name].isHidden() and "⚠" not in dock.windowTitle()


def test_a_question_that_fails_marks_the_panel_that_asked(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no answer")

    monkeypatch.setattr(PaintedMaker, "pick", fail)
    scene_window.commands.actions["view.dock.pick"].trigger()
    scene_window.inspectors.pick_at(0.5, 0.5)
    qtbot.waitUntil(lambda: "no answer" in scene_window.messages.panels.marks["pick"].sentence)
    assert scene_window.toasts.messages() == [], "the picture is what it was"


def test_a_problem_of_a_hidden_panel_is_told_above_the_picture(scene_window: MainWindow) -> None:
    scene_window.messages.show_problem(Problem("The bookmarks cannot be read", "cameras.toml: no.", panel="camera"))
    assert "cameras.toml" in scene_window.toasts.messages()[0].sentence
    scene_window.toasts.clear("problem")
    scene_window.findChild(QDockWidget, "dock.camera").show()
    scene_window.messages.show_problem(Problem("The bookmarks cannot be read", "cameras.toml: no.", panel="camera"))
    assert (
        scene_window.toasts.messages() == [] and "cameras.toml" in scene_window.messages.panels.marks["camera"].sentence
    )


def test_the_processor_says_that_it_stands_in_once(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.memory.hear_all()
    scene_window.messages.stand_in("device", "The processor draws.")
    (banner,) = scene_window.toasts.messages()
    assert banner.findChild(QPushButton, "report").text() == "Copy report"
    banner.findChild(QPushButton, "silence").click()
    assert scene_window.toasts.messages() == []
    scene_window.messages.stand_in("device", "The processor draws.")
    assert scene_window.toasts.messages() == [] and scene_window.memory.is_silenced("device")
    scene_window.reset_layout()
    assert not scene_window.memory.is_silenced("device")


def test_a_picture_that_only_another_drawer_gives_has_its_button(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the window's words, for tiles and for OpenGL, which draw no triangles."""
    draw = PaintedMaker.draw

    def refuse(self: PaintedMaker, scene: Any, state: Any, *rest: Any) -> Any:
        if state.settings.render.primary == "tiles":
            check_scene(scene, state.settings.tiles)
        return draw(self, scene, state, *rest)

    monkeypatch.setattr(PaintedMaker, "draw", refuse)
    document, banners = scene_window.document, scene_window.toasts
    document.change("settings.render.primary", "tiles")
    qtbot.waitUntil(lambda: any(one.kind == "error" for one in banners.messages()))
    (banner,) = banners.messages()
    assert (
        banner.sentence.startswith("Tiles cannot draw this. Tiles give the first hits") and "--" not in banner.sentence
    )
    button = banner.findChild(QPushButton, "instead")
    assert button.text() == "First hits by the structure" and banner.findChild(QPushButton, "options") is None
    button.click()
    assert document.state.settings.render.primary == "structure"
    qtbot.waitUntil(lambda: not banners.messages())
    document.change("settings.display.spheres", "impostors")
    scene_window.messages.show_picture_problem(problem_of(SphereDrawingError("OpenGL draws spheres alone.")))
    button = banners.messages()[-1].findChild(QPushButton, "instead")
    assert button.text() == "Draw by rays"
    button.click()
    assert document.state.settings.display.spheres == "rays"


def test_what_a_ray_type_says_of_its_picture_stands_above_it_until_it_no_longer_does(
    scene_window: MainWindow, qtbot: Any
) -> None:
    frame = scene_window.loop.last_frame
    assert frame is not None and frame.statistics is not None
    drawn = frame.statistics
    (view,) = drawn.views

    def show(*sentences: str) -> list[str]:
        views = (dataclasses.replace(view, notices=sentences),)
        statistics = dataclasses.replace(drawn, views=views)
        scene_window.messages.take(dataclasses.replace(frame, statistics=statistics))
        return [banner.sentence for banner in scene_window.toasts.messages()]

    assert show("It is dark.") == show("It is dark.") == ["It is dark."]
    assert show("It is dark.", "It is odd.") == ["It is dark. (and 1 more)"]
    assert show() == []


def test_a_structure_that_cannot_be_refitted_has_a_button_that_rebuilds_it(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy was chosen for a structure before, which could be."""
    draw = PaintedMaker.draw

    def refuse(self: PaintedMaker, scene: Any, state: Any, *rest: Any) -> Any:
        settings = state.settings
        if settings.update.mode == "refit" and settings.render.hierarchy == "grid":
            raise CannotRefitError("Grid cannot be refitted: choose update rebuild or auto, or another structure.")
        return draw(self, scene, state, *rest)

    monkeypatch.setattr(PaintedMaker, "draw", refuse)
    document, banners = scene_window.document, scene_window.toasts
    document.change("settings.update.mode", "refit")
    Choices(document).choose_hierarchy("grid")
    qtbot.waitUntil(lambda: any(one.kind == "error" for one in banners.messages()))
    button = banners.messages()[-1].findChild(QPushButton, "instead")
    assert button.text() == "Rebuild every frame"
    button.click()
    assert document.state.settings.update.mode == "rebuild"
    qtbot.waitUntil(lambda: not banners.messages())


def test_what_a_model_names_outside_is_read_for_it_alone_by_a_button(
    scene_window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.obj").write_text("mtllib ../a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n")
    (tmp_path / "a.mtl").write_text("newmtl red\nKd 0.5 0.25 0.125\n")
    document = scene_window.document

    def opened(name: str) -> None:
        scene_window.open_files([str(tmp_path / name / "a.obj")])
        qtbot.waitUntil(lambda: not document.jobs and document.state.scene.names[0].endswith(f"{name}/a.obj"))

    def is_read() -> bool:
        return document.scene is not None and any(
            one.base_color[:3] == pytest.approx((0.5, 0.25, 0.125)) for one in document.scene.materials
        )

    opened("one")
    (banner,) = scene_window.toasts.messages()
    assert "outside the model's folder" in banner.sentence and not is_read()
    banner.findChild(QPushButton, "outside").click()
    qtbot.waitUntil(is_read)
    assert scene_window.toasts.messages() == [] and not document.state.settings.importer.allow_outside
    opened("two")
    assert not is_read()
    opened("one")
    assert is_read(), "what was allowed for a model is allowed while the program runs"


def test_a_rare_format_is_a_question(scene_window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.ac"
    path.write_text(AC3D)
    document = scene_window.document
    before = document.state.scene
    scene_window.open_files([str(path)])
    qtbot.waitUntil(lambda: bool(scene_window.toasts.messages()))
    (banner,) = scene_window.toasts.messages()
    assert "the format .ac is rare" in banner.sentence and document.state.scene == before
    banner.findChild(QPushButton, "trust").click()
    qtbot.waitUntil(lambda: document.state.scene.names == (str(path),))
    assert document.scene is not None and document.scene.triangle_count == 1
    assert not document.state.settings.importer.all_formats, "for this file alone"


def test_a_picture_of_a_scene_elsewhere_is_a_question(scene_window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "away" / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    state = State(scene=SceneReference("files", (str(tmp_path / "away" / "one.obj"),)))
    path = tmp_path / "pictures" / "one.png"
    save_png(path, np.zeros((2, 2, 4), np.uint8), texts_of(state))
    document = scene_window.document
    before = document.state.scene
    scene_window.open_files([str(path)])
    qtbot.waitUntil(lambda: bool(scene_window.toasts.messages()))
    (banner,) = scene_window.toasts.messages()
    assert "outside the picture's folder" in banner.sentence and document.state.scene == before
    banner.findChild(QPushButton, "trust").click()
    qtbot.waitUntil(lambda: document.state.scene == state.scene)
    assert document.scene is not None and document.scene.triangle_count == 1
    assert not document.state.settings.importer.allow_outside, "for this picture alone"
