"""File > Open a tree, as a person meets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog

from raygrove.app.document.scene_trees import is_tree_file
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.tree_files import save_tree
from raygrove.gpu.face.named_trees import forget_trees, is_awaited
from raygrove.gpu.hierarchy.bvh.own.tree import Tree


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    forget_trees()


def told_in(window: MainWindow) -> list[str]:
    return [banner.sentence for banner in window.toasts.messages()]


def test_a_chosen_file_is_the_structure_and_what_was_proved_is_said(
    scene_window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "theirs.rgtree"
    tree = Tree(children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, 1], count=[0, 1, 1], primitives=[0, 1])
    save_tree(tree, path)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *words: (str(path), ""))
    action = scene_window.commands.actions["file.open_tree"]
    action.trigger()
    document = scene_window.document
    qtbot.waitUntil(lambda: document.state.settings.render.hierarchy == "theirs")
    (said,) = told_in(scene_window)
    assert said.startswith("theirs.rgtree is the structure now, called theirs. The tree is sound: 3 nodes, ")
    assert "theirs (tree of a file)" in [title for _, title, _, _ in scene_window.session.choices.hierarchies()]
    save_tree(Tree(children=[[0, 0]], first=[0], count=[1], primitives=[0]), tmp_path / "lost.rgtree")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *words: (str(tmp_path / "lost.rgtree"), ""))
    action.trigger()
    qtbot.waitUntil(lambda: any("Primitive 1 is in no leaf" in text for text in told_in(scene_window)))
    assert told_in(scene_window)[0].startswith("The tree cannot be used. "), "the scene was not harmed"
    assert document.state.settings.render.hierarchy == "theirs"


@pytest.mark.parametrize("ending", ["rgtree", "npz"])
def test_a_tree_that_is_dropped_is_the_structure_of_the_open_scene(
    scene_window: MainWindow, qtbot: Any, tmp_path: Path, ending: str
) -> None:
    columns = {"children": [[1, 2], [0, 0], [0, 0]], "first": [0, 0, 1], "count": [0, 1, 1], "primitives": [0, 1]}
    path, scene = tmp_path / f"dropped.{ending}", scene_window.document.scene
    if ending == "npz":
        np.savez(path, **{name: np.array(rows, np.int32) for name, rows in columns.items()})
    else:
        save_tree(Tree(**columns), path)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    scene_window.dropEvent(QDropEvent(QPointF(5, 5), copy, data, left, none))
    qtbot.waitUntil(lambda: scene_window.document.state.settings.render.hierarchy == "dropped")
    assert told_in(scene_window)[0].startswith(f"dropped.{ending} is the structure now, called dropped. ")
    assert scene_window.document.scene is scene
    assert not is_tree_file(str(tmp_path / "two.obj")) and not is_tree_file(str(tmp_path / "nothing.npz"))


def test_without_a_scene_there_is_nothing_that_a_tree_is_over(window: MainWindow) -> None:
    window.commands.actions["file.open_tree"].trigger()
    assert any("open that scene first" in text for text in told_in(window))
    window.session.notices.clear("tree")
    window.open_files(["theirs.rgtree"])
    assert any("open that scene first" in text for text in told_in(window))


def test_settings_that_bring_a_tree_have_it_read_over_the_scene_that_is_open(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "two.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    window.open_files([str(tmp_path / "two.obj")])
    qtbot.waitUntil(lambda: window.document.scene is not None)
    tree = Tree(children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, 1], count=[0, 1, 1], primitives=[0, 1])
    save_tree(tree, tmp_path / "theirs.rgtree")
    settings = tmp_path / "with_tree.toml"
    settings.write_text('trees.files = "theirs=theirs.rgtree"\n[render]\nhierarchy = "theirs"\n')
    window.open_files([str(settings)])
    assert is_awaited("theirs")
    qtbot.waitUntil(lambda: not is_awaited("theirs"))
    assert window.document.state.settings.render.hierarchy == "theirs"
