"""How far update policies are from the best schedule there could have been, over whole clips.

Rebuilds and refits cost the least that was timed, tracing is counted (boxes and primitives that are tested, at the
least that one of them took): timings differ from frame to frame for no reason of the tree's, and a best schedule made
of them would be one of lucky frames. Every tree of the clip is measured at every age: where a gait or a cloth folds
and unfolds, what lies between some ages that were measured is no line, and its error was as large as the regrets.
Policies see each time with noise, as they would, and what they did is priced without.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from raygrove.gpu.analysis.clip_costs import measured
from raygrove.gpu.analysis.counted_rig import CountedRig
from raygrove.gpu.analysis.schedules import ClipCosts, cost_of, every_nth, offline_optimum, played
from raygrove.gpu.analysis.workload import Rays
from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions

from .clip_tables import ClipTable
from .table import aligned

ONLINE = ("auto", "ratio_optimiser")
FIXED = ("rebuild", "refit")
NOISE = 0.04
"""Of each time that a policy sees: the standard deviation of its logarithm."""


@dataclasses.dataclass(frozen=True)
class Regret:
    """A clip: its best schedule's milliseconds a frame and rebuilds; by policy how many times as much it costs, the
    mean of the rounds, and its rebuilds; `every` is the best fixed cycle, and `every_nth` what it costs. Rebuilds and
    refits were taken to cost `updates` times what was measured, as on another machine, or with other rays."""

    scene: str
    triangles: int
    frames: int
    rays: int
    optimum_ms: float
    optimum_rebuilds: int
    every: int
    every_nth: float
    regret: Mapping[str, float]
    rebuilds: Mapping[str, float]
    updates: float = 1.0

    @property
    def over_ratio_optimiser(self) -> float:
        """What auto costs, over what its rival does."""
        return self.regret["auto"] / self.regret["ratio_optimiser"]


def measured_clip(
    target: Target, scene: Scene, structure: tuple[str, StructureChoice], moments: Sequence[Moment], fps: float,
    rays: tuple[Rays, int],
) -> ClipTable:  # fmt: skip
    """What a clip costs; `rays` are those that are traced, and how many there are in a frame. Rebuilds and refits cost
    the least of them all."""
    traced, all_rays = rays
    with contextlib.closing(CountedRig(target, scene, *structure, traced)) as rig:
        rig.show(moments[0])
        rig.build()
        rig.calibrate()
        costs, _ = measured(rig, moments, exact=True, scale=all_rays / len(traced))
    rebuild, refit = (np.full(len(costs), ms.min()) for ms in (costs.rebuild_ms, costs.refit_ms))
    costs = dataclasses.replace(costs, rebuild_ms=rebuild, refit_ms=refit)
    return ClipTable(scene.name, scene.triangle_count, fps, all_rays, costs)


def regrets_of(clip: ClipTable, rounds: int, factors: Sequence[float] = (1.0,), noise: float = NOISE) -> list[Regret]:
    """What policies make of a clip, told of every time with so much noise: a result for each of the factors that the
    costs of updates are multiplied by."""
    found = [(factor, played_out(clip.with_updates(factor), rounds, noise)) for factor in factors]
    return [dataclasses.replace(result, updates=factor) for factor, result in found]


def played_out(clip: ClipTable, rounds: int, noise: float = NOISE) -> Regret:
    """What policies make of known costs."""
    costs, fps, rays = clip.costs, clip.fps, clip.rays
    optimum = offline_optimum(costs)
    best, count = cost_of(costs, optimum), len(costs)
    cycles = {every: cost_of(costs, every_nth(costs, every)) / best for every in range(1, count + 1)}
    regret, rebuilds = {}, {}
    for mode in (*ONLINE, *FIXED):
        seen = (noisy(costs, round_, noise) for round_ in range(rounds))
        schedules = [played(costs_seen, UpdateOptions(mode), fps, rays) for costs_seen in seen]
        regret[mode] = float(np.mean([cost_of(costs, one) / best for one in schedules]))
        rebuilds[mode] = float(np.mean([sum(one) for one in schedules]))
    every = min(cycles, key=lambda one: cycles[one])
    return Regret(
        clip.scene, clip.triangles, count, rays, best / count, sum(optimum), every, cycles[every], regret, rebuilds
    )


def noisy(costs: ClipCosts, seed: int, noise: float = NOISE) -> ClipCosts:
    """The same costs as they would be timed; `noise` is the standard deviation of a time's logarithm."""
    random = np.random.default_rng(seed)

    def seen(ms: np.ndarray) -> np.ndarray:
        return np.asarray(ms * np.exp(noise * random.standard_normal(ms.shape)))

    return dataclasses.replace(
        costs, rebuild_ms=seen(costs.rebuild_ms), refit_ms=seen(costs.refit_ms), trace_ms=seen(costs.trace_ms)
    )


def table(rows: Sequence[Regret]) -> str:
    """For people."""
    heads = (
        "scene",
        "triangles",
        "frames",
        "rays",
        "updates x",
        "optimum ms",
        *ONLINE,
        "best every_n",
        *FIXED,
        "auto / ratio_optimiser",
    )
    lines = [
        (r.scene, r.triangles, r.frames, r.rays, f"{r.updates:g}", f"{r.optimum_ms:.2f}",
         *(f"{r.regret[mode]:.3f}" for mode in ONLINE), f"{r.every_nth:.3f} (n = {r.every})",
         *(f"{r.regret[mode]:.3f}" for mode in FIXED), f"{r.over_ratio_optimiser:.3f}")
        for r in rows
    ]  # fmt: skip
    return aligned(heads, lines)
