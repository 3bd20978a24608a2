"""`record` as it is typed: the rays that the library records of the same picture, and that they can be measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import raygrove as rg
from raygrove.app.cli.main import main
from raygrove.gpu.camera import Camera
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Moment

SEEN = Camera(eye=(0.0, 1.0, 0.0), look_at=(1.0, 1.0, -1.0))
SIZE = (16, 12)
WORDS = ["--demo", "room", "--device", "cpu", "--size", "16x12", "--eye", "0,1,0", "--look-at", "1,1,-1", "--ray-type"]


def record(path: Path, *words: str) -> int:
    return main(["record", *WORDS, *words, "--out", str(path)])


@pytest.mark.parametrize("bounce", [0, 2])
def test_rays_are_those_that_the_library_records(
    tmp_path: Path, bounce: int, capsys: pytest.CaptureFixture[str]
) -> None:
    only = ("--only", f"bounce {bounce}") if bounce else ()
    assert record(tmp_path / "rays.npz", "path", *only, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    found = rg.RaySet.load(tmp_path / "rays.npz")
    same = rg.RaySet.record(rg.open("room"), bounce=bounce, camera=SEEN, size=SIZE, device="cpu")
    assert len(found) == len(same) == told["rays"] > 0 and told["name"] == (only or ("", "primary"))[-1]
    np.testing.assert_allclose(found.origins, same.origins, atol=1e-4)
    np.testing.assert_allclose(found.directions, same.directions, atol=1e-4)


def test_what_was_recorded_is_raced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shadow.npz"
    assert record(path, "path", "--only", "shadow", "--size", "8x6", "--quiet") == 0  # brute force tests all of them
    capsys.readouterr()
    raced = ["race", *WORDS[:6], "--contestants", "lbvh,brute_force", "--time", "0", "--repeat", "6"]
    assert main([*raced, "--rays", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["size"] == [len(rg.RaySet.load(path)), 1] and told["mismatches"] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("flat", "--only", "bounce 1"), "flat casts no rays called 'bounce 1'"),
        (("path", "--frames", "0:2"), "rays are recorded of one picture, and these are 2"),
        (("path", "--out", "rays.txt"), "--out FILE.npz"),
        (("wireframes",), "render.ray_type"),
    ],
)
def test_what_cannot_be_recorded_is_a_sentence(
    tmp_path: Path, words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = () if "--out" in words else ("--out", str(tmp_path / "rays.npz"))
    assert main(["record", *WORDS, *words, *out]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "rays.npz").exists()


def test_bench_traces_rays_in_the_pictures_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Closest hits as the library finds them of the same rays, and as many of any."""
    rays = "dome:rows=4:columns=16"
    words = ["--demo", "room", "--device", "cpu", "--size", "8x6", "--repeat", "1", "--warmup", "0", "--json"]
    assert main(["bench", "trace", *words, "--hierarchy", "lbvh/bvh2", "--rays", rays]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [row["ray_type"] for row in rows] == ["measured", "measured any-hit"]
    room = rg.open("room")
    given = workload_of(rays, room.to_plain()).at(Moment())
    with rg.build(*room.at(0.0), "lbvh/bvh2", device="cpu") as tree:
        hits = int((tree.trace(rg.RaySet(given.origins, given.directions)).prim_id >= 0).sum())
    assert [(row["rays"], row["hits"]) for row in rows] == [(64, hits)] * 2 and hits > 0
    assert main(["bench", "build", *words, "--rays", rays]) == 0
    assert "bench build measures pictures: --rays is left out" in capsys.readouterr().err
    assert main(["bench", "suite", "meister2014", "--rays", rays]) == 2
