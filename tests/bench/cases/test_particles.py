"""The script that measures spheres by the million: it runs, goes on where it ended, and its bars read its figures."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.cases import main, particles
from raygrove.bench.particle_frames import displaced
from raygrove.bench.particle_goals import BARS
from raygrove.bench.saved_goals import saved_goals

ASKED = ["--device", "cpu", "--repeat", "1", "--frames", "2", "--size", "32x32"]


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrangements of which other tests have units, on counts that are called what the bars call them."""
    for name, value in {"GRIDS": (32,), "MOST_GRIDS": (32,), "FEW_IN_TILES": ("v4",)}.items():
        monkeypatch.setattr(particles, name, value)
    monkeypatch.setattr(particles, "IN_TILES", ("v1", "v4", "v1, front to back"))
    words = {60: "1M", 80: "100M"}
    for module in ("particle_casts", "particle_frames"):
        monkeypatch.setattr(f"raygrove.bench.{module}.millions", words.__getitem__)


@pytest.mark.usefixtures("little")
def test_every_figure_is_measured_and_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "bigbox.xyz").write_text("2\ntwo atoms\nO 0 0 0\nH 1 0 0\n")
    out = tmp_path / "h200-2030-01-01-particles"
    asked = [str(tmp_path / "bigbox.xyz"), *ASKED, "--count", "60", "--most", "80", "--out", str(out)]
    assert main(["particles", *asked]) == 0
    content = json.loads(out.with_suffix(".json").read_text())
    rows = content["results"]
    assert all(row["figure"] > 0.0 for row in rows if "why" not in row)
    assert all(row["hits"] > 0 for row in rows if "hits" in row), "there is something to see"
    for row in rows:  # of the size that the bars are of
        row["what"] = row["what"].replace("32x32", "1024x1024")
    out.with_suffix(".json").write_text(json.dumps(content))
    read = {goal.what: goal.measured for goal in saved_goals("cuda", tmp_path)}
    assert {what for kind, what, *_ in BARS if kind == "cuda" and read[what] is None} == set()
    in_tiles = [row for row in rows if row["what"].startswith("1M spheres of 3 px, ") and row.get("by", "")[:1] == "v"]
    by_order = [min(row["figure"] for row in in_tiles if row["order"] == order) for order in ("random", "Morton")]
    assert read["1M spheres of 3 px by the best in tiles, 1024x1024"] == max(by_order)
    kernels = [row["kernel_ms"] for row in in_tiles if row["by"] == "v4"]
    assert read["kernel of sorted v4, 1M spheres of 3 px, 1024x1024"] == max(kernels)
    assert read["bigbox drawn, 1024x1024"] == max(row["figure"] for row in rows if row["what"].startswith("bigbox"))


@pytest.mark.usefixtures("little")
def test_a_run_that_was_cut_short_goes_on(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "particles"
    monkeypatch.setattr(particles, "RADII", (3,))
    asked = ["particles", *ASKED, "--count", "60", "--most", "80", "--out", str(out), "--resume", "--parts"]
    assert main([*asked, "memory"]) == 0
    before: dict[str, Any] = json.loads(out.with_suffix(".json").read_text())
    before["results"].append({**before["results"][0], "cell": "lacking", "figure": None})
    before["results"][0]["figure"] = 17.25
    out.with_suffix(".json").write_text(json.dumps(before))
    assert main([*asked, "memory,moving"]) == 0
    rows = json.loads(out.with_suffix(".json").read_text())["results"]
    assert rows[0]["figure"] == 17.25, "what was measured is kept"
    assert "lacking" not in {row["cell"] for row in rows} and len(rows) > 3
    before["context"]["commit"] = "another"
    out.with_suffix(".json").write_text(json.dumps(before))
    with pytest.raises(SystemExit):
        main([*asked, "memory"])
    assert "another commit" in capsys.readouterr().err


def test_what_cannot_be_meant_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, said in ((["--parts", "casts,walls"], "walls"), (["--resume"], "--out")):
        with pytest.raises(SystemExit) as ended:
            main(["particles", "--device", "cpu", *wrong])
        assert ended.value.code == 2 and said in capsys.readouterr().err


def test_displaced_spheres_swing_about_their_places_and_come_round() -> None:
    still = make_demo("spheres", 50)
    moved, again = (displaced(still, 9) for _ in range(2))
    keys, home = moved.spheres[0].key_frames, still.spheres[0]
    assert keys is not None and again.spheres[0].key_frames is not None
    np.testing.assert_array_equal(keys.centres, again.spheres[0].key_frames.centres)
    away = np.abs(keys.centres - home.centres).max(axis=2) / home.radii
    assert 0.5 < away.max() <= 1.001 and np.ptp(keys.centres, axis=0).max(axis=1).min() > 0.0
    np.testing.assert_allclose(keys.centres[0], keys.centres[-1], atol=1e-5)
    with pytest.raises(ValueError, match="no spheres that stand still"):
        displaced(moved, 9)
