"""The script that measures forces between bodies: it runs, and smaller angles are more exact."""

from __future__ import annotations

import json
import pathlib

import pytest

from raygrove.bench.cases import gravity, main


@pytest.mark.parametrize("most_direct", [200_000, 100])
def test_forces_are_measured_beside_exact_ones(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, most_direct: int
) -> None:
    monkeypatch.setattr(gravity, "MOST_DIRECT", most_direct)
    monkeypatch.setattr(gravity, "EXACT", gravity.MultipoleOptions(order=6, angle=0.3))
    monkeypatch.setattr(gravity, "WAYS", (gravity.WAYS[0], gravity.WAYS[1], gravity.WAYS[-1]))
    out = tmp_path / "gravity"
    small = ["--counts", "500", "--repeat", "1", "--galaxy", "200", "40"]
    assert main(["gravity", "--device", "cpu", *small, "--out", str(out)]) == 0
    *rows, drift = json.loads(out.with_suffix(".json").read_text())["results"]
    assert (drift["bodies"], drift["steps"]) == (200, 40) and 0.0 < drift["drift"] < 1e-3
    assert [row["forces"] for row in rows] == ["direct"] * (most_direct > 500) + ["barnes_hut"] * 2 + ["multipole"]
    errors = [row["rms_error"] for row in rows][-3:]
    assert 0.1 > errors[0] > errors[1] > errors[2] > 0.0
    assert all(row["ms"] > 0.0 and len(row["samples"]) == 1 for row in rows)
    assert "nbody.m2l" in rows[-1]["phases_ms"]
    assert "rms error" in out.with_suffix(".txt").read_text()
