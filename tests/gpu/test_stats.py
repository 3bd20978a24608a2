"""What statistics say of rays by kind and depth, from the phases that they have."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.stats import STEP_BUCKETS, FrameStatistics, HierarchyStatistics, StepCounts, ViewStatistics, joined

PHASES = {"build.nodes": 5.0, "trace.primary": 2.0, "trace.shadow": 4.0, "trace.path": 8.0, "shade": 3.0}


def statistics(**rays: int) -> ViewStatistics:
    """A view whose tracing took 14 ms."""
    by_kind = {kind.replace("_", " "): count for kind, count in rays.items()}
    named = {"hierarchy": "lbvh", "layout": "bvh2", "ray_type": "path", "update": "nothing", "reason": ""}
    spent = {"build_ms": 5.0, "refit_ms": 0.0, "trace_ms": 14.0, "shade_ms": 3.0, "phases_ms": PHASES}
    counted = {"rays": sum(rays.values()), "rays_by_kind": by_kind, "mrays_per_s": sum(rays.values()) / 14e3}
    return ViewStatistics(**named, **spent, **counted, width=8, height=8, samples=1, structure=HierarchyStatistics())


def test_a_kind_with_a_phase_of_its_own_has_a_rate_of_its_own() -> None:
    assert statistics(primary=2000, shadow=8000).mrays_per_s_by_kind == {"primary": 1.0, "shadow": 2.0}


def test_depths_share_the_phase_of_their_kind_and_the_rest_shares_all_of_tracing() -> None:
    found = statistics(primary=2000, path_1=10_000, path_2=6000, reflection_1=14_000).mrays_per_s_by_kind
    assert found == pytest.approx({"primary": 1.0, "path 1": 2.0, "path 2": 2.0, "reflection 1": 1.0})


def test_what_took_no_time_has_no_rate() -> None:
    still = dataclasses.replace(statistics(primary=5), phases_ms={}, trace_ms=0.0)
    assert still.mrays_per_s_by_kind == {"primary": 0.0} and statistics().mrays_per_s_by_kind == {}


def test_frames_of_some_rows_are_joined_to_one() -> None:
    def part(number: int, update: str, rays: int) -> FrameStatistics:
        steps = StepCounts("nodes", np.arange(STEP_BUCKETS) * number, 0, 9)
        view = ViewStatistics(
            "lbvh", "bvh2", "path", update, f"why {number}", {"build": 2.0 * (update == "rebuild"), "trace.path": 3.0},
            2.0 * (update == "rebuild"), 0.0, 3.0, 1.0, rays, 0.0, 64, 48, number - 1, HierarchyStatistics(), steps,
            {"primary": rays - number, "path 1": number},
        )  # fmt: skip
        return FrameStatistics(number, 0.5, "host", 12, 0.25, 8.0, 1.0, 5, {"film": 4}, (view,))

    parts = [part(1, "rebuild", 1000), part(2, "nothing", 2000), part(3, "nothing", 500)]
    assert joined(parts[:1]) is parts[0]
    whole = joined(parts)
    view = whole.views[0]
    assert (whole.frame_id, whole.frame_ms, whole.host_ms, whole.animate_ms, whole.launches) == (3, 24.0, 3.0, 0.75, 15)
    assert (view.update, view.reason, view.samples, view.rays) == ("rebuild", "why 1", 2, 3500) and whole.has_updated
    assert view.phases_ms == {"build": 2.0, "trace.path": 9.0} and (view.build_ms, view.shade_ms) == (2.0, 3.0)
    assert view.rays_by_kind == {"primary": 3494, "path 1": 6} and view.mrays_per_s == 3500 / 9.0 / 1e3
    assert view.steps is not None and np.array_equal(view.steps.histogram, np.arange(STEP_BUCKETS) * 6)
