"""Other bars on models than those of hploc (model_goals.py): kd-trees, trees with SAH at the top, and paths through
textures."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.registry import structure
from raygrove.gpu.scene import Light, Scene
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target

from . import model_goals
from .build import run_build
from .frame import run_frame
from .goal import Goal
from .measure import Task, median
from .model_goals import Model, Report
from .rows import Row
from .trace import run_trace
from .tree_costs import MOST_CLIPPED_TIMES, MOST_TIMES, clipping_costs, tree_costs

SPONZA, KITCHEN, BUNNY, DRAGON = ALL = tuple(model.name for model in model_goals.MODELS)
SUN = Light("directional", (6.0, 5.5, 5.0), direction=(0.25, -1.0, 0.15))
"""For a model that has no light."""
KD_BUILDERS = ("sah_events", "median_sah")
LEAST_KD_RAYS, MOST_KD_BYTES, MOST_BUNNY_MS, LEAST_PATH_FRAMES = 0.7, 400.0, 120.0, 60.0
LEAF_OF_64 = 64
WITHDRAWN_RATIO = 0.60
PATH_SIZE = (1920, 1080)
PATH_FRAMES = 40
SPONZA_TEXTURES = 21
"""Pictures that the model comes with; with fewer of them paths cost less."""

Figure = tuple[float | None, str]
"""A figure, and what is told beside it; without a figure why there is none."""


@dataclasses.dataclass(frozen=True)
class Part:
    """What is measured on one model on some kinds of target: `goals` without figures, and `measure`, which gives them
    in the same order."""

    model: str
    kinds: tuple[str, ...]
    goals: tuple[Goal, ...]
    measure: Callable[[Target, Model, Scene, int], tuple[Figure, ...]]


def bars(kind: str) -> list[Goal]:
    """All of a kind of target, without figures."""
    return [goal for part in PARTS if kind in part.kinds for goal in part.goals]


def measure_bars(kind: str, scenes: Sequence[Scene]) -> list[tuple[str, Callable[[Target, Report, int], None]]]:
    """What there is to measure on a kind of target, with words for each part: on every model, given or not."""
    mine = [part for part in PARTS if kind in part.kinds]
    return [(f"measuring {part.goals[0].what}", functools.partial(_measure, part, scenes)) for part in mine]


def _measure(part: Part, scenes: Sequence[Scene], target: Target, report: Report, repeat: int) -> None:
    model = next(one for one in model_goals.MODELS if one.name == part.model)
    scene = next((one for one in scenes if one.triangle_count == model.triangles), None)
    absent = ((None, f"give its file, of {model.triangles:,} triangles"),) * len(part.goals)
    figures = absent if scene is None else part.measure(target, model, scene, repeat)
    for goal, (figure, note) in zip(part.goals, figures, strict=True):
        report.goals.append(dataclasses.replace(goal, measured=figure, note=note))


# -- measurements -----------------------------------------------------------------------------------------------------
def _tree_costs(target: Target, model: Model, scene: Scene, repeat: int) -> tuple[Figure, ...]:
    costs = tree_costs(target, scene, ("hlbvh_sah", "hlbvh_median"))
    return ((_over(costs["hlbvh_sah"], costs["binned_sah"]), _told(costs)),)


def _clipping(target: Target, model: Model, scene: Scene, repeat: int) -> tuple[Figure, ...]:
    costs = clipping_costs(target, scene)
    return ((_over(costs["small_nodes"], costs["all"]), _told(costs)),)


def _medians(target: Target, model: Model, scene: Scene, repeat: int) -> tuple[Figure, ...]:
    costs = tree_costs(target, scene, ("hlbvh_sah", "hlbvh_median"))
    return ((_over(costs["hlbvh_sah"], costs["hlbvh_median"]), _told(costs)),)


def _kd_bytes(target: Target, model: Model, scene: Scene, repeat: int) -> tuple[Figure, ...]:
    rows = [
        run_build(target, Task(scene, _kd(builder, max_leaf_size=LEAF_OF_64), repeat=1, warmup=1))
        for builder in KD_BUILDERS
    ]
    return tuple(
        (_bytes(row), f"{(row.bytes or 0) / row.triangles:.0f} of it the tree, {row.reference_count or 0:,} references")
        for row in rows
    )


def _kd_rays(target: Target, model: Model, scene: Scene, repeat: int) -> tuple[Figure, ...]:
    def rate(settings: ViewSettings) -> float:
        (row,) = run_trace(target, Task(scene, settings, repeat=repeat, camera=model.camera), kinds=("primary",))
        return row.mrays_per_s or 0.0

    bvh = rate(ViewSettings("lbvh", layout="bvh2"))
    rates = [rate(_kd(builder)) for builder in KD_BUILDERS]
    return tuple(
        (_over(found, bvh), f"{found:,.0f} and {bvh:,.0f} MRays/s of lbvh on bvh2, from within") for found in rates
    )


def _bunny_ms(target: Target, model: Model, scene: Scene, repeat: int) -> tuple[Figure, ...]:
    row = run_build(target, Task(scene, _kd("sah_events"), repeat=max(3, repeat // 3), warmup=2))
    return ((row.build_ms, f"at best {min(row.samples['build_ms']):.1f}"),)


def _paths(target: Target, model: Model, scene: Scene, repeat: int) -> tuple[Figure, ...]:
    if len(scene.textures) < SPONZA_TEXTURES:
        found = f"with {len(scene.textures)} of its {SPONZA_TEXTURES}" if scene.textures else "without its"
        return ((None, f"the model was found {found} textures"),)
    lit = scene if scene.lights else dataclasses.replace(scene, lights=(SUN,))
    settings = ViewSettings("lbvh", ray_type="path", ray_type_options=PathOptions(bounces=3), samples=1)
    row = run_frame(target, Task(lit, settings, PATH_SIZE, repeat=PATH_FRAMES, camera=model.camera))
    note = (
        f"{len(scene.textures)} textures, one sample a frame, {median(row.samples['frame_ms']):.2f} ms of the "
        f"device with a rebuild"
    )
    return ((median(row.samples["frames_per_s"]), note),)


def _kd(builder: str, **options: object) -> ViewSettings:
    return ViewSettings(builder, hierarchy_options=structure(builder).Options(**options))


def _over(one: float, other: float) -> float | None:
    return one / other if other else None


def _told(costs: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {cost:.2f}" for name, cost in costs.items())


def _bytes(row: Row) -> float:
    return ((row.bytes or 0) + (row.scratch_bytes or 0)) / row.triangles


def _blank(what: str, bar: float, unit: str, at_most: bool = True, is_withdrawn: bool = False) -> Goal:
    return Goal(what, bar, None, unit, at_most, is_withdrawn=is_withdrawn)


BOTH = ("cuda", "host")
PATHS = f"path tracing of {SPONZA} with its textures, 3 bounces, {PATH_SIZE[0]}x{PATH_SIZE[1]}"
PARTS = (
    *(
        Part(
            one,
            BOTH,
            (_blank(f"SAH cost of hlbvh_sah over binned_sah, {one}", MOST_TIMES["hlbvh_sah"], "times"),),
            _tree_costs,
        )
        for one in ALL
    ),
    Part(
        SPONZA,
        BOTH,
        (_blank(f"SAH cost of hlbvh_sah over hlbvh_median, {SPONZA}", WITHDRAWN_RATIO, "times", is_withdrawn=True),),
        _medians,
    ),
    *(
        Part(
            one,
            BOTH,
            (_blank(f"SAH cost of sah_events over boxes cut along all axes, {one}", MOST_CLIPPED_TIMES, "times"),),
            _clipping,
        )
        for one in (BUNNY, DRAGON)
    ),
    *(
        Part(
            one,
            BOTH,
            tuple(
                _blank(f"{kd} with leaves of 64, all in all, {one}", MOST_KD_BYTES, "bytes/triangle")
                for kd in KD_BUILDERS
            ),
            _kd_bytes,
        )
        for one in ALL
    ),
    Part(
        SPONZA,
        ("cuda",),
        tuple(
            _blank(f"primary rays through {kd} over those through lbvh, {SPONZA}", LEAST_KD_RAYS, "times", False)
            for kd in KD_BUILDERS
        ),
        _kd_rays,
    ),
    Part(SPONZA, ("cuda",), (_blank(PATHS, LEAST_PATH_FRAMES, "frames/s", False),), _paths),
    Part(BUNNY, ("host",), (_blank("sah_events rebuild, bunny", MOST_BUNNY_MS, "ms"),), _bunny_ms),
)
