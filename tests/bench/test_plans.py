"""The plans in bench/plans are plans of what the cases of `raygrove.bench` measure, and leave nothing of it out."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli.job_running import Runner
from raygrove.app.cli.main import main
from raygrove.app.cli.sweep_plan import Jobs
from raygrove.app.settings.toml_files import read_toml
from raygrove.bench.cases import builds, light, policy, rays, recursive
from raygrove.bench.cases.structures import choices_of
from raygrove.bench.device_scaling import DRAWN_SCENES, DRAWN_STRUCTURES
from raygrove.bench.ray_scenes import BY_NAME
from raygrove.bench.store.folder import Store
from raygrove.bench.store.jobs import Job
from raygrove.bench.store.plans import plan_of
from raygrove.gpu.hierarchy.registry import optimisers, structures

PLANS = Path(__file__).resolve().parents[2] / "bench" / "plans"
FILES = sorted(PLANS.glob("*.toml"))
FEW: dict[str, Any] = {"demo.triangles": 120, "size": [16, 12], "repeat": 1, "warmup": 0, "samples": 1}
"""What a job is made smaller by; its words are otherwise the plan's."""


def jobs_of(name: str) -> Jobs:
    path = PLANS / f"{name}.toml"
    return Jobs(
        plan_of(read_toml(path, "plan", 1 << 20), path), path, "s", "cpu", argparse.Namespace(allow_outside=None)
    )


def said(name: str, *keys: str) -> set[tuple[Any, ...]]:
    """What the jobs of a plan say of some words."""
    return {tuple(tuple(value) if isinstance(value := job.what.get(key), list) else value for key in keys)
            for job in jobs_of(name)}  # fmt: skip


def spelt(tree: str) -> str:
    """A tree's word of the cases as a configuration: hploc+cwbvh is a layout."""
    name, _, more = tree.partition("+")
    return tree if not more or more in optimisers() else f"{name}/{more}"


def test_every_structure_and_optimiser_has_its_jobs() -> None:
    jobs = list(jobs_of("structures"))
    named = {str(job.what["configuration"]) for job in jobs}
    assert named == {*structures(), *(f"lbvh+{name}" for name in optimisers())}
    assert len({job.sha for job in jobs}) == len(jobs) == 4 * len(named)
    assert {(job.what["scene"], job.what["measure"]) for job in jobs} == {
        (scene, measure) for scene in ("blob", "room") for measure in ("build", "trace")
    }


def test_every_layout_has_its_jobs() -> None:
    wanted = {f"{one.hierarchy}/{one.layout}" for one in choices_of(list(structures()), True) if one.layout != "auto"}
    assert said("layouts", "scene", "measure", "configuration") == set(
        itertools.product(("blob", "room"), ("build", "trace"), wanted)
    )


def test_builds_and_rays_are_those_of_the_bench_of_record() -> None:
    assert said("builds", "configuration") == {(spelt(tree),) for tree in builds.TREES["cuda"]}
    assert said("rays", "configuration") == {(spelt(tree),) for tree in rays.TREES["cuda"]}
    views = {(name, BY_NAME[name].triangles, view.camera.eye, view.camera.look_at, view.camera.fov)
             for name in ("blob", "room") for view in BY_NAME[name].views}  # fmt: skip
    assert said("rays", "scene", "demo.triangles", "eye", "look_at", "fov") == views
    assert said("rays", "size") == {((1024, 768),), ((1920, 1080),)}


def test_policies_light_and_mirrors_are_those_of_their_cases() -> None:
    assert said("policy", "scene", "configuration") == {
        (scene, f"lbvh@{mode}") for scene in policy.SCENES for mode in policy.MODES
    }
    wanted = set()
    for _, ray_type, options in light.KINDS:
        radius, falloff = (getattr(options, name, None) for name in ("radius", "falloff"))
        wanted.add((ray_type, radius, falloff if ray_type == "ao" else None, options.strategy))
    found = {(kind, radius, falloff, ao or diffuse) for kind, radius, falloff, ao, diffuse in said(
        "light", "ray_type", "ray_type.ao.radius", "ray_type.ao.falloff", "ray_type.ao.strategy",
        "ray_type.diffuse.strategy")}  # fmt: skip
    assert found == wanted and said("light", "configuration") == {(name,) for name in light.STRUCTURES}
    assert said(
        "recursive", "scene", "demo.triangles", "configuration", "size", "ray_type.whitted.depth",
        "ray_type.whitted.strategy",
    ) == {(case.scene, case.triangles, f"{case.hierarchy}@rebuild", case.size, case.depth, case.strategy)
          for case in recursive.ON_DEVICE}  # fmt: skip


def test_pictures_are_of_three_structures_and_three_scenes() -> None:
    assert said("pictures", "scene", "configuration") == set(itertools.product(DRAWN_SCENES, DRAWN_STRUCTURES))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_plan_says_how_it_is_swept_and_is_one(path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert f"raygrove sweep bench/plans/{path.name} --store" in path.read_text(encoding="utf-8")
    assert main(["sweep", str(path), "--store", str(tmp_path / "none"), "--dry-run"]) == 0
    jobs = list(jobs_of(path.stem))
    assert f"{len(jobs):,} jobs, 0 with results" in capsys.readouterr().out
    assert len({job.sha for job in jobs}) == len(jobs) > 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_job_of_a_plan_is_done(path: Path, tmp_path: Path) -> None:
    first = next(job.what for job in jobs_of(path.stem) if str(job.what["configuration"]).startswith("lbvh"))
    small = {key: FEW.get(key, value) for key, value in first.items()}
    if "frames" in small:
        small["frames"] = [small["frames"][0], small["frames"][0] + 1]
    record = Runner(Store.made(tmp_path / "store")).run(Job(small))
    assert record["status"] == "done", record
    row = record["rows"][0]
    assert row.get("file") or all(value > 0.0 for values in row["rounds"].values() for value in values)
    assert row.get("file") or row["rounds"]
