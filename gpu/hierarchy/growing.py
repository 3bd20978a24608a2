"""What families share whose memory does not follow from the number of primitives: kd-trees, and whatever lists a
primitive in every cell it reaches into.

A builder fills a draft (grown_tree.py); here it becomes the structure that is traversed, or the one before stays where
the draft did not fit. How much room a scene needs is found between two frames, when its primitives are others than
before: `make_room` builds structures of them and waits for each, as memory is reserved then anyway; builds wait for
nothing. Where one of them needs more room than there is, the picture is drawn with the tree before, and `make_room`
before a later frame reserves more, up to the family's limits: there it raises. Who keeps a picture asks whether it
`is_stale`, and draws it again.
"""

from __future__ import annotations

import abc
import itertools
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..target.base import Target
from .base import DEFAULT_COSTS, CannotRefitError, HierarchyError, Primitives, StatisticsOptions, StructureChoice
from .grown_tree import (
    BYTES_FREE,
    NODES_FULL,
    NODES_NOW,
    REFERENCES_NOW,
    STATUS_NOW,
    WORKING_NOW,
    Capacity,
    Draft,
    GrownTree,
    Limits,
    NodeShape,
)
from .measured import MeasuredHierarchy
from .primitives import KINDS, TraversedRecords, check_primitives

HEADROOM = (1.5, 1.25, 1.1)
"""Room beyond what the first trees of a scene need, as it moves later: first as much working memory, then as many
nodes and references as stay within the bytes that are preferred, else within the limit of bytes."""

MOST_ROOMS = 64
"""Trees whose room is remembered on a target: who takes up a structure once more builds its first tree once."""

_rooms: weakref.WeakKeyDictionary[Target, dict[Any, Capacity]] = weakref.WeakKeyDictionary()

GROWTH = (2.0, 1.5, 1.25)
"""By how much room grows that was too small: the most that stays within the bytes that are preferred, or the least."""

AMPLE_SHARE = 0.25
"""Of the free memory, for a first draft that is given more room than most trees need."""


class GrowingHierarchy(MeasuredHierarchy):
    """See the module. A family gives `node_shape`, `limits` and `first_capacity`, a builder `emit` and, where it takes
    scratch memory, `working_bytes`; one of the `figures` is `status`, the word of counts."""

    node_shape: ClassVar[NodeShape]
    ample: ClassVar[tuple[tuple[float, float, float], ...]] = ()
    """By how much more nodes, references and working memory many scenes need than `first_capacity`: on the host, where
    memory that nobody writes to costs nothing, the first draft has the first of these that there is room for, rather
    than being filled once more."""

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self.tree = GrownTree(target, self.node_shape)
        self.traversed = TraversedRecords(target, self.choice.triangle_test)
        self._sized_for: tuple[Any, ...] = ()  # the topology that there is room for
        self._drafted = Capacity(0, 0, 0)  # the most that drafts had: scratch memory keeps its size
        self._outcome: Callable[[], np.ndarray | None] | None = None  # the counts of a build, on their way
        # How many builds there were, and the number of the one whose counts were asked for last.
        self._builds, self._asked_of = 0, 0
        # The number of the build that was measured last, and of the newest whose status is known.
        self._measured_of, self._known_of = 0, 0
        self._too_small = 0  # what build `_known_of` had too little room for, as bits of its status

    # -- what a family and its builders give ------------------------------------------------------------------------
    @abc.abstractmethod
    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        """Fill the draft, its counts and status included, for at least one primitive, with the working memory that
        `capacity` names. Inactive primitives are in no leaf. Launches only."""

    def finish(self, primitives: Primitives, draft: Draft) -> None:
        """What is made of a draft after it was published: nothing, unless a family says otherwise. Launches only."""

    @abc.abstractmethod
    def limits(self) -> Limits:
        """Where the structure gives up, with the options chosen."""

    @abc.abstractmethod
    def first_capacity(self, primitive_count: int) -> Capacity:
        """Room where nothing is known of the scene: what most need. It grows where a scene needs more."""

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        """Scratch memory that builds of that capacity take beside the draft."""
        return 0

    # -- the contract -----------------------------------------------------------------------------------------------
    def lacks_room(self, primitives: Primitives) -> bool:
        return primitives.count > 0 and (self._sized_for != primitives.topology or self._newest_status() != 0)

    def make_room(self, primitives: Primitives) -> None:
        self._find_room(primitives, self._newest_status() if self._sized_for == primitives.topology else 0)

    def prepare(self, primitives: Primitives, update: str) -> None:
        self._builds += 1

    @property
    def is_stale(self) -> bool:
        self.take_arrived()
        return self._too_small != 0

    def build(self, primitives: Primitives) -> None:
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives)
        if primitives.count == 0:
            self.tree.empty()
        elif self._sized_for == primitives.topology:
            self._build_once(primitives)
        else:
            self._find_room(primitives, 0)  # nobody called make_room
        self.traversed.update(primitives, self.tree.records, primitives.count, None, "build")
        self._built = primitives

    def refit(self, primitives: Primitives) -> None:
        raise CannotRefitError(
            f"The structure {self.name} cannot be refitted: primitives would leave the cells they are listed in. "
            f"Rebuild it."
        )

    def memory(self) -> tuple[int, int]:
        capacity, count = self.tree.capacity.larger(self._drafted), 0 if self._built is None else self._built.count
        scratch = capacity.draft_bytes(self.node_shape) + self.working_bytes(capacity, count)
        return self.tree.bytes + self.traversed.bytes, scratch

    def measure(self, costs: StatisticsOptions = DEFAULT_COSTS, tree: Any = None) -> None:
        self._measured_of = self._builds
        super().measure(costs, tree)

    def take_figures(self, row: np.ndarray, tree: Any) -> None:
        super().take_figures(row, tree)
        self._take_status(self._measured_of, int(row[self.figures.index("status")]))

    # -- room -------------------------------------------------------------------------------------------------------
    def _newest_status(self) -> int:
        """What was too small for the newest build, as far as is known. Does not wait."""
        self.take_arrived()
        if self._outcome is None and self._builds > self._asked_of:
            self._outcome, self._asked_of = self.target.read_later(self.tree.counts), self._builds
        counts = None if self._outcome is None else self._outcome()
        if counts is not None:
            self._outcome = None
            self._take_status(self._asked_of, int(counts[STATUS_NOW]))
        return self._too_small

    def _take_status(self, build: int, status: int) -> None:
        """The status of a build arrived; that of a later one may have come before it, with the figures."""
        if build >= self._known_of:
            self._known_of, self._too_small = build, status

    def _find_room(self, primitives: Primitives, status: int) -> None:
        """Fill drafts with memory that grows until these primitives have enough, and publish the last one into arrays
        with headroom: first as for a scene that nothing is known of, or by what was too small. The tree is whole then.
        Waits."""
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives)
        rooms = _rooms.setdefault(self.target, {})
        key = (self.name, self.choice, primitives.topology, primitives.view.tobytes())  # of these very arrays
        known = rooms.pop(key, None) if status == 0 else None
        before = self.tree.arrays_in_use()
        try:
            capacity = self._grown(status, before[0], primitives) if status else known or self._ample(primitives)
            draft, counts = self._draft_and_read(primitives, capacity)
            while counts[STATUS_NOW] != 0:
                capacity = self._grown(int(counts[STATUS_NOW]), capacity, primitives)
                draft, counts = self._draft_and_read(primitives, capacity)
            if capacity != known:  # which has headroom
                capacity = self._with_headroom(counts, capacity, primitives, is_first=status == 0)
            self._reserve(capacity, primitives)
            self._publish(draft, primitives)
        except BaseException:
            self.tree.restore(before)  # the tree before, with the room that it had
            self._sized_for = ()
            raise
        while len(rooms) >= MOST_ROOMS:
            del rooms[next(iter(rooms))]
        rooms[key] = self.tree.capacity
        self._sized_for, self._outcome = primitives.topology, None
        self._asked_of = self._known_of = self._builds

    def _draft_and_read(self, primitives: Primitives, capacity: Capacity) -> tuple[Draft, np.ndarray]:
        """A draft of that capacity and its counts; HierarchyError where that is more than a tree may take."""
        if not self._has_room_for(capacity, primitives):
            raise self._given_up(f"would take more than {self.limits().bytes} bytes per primitive", primitives)
        draft = self._filled(primitives, capacity)
        return draft, self.target.download(draft.counts)

    def _filled(self, primitives: Primitives, capacity: Capacity) -> Draft:
        draft = self.tree.draft(capacity)
        self._drafted = self._drafted.larger(capacity)
        self.emit(primitives, draft, capacity)
        return draft

    def _build_once(self, primitives: Primitives) -> None:
        self._publish(self._filled(primitives, self.tree.capacity), primitives)

    def _publish(self, draft: Draft, primitives: Primitives) -> None:
        with self.target.phase("build.publish"):
            self.tree.publish(draft, primitives)
        self.finish(primitives, draft)

    def _reserve(self, capacity: Capacity, primitives: Primitives) -> None:
        self.forget_pending()
        self._too_small = 0
        self.tree.reserve(capacity, primitives.count, KINDS[primitives.kind].record_floats)
        self.generation += 1

    def _ample(self, primitives: Primitives) -> Capacity:
        """Room for the first draft of a scene that nothing is known of."""
        first, most = self.first_capacity(primitives.count), Capacity.at_most(self.limits(), primitives.count)
        larger = [first.times(factors) for factors in (self.ample if self.target.kind == "host" else ())]
        free = AMPLE_SHARE * self.target.free_bytes() if larger else 0
        within = [one for one in larger if one.smaller(most) == one and self._bytes_of(one, primitives) <= free]
        return next((one for one in self._preferred(within, primitives) if self._has_room_for(one, primitives)), first)

    def _with_headroom(self, counts: np.ndarray, drafted: Capacity, primitives: Primitives, is_first: bool) -> Capacity:
        """Room for a tree that was just drafted, and for what moves later, as far as bytes allow. Where it `is_first`
        what was too much goes back; later a frame may have needed it that is over."""
        most, least = Capacity.at_most(self.limits(), primitives.count), drafted
        needed = (int(counts[NODES_NOW]), int(counts[REFERENCES_NOW]), int(counts[WORKING_NOW]))
        if is_first:
            least = drafted.smaller(self.first_capacity(primitives.count))
        choices = []
        for of_working, of_tree in itertools.product(HEADROOM, HEADROOM):
            factors = (of_tree, of_tree, of_working)
            nodes, references, working = (int(by * count) + 256 for by, count in zip(factors, needed, strict=True))
            choices.append(
                Capacity(
                    min(most.nodes, max(nodes, least.nodes)),
                    min(most.references, max(references, least.references)),
                    min(most.working, max(working, least.working)),
                )
            )
        fitting = [one for one in choices if self._has_room_for(one, primitives)]
        return next((one for one in (*self._preferred(fitting, primitives), *fitting)), drafted)

    def _grown(self, status: int, present: Capacity, primitives: Primitives) -> Capacity:
        """More room of what was too small; HierarchyError at the limits."""
        limits = self.limits()
        most = Capacity.at_most(limits, primitives.count)
        larger = [grown for factor in GROWTH if (grown := present.grown(status, most, factor)) != present]
        if not larger:
            is_nodes = bool(status & NODES_FULL)
            what = f"{limits.nodes} nodes" if is_nodes else f"{limits.references} references"
            raise self._given_up(f"would need more than {what} per primitive", primitives)
        fitting = self._preferred([one for one in larger if self._has_room_for(one, primitives)], primitives)
        return fitting[0] if fitting else larger[-1]

    def _preferred(self, choices: list[Capacity], primitives: Primitives) -> list[Capacity]:
        """Those that stay within the bytes that are preferred; all where no bytes are."""
        most = self.limits().preferred
        return [one for one in choices if most is None or self._bytes_of(one, primitives) <= most * primitives.count]

    def _has_room_for(self, capacity: Capacity, primitives: Primitives) -> bool:
        """Whether a tree of this capacity stays within the bytes that it may take."""
        most = self.limits().bytes
        return most is None or self._bytes_of(capacity, primitives) <= most * primitives.count + BYTES_FREE

    def _bytes_of(self, capacity: Capacity, primitives: Primitives) -> int:
        """Of a tree of this capacity and of building it."""
        shape = self.node_shape
        tree_bytes = capacity.tree_bytes(shape, primitives) + capacity.draft_bytes(shape)
        return tree_bytes + self.working_bytes(capacity, primitives.count)

    def _given_up(self, why: str, primitives: Primitives) -> HierarchyError:
        return HierarchyError(
            f"The structure {self.name} {why} for this scene of {primitives.count:,} primitives, and is not built: "
            f"{self.limits().advice}"
        )
