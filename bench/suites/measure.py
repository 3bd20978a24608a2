"""The measurements that suites share: a structure built and traced on a still scene, followed through a moving one, and
its cost from key to key."""

from __future__ import annotations

import collections
import contextlib
import functools
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.shade.film import Film, Resolver
from raygrove.gpu.shade.materials import Materials
from raygrove.gpu.shade.registry import ray_type
from raygrove.gpu.stats import HierarchyStatistics
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer

from ..frame import run_frame
from ..measure import Stage, Task, median, profiled, timed

WARMUP = 3


def moments_of(scene: Scene, count: int) -> tuple[Moment, ...]:
    """`count` instants spread evenly over the first clip; the beginning alone of a still scene."""
    duration = scene.duration(0)
    if duration <= 0.0:
        return (Moment(),)
    return tuple(Moment(duration * index / count, 0, index) for index in range(count))


def key_moments(scene: Scene, most: int) -> tuple[Moment, ...]:
    """The instants of a scene's own key frames in its first clip, but for the clip's end, where it begins again; `most`
    of them, evenly chosen, where there are more. The beginning alone of a still scene."""
    duration = scene.duration(0)
    times = [float(time) for time in scene.key_times(0) if 0.0 <= time < duration]
    if duration <= 0.0 or not times:
        return (Moment(),)
    count = min(most, len(times))
    return tuple(Moment(times[index * len(times) // count], 0, index) for index in range(count))


Secondary = Sequence[tuple[str, str, Any]]
"""A suite's word for a kind of ray, the ray type that shoots it, and that type's options."""


def still(
    target: Target, scene: Scene, settings: ViewSettings, size: tuple[int, int], repeat: int, secondary: Secondary = ()
) -> dict[str, Any]:
    """Build and trace one structure at the scene's beginning. `kernels_ms` adds up the phases' medians, replayed as a
    graph, so that no kernel waits for the host to launch it; `overall_ms` is the wall time of a build that the host
    launches kernel by kernel, until the target has finished; memory in MB (10^6 bytes). Rays that go on from primary
    hits are counted and timed by themselves."""
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        primitives = stage.show(Moment()).primitives
        build = functools.partial(stage.hierarchy.build, primitives)
        launches = timed(target, build, 1, WARMUP).launches
        overall_ms = _overall_ms(stage, primitives, repeat)
        timing = timed(target, target.capture(build), repeat, WARMUP)
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
            "launches": launches,
            "mtris_per_s": scene.triangle_count / kernels_ms / 1e3 if kernels_ms else None,
            "primary_mrays_per_s": size[0] * size[1] / trace_ms / 1e3 if trace_ms else None,
            **{
                f"{word}_mrays_per_s": _rate(stage, scene, size, repeat, name, options)
                for word, name, options in secondary
            },
            **_tree(tree),
        }


def construction(
    target: Target, scene: Scene, settings: ViewSettings, moments: Sequence[Moment], repeat: int
) -> dict[str, Any]:
    """One structure built at each of the moments, means of medians over them: `build_ms` from the first launch to the
    last one's end, `overall_ms` as the caller waits, `graph_ms` replayed as one graph, `kernels_ms` of all launches,
    each timed by itself in replays of their own, less what timing costs, and of each kernel in `by_kernel`; `launches`.
    The tree is that of the last moment."""
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        times, by_kernel, launches = [], [], 0
        for moment in moments:
            primitives = stage.show(moment).primitives
            build = functools.partial(stage.hierarchy.build, primitives)
            timing = timed(target, build, repeat, WARMUP)
            graph_ms = median(timed(target, target.capture(build), repeat, 1).spans_ms)
            by_kernel.append(_by_kernel(stage, primitives, repeat))
            times.append(
                (median(timing.spans_ms), _overall_ms(stage, primitives, repeat), graph_ms, sum(by_kernel[-1].values()))
            )
            launches = max(launches, timing.launches)
        names = ("build_ms", "overall_ms", "graph_ms", "kernels_ms")
        kernels = {
            name: statistics.fmean(found.get(name, 0.0) for found in by_kernel) for found in by_kernel for name in found
        }
        tree = stage.statistics()
        means = {name: statistics.fmean(column) for name, column in zip(names, zip(*times, strict=True), strict=True)}
        listed = tree.reference_count / max(1, tree.primitive_count)
        return {
            **stage.names(),
            **means,
            "by_kernel": kernels,
            "launches": launches,
            **_tree(tree),
            "references_per_primitive": listed,
            "empty_leaf_count": tree.empty_leaf_count,
        }


def traced_ms(target: Target, scene: Scene, settings: ViewSettings, size: tuple[int, int], repeat: int) -> float:
    """Primary rays of one picture at the scene's beginning."""
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        stage.hierarchy.build(stage.show(Moment()).primitives)
        rays = stage.rays(Task(scene, settings, size).view_from(), size)
        return median(timed(target, lambda: _trace(stage, rays), repeat, WARMUP).spans_ms)


def drawn(
    target: Target, scene: Scene, settings: ViewSettings, size: tuple[int, int], moments: Sequence[Moment], repeat: int
) -> dict[str, Any]:
    """Whole frames through the engine, medians: `frame_ms` of the target with everything, `build_ms`, `picture_ms` what
    is not animation nor construction (rays and shading), rays per frame."""
    row = run_frame(target, Task(scene, settings, size, tuple(moments), repeat, WARMUP))
    frame_ms, built_ms = median(row.samples["frame_ms"]), row.build_ms or 0.0
    return {
        "build_ms": built_ms,
        "frame_ms": frame_ms,
        "picture_ms": max(0.0, frame_ms - built_ms - row.phases_ms.get("animate", 0.0)),
        "period_ms": median(row.samples["period_ms"]),
        "frames_per_s": median(row.samples["frames_per_s"]),
        "rays": row.rays,
    }


def moving(
    target: Target, scene: Scene, settings: ViewSettings, size: tuple[int, int], moments: Sequence[Moment], repeat: int
) -> dict[str, Any]:
    """Whole frames through the engine, rebuilt or as `settings.update` has it: medians of frames per second with
    everything and of the target's time for a frame, means of build times and of SAH costs over the instants."""
    row = run_frame(target, Task(scene, settings, size, tuple(moments), repeat, WARMUP))
    costs = costs_over(target, scene, settings, moments, "rebuild")
    return {
        "layout": row.layout,
        "construction_ms": statistics.fmean(row.samples["build_ms"]) if row.samples.get("build_ms") else None,
        "sah_cost": statistics.fmean(costs),
        "period_ms": median(row.samples["period_ms"]),
        "frames_per_s": median(row.samples["frames_per_s"]),
        "frame_ms": median(row.samples["frame_ms"]),
        "phases_ms": row.phases_ms,
    }


def costs_over(
    target: Target, scene: Scene, settings: ViewSettings, moments: Sequence[Moment], update: str
) -> list[float]:
    """The tree's SAH cost at every instant: rebuilt at each, or with `update` refit, refitted from the tree of the
    first."""
    costs = []
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        for index, moment in enumerate(moments):
            primitives = stage.show(moment).primitives
            if index == 0 or update == "rebuild":
                stage.hierarchy.build(primitives)
            else:
                stage.hierarchy.refit(primitives)
            cost = stage.statistics().sah_cost
            if cost is None:
                raise HierarchyError(f"The structure {stage.hierarchy.name} has no SAH cost: choose a tree.")
            costs.append(float(cost))
    return costs


def _rate(stage: Stage, scene: Scene, size: tuple[int, int], repeat: int, name: str, options: Any) -> float | None:
    """Millions of rays per second that a ray type shoots from the hits of a picture, over the time of their phase."""
    target, surface = stage.target, stage.show(Moment())
    shading = ray_type(name)(target, Materials(target, scene))
    film, tracer = Film(target, Resolver(target)), Tracer(target, stage.hierarchy.traversal())
    camera, diagonal = Task(scene, size=size).view_from(), float(np.linalg.norm(np.subtract(scene.upper, scene.lower)))
    film.next_sample(None, *size, samples=1)
    film.begin(camera)
    context = film.context(camera, surface, diagonal)
    shading.prepare(options, context)
    phases = timed(target, lambda: shading.render(tracer, context), repeat, WARMUP).medians()
    counts = shading.ray_counts()
    spent = phases.get(f"trace.{name}", 0.0)
    return float(target.download(counts.array).sum()) / spent / 1e3 if counts is not None and spent else None


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


def _by_kernel(stage: Stage, primitives: Any, repeat: int) -> dict[str, float]:
    """Milliseconds of each kernel of a build, all its launches together, in a graph, where none waits for the host;
    less what timing takes."""
    target, counts, launch = stage.target, collections.Counter[str](), stage.target.launch

    def counted(unit: Any, kernel: str, n: Any, /, **arguments: Any) -> None:
        counts[kernel] += 1
        launch(unit, kernel, n, **arguments)

    target.launch = counted  # type: ignore[method-assign]
    try:
        stage.hierarchy.build(primitives)
    finally:
        del target.launch  # type: ignore[method-assign]
    phases = profiled(target, target.capture(lambda: stage.hierarchy.build(primitives)), repeat, 1).medians()
    times = {name.removeprefix("launch."): value for name, value in phases.items() if name.startswith("launch.")}
    empty_ms = _timing_ms(target, repeat)
    return {name: max(0.0, value - max(1, counts[name]) * empty_ms) for name, value in times.items()}


def _timing_ms(target: Target, repeat: int) -> float:
    """What timing a launch takes by itself: the time of a phase in which nothing is launched."""
    times = 16

    def body() -> None:
        for _ in range(times):
            with target.phase("nothing"):
                pass

    return timed(target, target.capture(body), repeat, 1).medians()["nothing"] / times


def _tree(tree: HierarchyStatistics) -> dict[str, Any]:
    return {
        "sah_cost": tree.sah_cost,
        "node_count": tree.node_count + tree.leaf_count,
        "depth": tree.depth,
        "inner_count": tree.node_count,
        "reference_count": tree.reference_count,
        "memory_mb": tree.bytes / 1e6,
        "auxiliary_mb": tree.scratch_bytes / 1e6,
    }
