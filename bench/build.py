"""`bench build`: how long a structure takes to be rebuilt and refitted, by phase, and what tree comes out."""

from __future__ import annotations

import contextlib
import dataclasses

from raygrove.gpu.hierarchy.base import CannotRefitError
from raygrove.gpu.target.base import Target

from .measure import Stage, Task, Timed, median, timed
from .rows import Row, chosen, tree_fields


def run_build(target: Target, task: Task) -> Row:
    """Rebuild at every moment, then refit the first moment's tree to every moment. The row's tree and hits are those of
    the last rebuild."""
    with contextlib.closing(Stage(target, task.scene, task.settings)) as stage:
        rebuilt = _rebuild(stage, task)
        tree = stage.statistics(quality=True)
        found = stage.totals(task.view_from(), task.size)
        refitted = _refit(stage, task)
        phases = rebuilt.medians() | refitted.medians()
        samples = {
            "build_ms": rebuilt.spans_ms,
            "refit_ms": refitted.spans_ms,
            **rebuilt.phases_ms,
            **refitted.phases_ms,
        }
        row = Row(
            scene=task.scene.name,
            triangles=task.scene.primitive_count,
            **{**chosen(target, task.settings), **stage.names(), **tree_fields(tree), "update": "rebuild"},
            size=task.size,
            time=task.moments[-1].time,
            build_ms=median(rebuilt.spans_ms),
            refit_ms=median(refitted.spans_ms) if refitted.spans_ms else None,
            rays=task.size[0] * task.size[1],
            hits=found.hits,
            sum_t=found.sum_t,
            launches=rebuilt.launches,
            phases_ms=phases,
            samples={name: values for name, values in samples.items() if values},
        )
    return dataclasses.replace(row, ray_type="primary")


def _rebuild(stage: Stage, task: Task) -> Timed:
    whole = Timed()
    for moment in task.moments:
        primitives = stage.show(moment).primitives
        whole.extend(timed(stage.target, lambda: stage.hierarchy.build(primitives), task.repeat, task.warmup))  # noqa: B023
    return whole


def _refit(stage: Stage, task: Task) -> Timed:
    """Nothing where the structure has no refit."""
    whole = Timed()
    if not stage.hierarchy.capabilities.refit:
        return whole
    stage.hierarchy.build(stage.show(task.moments[0]).primitives)
    for moment in task.moments:
        primitives = stage.show(moment).primitives
        try:
            whole.extend(timed(stage.target, lambda: stage.hierarchy.refit(primitives), task.repeat, task.warmup))  # noqa: B023
        except CannotRefitError:
            return Timed()
    return whole
