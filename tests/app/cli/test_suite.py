"""`bench suite` on the command line: what a suite decides itself is refused, an empty report is a failure, and what was
asked for is done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli import suite
from raygrove.app.cli.main import main
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.flags import flag_of
from raygrove.bench.suites import kolodzey2014
from raygrove.gpu.hierarchy.base import HierarchyError

MOVING = (
    "bench",
    "suite",
    "kolodzey2014",
    "--device",
    "cpu",
    "--scenes",
    "Bunny in a ring of spheres",
    "--repeat",
    "1",
    "--most-triangles",
    "100000",
)
"""One scene that comes with the program."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run the command line in a folder of its own, with small scenes: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(suite, "make_demo", lambda name, triangles: make_demo(name, 300))

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


VALUES = {
    **{
        "demo": "orbit",
        "seed": "3",
        "fps": "20",
        "hierarchy": "lbvh",
        "optimiser": "none",
        "layout": "auto",
        "traversal": "auto",
        "update": "refit",
    },
    **{
        "ray_type": "smooth",
        "rays": "dome",
        "samples": "1",
        "time": "1",
        "frames": "0:2",
        "eye": "1,1,1",
        "look_at": "0,0,0",
        "up": "0,1,0",
        "fov": "45",
    },
    **{"warmup": "1", "primary": "tiles"},
}
"""A value for every flag; many are the defaults, which are refused no less."""


@pytest.mark.parametrize("name", suite.DECIDED_FLAGS)
def test_a_flag_that_the_suite_decides_is_refused(run: Any, name: str, tmp_path: Path) -> None:
    code, out, err = run(*MOVING, flag_of(name), VALUES[name])
    assert code == 2 and flag_of(name) in err and "decides that itself" in err and not out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "key",
    ["render.triangle_test=unit_triangle", "ray_type.ao.rays=9", "hierarchy.lbvh.max_leaf_size=2", "window.theme=dark"],
)
def test_a_setting_that_the_suite_decides_is_refused(run: Any, key: str) -> None:
    code, _, err = run(*MOVING, "--set", key)
    assert code == 2 and f"--set {key.partition('=')[0]}: a suite takes" in err


def test_a_preset_of_what_the_suite_decides_is_refused(run: Any) -> None:
    code, _, err = run(*MOVING, "--preset", "published/zhou2008/median_sah")
    assert code == 2 and "render.hierarchy in preset published/zhou2008/median_sah," in err and "a suite takes" in err


def test_a_settings_file_counts_where_the_suite_takes_what_it_says(run: Any, tmp_path: Path) -> None:
    (tmp_path / "its.toml").write_text('[render]\nhierarchy = "hploc"\nwidth = 32\n')
    code, _, err = run(*MOVING, "--settings", "its.toml")
    assert code == 2 and "render.hierarchy in its.toml: a suite takes" in err and "width in" not in err
    (tmp_path / "its.toml").write_text(
        '[render]\nwidth = 32\nheight = 24\n[window]\ntheme = "dark"\n[target]\nthreads = 1\n'
    )
    assert run(*MOVING, "--settings", "its.toml", "--out", "found")[0] == 0
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["size"] == [32, 24] and found["context"]["options"]["threads"] == 1


@pytest.mark.parametrize("name", suite.suites())
def test_a_place_that_cannot_be_written_is_said_before_any_work(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(suite, "target_from", lambda *_: pytest.fail("work was done"))
    (tmp_path / "found.md").mkdir()
    code, out, err = run("bench", "suite", name, "--device", "cpu", "--out", "found")
    assert (code, out) == (1, "") and "found.md: Is a directory." in err
    code, out, err = run("bench", "suite", name, "--device", "cpu", "--out", "/proc/no/found")
    assert (code, out) == (1, "") and "error: /proc: " in err


def test_an_empty_report_is_a_failure_and_writes_nothing(run: Any, tmp_path: Path) -> None:
    few = tuple("10" if word == "100000" else word for word in MOVING)
    code, out, err = run(*few, "--out", "found")
    assert (
        code == 1
        and not out
        and "kolodzey2014 measured nothing" in err
        and "100,000 triangles are more than the 10" in err
    )
    code, out, err = run("bench", "suite", "meister2014", "--device", "cpu", "--scenes", "Head", "--json")
    assert code == 1 and not out and "horse-gallop/0001.obj is a model that does not come with Raygrove" in err
    assert not list(tmp_path.iterdir())


def test_rows_of_a_scene_that_then_fails_are_not_left_in_files(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    found = dict.fromkeys(("build_ms", "frame_ms", "frames_per_s", "rays", "picture_ms"), 1.0)
    row = {"needs": "", "tree": "a tree", "size": "2x2", "ray_type": "recursive", **found}

    def one_row(*given: Any) -> Iterator[dict[str, Any]]:
        yield row
        seen.append((tmp_path / "found.md").read_text())
        raise HierarchyError("too deep a tree")

    monkeypatch.setattr(kolodzey2014, "_moving", one_row)
    monkeypatch.setattr(kolodzey2014, "micro_rows", lambda target, repeat: ())
    code, out, err = run(*MOVING, "--out", "found")
    assert code == 1 and not out and "nothing was written" in err and "too deep a tree" in err
    assert seen and "measured in part, 1 of 2 rows" in seen[0], "as it comes"
    assert not list(tmp_path.iterdir())


def test_what_is_absent_beside_what_was_measured_is_said(run: Any, tmp_path: Path) -> None:
    scenes = ("--scenes", "Bunny in a ring of spheres,Bunny")
    code, _, err = run(*MOVING, *scenes, "--size", "1100x2", "--out", "found")
    assert code == 0 and "warning: not measured: Bunny: static/stanford-bunny.obj" in err
    assert json.loads((tmp_path / "found.json").read_text())["size"] == [1100, 2], (
        "larger or smaller than the published picture"
    )


def test_flags_of_suites_are_refused_elsewhere(run: Any) -> None:
    for flag, value in (("--data", "."), ("--scenes", "Head"), ("--most-triangles", "5")):
        code, _, err = run("bench", "build", "--demo", "blob", "--device", "cpu", flag, value)
        assert code == 2 and f"{flag}: only bench suite takes that" in err


def test_a_suite_that_is_not_known_is_told_with_the_near_name(run: Any) -> None:
    code, _, err = run("bench", "suite", "octree2007")
    assert code == 2 and "there is no suite 'octree2007'. Did you mean octree2008? There are chang2012, " in err
    code, _, err = run("bench", "suite", "whatever")
    assert code == 2 and "no suite 'whatever'. There are chang2012" in err and "mean" not in err
    code, _, err = run("bench", "suite")
    assert code == 2 and "name one suite" in err and "soell2015" in err


def test_own_scenes_and_structures_are_measured_with_progress(run: Any, tmp_path: Path) -> None:
    model = tmp_path / "mine.obj"
    model.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\nf 1 2 4\n")
    words = ("--scenes", "none", "--structures", "lbvh,grid", "--repeat", "1", "--size", "16x12", "--progress", "json")
    code, out, err = run("bench", "suite", "kolodzey2014", str(model), "--device", "cpu", *words, "--out", "found")
    assert code == 0 and "mine.obj (yours), 3 triangles" in out
    told = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert told[0] == {"scene": "mine.obj", "number": 1, "of": 1, "rows": 0, "rows_of": None}
    assert [(line["rows"], line["rows_of"]) for line in told[1:]] == [(number, 4) for number in (1, 2, 3, 4)]
    report = json.loads((tmp_path / "found.json").read_text())
    assert [row["structure"] for row in report["rows"] if row["part"] == "structure"] == ["lbvh", "grid"]
    (picture,) = report["pictures"]
    assert (tmp_path / picture["file"]).read_bytes().startswith(b"\x89PNG") and picture["file"] in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("octree2008", "mine.obj"), "scenes and structures of one's own are taken by"),
        (("soell2015", "--structures", "lbvh"), "scenes and structures of one's own are taken by"),
        (("chang2012", "--structures", "lbhv"), "--structures lbhv: "),
        (("chang2012", "--structures", "lbvh:max_leaf_size=x"), "max_leaf_size"),
        (("chang2012", "--demo", "blobb"), "blobb"),
    ],
)
def test_what_a_suite_cannot_measure_is_refused_before_it_begins(
    run: Any, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    code, out, err = run("bench", "suite", *words, "--device", "cpu")
    assert code == 2 and said in err and not out
    assert not list(tmp_path.iterdir())
