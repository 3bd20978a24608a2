"""The plans in bench/plans are plans, and leave no structure out."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from raygrove.app.cli.sweep_plan import Jobs
from raygrove.app.settings.toml_files import read_toml
from raygrove.bench.store.plans import plan_of
from raygrove.gpu.hierarchy.registry import optimisers, structures

PLANS = Path(__file__).resolve().parents[2] / "bench" / "plans"


def jobs_of(name: str) -> Jobs:
    path = PLANS / f"{name}.toml"
    return Jobs(
        plan_of(read_toml(path, "plan", 1 << 20), path), path, "s", "cpu", argparse.Namespace(allow_outside=None)
    )


def test_every_structure_and_optimiser_has_its_jobs() -> None:
    jobs = list(jobs_of("structures"))
    named = {str(job.what["configuration"]) for job in jobs}
    assert named == {*structures(), *(f"lbvh+{name}" for name in optimisers())}
    assert len({job.sha for job in jobs}) == len(jobs) == 4 * len(named)
    assert {(job.what["scene"], job.what["measure"]) for job in jobs} == {
        (scene, measure) for scene in ("blob", "room") for measure in ("build", "trace")
    }


@pytest.mark.parametrize("path", sorted(PLANS.glob("*.toml")), ids=lambda path: path.stem)
def test_a_plan_says_how_it_is_swept(path: Path) -> None:
    assert len(jobs_of(path.stem)) > 0
    assert f"raygrove sweep bench/plans/{path.name} --store" in path.read_text(encoding="utf-8")
