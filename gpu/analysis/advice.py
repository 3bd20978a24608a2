"""When to rebuild in a clip: measured costs by the tree's age, the best schedule, and how far policies are from it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

import numpy as np

from ..scene import Moment
from ..update.options import UpdateOptions
from .rig import Rig
from .schedules import ClipCosts, Schedule, cost_of, every_nth, offline_optimum, played

RATIOS = (1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0)
HELD_OUT = 8
"""At every so many builds ages between those of the table are measured too, to tell how far interpolation is off."""


@dataclasses.dataclass(frozen=True)
class PolicyCost:
    """A policy's milliseconds a frame, its `regret` (1: as good as the best schedule), and how often it rebuilt."""

    policy: str
    ms: float
    regret: float
    rebuilds: int


@dataclasses.dataclass(frozen=True)
class Advice:
    """What `rg.advise` found. `schedule` says of each frame whether it is rebuilt, `ms` is its cost a frame, updates
    and rays. `n` and `cost_ratio` are the best of the two simple rules, `policies` what each policy costs, cheapest
    first. `interpolation_error` is the median error of frames between measured ages, as a share; None where all were
    measured. `rays_break_even`: with more rays a frame rebuilding every frame is cheaper than never; None where it
    never is."""

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

    @property
    def sentence(self) -> str:
        """For one's own engine."""
        costs = {one.policy: one.ms for one in self.policies}
        fixed = f"{costs['rebuild']:.3g} ms by rebuilding every frame and {costs['refit']:.3g} ms by never rebuilding"
        if self.n == 1:
            return f"rebuild every frame: {costs['rebuild']:.3g} ms a frame instead of {costs['refit']:.3g} by refits"
        if self.n >= self.frames:
            return f"refit every frame: {costs['refit']:.3g} ms a frame instead of {costs['rebuild']:.3g} by rebuilds"
        grown = f", or when the SAH cost has grown by {self.cost_ratio:g}" if self.cost_ratio is not None else ""
        ms = costs[f"every_n:n={self.n}"]
        return f"refit, and rebuild every {_nth(self.n)} frame{grown}: {ms:.3g} ms a frame instead of {fixed}"

    def to_json(self) -> str:
        """All of it, and the sentence."""
        return json.dumps({**dataclasses.asdict(self), "sentence": self.sentence}, indent=2)


def settings_text(advice: Advice) -> str:
    """The cheapest policy as a file of settings (TOML), with the sentence as a comment."""
    name, _, options = advice.policies[0].policy.partition(":")
    lines = [f"# {advice.configuration}, {advice.frames} frames, {advice.rays:,} rays: {advice.sentence}.", "[update]"]
    lines.append(f'mode = "{name}"')
    lines += [f"{key} = {value}" for key, _, value in (one.partition("=") for one in options.split(":") if one)]
    return "\n".join(lines) + "\n"


def ages_of(frames: int) -> list[int]:
    """0, 1, 2, 4, 8 ... below the number of frames."""
    return [0, *(1 << power for power in range(frames.bit_length()) if 1 << power < frames)]


def advise(
    rig: Rig, configuration: str, moments: Sequence[Moment], fps: float, rays: int, *, exact: bool = False
) -> Advice:
    """Measure a clip and find its schedules; `rays` are those of a frame, which trace times are scaled to."""
    costs, error = measured(rig, moments, exact=exact, scale=rays / len(rig.rays))
    count = len(costs)
    best = offline_optimum(costs)
    ms = cost_of(costs, best) / count
    n = min(range(1, count + 1), key=lambda every: cost_of(costs, every_nth(costs, every)))
    modes = {"rebuild": UpdateOptions("rebuild"), "refit": UpdateOptions("refit"), "auto": UpdateOptions("auto")}
    modes |= {"ratio_optimiser": UpdateOptions("ratio_optimiser"), f"every_n:n={n}": UpdateOptions("every_n", n=n)}
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
    return Advice(
        configuration, count, rays, len(rig.rays), best, ms, n, ratio,
        tuple(sorted(found, key=lambda one: one.ms)), error, break_even(costs, rays),
    )  # fmt: skip


def break_even(costs: ClipCosts, rays: int) -> int | None:
    """Rays a frame from which on rebuilding every frame is cheaper than refits alone."""
    premium = float(np.mean(costs.rebuild_ms - costs.refit_ms))
    count = len(costs)
    worse = float(np.mean([costs.trace_ms[frame, frame] - costs.trace_ms[frame, 0] for frame in range(count)]))
    if worse <= 0.0:
        return None
    return max(0, round(premium / worse * rays))


def measured(
    rig: Rig, moments: Sequence[Moment], *, exact: bool = False, scale: float = 1.0
) -> tuple[ClipCosts, float | None]:
    """The costs of a clip, and the median error of what lies between measured ages. A tree of some age has the boxes
    of one refit, wherever it was refitted between, so that each age takes one refit. The first frame's tree is measured
    in every frame, so that the oldest tree of each is known and nothing is guessed beyond what was measured."""
    count = len(moments)
    ages = list(range(count)) if exact else ages_of(count)
    between = [] if exact else [(a + b) // 2 for a, b in zip(ages, ages[1:], strict=False) if b - a > 1]
    _warm(rig, moments)
    rebuild, refits = np.zeros(count), [list[float]() for _ in moments]
    trace, sah, held = np.full((count, count), np.nan), np.full((count, count), np.nan), dict[tuple[int, int], float]()
    for built in range(count):
        rig.show(moments[built])
        rebuild[built] = rig.build()
        known = set(ages) if built else set(range(count))
        more = between if built % HELD_OUT == HELD_OUT - 1 else []
        for age in sorted({*known, *more}):
            now = built + age
            if now >= count:
                break
            if age > 0:
                rig.show(moments[now])
                refits[now].append(rig.refit())
            ms = scale * min(rig.trace(), rig.trace())
            if age in known:
                trace[now, age] = ms
                sah[now, age] = rig.sah_cost() or np.nan
            else:
                held[now, age] = ms
    everything = [ms for times in refits for ms in times]
    refit = np.array([np.median(times or everything or [0.0]) for times in refits])
    table = interpolated(trace)
    errors = [abs(table[place] - ms) / (ms + refit[place[0]]) for place, ms in held.items()]
    costs = ClipCosts(rebuild, refit, table, None if np.isnan(sah[0, 0]) else interpolated(sah))
    return costs, float(np.median(errors)) if errors else None


def interpolated(table: np.ndarray) -> np.ndarray:
    """A table of frames and ages whose unknown places are filled along the ages of each frame."""
    filled = np.array(table)
    for frame, row in enumerate(filled):
        known = np.flatnonzero(~np.isnan(row[: frame + 1]))
        row[: frame + 1] = np.interp(np.arange(frame + 1), known, row[known])
        row[frame + 1 :] = row[frame]
    return filled


def _warm(rig: Rig, moments: Sequence[Moment]) -> None:
    """Compile what is launched, and fill caches."""
    for moment in (moments[0], moments[-1]):
        rig.show(moment)
        rig.build()
        rig.refit()
        rig.trace()
        rig.sah_cost()


def _nth(number: int) -> str:
    end = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{end}"
