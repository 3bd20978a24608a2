"""What happened is said in place: banners that open their details, marks on panels, never a box that stands in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QDockWidget, QFileDialog, QPlainTextEdit, QPushButton, QToolButton

from app.problem import Problem
from app.ui.main_window import MainWindow
from app.ui.panel_bar import PanelBar
from tests.app.stand_ins import PaintedMaker


def test_one_error_is_counted_once_and_its_details_open_in_place(scene_window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.obj"
    bad.write_text("f 1 2 3\n")
    scene_window.open_files([str(bad)])
    qtbot.waitUntil(lambda: bool(scene_window.banners.messages()) and not scene_window.document.jobs, timeout=20000)
    assert scene_window.records.mark.text() == "1"
    (banner,) = scene_window.banners.messages()
    scene_window.show_problem(Problem("The scene cannot be opened", banner.sentence.partition(". ")[2], banner.details))
    assert scene_window.records.mark.text() == "1", "said again, it is still one thing"
    (banner,) = scene_window.banners.messages()
    full = banner.findChild(QPlainTextEdit, "full")
    assert full is not None and not full.isVisible()
    banner.findChild(QPushButton, "details").click()
    assert full.isVisible() and "Traceback" in full.toPlainText()
    assert QApplication.activeModalWidget() is None and not [box for box in scene_window.findChildren(QDialog) if box.isVisible()]
    assert banner.findChild(QPushButton, "copy").text() == "Copy details"


def test_a_panel_that_cannot_write_its_figures_says_so_itself(scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answers = iter([str(tmp_path / "absent" / "a.csv"), str(tmp_path / "a.csv")])
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (next(answers), ""))
    bar, mark = scene_window.stats_panel.findChild(PanelBar), scene_window.messages.panels.marks["stats"]
    dock = scene_window.findChild(QDockWidget, "dock.stats")
    bar.ask_and_save("csv")
    assert mark.isVisible() and "cannot be written" in mark.sentence and dock.windowTitle() == "Statistics ✕"
    assert scene_window.records.mark.text() == "1" and scene_window.banners.messages() == []
    mark.findChild(QToolButton, "copy").click()
    assert "absent" in QGuiApplication.clipboard().text()
    bar.ask_and_save("csv")
    assert not mark.isVisible() and dock.windowTitle() == "Statistics"


def test_every_panel_has_a_mark(scene_window: MainWindow) -> None:
    panels = scene_window.messages.panels
    assert set(panels.marks) == {dock.objectName().removeprefix("dock.") for dock in scene_window.docks}
    for name in panels.marks:
        panels.say(name, "warning", f"{name} is odd.")
        dock = scene_window.findChild(QDockWidget, f"dock.{name}")
        dock.show()
        assert panels.marks[name].isVisibleTo(dock) and dock.windowTitle().endswith("⚠")
        panels.marks[name].findChild(QToolButton, "close").click()
        assert not panels.marks[name].isVisibleTo(dock) and "⚠" not in dock.windowTitle()


def test_a_question_that_fails_marks_the_panel_that_asked(scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no answer")

    monkeypatch.setattr(PaintedMaker, "pick", fail)
    scene_window.commands.actions["view.dock.pick"].trigger()
    scene_window.inspectors.pick_at(0.5, 0.5)
    qtbot.waitUntil(lambda: "no answer" in scene_window.messages.panels.marks["pick"].sentence)
    assert scene_window.banners.messages() == [], "the picture is what it was"


def test_a_problem_of_a_hidden_panel_is_told_above_the_picture(scene_window: MainWindow) -> None:
    scene_window.show_problem(Problem("The bookmarks cannot be read", "cameras.toml: no.", panel="camera"))
    assert "cameras.toml" in scene_window.banners.messages()[0].sentence
    scene_window.banners.clear("problem")
    scene_window.findChild(QDockWidget, "dock.camera").show()
    scene_window.show_problem(Problem("The bookmarks cannot be read", "cameras.toml: no.", panel="camera"))
    assert scene_window.banners.messages() == [] and "cameras.toml" in scene_window.messages.panels.marks["camera"].sentence


def test_the_processor_says_that_it_stands_in_once(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.memory.hear_all()
    scene_window.messages.stand_in("target", "The processor draws.")
    (banner,) = scene_window.banners.messages()
    assert banner.findChild(QPushButton, "report").text() == "Copy report"
    banner.findChild(QPushButton, "silence").click()
    assert scene_window.banners.messages() == []
    scene_window.messages.stand_in("target", "The processor draws.")
    assert scene_window.banners.messages() == [] and scene_window.memory.is_silenced("target")
    scene_window.reset_layout()
    assert not scene_window.memory.is_silenced("target")
