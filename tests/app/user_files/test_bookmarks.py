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


def named(*names: str, fov: float = 45.0) -> tuple[Bookmark, ...]:
    return tuple(Bookmark(name, Camera(fov=fov)) for name in names)


@pytest.mark.parametrize(
    ("before", "after", "there", "kept"),
    [
        ("a", "ab", "a", "ab"),  # nobody else has saved
        ("a", "ab", "ac", "abc"),  # another one was added there
        ("ab", "b", "abc", "bc"),  # one was deleted here
        ("ab", "abc", "b", "abc"),  # and one there: nothing is lost, though it comes back
        ("ab", "ba", "abc", "bac"),  # put in another order
        ("ab", "abc", "", "abc"),  # the file was put aside
    ],
)
def test_what_two_programs_keep_of_one_scene_is_merged(before: str, after: str, there: str, kept: str) -> None:
    assert bookmarks.merged(named(*before), named(*after), named(*there)) == named(*kept)


def test_bookmarks_of_one_name_by_two_programs_are_both_kept() -> None:
    """Both call their first one View 1; one of a name that both know is as the one says who changed it."""
    ours, theirs = named("View 1"), named("View 1", fov=30.0)
    second = named("View 1 (2)")
    assert bookmarks.merged((), ours, theirs) == (*second, *theirs), "the other one goes on calling its own so"
    assert bookmarks.merged(second, (*second, *named("View 2")), (*theirs, *second)) == (
        *second, *named("View 2"), *theirs,
    )  # fmt: skip
    assert bookmarks.merged(ours, named("View 1", fov=20.0), theirs) == named("View 1", fov=20.0)


def test_two_windows_with_one_scene_lose_none_of_their_bookmarks(
    own_folders: Path, moving_scene: Scene, tmp_path: Path
) -> None:
    """The second saved its own list over the first one's."""
    first, second = Document(), Document()
    for document in (first, second):
        document.set_scene(HERE, moving_scene)
    for number in range(4):
        document = (first, second)[number % 2]
        camera = Camera(fov=20.0 + number)
        document.change("bookmarks", (*document.state.bookmarks, Bookmark(f"View {number // 2 + 1}", camera)))
    assert sorted(one.camera.fov for one in bookmarks.load(HERE)) == [20.0, 21.0, 22.0, 23.0]
    assert len({one.name for one in bookmarks.load(HERE)}) == 4 and len(first.state.bookmarks) == 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("is_deleted", [True, False])
def test_each_window_changes_its_own_bookmark(
    order: tuple[int, int], is_deleted: bool, own_folders: Path, moving_scene: Scene
) -> None:
    """Both call their first one View 1: what one window deleted or changed was the other one's."""
    windows, fovs = (Document(), Document()), [20.0, 30.0]
    for document in windows:
        document.set_scene(HERE, moving_scene)
    for document, fov in zip(windows, fovs, strict=True):
        document.change("bookmarks", named("View 1", fov=fov))
    assert [document.state.bookmarks[0].name for document in windows] == ["View 1", "View 1 (2)"]
    for number in order:
        before = windows[number].state.bookmarks
        fovs[number] += 1.0
        windows[number].change("bookmarks", () if is_deleted else named(before[0].name, fov=fovs[number]))
        left = [fovs[1 - number]] if is_deleted and number == order[0] else [] if is_deleted else fovs
        assert sorted(one.camera.fov for one in bookmarks.load(HERE)) == left
    for number in order:
        windows[number].undo()
    assert sorted(one.camera.fov for one in bookmarks.load(HERE)) == [20.0, 30.0]


def test_observers_hear_the_name_that_is_kept(own_folders: Path, moving_scene: Scene) -> None:
    windows, heard = (Document(), Document()), list[str]()
    for document in windows:
        document.set_scene(HERE, moving_scene)
    windows[1].observe(lambda before, after: heard.extend(one.name for one in after.bookmarks))
    for fov, document in enumerate(windows, 20):
        document.change("bookmarks", named("View 1", fov=float(fov)))
    assert heard == ["View 1 (2)"]


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
