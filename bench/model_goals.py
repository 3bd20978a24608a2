"""Goals that builders are judged by on real scenes: models whose triangles are of unlike sizes, seen from within,
beside scans of smooth bodies.

A goal on even scenes alone has chosen a worse default before (docs/decisions/judged-on-real-scenes.md). The models are
files that the script is given; they are known by their numbers of triangles.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Protocol

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target

from .goal import Goal
from .measure import Task
from .replay import build_as_graph
from .rows import Row
from .trace import run_trace
from .tree_costs import MOST_TIMES, tree_costs

CLIMB, SWEPT = "hploc", "hploc_sah"


@dataclasses.dataclass(frozen=True)
class Model:
    """A model, the camera that it is seen by, and on a GPU the bars of hploc there: primary and diffuse rays over those
    through hploc_sah, and what NexusBVH's H-PLOC reached on one H200 with the same view, billions of rays per second
    and milliseconds of a build."""

    name: str
    triangles: int
    camera: Camera | None = None
    least_over_swept: tuple[float, float] = (0.95, 0.95)
    least_rays: tuple[float, float] | None = None
    most_build_ms: float | None = None


MODELS = (
    Model(
        "Crytek Sponza",
        262_205,
        Camera((-110.0, 25.0, -4.0), (60.0, 45.0, -4.0), fov=60.0),
        (1.15, 1.0),
        (2.94, 1.23),
        0.362,
    ),
    Model(
        "country-kitchen",
        1_443_517,
        Camera((1.2, 1.7, 3.5), (-0.5, 1.1, -1.5), fov=60.0),
        (0.95, 1.0),
        (2.5, 1.39),
        0.838,
    ),
    Model("bunny", 69_451),
    Model("dragon", 202_520),
)


class Report(Protocol):
    """Where goals and rows go."""

    goals: list[Goal]
    traces: list[Row]


Part = Callable[[Target, Report, int], None]


def known_models(scenes: Sequence[Scene]) -> Sequence[Scene]:
    """The scenes; ValueError for one that no goal names."""
    known = {model.triangles: model.name for model in MODELS}
    for scene in scenes:
        if scene.triangle_count not in known:
            named = ", ".join(f"{name} ({triangles:,} triangles)" for triangles, name in known.items())
            raise ValueError(
                f"{scene.name} has {scene.triangle_count:,} triangles and is no model that a goal names: {named}."
            )
    return scenes


def judge(scenes: Sequence[Scene]) -> list[tuple[str, Part]]:
    """What there is to measure, with words for each part: every model, given or not."""
    given = {scene.triangle_count: scene for scene in scenes}
    return [
        (f"judging builders on {model.name}", functools.partial(_judge, model, given.get(model.triangles)))
        for model in MODELS
    ]


def _judge(model: Model, scene: Scene | None, target: Target, report: Report, repeat: int) -> None:
    measured = {} if scene is None else _costs(target, scene)
    if scene is not None and target.kind == "cuda":
        measured |= _rays(target, model, scene, report, repeat) | _build(target, scene, repeat)
    absent = f"give its file, of {model.triangles:,} triangles" if scene is None else ""
    for what, bar, unit, at_most in _bars(model, target.kind):
        figure, note = measured.get(what, (None, absent))
        report.goals.append(Goal(f"{what}, {model.name}", bar, figure, unit, at_most, note))


def _bars(model: Model, target_kind: str) -> list[tuple[str, float, str, bool]]:
    """What is promised there, each with its bar and unit, and whether that is the most."""
    bars = [
        (f"SAH cost of {builder} over binned_sah", MOST_TIMES[builder], "times", True) for builder in (CLIMB, SWEPT)
    ]
    if target_kind != "cuda":
        return bars
    for rays, least in zip(("primary", "diffuse"), model.least_over_swept, strict=True):
        bars.append((f"{rays} rays through {CLIMB} over those through {SWEPT}", least, "times", False))
    for rays, least in zip(("primary", "diffuse"), model.least_rays or (), strict=False):
        bars.append((f"{rays} rays through {CLIMB}", least, "GRays/s", False))
    if model.most_build_ms is not None:
        bars.append((f"{CLIMB} rebuild as a graph", model.most_build_ms, "ms", True))
    return bars


Figures = dict[str, tuple[float | None, str]]


def _costs(target: Target, scene: Scene) -> Figures:
    costs = tree_costs(target, scene, (CLIMB, SWEPT, "lbvh"))
    told = ", ".join(f"{builder} {cost:.2f}" for builder, cost in costs.items())
    best = costs["binned_sah"]
    return {
        f"SAH cost of {builder} over binned_sah": (costs[builder] / best if best else None, told)
        for builder in (CLIMB, SWEPT)
    }


def _rays(target: Target, model: Model, scene: Scene, report: Report, repeat: int) -> Figures:
    found: Figures = {}
    tasks = {
        name: Task(scene, ViewSettings(name, layout="bvh2"), repeat=repeat, camera=model.camera)
        for name in (CLIMB, SWEPT)
    }
    rows = {name: run_trace(target, task, kinds=("primary", "diffuse")) for name, task in tasks.items()}
    for climbed, swept in zip(rows[CLIMB], rows[SWEPT], strict=True):
        rates = [(row.mrays_per_s or 0.0) / 1e3 for row in (climbed, swept)]
        share = rates[0] / rates[1] if rates[1] else None
        found[f"{climbed.ray_type} rays through {CLIMB} over those through {SWEPT}"] = (
            share,
            f"{rates[0]:.2f} and {rates[1]:.2f} GRays/s",
        )
        found[f"{climbed.ray_type} rays through {CLIMB}"] = (rates[0], "the bar is NexusBVH's H-PLOC")
        report.traces += [climbed, swept]
    return found


def _build(target: Target, scene: Scene, repeat: int) -> Figures:
    built = build_as_graph(target, scene, ViewSettings(CLIMB, layout="bvh2"), max(3, repeat // 2))
    phases = ", ".join(f"{phase.removeprefix('build.')} {spent:.3f}" for phase, spent in built.phases_ms.items())
    return {f"{CLIMB} rebuild as a graph": (built.spent_ms, f"the bar is NexusBVH's H-PLOC; {phases}")}
