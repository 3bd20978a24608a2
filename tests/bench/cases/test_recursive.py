"""The measurement of recursive rays, small: every case is drawn, told and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raygrove.bench.cases import main, recursive


def test_cases_are_drawn_told_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["recursive", "--device", "cpu", "--share", "0.01", "--repeat", "2", "--out", str(tmp_path / "rays")]) == 0
    )
    kept = json.loads((tmp_path / "rays.json").read_text())
    first, wavefront, glass = kept["results"][:3]
    assert len(kept["results"]) == len(recursive.ON_HOST) and first["goal"] == 15.0 and len(first["wall_ms"]) == 2
    assert (
        first["rays"] == wavefront["rays"] and first["rays"]["reflection 1"] > 100 and glass["rays"]["refraction 1"] > 0
    )
    assert first["frames_per_s"] > 0.0 and (tmp_path / "rays.txt").read_text() in capsys.readouterr().out
    assert {case.hierarchy for case in recursive.ON_DEVICE} == {"lbvh", "sah_events", "median_sah"}
