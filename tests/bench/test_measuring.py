"""Measuring on the host target: rows say what design promises, hits are the same whatever is measured, and nothing is
timed that should not be."""

from __future__ import annotations

import dataclasses
import itertools
import json
import statistics
import time
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.app.scene_io.demos.particles import make_spheres
from raygrove.bench.build import run_build
from raygrove.bench.context import context
from raygrove.bench.frame import run_frame
from raygrove.bench.measure import Stage, Task, timed
from raygrove.bench.rows import ROW_FIELDS, Row
from raygrove.bench.table import aligned, build_table, frame_table, trace_table
from raygrove.bench.trace import run_trace
from raygrove.gpu.engine import Engine, ViewSettings
from raygrove.gpu.hierarchy.base import Capabilities, Hierarchy
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions

PROMISED = (
    "scene triangles target hierarchy optimiser layout traversal update ray_type primary size time options build_ms "
    "refit_ms trace_ms mrays_per_s rays "
    "rays_by_kind mrays_per_s_by_kind hits "
    "sum_t sah_cost node_count leaf_count empty_leaf_count reference_count depth bytes scratch_bytes "
    "end_point_overlap leaf_variability "
    "levels launches phases_ms peers samples"
)
SIZE = (64, 48)


@pytest.fixture(scope="module")
def task() -> Task:
    return Task(make_demo("walker", 1500), size=SIZE, moments=(Moment(0.0), Moment(0.3)), repeat=2, warmup=1)


@pytest.fixture(scope="module")
def built(host_target: Target, task: Task) -> Row:
    return run_build(host_target, task)


def test_a_row_has_the_promised_fields(built: Row) -> None:
    assert " ".join(ROW_FIELDS) == PROMISED
    text = json.dumps(built.as_json(), allow_nan=False)
    assert " ".join(json.loads(text)) == PROMISED


def test_build_times_rebuild_and_refit(built: Row, task: Task) -> None:
    assert built.triangles == task.scene.triangle_count == built.reference_count
    assert built.build_ms is not None and built.build_ms > 0.0 and built.refit_ms is not None and built.refit_ms > 0.0
    assert len(built.samples["build_ms"]) == len(built.samples["refit_ms"]) == 4, "warm-up runs are not kept"
    assert any(name.startswith("build.") for name in built.phases_ms) and any(
        name.startswith("refit.") for name in built.phases_ms
    )
    assert "animate" not in built.phases_ms and "measure" not in built.phases_ms
    assert built.node_count is not None and built.leaf_count == built.node_count + 1
    assert built.sah_cost is not None and built.sah_cost > 1.0 and built.depth is not None and built.depth > 3
    assert built.bytes is not None and built.scratch_bytes is not None and built.bytes > 48 * built.triangles
    assert built.layout in ("bvh2", "bvh4") and built.traversal.startswith(built.layout)
    assert built.options["hierarchy.lbvh.max_leaf_size"] == 0, "as many as the kind of primitive wants"


def test_layouts_find_the_same_hits(host_target: Target, task: Task) -> None:
    rows = [
        run_trace(host_target, dataclasses.replace(task, settings=ViewSettings(layout=layout)))
        for layout in ("bvh2", "bvh4")
    ]
    (primary, any_hit, diffuse, diffuse_any), (other, _, same, _) = rows
    assert [row.ray_type for row in rows[0]] == ["primary", "primary any-hit", "diffuse", "diffuse any-hit"]
    assert diffuse.rays == primary.hits and diffuse.hits == diffuse_any.hits == same.hits != primary.hits
    assert diffuse.mrays_per_s == pytest.approx(diffuse.rays / diffuse.trace_ms / 1e3)
    assert primary.hits is not None and 0 < primary.hits < SIZE[0] * SIZE[1] == primary.rays
    assert primary.hits == any_hit.hits == other.hits
    assert primary.sum_t == pytest.approx(other.sum_t, rel=1e-6)
    assert primary.mrays_per_s == pytest.approx(primary.rays / primary.trace_ms / 1e3)
    assert any_hit.sum_t is None and primary.build_ms is None


def test_frame_and_trace_agree(host_target: Target, task: Task) -> None:
    still = dataclasses.replace(task, moments=(Moment(0.3),))
    traced = run_trace(host_target, still)[0]
    drawn = run_frame(host_target, still)
    assert (drawn.hits, drawn.sum_t) == (traced.hits, pytest.approx(traced.sum_t))
    assert drawn.time == pytest.approx(0.3) and drawn.size == SIZE


def test_frame_rebuilds_every_time(host_target: Target, task: Task) -> None:
    rebuilt = run_frame(host_target, task)
    assert (
        rebuilt.update == "rebuild"
        and rebuilt.build_ms is not None
        and rebuilt.build_ms > 0.0
        and rebuilt.refit_ms == 0.0
    )
    assert len(rebuilt.samples["frame_ms"]) == 4 and rebuilt.samples["frames_per_s"][0] > 0.0
    assert rebuilt.samples["wall_ms"][0] >= min(rebuilt.samples["frame_ms"])
    assert {"animate", "shade", "resolve"} <= {name.split(".")[0] for name in rebuilt.phases_ms}
    assert rebuilt.samples["allocated_bytes"] == [0.0], "frames allocate nothing"
    refitted = run_frame(host_target, dataclasses.replace(task, settings=ViewSettings(update=UpdateOptions("refit"))))
    assert refitted.update == "refit" and refitted.refit_ms is not None and refitted.refit_ms > 0.0
    assert refitted.hits == rebuilt.hits, "a refitted tree shows the same picture"


def test_one_hiccup_of_the_host_does_not_decide_the_frames_a_second(
    host_target: Target, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames per second are the median of the frames, not the run's length over their number."""
    render_frame, frames, spent = Engine.render_frame, itertools.count(), [0.0]

    def with_a_hiccup(engine: Engine, moment: Moment, views: Any) -> Any:
        if moment.frame_id >= 0 and next(frames) == 1:
            time.sleep(min(max(1.0, 20.0 * spent[0]), 10.0))  # much longer than a frame of a busy machine
        begin = time.perf_counter()
        found = render_frame(engine, moment, views)
        spent[0] = time.perf_counter() - begin
        return found

    monkeypatch.setattr(Engine, "render_frame", with_a_hiccup)
    samples = run_frame(host_target, dataclasses.replace(task, repeat=5)).samples
    assert len(samples["frames_per_s"]) == len(samples["period_ms"]) == len(samples["frame_ms"]) == 10
    assert all(period >= spent for period, spent in zip(samples["period_ms"], samples["frame_ms"], strict=True))
    assert max(samples["period_ms"]) > 1000.0 and samples["wall_ms"][0] > 100.0
    assert statistics.median(samples["frames_per_s"]) > 2.0 * 1e3 / samples["wall_ms"][0]


def test_a_still_scene_is_measured_too(host_target: Target) -> None:
    row = run_frame(host_target, Task(make_demo("blob", 500), size=SIZE, repeat=3, warmup=1))
    assert row.update == "rebuild" and row.build_ms is not None and row.build_ms > 0.0
    assert row.mrays_per_s is not None and row.mrays_per_s > 0.0, "every frame draws, though nothing moves"


def test_rays_of_each_kind_are_counted_and_timed_apart(host_target: Target) -> None:
    row = run_frame(host_target, Task(make_demo("blob", 500), ViewSettings(ray_type="ao"), SIZE, repeat=3, warmup=1))
    assert (
        set(row.rays_by_kind) == set(row.mrays_per_s_by_kind) == {"primary", "ao"}
        and sum(row.rays_by_kind.values()) == row.rays
    )
    assert row.rays_by_kind["ao"] % 4 == 0 and min(row.mrays_per_s_by_kind.values()) > 0.0
    assert "primary  " in frame_table([row]) and f"{row.rays_by_kind['ao']:,}" in frame_table([row])


def test_a_structure_without_refit_says_none(host_target: Target, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    from raygrove.gpu.hierarchy.registry import structure

    kind: type[Hierarchy] = structure("lbvh")
    monkeypatch.setattr(kind, "capabilities", Capabilities(refit=False))
    row = run_build(host_target, task)
    assert row.refit_ms is None and "refit_ms" not in row.samples


def test_timed_frames_hold_the_body_only(host_target: Target, task: Task) -> None:
    stage = Stage(host_target, task.scene, task.settings)
    primitives = stage.show(Moment()).primitives
    timing = timed(host_target, lambda: stage.hierarchy.build(primitives), repeat=20, warmup=3)
    assert len(timing.spans_ms) == 20 and timing.launches > 0
    assert all(len(values) == 20 for values in timing.phases_ms.values())
    for frame, span in enumerate(timing.spans_ms):
        assert 0.0 < sum(values[frame] for values in timing.phases_ms.values()) <= span * 1.001
    stage.close()


def test_context_says_where(host_target: Target) -> None:
    about = context(host_target, seed=7, command=["bench", "build"])
    assert about["device"] == host_target.device_name and about["seed"] == 7 and about["target"] == "host"
    assert "+" in about["compiler"] or "clang" in about["compiler"]
    assert about["versions"]["numpy"] == np.__version__ and about["options"]["contraction"] is True
    assert about["driver"] is None and about["command"] == ["bench", "build"]
    json.dumps(about)


def test_context_tells_the_commit_as_told_or_from_the_repository(
    host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(*_: str) -> str:
        raise FileNotFoundError("git")

    monkeypatch.setattr(
        "raygrove.bench.context._git", lambda *words: "def456\n" if "rev-parse" in words else " M a.py\n"
    )
    monkeypatch.setenv("RAYGROVE_COMMIT", "abc123")
    assert context(host_target)["commit"] == "abc123"
    monkeypatch.delenv("RAYGROVE_COMMIT")
    assert context(host_target)["commit"] == "def456+"
    monkeypatch.setattr("raygrove.bench.context._git", absent)
    assert context(host_target)["commit"] is None


def test_numbers_that_json_does_not_know_become_null() -> None:
    row = Row("s", 1, "host", "lbvh", sum_t=float("nan"), samples={"a": [np.float32(1.5), float("inf")]})
    assert row.as_json()["sum_t"] is None and row.as_json()["samples"] == {"a": [1.5, None]}


def test_tables_are_aligned(built: Row) -> None:
    text = aligned(("name", "count"), [("a", 1), ("long name", 1234567), ("b", None)])
    expected = [
        "name           count",
        "---------  ---------",
        "a                  1",
        "long name  1,234,567",
        "b                  -",
    ]
    assert text.splitlines() == expected
    assert aligned(("name",), []) == "name\n----"
    tables = [build_table([built]), trace_table([built]), frame_table([built])]
    for table in tables:
        lines = table.splitlines()
        assert "walker" in lines[2] and len(lines[0]) >= 60
    assert "build.sort" in tables[0]
    absent = dataclasses.replace(
        built, peers=[{"program": "embree", "absent": "Embree is not measured: it is not there."}]
    )
    assert trace_table([absent]).endswith("it is not there.")


def test_tiles_have_found_their_arrangement_before_frames_count(host_target: Target) -> None:
    """What `auto` tries is tried before, and the row says what came of it."""
    settings = ViewSettings(ray_type="flat", primary="tiles")
    row = run_frame(host_target, Task(make_spheres(200, 0), settings, size=(32, 24), repeat=2, warmup=1))
    assert "of 2 measured here" in row.primary and row.options["tiles.arrangement"] == "auto"
    assert row.update == "nothing" and row.build_ms == 0.0
