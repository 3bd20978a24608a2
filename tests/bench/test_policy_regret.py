"""How far policies are from the best schedule: of costs whose best is known, and of a clip that is measured."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from raygrove.bench.arguments import UsageError
from raygrove.bench.cases.policy import ARGUMENTS, run
from raygrove.bench.clip_tables import ClipTable, read_table
from raygrove.bench.policy_regret import NOISE, noisy, played_out, table
from raygrove.gpu.analysis.schedules import ClipCosts


def line(frames: int, premium: float, slope: float) -> ClipCosts:
    trace = np.broadcast_to(5.0 + slope * np.arange(frames, dtype=float), (frames, frames))
    return ClipCosts(np.full(frames, 1.0 + premium), np.full(frames, 1.0), trace)


def clip_of(costs: ClipCosts) -> ClipTable:
    return ClipTable("a line", 10, 30.0, 1000, costs)


def test_a_line_of_wear_is_priced_without_the_noise_that_policies_see() -> None:
    """Premium 2 ms, 0.08 ms a refit: cycles of 7 frames, which cost 1 + 2 / 7 + 5 + 3 x 0.08 ms a frame."""
    found = played_out(clip_of(line(70, 2.0, 0.08)), rounds=3)
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
    more = ["--updates", "1,10", "--keep", str(tmp_path / "costs"), "--out"]
    names = parser.parse_args([*words, "2", "--size", "32x24", *more, str(tmp_path / "kept")])
    names.command = "bench policy --optimum"
    assert run(names) == 0
    assert "explode" in capsys.readouterr().out
    kept = tmp_path / "kept.json"
    row, dear = json.loads(kept.read_text())["results"]
    assert (row["updates"], dear["updates"]) == (1.0, 10.0) and dear["optimum_ms"] > row["optimum_ms"]
    assert (row["frames"], row["rays"]) == (8, 768) and row["optimum_ms"] > 0.0
    assert min(row["regret"].values()) >= 1.0 - 1e-12 and row["regret"].keys() == row["rebuilds"].keys()

    (file,) = (tmp_path / "costs").iterdir()
    assert file.name == "explode-lbvh-auto.npz"
    again = ["--device", "cpu", "--rounds", "2", "--updates", "1,10", "--costs", str(file), "--out"]
    names = parser.parse_args([*again, str(tmp_path / "again")])
    names.command = "bench policy --costs"
    assert run(names) == 0
    assert json.loads((tmp_path / "again.json").read_text())["results"] == [row, dear], "nothing is measured again"


def test_costs_of_a_clip_are_read_as_they_were_kept(tmp_path: Path) -> None:
    costs = dataclasses.replace(line(6, 2.0, 0.1), sah=np.arange(36.0).reshape(6, 6))
    path = clip_of(costs).keep(tmp_path, "hploc auto")
    found = read_table(path)
    assert (found.scene, found.triangles, found.fps, found.rays) == ("a line", 10, 30.0, 1000)
    for name in ("rebuild_ms", "refit_ms", "trace_ms", "sah"):
        assert np.array_equal(getattr(found.costs, name), getattr(costs, name)), name
    dear = found.with_updates(3.0).costs
    assert np.array_equal(dear.rebuild_ms, 3.0 * costs.rebuild_ms) and np.array_equal(dear.trace_ms, costs.trace_ms)


def test_a_file_that_holds_no_costs_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "words.npz").write_text("nothing of the kind")
    np.savez(tmp_path / "short.npz", rebuild_ms=np.ones(3), refit_ms=np.ones(3), trace_ms=np.ones((2, 3)))
    for name in ("words.npz", "short.npz", "missing.npz"):
        with pytest.raises(UsageError, match="holds no costs of a clip"):
            read_table(tmp_path / name)
