"""What has been done to a structure, and what it was worth: what update policies decide by."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from ..hierarchy.base import Hierarchy, Primitives
from .costs import Ticket, UpdateCosts
from .given_rays import GivenRays
from .ratio import RefitRatio

MEASURE_INTERVAL = 0.1
"""Seconds between two measurements of a tree's quality, at least; where several views are drawn, one tree a frame."""


@dataclasses.dataclass(frozen=True)
class Decision:
    """`update` is nothing, refit or rebuild; `reason` says why."""

    update: str
    reason: str

    def do(self, hierarchy: Hierarchy, primitives: Primitives) -> None:
        """Launches only."""
        if self.update == "rebuild":
            hierarchy.build(primitives)
        elif self.update == "refit":
            hierarchy.refit(primitives)


class UpdateHistory:
    """Remembers of one structure what it was last brought up to date with, and how good it was. `clock` gives
    seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seen: tuple[int, int] | None = None
        self._lent: tuple[int, int] | None = None
        self._lent_unmeasured = False
        self._built_cost: float | None = None
        self._cost: float | None = None
        self._measured_at = float("-inf")
        self._is_measured = True
        self._is_pending = False
        self._is_as_built = False
        self._has_base = False
        self.costs = UpdateCosts()
        self.ratio = RefitRatio()
        self.ticket = Ticket("nothing", 0, 0)
        self._given: GivenRays | None = None

    # -- what policies decide by -----------------------------------------------------------------------------------
    @property
    def is_new(self) -> bool:
        """Whether there has been no tree yet."""
        return self._seen is None

    def has_other_triangles(self, primitives: Primitives) -> bool:
        """Whether the tree is of others than these."""
        return self._seen is None or self._seen[0] != primitives.topology_version

    def has_moved(self, primitives: Primitives) -> bool:
        """Whether any of them has moved since the tree was brought up to date."""
        return self._seen is None or self._seen[1] != primitives.shape_version

    def is_stale(self, primitives: Primitives) -> bool:
        """Whether the tree is not that of these primitives as they are now."""
        return self.has_other_triangles(primitives) or self.has_moved(primitives)

    @property
    def is_as_built(self) -> bool:
        """Whether the tree has not been refitted since it was built."""
        return self._is_as_built

    @property
    def has_base(self) -> bool:
        """Whether the tree was measured as it was built."""
        return self._has_base

    @property
    def cost_ratio(self) -> float | None:
        """The tree's SAH cost as a multiple of what it was when it was built; None while that is not known."""
        if self._cost is None or self._built_cost is None:
            return None
        return self._cost / self._built_cost if self._built_cost > 0.0 else 1.0

    def take_cost(self, hierarchy: Hierarchy) -> None:
        """Read what was measured. Values arrive a frame or two after they were asked for: they are read when the next
        measurement is due, when they are surely there."""
        if not self._is_pending or self._clock() - self._measured_at < MEASURE_INTERVAL:
            return
        self._is_pending, self._cost = False, hierarchy.stats().sah_cost
        if self._built_cost is None:
            self._built_cost = self._cost
        if self._cost is not None and self._built_cost:
            self.costs.note_drift(self._cost / self._built_cost)

    @property
    def age(self) -> int:
        """How many refits there have been since the tree was built."""
        return self.costs.age

    def learn(self, ticket: Ticket, update_ms: float, trace_ms: float, rays: int) -> None:
        """The times of a frame have arrived, late. Where rays of a set stand in for the picture's, its trace is left
        out."""
        if self._given is None:
            self._learn(ticket, (update_ms, trace_ms, rays))
        else:
            self._learn(ticket, self._given.take_update(ticket, update_ms))

    def learn_given(self, trace_ms: float, rays: int) -> None:
        """Rays of a set were traced through the tree as it is, in the picture's place: from now on it is they that
        count, and what pictures taught is forgotten."""
        if self._given is None:
            self.forget_costs()
            self._given = GivenRays()
        else:
            self._learn(self.ticket, self._given.take_trace(self.ticket, trace_ms, rays))

    def learn_pictures(self) -> None:
        """The picture's rays count again, and what others taught is forgotten."""
        if self._given is not None:
            self.forget_costs()
            self._given = None

    def _learn(self, ticket: Ticket, found: tuple[float, float, int] | None) -> None:
        if found is not None:
            self.costs.learn(ticket, *found)
            self.ratio.learn(ticket, *found)

    def lend(self, primitives: Primitives) -> None:
        """A tree of these has been built that counts for nothing here, until there is one that does."""
        self._lent, self._lent_unmeasured = (primitives.topology_version, primitives.shape_version), True

    def take_lent_measurement(self) -> bool:
        """Whether the tree that was lent last has not been measured, nor has another taken its place. True takes the
        turn: it counts as done."""
        is_due, self._lent_unmeasured = self._lent_unmeasured and self.is_new, False
        return is_due

    def lends(self, primitives: Primitives) -> bool:
        """Whether that tree is there, and of these as they are now."""
        return self.is_new and self._lent == (primitives.topology_version, primitives.shape_version)

    # -- what has been done ----------------------------------------------------------------------------------------
    def note(self, decision: Decision, primitives: Primitives) -> None:
        """What was decided has been done. `ticket` is what its times are to be learnt by."""
        self.ticket = self.costs.note(decision.update)
        if decision.update == "rebuild":
            self._built_cost = self._cost = None
            self._is_pending = self._has_base = False
        self._is_as_built = decision.update == "rebuild" or (self._is_as_built and decision.update == "nothing")
        self._seen = (primitives.topology_version, primitives.shape_version)
        self._is_measured = self._is_measured and decision.update == "nothing"

    def take_measurement_turn(self) -> bool:
        """Whether the tree's quality is to be measured now: it has changed, and the last time is long enough ago. True
        takes the turn: it counts as done."""
        now = self._clock()
        if self._is_measured or now - self._measured_at < MEASURE_INTERVAL:
            return False
        self._count_measurement(now)
        return True

    @property
    def is_measured(self) -> bool:
        """Whether the tree as it is has been measured."""
        return self._is_measured

    def mark_unmeasured(self) -> None:
        """The tree is to be measured again, though it has not changed, unless none has been built yet."""
        self._is_measured = self._is_measured and self.is_new

    def forget_costs(self) -> None:
        """The tree has been laid out anew: what frames took before says nothing of those to come. In `auto` the next
        motion begins with a rebuild."""
        self.costs, self.ratio, self._has_base = UpdateCosts(), RefitRatio(), False
        self._given = None if self._given is None else GivenRays()

    def mark_measured(self) -> None:
        """The tree as it is has been measured by someone else."""
        self._count_measurement(self._clock())

    def _count_measurement(self, now: float) -> None:
        self._measured_at, self._is_measured, self._is_pending = now, True, True
        self._has_base = self._has_base or self._is_as_built
