"""Copied commands are run, copied settings are read: the pictures are those that were copied, byte for byte."""

from __future__ import annotations

import dataclasses
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raygrove.app.cli.arguments import parse
from raygrove.app.cli.main import main
from raygrove.app.document.jobs import Job
from raygrove.app.document.opening import cameras_of, open_scene
from raygrove.app.document.state import SceneReference, State
from raygrove.app.edits.objects import ObjectsError
from raygrove.app.frames import as_command, exporting
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.file import load_user_settings, user_file
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import fit
from raygrove.gpu.scene import Scene
from raygrove.program import COMMAND

SIZE = (64, 48)
SCENE = make_demo("walker", 500)
WALKER = SceneReference("demo", ("walker",))
FITTED = fit(SCENE.lower, SCENE.upper)
TILTED = dataclasses.replace(FITTED, eye=(-2.1, 1.7, 2.3), up=(0.1, 1.0, -0.2), fov=33.3)
CAMERAS = {
    "perspective": TILTED,
    "orthographic": dataclasses.replace(TILTED, orthographic=True, height=1.5, near=6.0),
}
CHANGED = {
    "demo.triangles": 500,
    "render.device": "cpu",
    "render.hierarchy": "hploc",
    "display.still_samples": 2,
    "ray_type.steps.maximum": 31,
}

Draw = Callable[..., np.ndarray]


def settings_of(values: dict[str, object]) -> Settings:
    settings = Settings()
    for key, value in values.items():
        settings = set_option(settings, key, value)
    return settings


def changed(camera: str) -> State:
    """The walker with everything that a person changes first."""
    ray_type = {"perspective": "steps", "orthographic": "flat"}[camera]
    state = State(
        WALKER, settings_of({**CHANGED, "render.ray_type": ray_type}), cameras=(CAMERAS[camera],), hidden=(1,)
    )
    return dataclasses.replace(state, timeline=dataclasses.replace(state.timeline, time=0.7))


@pytest.fixture
def exported(tmp_path: Path) -> Draw:
    """What File > Export writes of the instant that is shown."""

    def write(state: State, scene: Scene) -> np.ndarray:
        settings = exporting.with_samples(state.settings, exporting.smooth_samples(state.settings))
        for name, side in zip(("width", "height"), SIZE, strict=True):
            settings = set_option(settings, f"render.{name}", side)
        plan = exporting.ExportPlan(str(tmp_path / "exported.png"), ((0, state.timeline.time),), 30.0)
        exporting.export(Job("export"), dataclasses.replace(state, settings=settings), scene, plan)
        return pixels(tmp_path / "exported.png")

    return write


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Draw:
    """Run a command's words in a folder of its own; the picture."""
    monkeypatch.chdir(tmp_path)

    def call(words: Sequence[str]) -> np.ndarray:
        code = main(list(words))
        assert code == 0, capsys.readouterr().err
        return pixels(tmp_path / as_command.OUT)

    return call


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image)


def words_of(line: str) -> list[str]:
    """The words behind the program's name, as a shell splits them."""
    words = shlex.split(line)
    assert tuple(words[: len(COMMAND)]) == COMMAND
    return words[len(COMMAND) :]


def without(words: list[str], said: str) -> list[str]:
    """The words without a flag, or without the --set of a key."""
    if not said.startswith("--"):
        place = next(index for index, word in enumerate(words) if word.startswith(f"{said}="))
        return words[: place - 1] + words[place + 1 :]
    place = next(index for index, word in enumerate(words) if word.partition("=")[0] == said)
    return words[:place] + words[place + (1 if "=" in words[place] else 2) :]


@pytest.mark.parametrize("camera", CAMERAS)
def test_a_copied_command_draws_the_same_picture(camera: str, exported: Draw, run: Draw) -> None:
    """And none of its words is there for nothing: without one it is another picture."""
    state = changed(camera)
    words = words_of(as_command.command_line(state, SCENE, SIZE, Settings()))
    wanted = exported(state, SCENE)
    assert np.array_equal(run(words), wanted) and wanted.std() > 5.0
    lens = "--fov" if camera == "perspective" else "--orthographic"
    some = (lens, "camera.near") if camera == "orthographic" else (
        "--hierarchy", "--ray-type", "ray_type.steps.maximum", "--hide", "--time", "--eye", "--up", lens, "--samples",
    )  # fmt: skip
    for said in some:
        assert not np.array_equal(run(without(words, said)), wanted), said


def test_a_copied_configuration_draws_the_same_picture(exported: Draw, run: Draw, tmp_path: Path) -> None:
    state = changed("perspective")
    (tmp_path / "copied.toml").write_text(as_command.configuration(state, SCENE))
    view = as_command.view_words(state, SCENE, SIZE, Settings())
    words = ["render", "--demo", "walker", *view, "--out", as_command.OUT]
    wanted = exported(state, SCENE)
    assert np.array_equal(run([*words, "--settings", "copied.toml"]), wanted)
    assert not np.array_equal(run(words), wanted)


def test_settings_that_the_user_keeps_change_no_copied_picture(exported: Draw, run: Draw) -> None:
    state = State(WALKER, settings_of({"demo.triangles": 500, "display.still_samples": 1}), cameras=(FITTED,))
    wanted = exported(state, SCENE)
    user_file().parent.mkdir(parents=True)
    user_file().write_text(
        "[render]\nray_type = 'steps'\n[start]\nisolate = '1'\n[material.hip]\nroughness = 0.2\n[clip]\non = true\n"
    )
    own, warning = load_user_settings()
    words = as_command.words_of(state, SCENE, SIZE, own)
    assert not warning and words[(place := words.index("--isolate")) : place + 2] == ["--isolate", ""]
    assert {"--ray-type", "smooth", "material.hip.roughness=-1", "clip.on=false"} <= set(words)
    assert np.array_equal(run(words), wanted)
    assert not np.array_equal(run(without(words, "--isolate")), wanted)
    assert as_command.words_of(state, SCENE, SIZE, Settings())[:5] == [
        "render",
        "--demo",
        "walker",
        "--set",
        "demo.triangles=500",
    ]


def test_a_file_far_away_with_a_name_that_a_shell_would_split(
    exported: Draw, run: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path, quotes, blanks and a dollar sign in it, and a model that is not near the origin."""
    name = 'it\'s "a" $HOME; `x` \\ & é.obj'
    (tmp_path / name).write_text("v 1000001 2 3\nv 1000002 2 3.5\nv 1000001.5 3 3\nf 1 2 3\n")
    monkeypatch.chdir(tmp_path)
    reference, settings = SceneReference("files", (name,)), settings_of({"display.still_samples": 1})
    scene = open_scene(reference, settings)
    assert scene.origin[0] > 1e5, "the reader has moved it"
    state = State(reference, settings, cameras=cameras_of(scene))
    line = as_command.command_line(state, scene, SIZE, Settings())
    split = subprocess.run(["sh", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True, cwd="/").stdout
    words = split.decode().split("\0")[len(COMMAND) : -1]
    assert words == words_of(line) and words[:2] == ["render", str(tmp_path / name)]
    wanted = exported(state, scene)
    assert wanted.std() > 5.0 and np.array_equal(run(words), wanted)


def test_objects_are_said_so_that_no_other_is_meant() -> None:
    """By number, or by name where another object has that number for its name, or with its brackets escaped."""

    def named(*names: str) -> Scene:
        nodes = tuple(dataclasses.replace(SCENE.nodes[0], name=name) for name in names)
        things = tuple(dataclasses.replace(SCENE.objects[0], node=index) for index in range(len(names)))
        return dataclasses.replace(SCENE, nodes=nodes, objects=things)

    def said(scene: Scene, *hidden: int) -> list[str]:
        state = State(WALKER, hidden=hidden)
        words = as_command.words_of(state, scene, SIZE, Settings())
        place = next(index for index, word in enumerate(words) if word in ("--hide", "--isolate"))
        return words[place : place + 2]

    assert said(named("a", "b", "c"), 2) == ["--hide", "2"]
    assert said(named("a", "b", "c"), 1, 2) == ["--isolate", "0"]
    assert said(named("a", "b"), 0, 1) == ["--hide", "0;1"]
    assert said(named("1", "lamp", "c"), 1) == ["--hide", "lamp"]
    assert said(named("1", "[x]", "x"), 1) == ["--hide", "[[]x]"]
    with pytest.raises(ObjectsError, match="rename it"):
        said(named("1", "b;c", "c"), 1)


def test_the_clip_that_is_shown_is_said() -> None:
    clips = (dataclasses.replace(SCENE.clips[0], name="1"), dataclasses.replace(SCENE.clips[0], name="run"))
    scene = dataclasses.replace(SCENE, clips=clips)
    state = State(WALKER, cameras=(FITTED,))
    shown = dataclasses.replace(state, timeline=dataclasses.replace(state.timeline, clip=1))
    assert as_command.drawn_settings(state, scene).timeline.clip == ""
    assert as_command.drawn_settings(shown, scene).timeline.clip == "run", (
        "a clip that is called 1 would be taken for it"
    )


def test_a_race_is_said_with_the_camera_and_all_that_is_shown() -> None:
    state = changed("orthographic")
    settings = set_option(state.settings, "statistics.traversal_cost", 2.0)
    state = dataclasses.replace(state, settings=set_option(settings, "update.mode", "refit"))
    words = shlex.split(as_command.race_line(state, SCENE, Settings(), ("lbvh@refit", "hploc")))
    names = parse(words[words.index("race") :], "1")
    assert names.command == "race" and names.demo == "walker" and names.contestants == ("lbvh@refit", "hploc")
    assert names.orthographic == 1.5 and names.eye == TILTED.eye and names.hide == "1" and names.ray_type == "flat"
    assert dict(names.set) == {
        "demo.triangles": "500", "statistics.traversal_cost": "2", "ray_type.steps.maximum": "31", "camera.near": "6",
    }  # fmt: skip
    own = set_option(set_option(Settings(), "render.layout", "bvh2"), "update.mode", "auto")
    words = shlex.split(as_command.race_line(state, SCENE, own, ("lbvh", "hploc")))
    said = dict(parse(words[words.index("race") :], "1").set)
    assert (said["render.layout"], said["update.mode"]) == ("auto", "rebuild"), "pictures had none of the user's own"
    for rays in ("dome:node=head", "/somewhere/rays.npz"):
        measured = dataclasses.replace(state, settings=set_option(state.settings, "rays.measured", rays))
        words = shlex.split(as_command.race_line(measured, SCENE, Settings(), ("lbvh",)))
        assert parse(words[words.index("race") :], "1").rays == rays
        assert "--rays" not in shlex.split(as_command.command_line(measured, SCENE, (8, 8), Settings()))
    looking = dataclasses.replace(state, views=(dataclasses.replace(state.views[0], camera=1),), cameras=(FITTED,) * 2)
    words = shlex.split(as_command.race_line(looking, SCENE, Settings(), ("lbvh",)))
    assert words[words.index("--camera") + 1] == "1" and "--eye" not in words
