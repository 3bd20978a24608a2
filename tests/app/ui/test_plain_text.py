"""Names from files are shown as they are: no HTML, no mnemonics (review S2)."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QTextDocument
from PySide6.QtWidgets import QMenu

from raygrove.app.document.state import SceneReference
from raygrove.app.ui import plain_text
from raygrove.app.ui.menus import recent_menu
from raygrove.app.ui.panels.objects_panel import ObjectsPanel
from raygrove.app.ui.plain_text import Label, menu_text, tip
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Scene

HOSTILE = "<b>bold</b> & <img src='x'> a < b"
ROOM = Path(plain_text.__file__).parent


def test_a_label_shows_its_text(qtbot: Any) -> None:
    label = Label(HOSTILE)
    qtbot.addWidget(label)
    assert label.text() == HOSTILE and label.textFormat() == Qt.TextFormat.PlainText


def test_a_tip_shows_its_text(qtbot: Any) -> None:
    page = QTextDocument()
    page.setHtml(tip(HOSTILE + "\nsecond line"))
    assert page.toPlainText() == HOSTILE + "\nsecond line"
    assert tip("plain & simple") == "plain & simple" and menu_text("a & b") == "a && b"


def test_labels_of_qt_are_made_in_one_place() -> None:
    """A label that may show a name must not take it for HTML: whoever wants HTML says so."""
    calls = [
        f"{path.relative_to(ROOM)}:{node.lineno}"
        for path in sorted(ROOM.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "QLabel"
    ]
    assert calls == []
    rich = {path.name for path in ROOM.rglob("*.py") if "RichLabel(" in path.read_text()}
    assert rich == {"plain_text.py", "settings_page.py", "cost_panel.py"}


def test_names_of_objects_and_files_are_shown_as_they_are(qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "<b>model & more.obj"
    path.write_text("v 0 0 0\n")
    menu, memory = QMenu(), Memory()
    memory.add_recent([str(path)])
    recent_menu.fill(menu, memory, lambda files: None, lambda: None)
    assert menu.actions()[0].text() == str(path).replace("&", "&&")


def test_tips_of_the_pipeline_show_names_of_files_and_clips(window: MainWindow, moving_scene: Scene) -> None:
    clips = tuple(dataclasses.replace(clip, name=HOSTILE) for clip in moving_scene.clips)
    named = dataclasses.replace(moving_scene, name=HOSTILE, clips=clips)
    window.document.set_scene(SceneReference("files", (HOSTILE,)), named)
    assert clips
    chip = window.pipeline.bar.chips["scene"]
    chip.event(QHelpEvent(QEvent.Type.ToolTip, QPoint(2, 2), QPoint(2, 2)))
    window.pipeline.open("motion")
    assert window.pipeline.sheet is not None
    members = window.pipeline.sheet.members
    tips = [chip.toolTip(), *(members.item(row).toolTip() for row in range(members.count()))]
    window.pipeline.sheet.close()
    shown = []
    for words in tips:
        page = QTextDocument()
        page.setHtml(words)  # as Qt takes what looks like HTML
        shown.append(page.toPlainText())
    assert "<img src='x'> a < b" in shown[0] and any(HOSTILE in words for words in shown[1:]), shown


def test_a_tip_of_an_object_shows_its_name(window: MainWindow, moving_scene: Scene) -> None:
    named = dataclasses.replace(
        moving_scene, nodes=tuple(dataclasses.replace(n, name=HOSTILE) for n in moving_scene.nodes)
    )
    window.document.set_scene(SceneReference("demo", ("orbit",)), named)
    model = window.findChild(ObjectsPanel, "objects").view.model()
    page = QTextDocument()
    page.setHtml(model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole))
    assert page.toPlainText().startswith(HOSTILE) and model.index(0, 0).data().startswith(HOSTILE)
