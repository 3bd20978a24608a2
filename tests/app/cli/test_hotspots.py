"""`hotspots` as it is typed: counts that can be known, frames that add up, and sentences."""

from __future__ import annotations

import argparse
import json
from typing import Any

import pytest

from raygrove.app.cli.arguments import command_parser
from raygrove.app.cli.main import main
from raygrove.gpu.analysis.hot_spots import BY

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
