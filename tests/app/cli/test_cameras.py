"""`--camera` and `--camera-path`: names, mistakes, frames by their number, and the same pictures as the camera by
itself."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.camera.path import CameraPath
from raygrove.app.cli.arguments import parse
from raygrove.app.cli.cameras import looked_through
from raygrove.app.cli.common import camera_from
from raygrove.app.cli.main import main
from raygrove.app.cli.view import _FirstLook
from raygrove.app.document.document import Document
from raygrove.app.document.opening import cameras_of
from raygrove.app.document.state import Bookmark, SceneReference, State
from raygrove.app.problems.problem import Problem
from raygrove.app.problems.problems import UsageError
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.user_files import bookmarks
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene, SceneCamera

ORBIT = SceneReference("demo", ("orbit",))
MARKS = (
    Bookmark("Near", Camera(eye=(0.0, 1.0, 6.0)), 0.5),
    Bookmark("Far", Camera(eye=(6.0, 3.0, 6.0), fov=30.0), 0.5),
)
SMALL = ["render", "--demo", "orbit", "--device", "cpu", "--size", "24x16", "--json", "--set", "demo.triangles=200"]


def frames(capsys: pytest.CaptureFixture[str], *flags: str) -> list[Any]:
    assert main([*SMALL, *flags]) == 0
    return list(json.loads(capsys.readouterr().out)["frames"])


def refused(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, str]:
    code = main([*SMALL, *flags])
    return code, capsys.readouterr().err


def test_a_path_is_drawn_as_its_cameras_are_one_by_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Ten frames per second over half a second: six cameras, each at its frame's number; the file's and the kept
    bookmarks are the same path."""
    file = tmp_path / "flight.toml"
    bookmarks.save(ORBIT, MARKS, file)
    bookmarks.save(ORBIT, MARKS)
    drawn = frames(capsys, "--camera-path", str(file), "--fps", "10", "--time", "0.2")
    assert [one["frame"] for one in drawn] == list(range(6)) and {one["time"] for one in drawn} == {0.2}
    kept = frames(capsys, "--camera-path", "bookmarks", "--fps", "10", "--time", "0.2")
    assert [one["image_sha256"] for one in kept] == [one["image_sha256"] for one in drawn] and len(
        {one["image_sha256"] for one in drawn}
    ) == 6
    ends = [
        frames(capsys, "--camera", name, "--time", "0.2", "--fps", "10")[0]["image_sha256"] for name in ("near", "FAR")
    ]
    assert ends == [drawn[0]["image_sha256"], drawn[-1]["image_sha256"]]
    some = frames(capsys, "--camera-path", str(file), "--fps", "10", "--frames", "4:6")
    assert [one["frame"] for one in some] == [4, 5]


def test_mistakes_are_sentences(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, words = refused(capsys, "--camera-path", "bookmarks")
    assert code == 2 and "there are none" in words
    code, words = refused(capsys, "--camera-path", str(tmp_path / "gone.toml"))
    assert code in (1, 3) and "gone.toml" in words
    broken = tmp_path / "broken.toml"
    broken.write_text("[[bookmark]]\nname = 'x'\nseconds = 0\n")
    code, words = refused(capsys, "--camera-path", str(broken))
    assert code == 3 and "seconds = 0" in words and broken.exists(), "what someone gave is not put aside"
    code, words = refused(capsys, "--camera-path", str(broken), "--turntable", "3", "--fov", "40")
    assert code == 2 and "--fov and --turntable" in words
    bookmarks.save(ORBIT, MARKS)
    code, words = refused(capsys, "--camera", "nobody")
    assert code == 2 and "it has Near, Far, and free" in words
    code, words = refused(capsys, "--camera", "Near", "--eye", "1,2,3")
    assert code == 2 and "leave out --eye" in words


@pytest.mark.parametrize(("wanted", "index"), [("front door", 1), ("2", 2), ("free", 0)])
def test_cameras_of_the_file_are_named_or_numbered(wanted: str, index: int) -> None:
    scene: Scene = dataclasses.replace(
        make_demo("orbit", 200), cameras=(SceneCamera("Front door", 0), SceneCamera("", 0))
    )
    state = State(scene=ORBIT, cameras=cameras_of(scene))
    found = looked_through(parse(["render", "--camera", wanted], "0"), state, scene)
    assert found.views[0].camera == index and found.cameras == state.cameras
    with pytest.raises(UsageError, match="it has Front door, 2"):
        looked_through(parse(["render", "--camera", "3"], "0"), state, scene)


def test_the_seconds_of_a_bookmark_are_kept(tmp_path: Path) -> None:
    bookmarks.save(ORBIT, MARKS, tmp_path / "cameras.toml")
    assert bookmarks.load(ORBIT, tmp_path / "cameras.toml") == MARKS == bookmarks.read(tmp_path / "cameras.toml")
    assert CameraPath(MARKS).duration == 0.5


def test_a_picture_brings_what_is_hidden_and_flags_are_stronger(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = str(tmp_path / "one.png")
    flags = ["--out", picture, "--set", "clip.on=true", "--set", "clip.position=0.7"]
    (first,) = frames(capsys, "--hide", "0", *flags)
    words = ["render", picture, "--device", "cpu", "--json"]
    assert main(words) == 0
    (again,) = json.loads(capsys.readouterr().out)["frames"]
    assert again["image_sha256"] == first["image_sha256"]
    assert main([*words, "--hide", ""]) == 0
    (whole,) = json.loads(capsys.readouterr().out)["frames"]
    assert whole["image_sha256"] != first["image_sha256"]


def test_the_window_begins_as_flags_say() -> None:
    """What is hidden and the camera, once; the next scene is opened as always."""
    bookmarks.save(ORBIT, MARKS)
    scene = make_demo("orbit", 200)
    document = Document(set_option(Settings(), "start.hide", "0"))
    problems: list[Problem] = []
    document.on_problem.append(problems.append)
    document.on_scene.append(
        _FirstLook(parse(["view", "--demo", "orbit", "--hide", "0", "--camera", "far"], "0"), document)
    )
    document.set_scene(ORBIT, scene)
    assert document.state.hidden == (0,) and document.state.camera_of(0) == MARKS[1].camera and not problems
    document.set_scene(ORBIT, dataclasses.replace(scene, objects=()))
    assert document.state.hidden == () and not problems, "what was meant for one scene is no mistake in the next"


def test_names_that_no_object_has_are_told_once() -> None:
    scene, problems = make_demo("orbit", 200), list[Problem]()
    document = Document(set_option(Settings(), "start.hide", "vase_*"))
    document.on_problem.append(problems.append)
    document.set_scene(ORBIT, scene)
    document.set_scene(ORBIT, scene)
    assert [problem.title for problem in problems] == ["Nothing is hidden"] and "no object 'vase_*'" in problems[
        0
    ].sentence
    document.change("settings.start.hide", "lamp")
    document.set_scene(ORBIT, scene)
    assert len(problems) == 2 and "'lamp'" in problems[1].sentence


def test_a_lens_is_named_by_the_flag_that_it_has() -> None:
    flat = camera_from(parse(["render", "--orthographic", "7.5"], "0"), Camera(), Scene("near"))
    assert flat.orthographic and flat.height == 7.5
    seen = camera_from(parse(["render", "--fov", "30"], "0"), flat, Scene("near"))
    assert not seen.orthographic and seen.fov == 30.0
