"""`hotspots` as it is typed: counts that can be known, frames that add up, and sentences."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli.arguments import command_parser
from raygrove.app.cli.main import main
from raygrove.gpu.analysis.hot_words import BY
from raygrove.gpu.errors import Error
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.target.base import NoDeviceError, OutOfMemoryError

SMALL = ["--demo", "walker", "--device", "cpu", "--size", "24x16", "--set", "demo.triangles=400"]


def hotspots(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["hotspots", *SMALL, *words, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_without_a_tree_every_ray_tests_every_triangle(capsys: pytest.CaptureFixture[str]) -> None:
    found = hotspots(capsys, "--hierarchy", "brute_force", "--only", "primary", "--by", "triangle", "--most", "5")
    assert found["ray_count"] == 24 * 16 and found["rays"] == "primary" and len(found["spots"]) == 5
    triangles = found["tests"] // (24 * 16)
    assert found["tests"] == triangles * 24 * 16 > 0
    assert all(spot["tests"] == 24 * 16 and spot["share"] == pytest.approx(1 / triangles) for spot in found["spots"])


def test_settings_say_what_flags_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--hierarchy", "lbvh", "--set", "hot_spots.rays=primary", "--set", "hot_spots.by=object")
    found = hotspots(capsys, *words, "--set", "hot_spots.kind=closest")
    assert (found["rays"], found["kind"], found["ray_count"]) == ("primary", "closest", 24 * 16)
    assert "head" in {spot["name"] for spot in found["spots"]}
    assert hotspots(capsys, *words, "--only", "shadow", "--by", "depth")["rays"] == "shadow"


def test_frames_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--hierarchy", "lbvh", "--by", "object", "--most", "99")
    clip = hotspots(capsys, *words, "--frames", "3:5")
    each = [hotspots(capsys, *words, "--frames", f"{frame}:{frame + 1}") for frame in (3, 4)]
    assert [(one["frame"], one["visits"], one["tests"]) for one in clip["frames"]] == [
        (one["frame"], one["visits"], one["tests"]) for one in each
    ]
    assert sum(spot["share"] for spot in clip["spots"]) == pytest.approx(1.0)
    tests = {spot["name"]: spot["tests"] for spot in clip["spots"]}
    for name, count in tests.items():
        assert count == sum(spot["tests"] for one in each for spot in one["spots"] if spot["name"] == name)
    of_triangles = hotspots(capsys, "--hierarchy", "lbvh", "--by", "triangle", "--most", "9999", "--frames", "3:5")
    assert sum(spot["tests"] for spot in of_triangles["spots"]) == sum(tests.values()) > 0
    assert of_triangles["spots"][0]["share"] >= of_triangles["spots"][-1]["share"] > 0.0


def test_lines_and_what_they_mean_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hotspots", *SMALL, "--hierarchy", "lbvh/bvh2", "--remedies"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:3] == ["name", "share", "visits"] and printed[1].startswith(("node ", "leaf "))
    assert any(line.startswith("lbvh/bvh2: ") and " rays, " in line for line in printed)
    assert main(["hotspots", *SMALL, "--hierarchy", "lbvh@refit", "--frames", "0:3"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].startswith("depth 0 ") and printed[-1].startswith("Frame ") and printed[-2].startswith("lbvh/")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--only", "bounce 7"), "no rays are called 'bounce 7' with both hits; this picture casts primary"),
        (("--frames", "0:2", "--by", "node"), "listed by depth, object, material, triangle, not by 'node'"),
        (("--frames", "0:2000"), "hot spots are of up to 1,000 frames"),
        (("--by", "pixel"), "invalid choice: 'pixel'"),
        (("--most", "0"), "--most"),
    ],
)
def test_what_cannot_be_counted_is_a_sentence(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hotspots", *SMALL, *words]) == 2
    assert sentence in capsys.readouterr().err


def test_lines_are_of_what_the_library_lists() -> None:
    actions = {action.dest: action for action in command_parser("hotspots", "0")._actions}
    by = actions["by"]
    assert isinstance(by, argparse.Action) and tuple(by.choices or ()) == BY


def test_rays_of_a_sensor_are_counted_in_the_pictures_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As many as it casts, through each triangle where there is no tree; a sensor that moves has other counts in
    another frame, where one that stands in front of a still head would have the same."""
    words = ("--hierarchy", "brute_force", "--by", "triangle")
    found = hotspots(capsys, *words, "--rays", "dome:rows=3:columns=8:node=head")
    assert found["ray_count"] == 24 and found["rays"] == "dome:node=head:rows=3:columns=8"
    assert found["kind"] == "closest" and found["tests"] % 24 == 0 and found["tests"] > 0
    sensor = ("--rays", "lidar:rows=8:columns=16:fov=-60,20:node=head", "--hierarchy", "lbvh/bvh2@rebuild")
    counts = [hotspots(capsys, *sensor, "--frames", f"{frame}:{frame + 1}") for frame in (0, 9)]
    assert {one["ray_count"] for one in counts} == {128} and counts[0]["visits"] != counts[1]["visits"]
    settings = tmp_path / "rays.toml"
    np.savez(tmp_path / "set.npz", origins=np.zeros((5, 3)), directions=np.ones((5, 3)))
    settings.write_text('[rays]\nmeasured = "set.npz"\n')
    assert hotspots(capsys, "--settings", str(settings))["ray_count"] == 5


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--only", "primary"), 2, "a picture's rays, and rays.measured = "),
        (("--rays", "lidar:node=wheel"), 2, "there is no node called 'wheel'"),
        (("--rays", "lidar:rows=0"), 2, "--rays lidar:rows=0"),
        (("--rays", "nowhere.npz"), 3, "nowhere.npz"),
    ],
)
def test_rays_that_cannot_be_counted_are_a_sentence(
    words: tuple[str, ...], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hotspots", *SMALL, "--rays", "dome:rows=2:columns=4", *words]) == code
    said = capsys.readouterr().err
    assert sentence in said and "rg." not in said


@pytest.mark.parametrize("command", [["hotspots"], ["advise"], ["race", "--contestants", "lbvh,hploc"]])
def test_a_file_without_rays_ends_with_the_code_of_files(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same sentence and code, whichever command reads it."""
    path = tmp_path / "none.npz"
    np.savez(path, origins=np.zeros((0, 3)), directions=np.ones((0, 3)))
    assert main([command[0], *SMALL, *command[1:], "--rays", str(path)]) == 3
    said = capsys.readouterr().err
    assert "none.npz holds no rays: its directions are empty." in said and "rg." not in said


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OutOfMemoryError("nodes", 2 << 20, 1 << 20), 5),
        (NoDeviceError("No GPU."), 4),
        (HierarchyError("No such tree."), 1),
        (Error("No such rays."), 2),
    ],
)
@pytest.mark.parametrize(("command", "called"), [("hotspots", "hot_spots_in"), ("record", "recorded")])
def test_devices_memory_and_structures_keep_their_exit_codes(
    command: str, called: str, error: Error, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*words: Any, **named: Any) -> None:
        raise error

    monkeypatch.setattr(f"raygrove.app.cli.{command}.{called}", fail)
    out = ["--out", str(tmp_path / "rays.npz")] if command == "record" else []
    assert main([command, *SMALL, *out]) == code
