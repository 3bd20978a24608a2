"""Trees of files over the open scene: read, proved, structures by their names, kept in settings, and left behind with
the scene."""

from __future__ import annotations

import dataclasses
import os
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.document import scene_trees
from raygrove.app.document.document import Document
from raygrove.app.document.opening import open_scene
from raygrove.app.document.saved_state import state_of, texts_of
from raygrove.app.document.scene_trees import ReadTree, is_tree_file, open_tree
from raygrove.app.document.state import SceneReference
from raygrove.app.problems.problem import Problem
from raygrove.app.scene_io import SceneError
from raygrove.app.scene_io.particles.formats import form_of
from raygrove.app.settings.file import settings_of, settings_text, user_file
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.settings.tree_options import trees_of
from raygrove.gpu.analysis.frame_bounds import with_frames
from raygrove.gpu.analysis.tree_files import save_tree
from raygrove.gpu.analysis.validation import boxes_of
from raygrove.gpu.face.clips import Clip
from raygrove.gpu.face.given_trees import expect_tree
from raygrove.gpu.face.named_trees import forget_trees, frames_of, is_awaited
from raygrove.gpu.hierarchy.bvh.own.tree import Tree
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    forget_trees()


def written(path: Path, scene: Scene, at: float = 0.0, *, says_scene: bool = True) -> Path:
    """A tree of two leaves over a scene's two triangles, with its boxes at an instant."""
    mesh = Clip.from_plain(scene).at(at)
    boxes = boxes_of(*mesh)
    root = np.concatenate([boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)])
    bounds = np.vstack([root, boxes])
    tree = Tree(
        children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, 1], count=[0, 1, 1], primitives=[0, 1], bounds=bounds
    )  # fmt: skip
    save_tree(tree, path, "by hand", scene=mesh if says_scene else None)
    return path


def opened(document: Document, path: Path) -> tuple[list[tuple[str, ReadTree]], list[Problem]]:
    """What opening a tree's file told, once it has ended."""
    heard: list[tuple[str, ReadTree]] = []
    problems: list[Problem] = []
    document.on_problem.append(problems.append)
    open_tree(document, str(path), lambda name, found: heard.append((name, found)))
    until(document, lambda: bool(heard or problems))
    return heard, problems


def until(document: Document, is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 30.0
    while not is_so():
        assert time.monotonic() < end
        document.mailroom.poll()


@pytest.fixture
def shown(document: Document, moving_scene: Scene) -> Document:
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    return document


def test_a_file_becomes_the_structure_as_one_step_of_undo(shown: Document, moving_scene: Scene, tmp_path: Path) -> None:
    shown.change("settings.render.layout", "cwbvh")
    path = written(tmp_path / "My tree-2.rgtree", moving_scene)
    heard, problems = opened(shown, path)
    assert not problems and heard[0][0] == "my_tree_2" and heard[0][1].is_valid
    assert heard[0][1].sentences[0].startswith("The tree is sound: 3 nodes, 2 references")
    render = shown.state.settings.render
    assert (render.hierarchy, render.layout) == ("my_tree_2", "cwbvh")
    assert structures()["my_tree_2"].title == "my_tree_2 (tree of a file)"
    assert opened(shown, path)[0][0][0] == "my_tree_2", "the same file has its name again"
    other = written(tmp_path / "lbvh.rgtree", moving_scene)
    assert opened(shown, other)[0][0][0] == "lbvh_2", "a name that is taken"
    shown.undo()
    assert shown.state.settings.render.hierarchy == "my_tree_2"
    shown.undo()
    assert shown.state.settings.render.hierarchy == "lbvh" and not shown.state.settings.trees.files
    shown.redo()
    assert trees_of(shown.state.settings.trees) == {"my_tree_2": str(path)}


def test_a_tree_of_the_instant_at_the_head_is_one_of_this_scene(
    shown: Document, moving_scene: Scene, tmp_path: Path
) -> None:
    path = written(tmp_path / "later.rgtree", moving_scene, at=0.25)
    _, problems = opened(shown, path)
    assert "another scene, or of another instant" in problems[0].sentence
    assert shown.state.settings == Settings()
    shown.change("timeline", dataclasses.replace(shown.state.timeline, time=0.25, is_playing=False))
    heard, _ = opened(shown, path)
    assert heard[0][1].time == shown.state.settings.trees.time == 0.25
    reread = open_scene(SceneReference("demo", ("cloth",)), set_option(Settings(), "demo.triangles", 2000))
    with pytest.raises(SceneError, match="another scene"):
        scene_trees.with_trees(reread, shown.state.settings.trees)


def test_boxes_of_another_instant_are_said_and_computed_anew(
    shown: Document, moving_scene: Scene, tmp_path: Path
) -> None:
    path = written(tmp_path / "stale.rgtree", moving_scene, at=0.5, says_scene=False)
    heard, problems = opened(shown, path)
    assert not problems and not heard[0][1].is_valid and heard[0][1].tree.bounds is None
    assert "does not hold primitive 0" in heard[0][1].sentences[0]
    scene = scene_trees.with_trees(moving_scene, shown.state.settings.trees)
    assert len(scene.remarks) == 1 and "does not hold primitive 0" in scene.remarks[0].sentence


def test_a_tree_that_does_not_say_its_instant_is_one_of_the_head_where_it_fits(
    shown: Document, moving_scene: Scene, tmp_path: Path
) -> None:
    path = written(tmp_path / "now.rgtree", moving_scene, at=0.5, says_scene=False)
    shown.change("timeline", dataclasses.replace(shown.state.timeline, time=0.5, is_playing=False))
    heard, _ = opened(shown, path)
    assert heard[0][1].is_valid and heard[0][1].time == shown.state.settings.trees.time == 0.5
    assert not scene_trees.with_trees(moving_scene, shown.state.settings.trees).remarks


def test_what_is_no_tree_over_the_scene_changes_nothing(shown: Document, moving_scene: Scene, tmp_path: Path) -> None:
    path = tmp_path / "lost.rgtree"
    save_tree(Tree(children=[[0, 0]], first=[0], count=[1], primitives=[1]), path)
    _, problems = opened(shown, path)
    assert "lost.rgtree" in problems[0].sentence and "Primitive 0 is in no leaf" in problems[0].sentence
    (tmp_path / "cut.rgtree").write_bytes(b"\xff" * 12)
    _, problems = opened(shown, tmp_path / "cut.rgtree")
    assert "its first eight bytes give a header" in problems[0].sentence
    shown.close_scene()
    _, problems = opened(shown, path)
    assert "open that scene first" in problems[0].sentence
    assert shown.state.settings == Settings() and "lost" not in structures()


def test_a_tree_stays_with_its_scene(shown: Document, moving_scene: Scene, tmp_path: Path) -> None:
    opened(shown, written(tmp_path / "theirs.rgtree", moving_scene))
    shown.change("settings.race.contestants", "theirs@refit, hploc")
    shown.set_scene(shown.state.scene, moving_scene, keep_view=True)
    assert shown.state.settings.render.hierarchy == "theirs"
    shown.set_scene(SceneReference("demo", ("other",)), moving_scene)
    settings = shown.state.settings
    assert (settings.render.hierarchy, settings.race.contestants, settings.trees.files) == ("lbvh", "hploc", "")
    assert "theirs" not in structures()


def test_a_sensor_stays_with_its_node(shown: Document, moving_scene: Scene) -> None:
    """In another scene there is no such node, and no picture; a sensor that hangs on none goes along."""
    other = SceneReference("demo", ("other",))
    for text, after in (("lidar:node=1", "picture"), ("lidar:rows=4", "lidar:rows=4"), ("picture", "picture")):
        shown.change("settings.rays.measured", text)
        shown.set_scene(shown.state.scene, moving_scene, keep_view=True)
        assert shown.state.settings.rays.measured == text
        shown.set_scene(other, moving_scene)
        assert shown.state.settings.rays.measured == after
        other = SceneReference("demo", (f"after {text}",))
    shown.change("settings.rays.measured", "dome:node=1")
    shown.close_scene()
    assert shown.state.settings.rays.measured == "picture"


def test_a_tree_that_was_read_for_a_scene_that_was_left_is_no_structure(
    shown: Document, moving_scene: Scene, tmp_path: Path
) -> None:
    """A scene is read on a thread of its own, which may come to its tree after the next scene was opened."""
    found = scene_trees.read_tree(str(written(tmp_path / "theirs.rgtree", moving_scene)), moving_scene, [0.0])
    expect_tree("theirs")
    shown.set_scene(SceneReference("demo", ("other",)), moving_scene)
    found.use("theirs")
    assert "theirs" not in structures() and not is_awaited("theirs")
    expect_tree("theirs")
    found.use("theirs")
    assert "theirs" in structures() and not is_awaited("theirs")


def test_settings_and_pictures_name_trees_before_what_they_are_used_for(
    shown: Document, moving_scene: Scene, tmp_path: Path
) -> None:
    path = written(tmp_path / "theirs.rgtree", moving_scene)
    opened(shown, path)
    texts, kept = texts_of(shown.state), settings_text(shown.state.settings)
    forget_trees()
    assert "theirs" not in structures()
    settings = settings_of(kept, tmp_path / "some.toml")
    assert settings.render.hierarchy == "theirs" and trees_of(settings.trees) == {"theirs": str(path)}
    assert scene_trees.unread(settings.trees) == ("theirs",)
    scene_trees.with_trees(moving_scene, settings.trees)
    assert scene_trees.unread(settings.trees) == ()
    forget_trees()
    beside = 'render.hierarchy = "theirs"\ntrees.files = "theirs=theirs.rgtree"\n'
    assert trees_of(settings_of(beside, tmp_path / "some.toml").trees) == {"theirs": str(path)}
    forget_trees()
    remarks: list[str] = []
    assert state_of(texts, "/elsewhere/picture.png", remarks=remarks).settings.render.hierarchy == "theirs"
    assert len(remarks) == 1 and "theirs.rgtree is read" in remarks[0]


def test_settings_that_are_saved_name_no_tree(shown: Document, moving_scene: Scene, tmp_path: Path) -> None:
    shown.change("settings.render.samples", 4)
    opened(shown, written(tmp_path / "theirs.rgtree", moving_scene))
    assert shown.save_settings().startswith("Saved")
    assert user_file().read_text().split() == ["[render]", "samples", "=", "4"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theirs", "NAME=FILE"),
        ("a=x;a=y", "each name once"),
        ("lbvh=x.rgtree", "builder called lbvh already"),
        ("Not a name=x.rgtree", "small letters"),
    ],
)
def test_what_names_no_trees(text: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        set_option(Settings(), "trees.files", text)


def test_boxes_of_frames_are_kept_as_the_file_has_them(shown: Document, moving_scene: Scene, tmp_path: Path) -> None:
    """For who draws them; a build has none, and another file of the name ends them."""
    mesh = Clip.from_plain(moving_scene).at(0.0)
    plain = Tree(children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, 1], count=[0, 1, 1], primitives=[0, 1])
    made = with_frames(plain, [0.0, 0.5], lambda at: boxes_of(*Clip.from_plain(moving_scene).at(at)))
    save_tree(made, tmp_path / "moves.rgtree", "by hand", scene=mesh)
    ((name, found),), problems = opened(shown, tmp_path / "moves.rgtree")
    kept = frames_of(name)
    assert not problems and kept is not None and found.tree.frame_bounds is None
    np.testing.assert_array_equal(kept.frame_bounds, made.frame_bounds)
    assert np.asarray(kept.frame_times).tolist() == [0.0, 0.5] and frames_of("lbvh") is None
    written(tmp_path / "moves.rgtree", moving_scene)
    assert opened(shown, tmp_path / "moves.rgtree")[0][0][0] == name and frames_of(name) is None


def test_raw_numbers_with_a_layout_beside_them_are_no_tree(tmp_path: Path) -> None:
    cloud = tmp_path / "cloud.bin"
    cloud.write_bytes(bytes(48))
    assert is_tree_file(str(cloud)) and is_tree_file(str(tmp_path / "bunny.save.bin"))
    (tmp_path / "cloud.bin.toml").write_text('fields = ["x", "y", "z"]')
    assert not is_tree_file(str(cloud)) and form_of(str(cloud)) == "bin"
    assert is_tree_file(str(tmp_path / "bunny.save.bin"))


def test_archives_that_cannot_be_listed_are_no_tree(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, children=[[0, 0]], first=[0], count=[1], primitives=[0])
    assert is_tree_file(str(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("\u00e9.npy", b"")
    data = path.read_bytes()
    place = data.rindex("\u00e9".encode())
    path.write_bytes(data[:place] + b"\xff\xff" + data[place + 2 :])
    assert not is_tree_file(str(path)), "a name that is no UTF-8"
    place = data.index(b"PK\x01\x02") + 6
    path.write_bytes(data[:place] + b"\xff" + data[place + 1 :])
    assert not is_tree_file(str(path)), "a version of zip that there is not"
    os.mkfifo(tmp_path / "pipe.npz")
    assert not is_tree_file(str(tmp_path / "pipe.npz")), "nobody writes into it, and opening it would wait"
