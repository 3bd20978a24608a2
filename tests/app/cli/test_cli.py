"""The command line in this process: words, values, exit codes, and what goes to which stream."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli.arguments import joined_negatives, parse
from raygrove.app.cli.main import main
from raygrove.app.settings.file import user_file
from raygrove.bench.rows import ROW_FIELDS
from raygrove.gpu.target.base import OutOfMemoryError

SMALL = ["--device", "cpu", "--size", "32x24", "--set", "demo.triangles=500"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command line: exit code, stdout, stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--size", "0x5"], "from 1 to 16384"),
        (["--size", "20000x5"], "from 1 to 16384"),
        (["--size", "wide"], "1024x768"),
        (["--size", "-5x5"], "1024x768"),
        (["--frames", "-3:3"], "from 0"),
        (["--demo", ""], "orbit, metal"),
        ([""], "empty name"),
        (["--seed", "-1"], "from 0 to 2147483647"),
        (["--frames", "5:5"], "holds no frame"),
        (["--frames", "5"], "0:60"),
        (["--time", "-1"], "before the beginning"),
        (["--time", "nan"], "not a time"),
        (["--time", "1", "--frames", "0:2"], "not allowed with"),
        (["--eye", "1,2"], "three numbers"),
        (["--eye", "1,2,inf"], "not a number"),
        (["--fov", "0"], "from 1 to 170"),
        (["--orthographic", "-2"], "no height of a picture"),
        (["--orthographic", "2", "--fov", "40"], "not allowed with"),
        (["--repeat", "0"], "from 1"),
        (["--set", "width=5"], "GROUP.KEY=VALUE"),
        (["--octopus"], "unrecognized"),
        (["--demo", "octopus"], "orbit, metal"),
        (["--demo", "orbit", "model.obj"], "not both"),
        (["--hierarchy", "octopus"], "hlbvh_median, "),
        (["--layout", "octopus"], "bvh2"),
        (["--hierarchy", "brute_force", "--layout", "bvh2"], "not written in it"),
        (["--ray-type", "octopus"], "smooth"),
        (["--update", "sometimes"], "auto, cost_ratio, every_n"),
        (["--device", "octopus"], "cuda:N"),
        (["--threads", "-1"], "from 0"),
        (["--samples", "many"], "whole number"),
        (["--demo", "walker", "--set", "timeline.clip=jump"], "its clips are 0 walk"),
        (["--set", "device.sort=octopus"], "auto, library, own"),
        (["--set", "render.octopus=1"], "no setting render.octopus"),
        (["--out", "film.webm"], "video as .mp4"),
        (["--frames", "0:2", "--out", "depth.exr"], "depth_%04d.exr"),
        (["--statistics", "figures.txt"], ".csv or .json"),
        (["--turntable", "-1"], "before the beginning"),
        (["--turntable", "0"], "more than 0 and at most 3600"),
        (["--turntable", "1e9"], "more than 0 and at most 3600"),
        (["--turntable", "3600", "--fps", "1000", "--demo", "walker"], "3,600,000 frames"),
        (["--out", "picture.jpg"], ".png"),
        (["--out", ""], "names nothing"),
        (["--frames", "0:2", "--out", "one.png"], "do not go into one picture"),
        (["--demo", "orbit", "--eye", "0,0,0", "--look-at", "0,0,0"], "very point"),
        (["--demo", "orbit", "--up", "0,0,0"], "no direction"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence_and_exit_code_2(run: Any, arguments: list[str], expected: str) -> None:
    code, out, err = run("render", *arguments)
    assert code == 2 and expected in err, err
    assert out == "" and "Traceback" not in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("bench",),
        ("bench", "suite"),
        ("bench", "build", "--out", "x.png"),
        ("info",),
        ("view", "--json"),
        ("view", "--frames", "0:2"),
        ("doctor", "--set", "a.b=1"),
        ("rendr", "--demo", "orbit"),
    ],
)
def test_other_commands_refuse_what_they_cannot_do(run: Any, arguments: tuple[str, ...]) -> None:
    code, _, err = run(*arguments)
    assert code == 2 and err.startswith("error: ")


def test_files_that_cannot_be_read_are_exit_code_3(run: Any, tmp_path: Path) -> None:
    (tmp_path / "empty.obj").touch()
    (tmp_path / "bad.toml").write_text("[render]\nwidth = 0\n")
    for arguments, expected in (
        (["render", str(tmp_path / "absent.obj")], "absent.obj"),
        (["info", str(tmp_path)], str(tmp_path)),
        (["bench", "build", str(tmp_path / "empty.obj")], "empty.obj"),
        (["render", "--settings", str(tmp_path / "absent.toml")], "no such file"),
        (["render", "--settings", ""], "it is not a file"),
        (["render", "--settings", str(tmp_path / "bad.toml")], "bad.toml, line 2: render.width = 0 is not allowed"),
    ):
        code, out, err = run(*arguments)
        assert code == 3 and expected in err and out == "" and "Traceback" not in err, err


@pytest.mark.parametrize("command", [["render"], ["bench", "build"]])
def test_a_place_that_cannot_be_written_is_said_before_any_work(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr("raygrove.app.cli.common.choose", lambda *_: pytest.fail("work was done"))
    ending = "json" if command[0] == "bench" else "png"
    (tmp_path / "file").touch()
    code, out, err = run(*command, "--demo", "walker", *SMALL, "--out", f"{tmp_path}/file/deep/one.{ending}")
    assert (code, out) == (1, "") and f"{tmp_path}/file: Not a directory." in err
    monkeypatch.setattr("raygrove.app.export.whole_files.os.access", lambda *_: False)
    code, out, err = run(*command, "--demo", "walker", *SMALL, "--out", f"{tmp_path}/new/one.{ending}")
    assert (code, out) == (1, "") and f"{tmp_path}: Permission denied." in err


def test_a_target_that_is_not_there_is_exit_code_4(run: Any) -> None:
    code, _, err = run("render", "--demo", "walker", *SMALL[2:], "--device", "cuda:97")
    assert code == 4 and err.count("error: ") == 1


def test_a_sort_that_the_target_has_not_is_exit_code_4(run: Any) -> None:
    code, out, err = run("bench", "build", "--demo", "blob", *SMALL, "--set", "device.sort=library", "--json")
    assert code == 4 and not out and err.count("error: ") == 1 and "device.sort is library" in err


def test_too_little_memory_is_exit_code_5(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OutOfMemoryError("nodes", 3 << 30, 1 << 30)

    monkeypatch.setattr("raygrove.app.cli.common.choose", full)
    code, _, err = run("render", "--demo", "walker", *SMALL)
    assert code == 5 and "3072.0 MiB needed, 1024.0 MiB free" in err


def test_an_interruption_is_exit_code_130(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("raygrove.app.cli.common.choose", interrupted)
    assert run("render", "--demo", "walker", *SMALL)[0] == 130


def test_faults_of_the_program_show_their_traceback_only_for_debug(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("three by nothing")

    monkeypatch.setattr("raygrove.app.cli.common.choose", broken)
    code, _, err = run("render", "--demo", "walker", *SMALL)
    assert code == 1 and "three by nothing" in err and "Traceback" not in err and "--debug" in err
    assert "Traceback" in run("render", "--demo", "walker", *SMALL, "--debug")[2]


def test_render_writes_pictures_and_says_what_they_cost(run: Any, tmp_path: Path) -> None:
    from PIL import Image

    code, out, err = run("render", "--demo", "walker", *SMALL, "--frames", "3:5", "--out", f"{tmp_path}/out/", "--json")
    assert code == 0 and err
    data = json.loads(out)
    assert {"device", "driver", "compiler", "versions", "commit", "options", "seed"} <= set(data["context"])
    assert [frame["frame"] for frame in data["frames"]] == [3, 4]
    assert data["frames"][1]["time"] == pytest.approx(4 / 30)
    for frame in data["frames"]:
        assert set(ROW_FIELDS) | {"frame", "time", "reason", "image_sha256"} <= set(frame)
        assert frame["reason"] and frame["update"] in ("nothing", "refit", "rebuild")
        assert (frame["size"], frame["update"], frame["hierarchy"]) == ([32, 24], "rebuild", "lbvh")
        assert frame["layout"] != "auto" and frame["traversal"] != "auto"
        assert frame["hits"] > 0 and frame["sum_t"] > 0.0 and frame["sah_cost"] > 0.0 and frame["build_ms"] > 0.0
    assert data["frames"][0]["image_sha256"] != data["frames"][1]["image_sha256"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "frame_0003.png",
        "frame_0004.png",
        "statistics.csv",
    ]
    with Image.open(tmp_path / "out" / "frame_0003.png") as image:
        pixels = np.asarray(image)
    assert pixels.shape == (24, 32, 3) and len(np.unique(pixels.reshape(-1, 3), axis=0)) > 20


def test_the_same_command_gives_the_same_picture(run: Any) -> None:
    def picture(*more: str) -> str:
        code, out, _ = run("render", "--demo", "orbit", *SMALL, "--json", "--quiet", *more)
        assert code == 0
        return str(json.loads(out)["frames"][0]["image_sha256"])

    first = picture()
    assert picture() == first
    assert picture("--repeat", "2", "--warmup", "1") == first
    exact = ("--set", "device.contraction=false", "--threads")
    assert picture(*exact, "1") == picture(*exact, "2")
    assert picture("--samples", "4") != first
    assert picture("--time", "1.0") != first
    assert picture("--eye", "-9,4,-9") != first
    assert picture("--fov", "20") != first
    assert picture("--ray-type", "flat") != first


def test_render_without_json_prints_a_table_and_no_words_when_quiet(run: Any, tmp_path: Path) -> None:
    code, out, err = run("render", "--demo", "walker", *SMALL, "--quiet", "--out", str(tmp_path / "one.png"))
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split()[:3] == ["frame", "time", "update"]
    assert (tmp_path / "one.png").exists()


def test_more_words_name_what_auto_meant(run: Any) -> None:
    err = run("render", "--demo", "walker", *SMALL, "-v")[2]
    assert "Target: host" in err and "layout bvh" in err and "triangles" in err
    assert "an animation of " in err
    still = run("render", "--demo", "room", *SMALL, "-v")[2]
    assert "vertices, no animation." in still, "no length of 0.00 s, which reads as the time that it took to load"


@pytest.mark.parametrize("kind", ["build", "trace", "frame"])
def test_bench_measures(run: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raygrove.bench.peers.embree.measure", absent)
    code, out, _ = run(
        "bench", kind, "--demo", "walker", *SMALL, "--repeat", "2", "--warmup", "0", "--json", "--frames", "0:2"
    )
    data = json.loads(out)
    assert code == 0 and set(data) == {"context", "results"}
    for row in data["results"]:
        assert (
            set(ROW_FIELDS) <= set(row)
            and row["layout"] != "auto"
            and row["traversal"] != "auto"
            and row["size"] == [32, 24]
        )
    assert any(any(row["samples"].values()) for row in data["results"])


def absent(*_: object, **__: object) -> None:
    from raygrove.bench.peers.embree import PeerAbsentError

    raise PeerAbsentError("no peer is asked in this test")


def test_bench_says_what_it_leaves_out(run: Any) -> None:
    command = ("--demo", "walker", *SMALL, "--repeat", "1", "--warmup", "0")
    assert "--ray-type is left out" in run("bench", "build", *command, "--ray-type", "ao")[2]
    assert "left out" not in run("bench", "build", *command)[2]
    assert (
        "--update and render.samples are left out"
        in run("bench", "build", *command, "--update", "refit", "--set", "render.samples=4")[2]
    )
    said = run("bench", "trace", *command, "--frames", "1:3", "--update", "refit")[2]
    assert "--update is left out" in said and "of --frames the first, 1, is taken" in said


def test_bench_prints_a_table_and_writes_json(run: Any, tmp_path: Path) -> None:
    code, out, err = run(
        "bench", "build", "--demo", "walker", *SMALL, "--repeat", "1", "--out", str(tmp_path / "figures.json")
    )
    assert code == 0 and "build ms" in out and err.startswith("Measuring walker, which may take minutes; ")
    assert json.loads((tmp_path / "figures.json").read_text())["results"][0]["scene"] == "walker"


def test_info_says_what_is_in_a_scene(run: Any) -> None:
    code, out, _ = run("info", "--demo", "walker", "--set", "demo.triangles=500")
    assert code == 0 and "triangles" in out and "meshes (" in out
    assert json.loads(run("info", "--demo", "cloth", "--json")[1])["triangles"] == 100_000


def obj_keys(folder: Path, count: int = 3) -> None:
    """A tetrahedron that grows from file to file: key_01.obj ..."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float64)
    for key in range(1, count + 1):
        vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in corners * key)
        (folder / f"key_{key:02d}.obj").write_text(vertices + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")


@pytest.mark.parametrize("shape", ["files", "glob", "pattern"])
def test_several_files_are_the_key_frames_of_one_scene(run: Any, tmp_path: Path, shape: str) -> None:
    obj_keys(tmp_path)
    named = {
        "files": sorted(map(str, tmp_path.glob("*.obj"))),
        "glob": [f"{tmp_path}/key_*.obj"],
        "pattern": [f"{tmp_path}/key_%02d.obj"],
    }[shape]
    info = json.loads(run("info", *named, "--json", "--fps", "10")[1])
    assert (info["key_frames"], info["triangles"], info["duration"]) == (3, 4, pytest.approx(0.2))
    code, out, _ = run(
        "render", *named, "--device", "cpu", "--size", "32x24", "--fps", "10", "--frames", "0:3", "--json"
    )
    frames = json.loads(out)["frames"]
    assert code == 0 and len({frame["image_sha256"] for frame in frames}) == 3
    assert (
        info["key_frame_bytes"] == 24 * 4 * 3
        and frames[2]["key_frames"]["slots"] == frames[2]["key_frames"]["keys"] == 3
    )
    assert [frame["time"] for frame in frames] == pytest.approx([0.0, 0.1, 0.2])


def test_key_frames_of_another_shape_are_named(run: Any, tmp_path: Path) -> None:
    obj_keys(tmp_path)
    with (tmp_path / "key_02.obj").open("a") as file:
        file.write("f 1 2 3\n")
    code, _, err = run("render", f"{tmp_path}/key_*.obj")
    assert code == 3 and "key_02.obj" in err


def test_settings_come_in_order_of_strength(run: Any, tmp_path: Path) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text('[render]\nray_type = "flat"\nwidth = 40\nheight = 30\nsamples = 2\n')
    stronger = tmp_path / "stronger.toml"
    stronger.write_text("[render]\nwidth = 20\nsamples = 3\n")
    arguments = [
        "render",
        "--demo",
        "walker",
        "--set",
        "demo.triangles=500",
        "--device",
        "cpu",
        "--settings",
        str(stronger),
        "--samples",
        "1",
    ]
    frame = json.loads(run(*arguments, "--json")[1])["frames"][0]
    assert (frame["ray_type"], frame["size"]) == ("flat", [20, 30])


def test_a_bad_user_file_is_a_warning_and_the_program_goes_on(run: Any) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[render]\nwidth = 0\n")
    code, out, err = run("render", "--demo", "walker", *SMALL)
    assert code == 0 and out and "warning: " in err and "line 2" in err and "not used" in err
    user_file().write_text("[render\n")
    code, out, err = run("render", "--demo", "walker", *SMALL)
    assert code == 0 and out and "warning: " in err and "line 1" in err and ".bad" in err
    assert "warning" not in run("render", "--demo", "walker", *SMALL)[2]


def test_positions_are_in_the_files_coordinates() -> None:
    import dataclasses

    from raygrove.app.cli.common import camera_from
    from raygrove.gpu.camera import Camera
    from raygrove.gpu.scene import Scene

    names = parse(["render", "--eye", "-101,2,3", "--look-at", "100,0,0", "--fov", "60"], "0")
    camera = camera_from(names, Camera(), dataclasses.replace(Scene("far"), origin=(100.0, 0.0, 0.0)))
    assert (camera.eye, camera.look_at, camera.fov) == ((-201.0, 2.0, 3.0), (0.0, 0.0, 0.0), 60.0)


def test_negative_numbers_are_no_flags() -> None:
    assert joined_negatives(["--eye", "-1,2,3", "--fov", "40", "-v"]) == ["--eye=-1,2,3", "--fov", "40", "-v"]


def test_files_alone_mean_the_window() -> None:
    assert (parse(["a.obj", "b.obj"], "0").command, parse(["a.obj", "b.obj"], "0").files) == (
        "view",
        ["a.obj", "b.obj"],
    )
    assert parse([], "0").command == "view"
    assert parse(["view", "-v", "a.obj"], "0").files == ["a.obj"]
    named = parse(["--debug", "-v", "render", "a.obj"], "0")
    assert (named.command, named.files, named.debug, named.verbose) == ("render", ["a.obj"], True, True)
    assert parse(["--json", "view"], "0").command == "view"
    assert parse(["a.obj", "--", "-b.obj"], "0").files == ["a.obj", "./-b.obj"]


@pytest.mark.parametrize("command", ["", "view", "render", "bench", "info", "warm", "doctor"])
def test_help_has_examples(run: Any, command: str) -> None:
    begin = time.thread_time()
    code, out, _ = run(*filter(None, [command]), "--help")
    assert code == 0 and "examples:" in out and "python main.py" in out and "130 interrupted" in out
    assert time.thread_time() - begin < 1.0


def test_a_picture_that_nothing_lights_says_so_once(run: Any) -> None:
    dark = ["render", "--demo", "radiosity_room", *SMALL, "--ray-type", "radiosity", "--frames", "0:2"]
    dark += ["--set", "ray_type.radiosity.points=50", "--set", "material.lamp.emission=0,0,0"]
    code, _, said = run(*dark)
    assert code == 0 and "warning: Frame 0: This scene has no emitter" in said and said.count("no emitter") == 1
    code, _, said = run(*dark, "--set", "light.sun.kind=directional", "--set", "light.sun.strength=3")
    assert code == 0 and "no emitter" not in said
