"""Bookmarks are kept a scene, read back as they were, and a file that is not one is put aside, not overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.document.document import Document
from raygrove.app.document.state import Bookmark, SceneReference
from raygrove.app.problems.problem import Problem
from raygrove.app.user_files import bookmarks
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene

HERE, THERE = SceneReference("demo", ("orbit",)), SceneReference("files", ("a/b.glb", "a/c.glb"))
TWO = (
    Bookmark("from “above”", Camera(eye=(0.0, 1 / 3, 1e9), orthographic=True, height=0.1)),
    Bookmark("[near]", Camera(near=0.5, far=2.0), 7.25),
)


def test_each_scene_has_its_own(tmp_path: Path) -> None:
    path = tmp_path / "new" / "cameras.toml"
    bookmarks.save(HERE, TWO, path)
    bookmarks.save(THERE, TWO[1:], path)
    assert bookmarks.load(HERE, path) == TWO and bookmarks.load(THERE, path) == TWO[1:]
    bookmarks.save(HERE, (), path)
    assert bookmarks.load(HERE, path) == () and bookmarks.load(THERE, path) == TWO[1:]
    assert [one.name for one in path.parent.iterdir()] == ["cameras.toml"]


@pytest.mark.parametrize(
    "text",
    ["not TOML", "bookmark = 3", "[[bookmark]]\nscene = 'demo:orbit'", "[[bookmark]]\nscene = 'demo:orbit'\nname = "
    "'a'\nfov = 300.0",
     "[[bookmark]]\nscene = 'demo:orbit'\nname = 'a'\neye = [1, 2]", "[[bookmark]]\nscene = 'demo:orbit'\nname = "
     "'a'\nzoom = 1", "\udc80"],
)  # fmt: skip
def test_a_file_that_is_none_is_put_aside(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cameras.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(bookmarks.BookmarksError, match="cannot be read"):
        bookmarks.load(HERE, path)
    assert not path.exists() and (tmp_path / "cameras.toml.bad").exists()
    assert bookmarks.load(HERE, path) == ()


def test_a_scene_whose_name_is_no_utf_8_has_its_own(tmp_path: Path) -> None:
    path, names = tmp_path / "cameras.toml", ("/models/\udcff.obj", "/models/\udcfe.obj", "/models/é.obj")
    for name in names:
        bookmarks.save(SceneReference("files", (name,)), (Bookmark(f"of {name[-5:-4]!r}", Camera()),), path)
    for name in names:
        assert [one.name for one in bookmarks.load(SceneReference("files", (name,)), path)] == [f"of {name[-5:-4]!r}"]


def test_the_document_keeps_them_and_undoes_them(document: Document, moving_scene: Scene) -> None:
    document.set_scene(HERE, moving_scene)
    document.change("bookmarks", TWO)
    document.undo()
    assert bookmarks.load(HERE) == ()
    document.redo()
    document.set_scene(THERE, moving_scene)
    assert document.state.bookmarks == ()
    document.set_scene(HERE, moving_scene)
    assert document.state.bookmarks == TWO and not document.can_undo


def test_a_broken_file_is_a_problem_and_the_scene_opens(document: Document, moving_scene: Scene) -> None:
    problems: list[Problem] = []
    document.on_problem.append(problems.append)
    bookmarks.file_of_user().parent.mkdir(parents=True, exist_ok=True)
    bookmarks.file_of_user().write_text("broken")
    document.set_scene(HERE, moving_scene)
    assert document.scene is moving_scene and len(problems) == 1 and "cameras.toml" in problems[0].sentence
