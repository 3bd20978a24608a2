"""The measurements that suites share: a structure built and traced on a still scene, followed through a moving one, and its cost from key to key."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Sequence
from typing import Any

from gpu.engine import ViewSettings
from gpu.scene import Moment, Scene
from gpu.stats import HierarchyStatistics
from gpu.target.base import Target

from ..frame import run_frame
from ..measure import Stage, Task, median, timed

WARMUP = 3


def moments_of(scene: Scene, count: int) -> tuple[Moment, ...]:
    """`count` instants spread evenly over the first clip; the beginning alone of a still scene."""
    duration = scene.duration(0)
    if duration <= 0.0:
        return (Moment(),)
    return tuple(Moment(duration * index / count, 0, index) for index in range(count))


def still(target: Target, scene: Scene, settings: ViewSettings, size: tuple[int, int], repeat: int) -> dict[str, Any]:
    """Build and trace one structure at the scene's beginning. `kernels_ms` adds up the phases' medians, `overall_ms` is the wall time from the first
    launch until the target has finished; memory in MB (10^6 bytes)."""
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        primitives = stage.show(Moment()).primitives
        timing = timed(target, lambda: stage.hierarchy.build(primitives), repeat, WARMUP)
        overall_ms = _overall_ms(stage, primitives, repeat)
        tree = stage.statistics()
        rays = stage.rays(Task(scene, settings, size).view_from(), size)
        traced = timed(target, lambda: _trace(stage, rays), repeat, WARMUP)
        phases = timing.medians()
        kernels_ms, trace_ms = sum(phases.values()), median(traced.spans_ms)
        return {
            **stage.names(),
            "kernels_ms": kernels_ms,
            "overall_ms": overall_ms,
            "phases_ms": phases,
            "launches": timing.launches,
            "mtris_per_s": scene.triangle_count / kernels_ms / 1e3 if kernels_ms else None,
            "primary_mrays_per_s": size[0] * size[1] / trace_ms / 1e3 if trace_ms else None,
            **_tree(tree),
        }


def moving(target: Target, scene: Scene, settings: ViewSettings, size: tuple[int, int], moments: Sequence[Moment], repeat: int) -> dict[str, Any]:
    """Whole frames through the engine, rebuilt or as `settings.update` has it: frames a second with everything, the mean of build times and of SAH
    costs over the instants."""
    row = run_frame(target, Task(scene, settings, size, tuple(moments), repeat, WARMUP))
    costs = costs_over(target, scene, settings, moments, "rebuild")
    return {
        "layout": row.layout,
        "construction_ms": statistics.fmean(row.samples["build_ms"]) if row.samples.get("build_ms") else None,
        "sah_cost": statistics.fmean(costs),
        "frames_per_s": median(row.samples["frames_per_s"]),
        "frame_ms": median(row.samples["frame_ms"]),
        "phases_ms": row.phases_ms,
    }


def costs_over(target: Target, scene: Scene, settings: ViewSettings, moments: Sequence[Moment], update: str) -> list[float]:
    """The tree's SAH cost at every instant: rebuilt at each, or with `update` refit, refitted from the tree of the first."""
    costs = []
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        for index, moment in enumerate(moments):
            primitives = stage.show(moment).primitives
            if index == 0 or update == "rebuild":
                stage.hierarchy.build(primitives)
            else:
                stage.hierarchy.refit(primitives)
            costs.append(float(stage.statistics().sah_cost or 0.0))
    return costs


def _trace(stage: Stage, rays: Any) -> None:
    with stage.target.phase("trace.primary"):
        stage.trace(rays)


def _overall_ms(stage: Stage, primitives: Any, repeat: int) -> float:
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        stage.hierarchy.build(primitives)
        stage.target.synchronize()
        times.append((time.perf_counter() - started) * 1e3)
    return median(times)


def _tree(tree: HierarchyStatistics) -> dict[str, Any]:
    return {
        "sah_cost": tree.sah_cost,
        "node_count": tree.node_count + tree.leaf_count,
        "depth": tree.depth,
        "memory_mb": tree.bytes / 1e6,
        "auxiliary_mb": tree.scratch_bytes / 1e6,
    }
