"""Built-in values < the user's file < --settings < the command line, from the files to what is drawn and saved."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli.main import main
from raygrove.app.document import saved_state
from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference, State, replaced
from raygrove.app.export.images import save_png
from raygrove.app.settings.file import load_user_settings, overridden, user_file
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.scene import Scene
from tests.app.scene_io import writers

OWN = "# mine\n[render]\nwidth = 100 # narrow\nheight = 101\nsamples = 2\nseed = 3\n"


@pytest.fixture
def own_file() -> Path:
    path = user_file()
    path.parent.mkdir(parents=True)
    path.write_text(OWN)
    return path


def printed(capsys: Any, *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--print-settings"]) == 0
    return tomllib.loads(capsys.readouterr().out)


def test_each_is_stronger_than_the_one_before(own_file: Path, tmp_path: Path, capsys: Any) -> None:
    given = tmp_path / "given.toml"
    given.write_text("[render]\nheight = 201\nsamples = 4\n")
    found = printed(capsys, "render", "--settings", str(given), "--set", "render.samples=8", "--seed", "9")
    assert found == {"render": {"width": 100, "height": 201, "samples": 8, "seed": 9}, "demo": {"seed": 9}}
    assert own_file.read_text() == OWN, "reading writes nothing"


def test_a_flag_is_stronger_than_set_and_the_picture_has_that_size(own_file: Path, capsys: Any) -> None:
    assert (
        main(
            [
                "render",
                "--demo",
                "walker",
                "--set",
                "render.width=50",
                "--size",
                "16x12",
                "--device",
                "cpu",
                "--json",
                "--quiet",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["frames"][0]["size"] == [16, 12] and found["context"]["settings"]["render"]["samples"] == 2


@pytest.mark.parametrize(
    ("key", "weaker", "flag", "stronger"),
    [
        ("render.hierarchy", "hploc", "--hierarchy", "sbvh"),
        ("render.layout", "bvh4", "--layout", "bvh8"),
        ("render.ray_type", "ao", "--ray-type", "flat"),
        ("render.samples", 7, "--samples", 5),
        ("render.device", "cuda", "--device", "cpu"),
        ("device.threads", 3, "--threads", 2),
        ("update.mode", "auto", "--update", "refit"),
        ("timeline.fps", 12.0, "--fps", 24.0),
        ("start.hide", "one", "--hide", "two"),
    ],
)
def test_every_flag_is_stronger_than_set(capsys: Any, key: str, weaker: Any, flag: str, stronger: Any) -> None:
    """Whichever stands first."""
    given = ("--set", f"{key}={weaker}")
    group, _, name = key.partition(".")
    assert printed(capsys, "render", *given)[group][name] == weaker
    for arguments in ((*given, flag, str(stronger)), (flag, str(stronger), *given)):
        assert printed(capsys, "render", *arguments)[group][name] == stronger


def test_what_is_wrong_in_the_users_file_is_said_and_the_rest_counts(own_file: Path, capsys: Any) -> None:
    own_file.write_text(OWN + "colour = 'red'\n")
    assert main(["info", "--print-settings"]) == 0
    caught = capsys.readouterr()
    assert (
        tomllib.loads(caught.out)["render"]["width"] == 100
        and f"{own_file}, line 7: there is no setting render.colour" in caught.err
    )


def test_only_what_the_user_changed_goes_into_the_users_file(own_file: Path) -> None:
    own, _ = load_user_settings()
    started = set_option(set_option(own, "render.samples", 8), "update.mode", "refit")
    document = Document(started, overridden(own, started))
    document.change("settings.render.width", 320)
    sentence = document.save_settings()
    assert sentence == "Saved. Not saved, because only this start's command line says so: render.samples, update.mode."
    assert own_file.read_text() == OWN.replace("width = 100 # narrow", "width = 320  # narrow"), "comments stay"
    document.change("settings.render.samples", 16)
    document.change("settings.render.height", 768)
    assert document.save_settings().endswith("says so: update.mode.")
    assert tomllib.loads(own_file.read_text()) == {"render": {"width": 320, "samples": 16, "seed": 3}}, (
        "768 is the built-in value"
    )


def test_a_file_in_meisters_form_starts_its_scene(tmp_path: Path, capsys: Any) -> None:
    writers.write_sequence(tmp_path, 3)
    env = tmp_path / "gallop.env"
    env.write_text(
        "Scene {\nfilefilter frame_*.obj\nscale 2\n}\nRenderWidget {\nwidth 24\nheight 16\n}\nRenderer {\nrayType "
        "aoRays\n}\n"
    )
    assert main(["info", str(env), "--json"]) == 0
    caught = capsys.readouterr()
    assert (
        json.loads(caught.out)["upper"] == pytest.approx([4.0, 4.0, 4.0], rel=0.2)
        and "and 2 more" in json.loads(caught.out)["name"]
    )
    for arguments in ([str(env)], ["--settings", str(env)]):
        assert main(["render", *arguments, "--device", "cpu", "--json", "--quiet", "--set", "timeline.fps=10"]) == 0
        assert json.loads(capsys.readouterr().out)["frames"][0]["size"] == [24, 16]
    found = printed(capsys, "view", str(env))
    assert found["start"]["scene"] == str(tmp_path / "frame_*.obj") and found["import"]["scale"] == 2.0
    assert main(["info", str(env), "other.obj"]) == 2 and "give it alone" in capsys.readouterr().err
    env.write_text("Bvh {\nmaxLeafSize 99\n}\n")
    assert main(["info", str(env)]) == 3
    assert f"{env}, line 2: Bvh.maxLeafSize" in capsys.readouterr().err


def test_a_scene_of_the_settings_gives_way_to_the_command_line(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "s.toml").write_text("[start]\nscene = 'absent.obj'\n")
    assert main(["info", "--settings", str(tmp_path / "s.toml"), "--demo", "walker"]) == 0
    assert "walker" in capsys.readouterr().out.lower()
    assert main(["info", "--settings", str(tmp_path / "s.toml")]) == 3
    assert str(tmp_path / "absent.obj") in capsys.readouterr().err


def test_the_camera_follows_its_settings_in_the_same_step(moving_scene: Scene) -> None:
    document = Document()
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    first = document.state
    document.change("settings.start.position", (1.0, 2.0, 30.0))
    assert document.state.cameras == first.cameras, "a position counts once the start is there"
    document.change("settings.start.camera", "position")
    camera = document.state.cameras[0]
    assert camera.eye == (1.0, 2.0, 30.0) and camera.basis()[2] == pytest.approx([0.0, 0.0, -1.0])
    document.change("settings.start.azimuth", 90.0)
    assert document.state.cameras[0].basis()[2] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    document.change("settings.camera.field_of_view", 80.0)
    document.change("settings.camera.near", 0.5)
    assert (document.state.cameras[0].fov, document.state.cameras[0].near) == (80.0, 0.5)
    assert document.state.cameras[0].eye == (1.0, 2.0, 30.0)
    for _ in range(5):
        document.undo()
    assert document.state.cameras == first.cameras and document.state.settings == first.settings


def test_a_scene_opens_where_the_settings_say(moving_scene: Scene) -> None:
    settings = set_option(set_option(Settings(), "start.camera", "position"), "start.position", (0.0, 0.0, 9.0))
    document = Document(settings)
    document.set_scene(SceneReference("demo", ("two",)), dataclasses.replace(moving_scene, origin=(0.0, 0.0, 4.0)))
    assert document.state.cameras[0].eye == (0.0, 0.0, 5.0), "positions are the file's"


def test_attributes_of_spheres_have_flags(capsys: Any) -> None:
    """--color-by, --size-by and --select; mistakes and attributes that are not there are sentences."""
    flags = ("--color-by", "velocity", "--size-by", "mass", "--select", "charge=-1:0.5")
    found = printed(capsys, "render", *flags)["spheres"]
    assert found["color_by"] == "velocity" and found["size_by"] == "mass" and found["select_by"] == "charge"
    assert (found["select_from"], found["select_to"]) == (-1.0, 0.5)
    found = printed(capsys, "render", "--select", "a=b=2:")["spheres"]
    assert found["select_by"] == "a=b" and found["select_from"] == 2.0 and "select_to" not in found
    before = ("--set", "spheres.select_to=3", "--select", "a=2:")
    assert "select_to" not in printed(capsys, "render", *before)["spheres"], "an end that is left out is open"
    for wrong in ("charge", "charge=1", "=1:2", "charge=x:2", "charge=5:1"):
        assert main(["render", "--select", wrong, "--print-settings"]) == 2
        assert "--select" in capsys.readouterr().err
    small = ("--demo", "molecule", "--set", "demo.triangles=64", "--size", "8x8")
    assert main(["render", *small, "--color-by", "pressure"]) == 2
    assert "no spheres of molecule have it; it has element, residue, mobility" in capsys.readouterr().err


def test_a_hierarchy_may_be_a_whole_configuration(capsys: Any) -> None:
    said = "binned_sah:bins=16+rotations/bvh4/auto:triangle_test=watertight@auto:cost_ratio=2"
    found = printed(capsys, "render", "--hierarchy", said, "--layout", "bvh2")
    assert found["render"] == {
        "hierarchy": "binned_sah",
        "optimiser": "rotations",
        "layout": "bvh2",
        "triangle_test": "watertight",
    }, "a flag of its own is stronger"
    assert found["hierarchy"] == {"binned_sah": {"bins": 16}} and found["update"] == {"mode": "auto", "cost_ratio": 2.0}


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("hploc//bvh4", "--hierarchy hploc//bvh4: after 'hploc/' a layout is missing: the spelling is builder"),
        ("hploc/bvh4:n=1", "--hierarchy hploc/bvh4:n=1: the layout bvh4 has no options"),
        ("hploc/auto/auto:width=3", "a traversal has no option width"),
        ("hploc/bvh5", "--hierarchy hploc/bvh5"),
    ],
)
def test_a_mistaken_configuration_is_a_sentence(said: str, sentence: str, capsys: Any) -> None:
    assert main(["render", "--hierarchy", said, "--print-settings"]) == 2
    assert sentence in capsys.readouterr().err


def test_contestants_open_the_workspace_race() -> None:
    from raygrove.app.cli.arguments import parse
    from raygrove.app.cli.view import _with_race
    from raygrove.app.problems.problems import UsageError
    from raygrove.app.settings.settings import Settings

    names = parse(["view", "--contestants", "lbvh@refit,binned_sah:bins=8/bvh4"], "0")
    settings = _with_race(names, Settings())
    assert settings.window.workspace == "race"
    assert settings.race.contestants == "lbvh@refit, binned_sah:bins=8/bvh4"
    assert _with_race(parse(["view"], "0"), Settings()) == Settings()
    with pytest.raises(UsageError, match=r"--contestants: .*no builder 'kitchen'"):
        _with_race(parse(["view", "--contestants", "kitchen"], "0"), Settings())


def test_a_file_of_rays_that_set_names_is_of_the_working_folder(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("--set", "rays.measured=rays.npz"), ("--rays", "rays.npz")):
        assert printed(capsys, "hotspots", *words) == {"rays": {"measured": str(tmp_path / "rays.npz")}}


@pytest.mark.parametrize("command", ["render", "view"])
def test_settings_of_a_picture_are_those_that_it_was_drawn_with(tmp_path: Path, capsys: Any, command: str) -> None:
    """They were those of somebody who draws something else."""
    picture = tmp_path / "one.png"
    state = replaced(State(SceneReference("demo", ("walker",))), "settings.render.hierarchy", "hploc")
    state = replaced(state, "settings.render.samples", 2)
    save_png(picture, np.zeros((12, 16, 4), np.uint8), saved_state.texts_of(state))
    drawn = printed(capsys, command, str(picture))["render"]
    assert (drawn["hierarchy"], drawn["samples"], drawn["width"], drawn["height"]) == ("hploc", 2, 16, 12)
    other = printed(capsys, command, str(picture), "--samples", "3", "--size", "8x6")["render"]
    assert (other["hierarchy"], other["samples"], other["width"]) == ("hploc", 3, 8), "flags are stronger"
