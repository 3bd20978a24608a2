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

from raygrove.app.document.scene_trees import is_tree_file, read_tree
from raygrove.app.scene_io.errors import TreeOfSceneError
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.tree_files import save_tree
from raygrove.gpu.analysis.validation import boxes_of
from raygrove.gpu.face.clips import Clip
from raygrove.gpu.face.named_trees import forget_trees, is_awaited
from raygrove.gpu.hierarchy.bvh.own.tree import Tree
from tests.gpu.analysis.test_diagnosis import refitted
from tests.gpu.analysis.test_validation import halved


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


def planted(fault: str) -> Tree:
    """A tree over the triangles of a grid, with a fault."""
    vertices, triangles = grid()
    boxes = boxes_of(vertices, triangles)
    tree = halved(np.zeros_like(boxes) if fault.startswith("zero") else boxes, 2)
    if fault == "zeros refitted":
        tree = refitted(tree, boxes)
    elif fault == "root-sized":
        tree["bounds"][:] = tree["bounds"][0]
    elif fault == "lost":
        tree["count"][np.flatnonzero(tree["count"] > 1)[3]] -= 1
    elif fault == "stale":
        tree["bounds"] += np.float32(0.5)
    return Tree(**tree)


def grid() -> tuple[np.ndarray, np.ndarray]:
    """Triangles side by side, in an order of their numbers that knows nothing of space."""
    places = np.random.default_rng(4).permutation(256)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    at = np.stack([places % 16, places // 16, np.zeros(256)], axis=1).astype(np.float32)
    return (2.0 * at[:, None] + corners).reshape(-1, 3), np.arange(768, dtype=np.int32).reshape(-1, 3)


@pytest.mark.parametrize(
    ("fault", "sentence", "is_used"),
    [
        ("zeros", "All boxes of the tree are zero: it was built over a buffer of zeros and never updated.", True),
        ("zeros refitted", "it was built where all boxes were alike, over zeros, say, and only refitted since.", True),
        ("root-sized", "have a box as large as the root's: every ray tests every primitive.", True),
        ("stale", "the tree is of another pose. Update the tree (refit or rebuild)", True),
        ("lost", "is in no leaf that the root leads to. Look at how the builder divides", False),
        ("", "The tree is sound: ", True),
    ],
)
def test_what_made_a_tree_bad_is_said(tmp_path: Path, fault: str, sentence: str, is_used: bool) -> None:
    path, scene = tmp_path / "planted.rgtree", Clip(grid()[0][None], grid()[1]).to_plain()
    save_tree(planted(fault), path)
    if not is_used:
        with pytest.raises(TreeOfSceneError) as refused:
            read_tree(str(path), scene, [0.0], judges=True)
        assert sentence in str(refused.value)
        return
    found = read_tree(str(path), scene, [0.0], judges=True)
    assert sentence in " ".join(found.judged or found.sentences) and bool(found.judged) == bool(fault)
    assert not read_tree(str(path), scene, [0.0]).judged, "a start does not wait for it"


def test_a_tree_that_was_refitted_alone_is_told_at_a_later_instant(tmp_path: Path) -> None:
    """Of a clip whose triangles change places: the boxes are right at its end, the links are those of its beginning."""
    vertices, triangles = grid()
    late = np.random.default_rng(5).permutation(vertices.reshape(-1, 3, 3)).reshape(-1, 3)
    poses = np.stack([vertices + np.float32(step / 4) * (late - vertices) for step in range(5)])
    clip = Clip(poses, triangles, fps=4.0)
    save_tree(
        Tree(**refitted(halved(boxes_of(vertices, triangles), 2), boxes_of(late, triangles))), tmp_path / "a.rgtree"
    )
    found = read_tree(str(tmp_path / "a.rgtree"), clip.to_plain(), (0.0, 1.0), judges=True)
    assert found.is_valid and found.time == 1.0
    assert "The tree fits the pose at 0 s, and was refitted alone since: rays cost" in found.judged[0]
    assert found.judged[0].endswith(".")
