"""When to rebuild in a clip: measured costs by the tree's age, the best schedule, and how far policies are from it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..brief import brief
from ..hierarchy.base import CannotRefitError
from ..scene import Moment
from ..update.options import UpdateOptions
from .alternatives import Alternative, Maker, compared
from .clip_costs import measured
from .intervals import nth
from .rig import Rig
from .rotated import ROTATED, RotatedMaker, rotated_ms, why_not
from .schedules import ClipCosts, Schedule, cost_of, every_nth, offline_optimum, played

OWN_SHARE, ROTATED_SHARE = 0.4, 0.1
"""Of all trees, about how many are those of the configuration itself, where others are measured beside it; and of those
how many are mended by rotations."""
RATIOS = (1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0)


@dataclasses.dataclass(frozen=True)
class PolicyCost:
    """A policy's milliseconds per frame, its `regret` (1: as good as the best schedule), and how often it rebuilt."""

    policy: str
    ms: float
    regret: float
    rebuilds: int


@dataclasses.dataclass(frozen=True)
class Advice:
    """What `rg.advise` found. `schedule` says of each frame whether it is rebuilt, `ms` is its cost a frame, updates
    and rays. `n` and `cost_ratio` are the best of the two simple rules, `policies` what each policy costs, cheapest
    first. `interpolation_error` is the median error of frames between those that were measured, as a share; None where
    all were. `rays_break_even`: with more rays per frame rebuilding every frame is cheaper than never; None where it
    never is. `alternatives` are what else was measured over the clip, cheapest first. `left_out` says why
    `refit_rotations`, whose regret may be below 1 as it changes the tree, is not among the policies; else empty."""

    configuration: str
    frames: int
    rays: int
    measured_rays: int
    schedule: Schedule
    ms: float
    n: int
    cost_ratio: float | None
    policies: tuple[PolicyCost, ...]
    interpolation_error: float | None
    rays_break_even: int | None
    alternatives: tuple[Alternative, ...] = ()
    left_out: str = ""

    @property
    def pays(self) -> str:
        """What else would pay by its own best schedule, or that nothing does; empty where nothing was measured."""
        if not self.alternatives:
            return ""
        said = "by the best schedule of each, "
        if all(one.ms >= self.ms for one in self.alternatives):
            said += f"nothing that was tried is cheaper than {self.configuration}; the nearest: "
        return said + self.alternatives[0].sentence(self.configuration, self.ms)

    @property
    def sentence(self) -> str:
        """For one's own engine."""
        costs = {one.policy: one.ms for one in self.policies}
        rebuilds, refits = brief(costs["rebuild"]), brief(costs["refit"])
        if self.n == 1:
            return f"rebuild every frame: {rebuilds} ms per frame instead of {refits} by refits"
        if self.n >= self.frames:
            return f"refit every frame: {refits} ms per frame instead of {rebuilds} by rebuilds"
        answer = (
            f"refit, and rebuild every {nth(self.n)} frame: {brief(costs[f'every_n:n={self.n}'])} ms per frame instead "
            f"of {rebuilds} ms by rebuilding every frame and {refits} ms by never rebuilding"
        )
        grown = costs.get(f"cost_ratio:cost_ratio={self.cost_ratio:g}") if self.cost_ratio is not None else None
        if grown is None or grown >= min(costs["rebuild"], costs["refit"]):  # a rule that costs more than none
            return answer
        times = f"{self.cost_ratio:g} times the last rebuild's"
        return f"{answer}; or rebuild when the SAH cost is {times}: {brief(grown)} ms"

    def to_json(self) -> str:
        """All of it, and the sentence."""
        return json.dumps({**dataclasses.asdict(self), "sentence": self.sentence, "pays": self.pays}, indent=2)


def settings_text(advice: Advice) -> str:
    """The cheapest policy as a file of settings (TOML), with the sentence as a comment."""
    name, _, options = advice.policies[0].policy.partition(":")
    lines = [f"# {advice.configuration}, {advice.frames} frames, {advice.rays:,} rays: {advice.sentence}."]
    lines.append(
        f"# The cheapest policy here: {advice.policies[0].policy}, {brief(advice.policies[0].ms)} ms per frame."
    )
    lines += ["[update]", f'mode = "{name}"']
    lines += [f"{key} = {value}" for key, _, value in (one.partition("=") for one in options.split(":") if one)]
    return "\n".join(lines) + "\n"


def advise(
    rig: Rig,
    configuration: str,
    moments: Sequence[Moment],
    fps: float,
    rays: int,
    *,
    exact: bool = False,
    rotated: RotatedMaker | None = None,
    beside: Sequence[Maker] = (),
    say: Callable[[float, str], None] = lambda share, name: None,
) -> Advice:
    """Measure a clip and find its schedules; `rays` are those of a frame, which trace times are scaled to. `rotated`
    makes the rig that `refit_rotations` is judged by; None: it is not. What is `beside` it is measured too, by fewer
    trees. `say` hears which share of all is done, and what is measured now; what it raises ends it."""
    own = OWN_SHARE if beside else 1.0
    first, scale = own * (1.0 - ROTATED_SHARE * (rotated is not None)), rays / len(rig.rays)
    costs, error = measured(rig, moments, exact=exact, scale=scale, say=lambda share: say(first * share, configuration))
    told = lambda share: say(first + (own - first) * share, configuration)  # noqa: E731
    mended, left_out = _rotated(rotated, costs, moments, exact=exact, scale=scale, say=told)
    count = len(costs)
    best = offline_optimum(costs)
    ms = cost_of(costs, best) / count
    n = min(range(1, count + 1), key=lambda every: cost_of(costs, every_nth(costs, every)))
    modes = {"rebuild": UpdateOptions("rebuild"), "refit": UpdateOptions("refit"), "auto": UpdateOptions("auto")}
    modes["ratio_optimiser"] = UpdateOptions("ratio_optimiser")
    if 1 < n < count:  # else it is `rebuild`, or `refit`
        modes[f"every_n:n={n}"] = UpdateOptions("every_n", n=n)
    ratio: float | None = None
    if costs.sah is not None:
        tried = {one: UpdateOptions("cost_ratio", cost_ratio=one) for one in RATIOS}
        ratio = min(tried, key=lambda one: cost_of(costs, played(costs, tried[one], fps, rays)))
        modes[f"cost_ratio:cost_ratio={ratio:g}"] = tried[ratio]
    found = []
    for name, options in modes.items():
        schedule = played(costs, options, fps, rays)
        cost = cost_of(costs, schedule) / count
        found.append(PolicyCost(name, cost, cost / ms, sum(schedule)))
    found += [PolicyCost(ROTATED, cost / count, cost / count / ms, 1) for cost in mended]
    return Advice(
        configuration, count, rays, len(rig.rays), best, ms, n, ratio,
        tuple(sorted(found, key=lambda one: one.ms)), error, break_even(costs, rays),
        compared(costs, beside, moments, rays, len(rig.rays),
                 lambda share, name: say(own + (1.0 - own) * share, name)), left_out,
    )  # fmt: skip


def _rotated(rotated: RotatedMaker | None, costs: ClipCosts, *of: Any, **named: Any) -> tuple[list[float], str]:
    """What the clip costs by refits with rotations, and why nothing is known of that."""
    if rotated is None:
        return [], ""
    try:
        with rotated() as rig:
            return [rotated_ms(rig, costs, *of, **named)], ""
    except CannotRefitError as error:
        return [], why_not(error)


def break_even(costs: ClipCosts, rays: int) -> int | None:
    """Rays a frame from which on rebuilding every frame is cheaper than refits alone."""
    premium = float(np.mean(costs.rebuild_ms - costs.refit_ms))
    count = len(costs)
    worse = float(np.mean([costs.trace_ms[frame, frame] - costs.trace_ms[frame, 0] for frame in range(count)]))
    if worse <= 0.0:
        return None
    return max(0, round(premium / worse * rays))
