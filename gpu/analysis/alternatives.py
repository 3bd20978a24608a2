"""What else would pay over a clip: other builders, optimisers and layouts, each measured and given its own best
schedule, and from how many rays per frame on it is the better choice."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from ..brief import brief, filled, percent
from ..scene import Moment
from .clip_costs import measured
from .hot_findings import remedy
from .rig import Rig
from .schedules import ClipCosts, cost_of, offline_optimum

TREES = 4
"""Trees that are measured of each: fewer than of the configuration that the advice is about."""

BUILDERS, OPTIMISERS, LAYOUTS = ("lbvh", "hploc", "binned_sah"), ("reinsertion",), ("bvh2", "bvh4", "cwbvh")
"""What is tried where nobody says what: the fastest builder, the one between, and the one whose rays are fastest; an
optimiser; and the layouts."""

FARTHEST = 10
"""Break-even points are looked for between so many halvings and doublings of the rays."""

Maker = tuple[str, Callable[[], AbstractContextManager[Rig]]]
"""A configuration and what makes its rig, over the same rays."""


@dataclasses.dataclass(frozen=True)
class Alternative:
    """What another configuration would cost: `ms` a frame by its own best schedule, which rebuilds `rebuilds` times.
    It is the cheaper one with more rays per frame than `rays_from`, or with fewer than `rays_until`; both None: at no
    number of rays that was looked at, or at all of them, as `ms` says."""

    configuration: str
    ms: float
    rebuilds: int
    rays_from: int | None
    rays_until: int | None

    def sentence(self, than: str, ms: float) -> str:
        """Beside the configuration that the advice is about, and its milliseconds."""
        share = abs(self.ms / ms - 1.0)
        what = f"{self.configuration} takes {brief(self.ms)} ms per frame instead of {brief(ms)}"
        said = f"{what}, {percent(share)} {'less' if self.ms < ms else 'more'}"
        if self.rays_from is not None:
            from_on = "{said}; it is cheaper than {than} from {rays:,} rays per frame on"
            return filled(from_on, said=said, than=than, rays=self.rays_from)
        if self.rays_until is not None:
            below = "{said}; it is cheaper than {than} below {rays:,} rays per frame"
            return filled(below, said=said, than=than, rays=self.rays_until)
        return f"{said}, whatever the number of rays"


def usual(configuration: str, layout: str) -> tuple[str, ...]:
    """Configurations to try beside this one, whose layout is `layout` where it does not say: one thing changed in
    each."""
    tried = [remedy(configuration, builder=name) for name in BUILDERS]
    tried += [remedy(configuration, optimiser=name) for name in OPTIMISERS]
    tried += [remedy(configuration, layout=name) for name in LAYOUTS if name != layout]
    return tuple(dict.fromkeys(one for one in tried if one))


def compared(
    costs: ClipCosts,
    makers: Sequence[Maker],
    moments: Sequence[Moment],
    rays: int,
    measured_rays: int,
    say: Callable[[float, str], None] = lambda share, name: None,
) -> tuple[Alternative, ...]:
    """The alternatives to what `costs` are of, cheapest first. Traces are scaled from `measured_rays` to `rays`; `say`
    hears which share is done, and what is measured now."""
    found = []
    for place, (name, make) in enumerate(makers):
        told = functools.partial(_tell, say, name, place, len(makers))
        with make() as rig:
            theirs, _ = measured(rig, moments, scale=rays / measured_rays, trees=TREES, say=told)
        best = offline_optimum(theirs)
        ms = cost_of(theirs, best) / len(theirs)
        found.append(Alternative(name, ms, sum(best), *break_even_rays(costs, theirs, rays)))
    return tuple(sorted(found, key=lambda one: one.ms))


def _tell(say: Callable[[float, str], None], name: str, place: int, count: int, share: float) -> None:
    say((place + share) / count, name)


def break_even_rays(ours: ClipCosts, theirs: ClipCosts, rays: int) -> tuple[int | None, int | None]:
    """From how many rays per frame on `theirs` is cheaper than `ours`, or until how many: the crossing that is nearest
    to `rays`, each with the best schedule for that many."""

    def gain(factor: float) -> float:
        return _best_ms(ours, factor) - _best_ms(theirs, factor)

    steps = _from_the_middle(FARTHEST)
    gains = {step: gain(2.0**step) for step in range(-FARTHEST, FARTHEST + 1)}
    for step in steps:
        if (gains[step] > 0.0) != (gains[step + 1] > 0.0):
            low, high = 2.0**step, 2.0 ** (step + 1)
            while high / low > 1.001:
                middle = (low * high) ** 0.5
                low, high = (middle, high) if (gain(middle) > 0.0) == (gains[step] > 0.0) else (low, middle)
            crossing = round(high * rays)
            return (crossing, None) if gains[step + 1] > 0.0 else (None, crossing)
    return None, None


def _from_the_middle(most: int) -> Iterable[int]:
    """-1, 0, -2, 1, -3 ... : the steps from one power of two to the next, nearest to 1 first."""
    return sorted(range(-most, most), key=lambda step: abs(step + 0.5))


def _best_ms(costs: ClipCosts, factor: float) -> float:
    scaled = dataclasses.replace(costs, trace_ms=factor * costs.trace_ms)
    return cost_of(scaled, offline_optimum(scaled)) / len(costs)
