"""How far policies are from the best schedule: of costs whose best is known, and of a clip that is measured."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from raygrove.bench.cases.policy import ARGUMENTS, run
from raygrove.bench.policy_regret import NOISE, noisy, played_out, table
from raygrove.gpu.analysis.schedules import ClipCosts


def line(frames: int, premium: float, slope: float) -> ClipCosts:
    trace = np.broadcast_to(5.0 + slope * np.arange(frames, dtype=float), (frames, frames))
    return ClipCosts(np.full(frames, 1.0 + premium), np.full(frames, 1.0), trace)


def test_a_line_of_wear_is_priced_without_the_noise_that_policies_see() -> None:
    """Premium 2 ms, 0.08 ms a refit: cycles of 7 frames, which cost 1 + 2 / 7 + 5 + 3 x 0.08 ms a frame."""
    found = played_out(line(70, 2.0, 0.08), "a line", 10, 30.0, 1000, rounds=3)
    best = 1.0 + 2.0 / 7.0 + 5.0 + 0.24
    assert found.optimum_ms == pytest.approx(best) and found.optimum_rebuilds == 10
    assert (found.every, found.every_nth) == (7, pytest.approx(1.0))
    assert found.regret["rebuild"] == pytest.approx(8.0 / best)
    assert found.regret["refit"] == pytest.approx((1.0 + 2.0 / 70.0 + 5.0 + 34.5 * 0.08) / best)
    assert found.rebuilds["rebuild"] == 70.0 and found.rebuilds["refit"] == 1.0
    assert 1.0 <= found.regret["auto"] <= 1.06 and 1.0 <= found.regret["ratio_optimiser"] <= 1.06
    assert found.over_ratio_optimiser == found.regret["auto"] / found.regret["ratio_optimiser"]
    assert f"{found.regret['auto']:.3f}" in table([found])


def test_noise_is_as_large_as_is_said_and_the_same_in_each_run() -> None:
    costs = line(60, 2.0, 0.1)
    seen = noisy(costs, 3)
    off = np.log(seen.trace_ms / costs.trace_ms)
    assert np.std(off) == pytest.approx(NOISE, rel=0.1) and abs(np.mean(off)) < 0.01
    assert np.array_equal(seen.trace_ms, noisy(costs, 3).trace_ms)
    assert not np.array_equal(seen.trace_ms, noisy(costs, 4).trace_ms)


def test_a_clip_is_measured_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    for one in ARGUMENTS:
        one.add_to(parser)
    words = ["--device", "cpu", "--optimum", "--scenes", "explode", "--triangles", "600", "--frames", "8", "--rounds"]
    names = parser.parse_args([*words, "2", "--size", "32x24", "--updates", "1,10", "--out", str(tmp_path / "kept")])
    names.command = "bench policy --optimum"
    assert run(names) == 0
    assert "explode" in capsys.readouterr().out
    kept = tmp_path / "kept.json"
    row, dear = json.loads(kept.read_text())["results"]
    assert (row["updates"], dear["updates"]) == (1.0, 10.0) and dear["optimum_ms"] > row["optimum_ms"]
    assert (row["frames"], row["rays"]) == (8, 768) and row["optimum_ms"] > 0.0
    assert min(row["regret"].values()) >= 1.0 - 1e-12 and row["regret"].keys() == row["rebuilds"].keys()
