"""One scene of the bench of record: its trees, its rays, and on the host Embree's, all taking turns."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.registry import optimisers, structures
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target, TargetError
from raygrove.gpu.trace.trace import Totals, Tracer, totals

from .measure import Stage, median, timed
from .peers.embree import PACKS, EmbreeProcess, PeerAbsentError, RaySet
from .ray_scenes import Subject
from .ray_sets import ANY_HIT, COHERENT, Rays, rays_of
from .tracing_goals import best_split_tree, best_tree

BEST, BEST_SPLIT = "best", "best-split"
SLOW_BUILDERS = ("sbvh", "median_sah", "sah_events")
MOST_SLOW = 3_000_000
"""Triangles that builders of spatial splits and kd-trees are given at most."""
DEVICE_ROUNDS = 2
LEAST_SAMPLE_MS = 20.0
"""Of a sample on the host: what a launch costs besides its rays, 0.3 ms of processors that look for work, is none of
theirs."""
UNTIL_ASLEEP = 0.003
"""Seconds until the host target's workers have stopped waiting for more."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is measured of every scene: trees as NAME, NAME+LAYOUT or NAME+OPTIMISER, `best` or `best-split`; sizes of
    pictures; kinds of rays; `repeat` traces of each, `peers` the qualities of Embree's trees."""

    trees: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    kinds: tuple[str, ...]
    repeat: int
    views: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()


@dataclasses.dataclass
class Turns:
    """What one program measured of one set of rays."""

    clock_ms: list[float] = dataclasses.field(default_factory=list)
    processor_ms: list[float] = dataclasses.field(default_factory=list)
    hits: int = 0
    sum_t: float = 0.0


Runner = Callable[[int], Turns]
"""Traces a set of rays so many times."""


def settings_of(tree: str, target_kind: str) -> ViewSettings:
    """What a tree's word means. ValueError for none."""
    if tree == BEST:
        return best_tree(target_kind)
    if tree == BEST_SPLIT:
        return best_split_tree(target_kind)
    name, *more = tree.split("+")
    if name not in structures():
        raise ValueError(
            f"{tree} is no tree: NAME+LAYOUT+OPTIMISER, and NAME is {BEST}, {BEST_SPLIT}, {', '.join(structures())}."
        )
    settings = ViewSettings(name)
    for word in more:
        is_optimiser = word in optimisers()
        settings = (
            dataclasses.replace(settings, optimiser=word)
            if is_optimiser
            else dataclasses.replace(settings, layout=word)
        )
    return settings


def measure_scene(
    target: Target, subject: Subject, scene: Scene, plan: Plan, say: Callable[[str], None]
) -> dict[str, Any]:
    """The part of one scene: its trees, a row for each program and set of rays, and what could not be measured."""
    part: dict[str, Any] = {
        "scene": subject.name,
        "triangles": scene.triangle_count,
        "is_whole": scene.triangle_count == subject.triangles,
        "trees": {},
        "rows": [],
        "not_measured": [],
    }
    diagonal = float(np.linalg.norm(np.subtract(scene.upper, scene.lower)))
    with contextlib.ExitStack() as open_now:
        stages = _build(target, scene, plan, part, open_now, say)
        first = next(iter(stages.values()), None)
        for view in subject.views if first else ():
            if plan.views and view.name not in plan.views:
                continue
            assert first is not None
            for rays in rays_of(target, first, view, plan.sizes, plan.kinds, diagonal):
                say(f"  {view.name}, {rays.kind}, {rays.size[0]}x{rays.size[1]}, {rays.count:,} rays")
                part["rows"] += _rows(target, stages, rays, plan, part)
    return part


def _build(
    target: Target, scene: Scene, plan: Plan, part: dict[str, Any], open_now: contextlib.ExitStack, say: Callable
) -> dict[str, Stage]:
    stages: dict[str, Stage] = {}
    for tree in plan.trees:
        settings = settings_of(tree, target.kind)
        if settings.hierarchy in SLOW_BUILDERS and scene.triangle_count > MOST_SLOW:
            part["not_measured"].append(f"{tree}: not built of more than {MOST_SLOW:,} triangles.")
            continue
        say(f"  building {tree}")
        stage = Stage(target, scene, settings)
        open_now.callback(stage.close)
        try:
            primitives = stage.show(Moment()).primitives
            spent = timed(target, lambda: stage.hierarchy.build(primitives), 3, 1)  # noqa: B023
            stats = stage.statistics()
        except (TargetError, HierarchyError) as error:
            part["not_measured"].append(f"{tree}: {error}")
            continue
        stages[tree] = stage
        part["trees"][tree] = {
            **stage.names(),
            "build_ms": median(spent.spans_ms),
            "sah_cost": stats.sah_cost,
            "bytes": stats.bytes,
            "depth": stats.depth,
        }
    return stages


def _rows(target: Target, stages: dict[str, Stage], rays: Rays, plan: Plan, part: dict[str, Any]) -> list[dict]:
    """A row for each tree and peer."""
    with contextlib.ExitStack() as open_now:
        runners: dict[tuple[str, str], Runner] = {("ours", tree): _ours(target, stages[tree], rays) for tree in stages}
        stage = next(iter(stages.values()))
        for quality in plan.peers:
            try:
                runners |= _embree(target, stage, rays, quality, open_now)
            except PeerAbsentError as error:
                if str(error) not in part["not_measured"]:
                    part["not_measured"].append(str(error))
        found = take_turns(runners, *((plan.repeat, 1) if target.kind == "host" else _rounds(plan.repeat)))
    threads = getattr(target, "threads", 1)
    return [
        {
            "view": rays.view.name,
            "rays": rays.kind,
            "size": list(rays.size),
            "count": rays.count,
            "by": by,
            "tree": tree,
            "threads": threads,
            **rate(rays.count, turns),
            "hits": turns.hits,
            "sum_t": turns.sum_t,
            "clock_ms": [round(value, 5) for value in turns.clock_ms],
            "processor_ms": [round(value, 4) for value in turns.processor_ms],
        }
        for (by, tree), turns in found.items()
    ]


def _rounds(repeat: int) -> tuple[int, int]:
    return DEVICE_ROUNDS, -(-repeat // DEVICE_ROUNDS)


def rate(count: int, turns: Turns) -> dict[str, float]:
    """Millions of rays per second by the clock, and per second of one processor: 0 where that was not measured."""
    by_clock, by_processor = median(turns.clock_ms), median(turns.processor_ms)
    return {
        "mrays_per_s": count / by_clock / 1e3 if by_clock else 0.0,
        "mrays_per_processor_s": count / by_processor / 1e3 if by_processor else 0.0,
    }


def take_turns(runners: dict[tuple[str, str], Runner], rounds: int, each: int) -> dict[tuple[str, str], Turns]:
    """A trace of each that does not count, then `rounds` in which each traces `each` times: what slows the machine
    slows all."""
    found = {key: dataclasses.replace(run(1), clock_ms=[], processor_ms=[]) for key, run in runners.items()}
    for _ in range(rounds):
        for key, run in runners.items():
            turns = run(each)
            found[key].clock_ms += turns.clock_ms
            found[key].processor_ms += turns.processor_ms
    return found


def _ours(target: Target, stage: Stage, rays: Rays) -> Runner:
    tracer = Tracer(target, stage.hierarchy.traversal())
    known: list[Totals] = []
    at_once = [1]

    def run(count: int) -> Turns:
        def body() -> None:
            with target.phase("trace"):
                for _ in range(at_once[0]):
                    tracer.trace(rays.source, rays.tracer_kind)

        spent: list[float] = []
        clock: list[float] = []
        if target.kind == "cuda":
            clock = timed(target, body, count, 1).spans_ms
        for _ in range(count if target.kind == "host" else 0):
            started = _processor_ms()
            clock += [span / at_once[0] for span in timed(target, body, 1, 0).spans_ms]
            spent.append((_processor_ms() - started) / at_once[0])
        if not known:
            at_once[0] = 1 if target.kind == "cuda" else max(1, math.ceil(LEAST_SAMPLE_MS / max(spent[-1], 0.01)))
            known.append(totals(target, tracer.trace(rays.source, rays.tracer_kind)))
        return Turns(clock, spent, known[0].hits, 0.0 if rays.kind in ANY_HIT else known[0].sum_t)

    return run


def _processor_ms() -> float:
    """Of all threads, once they sleep: what a thread that runs has spent is known to the system at its ticks alone."""
    time.sleep(UNTIL_ASLEEP)
    return 1e3 * time.process_time()


def _embree(
    target: Target, stage: Stage, rays: Rays, quality: str, open_now: contextlib.ExitStack
) -> dict[tuple[str, str], Runner]:
    """Embree's runners by the width of their packets."""
    positions, triangles = stage.triangles()
    size = rays.size if rays.rows is None else (0, 0)
    one = RaySet(rays.view.camera, size, rays.rows, rays.kind in ANY_HIT, rays.kind in COHERENT)
    peer = open_now.enter_context(EmbreeProcess(positions, triangles, [one], getattr(target, "threads", 1), quality))

    def runner(pack: int) -> Runner:
        def run(count: int) -> Turns:
            traced = peer.trace(0, pack, count)
            return Turns(list(traced.samples_ms), list(traced.processor_ms), traced.hits, traced.sum_t)

        return run

    return {(f"Embree {peer.version}", f"{quality}, {pack}"): runner(pack) for pack in PACKS}
