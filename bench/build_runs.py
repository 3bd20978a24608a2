"""Builds and refits of one scene for the bench of record: each captured once and replayed, as frames do it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.repeated_launches import FRAMES_BEFORE_CAPTURE
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target, TargetError

from .measure import Stage, median, timed
from .ray_runs import MOST_SLOW, SLOW_BUILDERS, settings_of
from .ray_scenes import Subject

WARM_UP = 2


def measure_builds(
    target: Target, subject: Subject, scene: Scene, trees: Sequence[str], repeat: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """The part of one scene: a row for each tree, and what could not be measured."""
    part: dict[str, Any] = {
        "scene": subject.name,
        "triangles": scene.triangle_count,
        "is_whole": scene.triangle_count == subject.triangles,
        "rows": [],
        "not_measured": [],
    }
    for tree in trees:
        settings = settings_of(tree, target.kind)
        if settings.hierarchy in SLOW_BUILDERS and scene.triangle_count > MOST_SLOW:
            part["not_measured"].append(f"{tree}: not built of more than {MOST_SLOW:,} triangles.")
            continue
        say(f"  {tree}")
        try:
            part["rows"].append({"tree": tree, **_measure(target, scene, settings, repeat)})
        except (TargetError, HierarchyError) as error:
            part["not_measured"].append(f"{tree}: {error}")
    return part


def _measure(target: Target, scene: Scene, settings: ViewSettings, repeat: int) -> dict[str, Any]:
    """Times of a tree's build, and of its refit where it has one; its cost and memory."""
    with contextlib.closing(Stage(target, scene, settings)) as stage:
        primitives = stage.show(Moment()).primitives
        build = _replayed(target, lambda: stage.hierarchy.build(primitives), repeat)
        stats = stage.statistics()
        refit = None
        if stage.hierarchy.capabilities.refit:
            refit = _replayed(target, lambda: stage.hierarchy.refit(primitives), repeat)
        return {
            **stage.names(),
            "build_ms": median(build),
            "refit_ms": median(refit) if refit else None,
            "sah_cost": stats.sah_cost,
            "depth": stats.depth,
            "bytes": stats.bytes,
            "scratch_bytes": stats.scratch_bytes,
            "samples": {"build_ms": build, "refit_ms": refit or []},
        }


def _replayed(target: Target, launches: Callable[[], None], repeat: int) -> list[float]:
    """Milliseconds of each replay."""
    for _ in range(FRAMES_BEFORE_CAPTURE):
        launches()
    target.synchronize()
    return timed(target, target.capture(launches), repeat, WARM_UP).spans_ms
