"""The script that measures the noise of paths: it runs, and the filter takes noise away."""

from __future__ import annotations

import json
import pathlib

from raygrove.bench.cases import main


def test_the_filter_takes_noise_away(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "noise"
    small = [
        "--device",
        "cpu",
        "--size",
        "64x40",
        "--timed-size",
        "48x32",
        "--samples",
        "32",
        "--triangles",
        "3000",
        "--out",
        str(out),
    ]
    assert main(["noise", *small]) == 0
    found = json.loads(out.with_suffix(".json").read_text())
    assert {(row["scene"], row["light"]) for row in found["errors"]} == {
        (scene, light) for scene in ("room", "orbit") for light in ("linear", "shown")
    }
    assert all(row["less"] > 1.5 for row in found["errors"])
    assert all(row["less_at_once"] > 1.5 for row in found["errors"] if not row["moves"])
    assert {row["strategy"] for row in found["times"]} == {"megakernel", "wavefront"}
    assert (
        all(row["frame_ms"] > 0.0 and row["filter_ms"] > 0.0 for row in found["times"])
        and "orbit" in out.with_suffix(".txt").read_text()
    )
