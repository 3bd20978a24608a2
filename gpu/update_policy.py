"""Build, refit or nothing: one decision a frame and structure, with the reason in words.

In the mode `auto` measured times decide as soon as there are some (update_costs.py); until then, and where nothing is traced, the SAH cost alone.
docs/decisions/when-to-rebuild.md tells why.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from .hierarchy.base import CannotRefitError, Hierarchy, Primitives
from .settings import option
from .update_costs import Ticket, UpdateCosts

MEASURE_INTERVAL = 0.1
"""Seconds between two measurements of a tree's quality, at least."""


@dataclasses.dataclass(frozen=True)
class UpdateOptions:
    """How a structure follows a moving scene."""

    mode: str = option(
        "rebuild", "Rebuild every frame, refit every frame, or let measured times and costs decide.", choices=("rebuild", "refit", "auto")
    )
    always: bool = option(False, "Update even when nothing moved; benchmarks do, to measure the same work every frame.")
    cost_ratio: float = option(
        1.5,
        "In auto, as long as no times are known: rebuild when the SAH cost is this many times that of the last build.",
        minimum=1.0,
        maximum=100.0,
    )


@dataclasses.dataclass(frozen=True)
class Decision:
    """`update` is nothing, refit or rebuild; `reason` says why."""

    update: str
    reason: str


class UpdatePolicy:
    """Remembers of one structure what it was last brought up to date with, and how good it was. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seen: tuple[int, int] | None = None
        self._built_cost: float | None = None
        self._cost: float | None = None
        self._measured_at = float("-inf")
        self._is_measured = True
        self._is_pending = False
        self._is_as_built = False
        self._has_base = False
        self.costs = UpdateCosts()
        self.ticket = Ticket("nothing", 0, 0)

    def decide(self, hierarchy: Hierarchy, primitives: Primitives, options: UpdateOptions) -> Decision:
        """What to do before this frame is traced. Raises CannotRefitError where refit is chosen and the structure has none."""
        if self._seen is None:
            return Decision("rebuild", "there was no tree yet")
        self._take_cost(hierarchy)
        if self._seen[0] != primitives.topology_version:
            return Decision("rebuild", "the triangles are others")
        if self._seen[1] == primitives.shape_version and not options.always:
            if options.mode == "rebuild" and not self._is_as_built:
                return Decision("rebuild", "rebuild is chosen")  # of a scene at rest, whose tree was refitted until then
            return Decision("nothing", "nothing moved")
        if options.mode == "rebuild":
            return Decision("rebuild", "rebuild is chosen")
        if options.mode == "refit":
            if not hierarchy.capabilities.refit:
                raise CannotRefitError(f"{hierarchy.title} cannot be refitted: choose update rebuild or auto, or another structure.")
            return Decision("refit", "refit is chosen")
        return self._by_cost(hierarchy, options)

    def note(self, decision: Decision, primitives: Primitives) -> None:
        """What was decided has been done. `ticket` is what its times are to be learnt by."""
        self.ticket = self.costs.note(decision.update)
        if decision.update == "rebuild":
            self._built_cost = self._cost = None
            self._is_pending = self._has_base = False
        self._is_as_built = decision.update == "rebuild" or (self._is_as_built and decision.update == "nothing")
        self._seen = (primitives.topology_version, primitives.shape_version)
        self._is_measured = self._is_measured and decision.update == "nothing"

    def wants_measurement(self) -> bool:
        """Whether the tree's quality should be measured now: it has changed, and the last time is long enough ago. Counts as done."""
        now = self._clock()
        if self._is_measured or now - self._measured_at < MEASURE_INTERVAL:
            return False
        self._count_measurement(now)
        return True

    @property
    def is_new(self) -> bool:
        """Whether there has been no tree yet."""
        return self._seen is None

    @property
    def is_measured(self) -> bool:
        """Whether the tree as it is has been measured."""
        return self._is_measured

    def mark_unmeasured(self) -> None:
        """The tree is to be measured again, though it has not changed, unless none has been built yet."""
        self._is_measured = self._is_measured and self.is_new

    def forget_costs(self) -> None:
        """The tree has been laid out anew: what frames took before says nothing of those to come. In `auto` the next motion begins with a rebuild."""
        self.costs, self._has_base = UpdateCosts(), False

    def mark_measured(self) -> None:
        """The tree as it is has been measured by someone else."""
        self._count_measurement(self._clock())

    def _count_measurement(self, now: float) -> None:
        self._measured_at, self._is_measured, self._is_pending = now, True, True
        self._has_base = self._has_base or self._is_as_built

    def _by_cost(self, hierarchy: Hierarchy, options: UpdateOptions) -> Decision:
        if not hierarchy.capabilities.refit:
            return Decision("rebuild", f"{hierarchy.title} cannot be refitted")
        if self.costs.is_known:
            return Decision(*self.costs.choose())
        if not self._has_base:
            return Decision("rebuild", "what the last build was worth has not been measured yet")
        if self._cost is None or self._built_cost is None:
            return Decision("refit", "its cost since the last build is not known yet")
        ratio = self._cost / self._built_cost if self._built_cost > 0.0 else 1.0
        if ratio >= options.cost_ratio:
            return Decision("rebuild", f"its cost is {ratio:.2f} times that of the last build")
        return Decision("refit", f"its cost is {ratio:.2f} times that of the last build")

    def _take_cost(self, hierarchy: Hierarchy) -> None:
        # Values arrive a frame or two after they were asked for: they are read when the next measurement is due, when they are surely there.
        if not self._is_pending or self._clock() - self._measured_at < MEASURE_INTERVAL:
            return
        self._is_pending, self._cost = False, hierarchy.stats().sah_cost
        if self._built_cost is None:
            self._built_cost = self._cost
        if self._cost is not None and self._built_cost:
            self.costs.note_drift(self._cost / self._built_cost)
