"""What rebuilds and refits have cost so far, and what a tree that is refitted once more would cost to trace: the
figures behind the mode `auto`.

A tree is rebuilt once and then refitted for a while: a cycle. Over a frame that refits a tree as good as new, a cycle
wastes what the rebuild costs more than a refit (the premium), and then in every frame what the tree has become dearer
to trace (the penalty). The waste per frame is least where the next frame's penalty would pass the average waste of the
cycle so far: there a cycle ends. Where the first penalty already passes the premium, every frame rebuilds; where no
penalty grows, none does. This is the rule of renewal theory for replacing what wears out; unlike a bound on the SAH
cost's growth it never does worse than the better of the two fixed choices by more than what its estimates are wrong.

Trees differ by chance, too (chance.py). One that turned out dearer than others is replaced where another is expected to
save its premium, and one that turned out good is kept, worn out or not, until that is so.

A pose that is dear for a few frames is no wear: a cycle ends only when it has wasted most of a premium, too, as trees
that wear out evenly have by then. Where the premium is next to nothing every frame rebuilds, which can lose no more.

Penalties are estimated in three ways, and the greatest counts. How far each can be trusted is learnt at every rebuild,
where tracing before and after it tells the true penalty:

- wear: milliseconds a refit, as the last rebuilds found them;
- rise: how much dearer tracing has become since the rebuild, as far as that stands out of noise; it can have other
  reasons (the camera);
- drift: how far the SAH cost lies above that of the rebuild, times what tracing cost there, until times have come.
"""

from __future__ import annotations

import collections
import math
import statistics
from typing import NamedTuple

from ..brief import brief
from .chance import LASTS, Chance, saving

SHARE_FOR_PROBES = 0.008
"""Of all time, how much may be spent on trying the choice that seems the worse one: nothing else tells when that has
changed."""

HEAD_START = 0.2
"""Of the first frame's time, what may be spent on trying before any was saved for it: what trees of this scene are like
is worth most at the start."""

IN_DOUBT_GOOD = 0.6
"""A tree is taken to be better than expected by so many standard deviations of what is known of it: waiting tells."""

TRIAL = 2.0
"""What a rebuild that is tried is taken to cost, in premiums: the fresh tree may be the worse one."""

LATER = 1.5
"""Where a rebuild was tried, and trees wear out by less than a frame of that cycle wasted, the next is tried in a tree
so many times as old: fresh trees differ by chance, and one that does not wear out may be a good one to keep."""

KEPT_TIMES = 7
"""Times of rebuilds, of refits and of tracing that medians are made of."""

LEAST_RISE = 0.03
"""Rises and drifts below this share are noise at best: nothing is learnt from them."""

KEPT_BENDS, LEAST_BENDS = 15, 5
"""How far a frame's time lies off the line through the two before tells how noisy times are here, and nothing of a
rise: so many are kept, so many are needed."""

DEVIATION = 1.0 / (0.6745 * math.sqrt(6.0))
"""The standard deviation of noise over the median of those bends."""

SURE = 2.5
"""A rise is taken for one where it is so many of its standard deviations."""

CHEAP = 0.02
"""A rebuild that costs less than this share of a frame more than a refit is always done: that is all that it can lose,
and what a refit loses nobody knows before."""

SPREAD_OF_RISE = 1.2
"""The standard deviation of a difference between the median of three times and a single one, over that of a time."""

PAID = 0.8
"""Of what a rebuild costs more than a refit, the share that refits must have wasted before one is due. Where trees wear
out evenly they have wasted all of it by then; a pose that is dear for a few frames has not."""

RISE_COUNTS, DRIFT_COUNTS = 0.6, 0.5
"""How much of a rise, and of a drift of the SAH cost, is taken for wear before any rebuild has told."""

TOLD_BY_TIMES = 3
"""From so many traced frames of a tree on its SAH cost says nothing that their times do not say better."""


FARTHEST = 1.5
"""A rise is taken to go on with the refits that are not timed yet, but to become so many times as great at most."""

FORGETS = 0.6
"""How much of an older rebuild's lesson is left at the next."""

POINTS_OF_NOTHING = 1.0
"""How strongly wear is taken for nothing before the first lesson."""


class Ticket(NamedTuple):
    """What a frame did, as its times will have to be read: cycles are numbered by their rebuild, `age` counts refits
    since."""

    update: str
    cycle: int
    age: int


class _Trial(NamedTuple):
    """A rebuild to measure what it gains: the cycle that it begins, the age of the tree that it replaced, and what a
    frame of that one's cycle wasted."""

    cycle: int
    age: int
    waste: float


class _Line:
    """The straight line nearest to points that came one by one."""

    def __init__(self) -> None:
        self.count, self._x, self._y, self._xx, self._xy = 0, 0.0, 0.0, 0.0, 0.0

    def add(self, x: float, y: float) -> None:
        """One more point."""
        self.count += 1
        off = x - self._x
        self._x += off / self.count
        self._y += (y - self._y) / self.count
        self._xx += off * (x - self._x)
        self._xy += off * (y - self._y)

    @property
    def slope(self) -> float:
        """0 of a single point."""
        return self._xy / self._xx if self._xx > 0.0 else 0.0

    @property
    def spread(self) -> float:
        """The standard deviation of the slope where each y has one of 1."""
        return 1.0 / math.sqrt(self._xx) if self._xx > 0.0 else math.inf


class _Cycle:
    """Tracing within one cycle, in milliseconds for one ray count."""

    def __init__(self, number: int, fresh_ms: float, rays: int) -> None:
        self.number, self.fresh_ms, self.rays, self.age = number, fresh_ms, rays, 0
        self.latest: collections.deque[float] = collections.deque(maxlen=3)
        self._line = _Line()
        self._line.add(0.0, fresh_ms)

    def add(self, age: int, trace_ms: float) -> None:
        """A frame whose tree had been refitted so often."""
        self.age = age
        self.latest.append(trace_ms)
        self._line.add(float(age), trace_ms)

    @property
    def traced(self) -> int:
        """How many frames there were since the rebuild."""
        return self._line.count - 1

    def rise(self) -> float:
        """How much dearer tracing is than in the rebuilt tree, after a single slow frame or without."""
        return statistics.median(self.latest) - self.fresh_ms if self.latest else 0.0

    def sure_rise(self, noise: float) -> float:
        """The same as far as it stands out of noise, a standard deviation in milliseconds: of the last frames, or of
        all on a line, where that shows more."""
        of_line = self._line.slope * self.age
        last = self.rise()
        last = last if last > SURE * noise * SPREAD_OF_RISE else 0.0
        return max(last, of_line if of_line > SURE * noise * self._line.spread * self.age else 0.0)


class _Slope:
    """The line through the origin nearest to the points that came last. One far out counts for more: times are noisy,
    and there it shows least."""

    def __init__(self) -> None:
        self._products, self._squares = 0.0, POINTS_OF_NOTHING

    def add(self, x: float, y: float) -> None:
        """One more point; older ones count for less."""
        self._products = FORGETS * self._products + x * y
        self._squares = FORGETS * self._squares + x * x

    @property
    def slope(self) -> float:
        """0 before the first point."""
        return self._products / self._squares


class UpdateCosts:
    """See the module. `learn` takes times as they come in, late; `choose` is asked before every frame in which
    something moved."""

    def __init__(self) -> None:
        self._rebuilds: collections.deque[float] = collections.deque(maxlen=KEPT_TIMES)
        self._refits: collections.deque[float] = collections.deque(maxlen=KEPT_TIMES)
        self._cycle: _Cycle | None = None
        self._drift = self._last_drift = 0.0
        self._wear = _Slope()
        self._rise_counts, self._drift_counts = RISE_COUNTS, DRIFT_COUNTS
        self._credit = self._wasted = 0.0
        self._trial: _Trial | None = None
        self._least_age = 1
        self._chance = Chance()
        self._bends: collections.deque[float] = collections.deque(maxlen=KEPT_BENDS)
        self.age = self.cycle = 0

    # -- what has been done ---------------------------------------------------------------------------------------
    def note(self, update: str) -> Ticket:
        """A frame has done this."""
        if update == "rebuild":
            if self.age > 0 and self.is_known and self.premium > 0.0:
                self._credit = 0.0  # what it gains will be known: nothing is to be tried for that
            self.age, self._wasted = 0, 0.0
            self._last_drift, self._drift = self._drift, 0.0
            self.cycle += 1
        elif update == "refit":
            self._wasted += self.penalty(self.age + 1)
            self.age += 1
        return Ticket(update, self.cycle, self.age)

    def note_drift(self, ratio: float) -> None:
        """The SAH cost has been measured: how many times that of the tree as it was rebuilt."""
        self._drift = max(0.0, ratio - 1.0)

    def learn(self, ticket: Ticket, update_ms: float, trace_ms: float, rays: int) -> None:
        """The times of a frame have arrived."""
        if ticket.update == "nothing" or update_ms <= 0.0:
            return
        is_first = ticket.update == "refit" and not self._refits
        (self._rebuilds if ticket.update == "rebuild" else self._refits).append(update_ms)
        self._credit += (SHARE_FOR_PROBES + (HEAD_START if is_first else 0.0)) * (update_ms + trace_ms)
        if trace_ms <= 0.0 or rays <= 0:
            return
        before = self._cycle
        if ticket.update == "rebuild":
            self._cycle = _Cycle(ticket.cycle, trace_ms, rays)
            if before is not None and before.age > 0 and ticket.cycle == before.number + 1:
                self._compare(before, trace_ms * before.rays / rays)
            self._chance.begin()
            self._chance.add(math.log(trace_ms / rays), self._noise)
        elif before is not None and before.number == ticket.cycle:
            scaled = trace_ms * before.rays / rays
            if len(before.latest) > 1:
                self._bends.append(abs(scaled - 2.0 * before.latest[-1] + before.latest[-2]) / before.fresh_ms)
            before.add(ticket.age, scaled)
            worn = self._wear.slope * ticket.age / before.fresh_ms
            self._chance.add(math.log(trace_ms / rays) - worn, self._noise)

    def _compare(self, before: _Cycle, fresh_ms: float) -> None:
        """A tree was rebuilt: what the refitted one had cost more is known now, but for noise, by which it is made
        less."""
        found = min(statistics.median(before.latest) - fresh_ms, 4.0 * fresh_ms)
        doubt = math.hypot(LEAST_RISE, SPREAD_OF_RISE * self._noise) * fresh_ms
        true = found**3 / (found**2 + doubt**2)
        self._wear.add(before.age, true)
        if self._trial is not None and self._trial.cycle == before.number + 1:
            wears_out = found > SURE * doubt and self._wear.slope * before.age >= self._trial.waste
            self._least_age = 1 if wears_out else math.ceil(LATER * self._trial.age)
            self._trial = None
        rise = before.sure_rise(self._noise * before.fresh_ms)
        if rise > LEAST_RISE * fresh_ms:
            self._rise_counts = 0.5 * (self._rise_counts + min(max(true / rise, 0.0), 1.0))
        if self._last_drift > LEAST_RISE:
            self._drift_counts = 0.5 * (
                self._drift_counts + min(max(true / (self._last_drift * before.fresh_ms), 0.0), 2.0)
            )

    @property
    def _noise(self) -> float:
        """The standard deviation of a time, as a share of it; 0 as long as that is not known."""
        return DEVIATION * statistics.median(self._bends) if len(self._bends) >= LEAST_BENDS else 0.0

    # -- what there is to choose by -------------------------------------------------------------------------------
    @property
    def is_known(self) -> bool:
        """Whether there is anything to choose by: a rebuild, a refit and a traced frame have been timed."""
        return bool(self._rebuilds and self._refits and self._cycle is not None)

    @property
    def rebuild_ms(self) -> float:
        """The median of the last ones."""
        return statistics.median_low(self._rebuilds)

    @property
    def refit_ms(self) -> float:
        """The median of the last ones."""
        return statistics.median_low(self._refits)

    @property
    def premium(self) -> float:
        """What a rebuild costs more than a refit."""
        return self.rebuild_ms - self.refit_ms

    @property
    def _frame_ms(self) -> float:
        """A refit and tracing a tree as good as new."""
        return self.refit_ms + (self._cycle.fresh_ms if self._cycle is not None else 0.0)

    def penalty(self, age: int) -> float:
        """What tracing is expected to cost more after so many refits, in milliseconds per frame."""
        if self._cycle is None:
            return 0.0
        now = 0.0
        if self._cycle.number == self.cycle and self._cycle.age > 0:
            fresh = self._cycle.fresh_ms
            rise = self._cycle.sure_rise(self._noise * fresh)
            rise *= min(age / self._cycle.age, FARTHEST) if rise > LEAST_RISE * fresh else 0.0
            drift = self._drift * fresh if self._cycle.traced < TOLD_BY_TIMES else 0.0
            counts = max(self._rise_counts, min(rise / fresh, 1.0))  # what doubles is hardly the camera
            now = max(counts * rise, self._drift_counts * drift)
        return max(0.0, self._wear.slope * age, now)

    @property
    def _knows_chance(self) -> bool:
        """Whether anything is known of how good the tree at hand is by chance."""
        cycle = self._cycle
        is_timed = cycle is not None and cycle.number == self.cycle and cycle.traced >= TOLD_BY_TIMES
        return is_timed and self._chance.trees > 1

    def _pays(self, excess: float, lasts: int) -> bool:
        """Whether another tree, which lasts so many frames, is expected to save its premium, beside one that costs so
        much more than the mean of fresh ones, as a share of tracing. A tree below that mean is kept."""
        fresh = self._cycle.fresh_ms if self._cycle is not None else 0.0
        return excess > 0.0 and saving(excess, self._wear.slope / fresh, lasts) * fresh > self.premium

    def _is_dear(self, penalty: float, lasts: int = LASTS) -> bool:
        """Whether the tree at hand is by chance, and with this penalty, so dear that another is expected to pay."""
        if self._cycle is None or not self._knows_chance:
            return False
        by_chance = self._chance.share - IN_DOUBT_GOOD * self._chance.doubt
        return self._pays(by_chance + penalty / self._cycle.fresh_ms, lasts)

    @property
    def _worth_keeping(self) -> float:
        """What a good tree saves for as long as it is taken to last; 0 of others."""
        fresh = self._cycle.fresh_ms if self._cycle is not None and self._knows_chance else 0.0
        return LASTS * fresh * max(0.0, -self._chance.share)

    def average_waste(self) -> float:
        """What a frame of this cycle wastes on average, the next one left out."""
        return (self.premium + self._wasted) / (self.age + 1)

    # -- the choice -----------------------------------------------------------------------------------------------
    def choose(self) -> tuple[str, str]:
        """Refit or rebuild, and why. Counts what is spent on trying."""
        penalty, waste, premium = self.penalty(self.age + 1), self.average_waste(), self.premium
        if premium <= CHEAP * self._frame_ms:
            # Refits that are never done are never timed again: if those there were had a bad moment, nothing else would
            # tell.
            facts = f"a rebuild takes {_ms(self.rebuild_ms)}, a refit {_ms(self.refit_ms)}"
            if self.age == 0 and self._affords(min(self._refits) + penalty):
                return "refit", f"to check whether that still holds: {facts}"
            return "rebuild", facts
        facts = f"a rebuild costs {_ms(premium)} more than a refit, one more refit costs {_ms(penalty)} of tracing"
        is_worn = penalty >= waste and self._wasted + penalty >= PAID * premium
        lasts = max(LASTS, self.age)  # where rebuilds are dear, trees last longer, and so will the next one
        if not is_worn or (self._knows_chance and not self._is_dear(penalty, lasts)):
            if self._is_dear(0.0):
                return "rebuild", f"its trace seems dearer than that of other trees: {facts}"
            if self.age >= self._least_age and self._affords(TRIAL * premium + self._worth_keeping):
                self._trial = _Trial(self.cycle + 1, self.age, waste)
                return "rebuild", f"to measure what it gains: {facts}"
            return "refit", facts
        if self.age == 0 and self._affords(max(penalty - premium, 0.0)):
            return "refit", f"to measure what it costs: {facts}"
        return "rebuild", facts

    def _affords(self, cost: float) -> bool:
        """Whether trying something at this cost is within what may be spent on that; then it counts as spent."""
        if cost > self._credit:
            return False
        self._credit -= max(cost, SHARE_FOR_PROBES * self.refit_ms)
        return True


def _ms(milliseconds: float) -> str:
    return f"{brief(milliseconds)} ms"
