"""The costs of a clip, measured: a rebuild and a refit of each frame, and tracing it by the age of the tree.

All of them are T (T + 1) / 2 traces. By default a sample of the frames gets a tree each, which is refitted and traced
at the ages 0, 1, 2, 4, 8 ... and at the clip's end; the rest is interpolated. What tracing a tree costs is taken apart
for that: what a fresh tree of the frame would cost, which follows the scene and the camera, times how much the tree has
worn out since it was built. Both change slowly, so both are interpolated: the one over frames, the other over ages of
one tree and between trees. Trees in between tell how far that is off.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..scene import Moment
from .rig import Rig
from .schedules import ClipCosts

TREES, HELD_OUT = 14, 5
"""How many trees are measured, and how many in between that tell the error of interpolation."""

LONG_MS = 60.0
"""A trace that takes longer is timed once, any other is the lesser of two timings: noise is of milliseconds."""

WORN_OUT = 2.0
"""A tree that costs so many rebuilds more to trace than a fresh one is in no best schedule, however old: it is as dear
as it was found first."""

Known = Mapping[tuple[int, int], float]
"""What was measured, by the frame that the tree was built in and its age."""


def ages_of(frames: int) -> list[int]:
    """0, 1, 2, 4, 8 ... below the number of frames."""
    return [0, *(1 << power for power in range(frames.bit_length()) if 1 << power < frames)]


def sampled(count: int, trees: int) -> dict[int, list[int]]:
    """The frames that get a tree, evenly spread from the first to the last, with the ages that are measured of each:
    those of `ages_of`, and the oldest."""
    built = np.unique(np.linspace(0, count - 1, min(count, trees)).round().astype(int)).tolist()
    return {one: sorted({*ages_of(count - one), count - 1 - one}) for one in built}


def held_out(count: int, plan: Iterable[int]) -> dict[int, list[int]]:
    """Trees midway between those of a plan, at ages midway between those of `ages_of`."""
    frames = sorted(plan)
    between = [(a + b) // 2 for a, b in zip(frames, frames[1:], strict=False) if b - a > 1]
    chosen = between[:: max(1, len(between) // HELD_OUT)][:HELD_OUT]
    return {one: [0, *(3 << power for power in range(count.bit_length()) if one + (3 << power) < count)]
            for one in chosen}  # fmt: skip


def measured(
    rig: Rig,
    moments: Sequence[Moment],
    *,
    exact: bool = False,
    scale: float = 1.0,
    trees: int | None = None,
    say: Callable[[float], None] = lambda share: None,
) -> tuple[ClipCosts, float | None]:
    """The costs of a clip, traces times `scale`, and the median error of interpolation as a share of a frame's refit
    and trace; None where everything was measured (`exact`), and where the number of `trees` is given, which nothing is
    held beside and whose trees are aged until they are worn out. A tree of some age has the boxes of one refit,
    wherever it was refitted between, so that each age takes one refit. Of structures that cannot be refitted a refit
    costs infinitely much. `say` hears which share of the trees has been measured."""
    count, can_refit = len(moments), rig.hierarchy.capabilities.refit
    warm_up(rig, (moments[0], moments[-1])[: 2 if trees is None else 1], can_refit)
    found = _Found({}, {}, {}, {}, scale)
    if not can_refit:
        for built in _told(range(count) if exact else list(sampled(count, trees or TREES)), say):
            found.measure(rig, moments, built, (0,))
        return dataclasses.replace(found.costs(count), refit_ms=np.full(count, np.inf)), None
    if exact:
        for built in _told(range(count), say):
            found.measure(rig, moments, built, range(count - built))
        return found.costs(count), None
    plan = sampled(count, trees or TREES)
    extra = held_out(count, plan) if trees is None else {}
    for built in _told(sorted({*plan, *extra}), say):
        found.measure(rig, moments, built, plan.get(built) or extra[built], until_worn=trees is not None)
    guess = filled({place: ms for place, ms in found.trace.items() if place[0] in plan}, count)
    costs = found.costs(count)
    errors = [abs(guess[built + age, age] - ms) / (ms + costs.refit_ms[built + age])
              for (built, age), ms in found.trace.items() if built not in plan]  # fmt: skip
    return costs, float(np.median(errors)) if errors else None


def _told(frames: Sequence[int], say: Callable[[float], None]) -> Iterator[int]:
    """The frames, telling before each which share of them is done."""
    for place, frame in enumerate(frames):
        say(place / len(frames))
        yield frame


@dataclasses.dataclass(frozen=True)
class _Found:
    """What was measured so far: rebuilds by frame, refits by frame, and by the tree's frame and its age."""

    rebuild: dict[int, float]
    refits: dict[int, list[float]]
    trace: dict[tuple[int, int], float]
    sah: dict[tuple[int, int], float]
    scale: float

    def measure(
        self, rig: Rig, moments: Sequence[Moment], built: int, ages: Iterable[int], *, until_worn: bool = False
    ) -> None:
        """Build a tree, and age it; `until_worn` until no best schedule would keep it."""
        rig.show(moments[built])
        self.rebuild[built] = rig.build()
        for age in ages:
            now = built + age
            if age > 0:
                rig.show(moments[now])
                self.refits.setdefault(now, []).append(rig.refit())
            self.trace[built, age] = self.scale * trace_ms(rig)
            cost = rig.sah_cost()
            if cost is not None:
                self.sah[built, age] = cost
            if until_worn and self.trace[built, age] - self.trace[built, 0] > WORN_OUT * self.rebuild[built]:
                break

    def costs(self, count: int) -> ClipCosts:
        """Of all frames and ages."""
        refits = {frame: float(np.median(times)) for frame, times in self.refits.items()}
        rebuild = over_frames(self.rebuild, count)
        refit = over_frames(refits, count) if refits else np.zeros(count)
        return ClipCosts(rebuild, refit, filled(self.trace, count), filled(self.sah, count) if self.sah else None)


def trace_ms(rig: Rig) -> float:
    """What tracing takes: see LONG_MS."""
    ms = rig.trace()
    return ms if ms > LONG_MS else min(ms, rig.trace())


def over_frames(known: Mapping[int, float], count: int) -> np.ndarray:
    """(T,) values of frames, those between known ones on the line between them."""
    frames = sorted(known)
    return np.interp(np.arange(count), frames, [known[frame] for frame in frames])


def filled(known: Known, count: int) -> np.ndarray:
    """(T, T) by frame and age from what is known, as the module says; what is known stays as it is, and what lies
    before the clip has the value of the oldest tree."""
    built = sorted({frame for frame, _ in known})
    fresh = over_frames({frame: known[frame, 0] for frame in built}, count)
    worn = {}
    for frame in built:
        ages = sorted(age for of, age in known if of == frame)
        growth = [known[frame, age] / max(fresh[frame + age], 1e-30) for age in ages]
        worn[frame] = np.interp(np.arange(count - frame), ages, growth)
    table = np.zeros((count, count))
    for frame in range(count):
        before = max(one for one in built if one <= frame)
        after = min((one for one in built if one >= frame), default=before)
        curve = worn[before][: count - frame]
        if after > before:
            later, share = worn[after], (frame - before) / (after - before)
            beside = later / np.maximum(worn[before][: len(later)], 1e-30)
            beside = np.concatenate([beside, np.full(len(curve) - len(later), beside[-1])])
            curve = curve * (1.0 + share * (beside - 1.0))
        rows = np.arange(count - frame)
        table[frame + rows, rows] = fresh[frame + rows] * curve
    for frame in range(count):
        table[frame, frame + 1 :] = table[frame, frame]
    return table


def warm_up(rig: Rig, moments: Iterable[Moment], can_refit: bool) -> None:
    """Compile what is launched, and fill caches."""
    for moment in moments:
        rig.show(moment)
        rig.build()
        if can_refit:
            rig.refit()
        rig.trace()
        rig.sah_cost()
