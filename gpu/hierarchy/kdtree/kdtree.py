"""The family of kd-trees: everything but `emit`, which builders give.

A builder fills a draft (tree.py); the family makes it the tree that is walked, or keeps the one before where the draft did not fit, measures it and
shows it as a node table. How much room a scene needs is found between two frames, when its primitives are others than before: `make_room` builds
trees of them and waits for each, as memory is reserved then anyway; builds wait for nothing. Where one of them needs more room than there is, the
picture is drawn with the tree before, and `make_room` before a later frame reserves more, up to the limits of tree.py: there it raises. Who keeps a
picture asks whether it `is_behind`, and draws it again.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import numpy as np

from ...settings import OptionError
from ...stats import HierarchyStatistics
from ...target.base import Target
from ...target.structs import make_struct, struct_dtype
from ..base import CannotRefitError, Capabilities, Hierarchy, HierarchyError, NodeTable, Primitives, Traversal
from ..primitives import KINDS, WalkedRecords, check_primitives, unit_source
from .node_table import read_node_table
from .options import KdTreeOptions
from .quality import KdTreeQuality
from .tree import (
    BYTES_FREE,
    MOST_BYTES,
    MOST_BYTES_LEAF,
    MOST_REFERENCES,
    NODES_FULL,
    NODES_NOW,
    REFERENCES_NOW,
    STATUS_NOW,
    WORKING_NOW,
    Capacity,
    Draft,
    KdTree,
)

LAYOUT = "kd8"
SHORT_STACK = 24
"""Cells that the short stack keeps. Fewer would do for the walk, but ptxas for sm_75 keeps so small an array in registers, and spills."""

MAILBOXES = 8
WALK_REGISTERS = dict.fromkeys(("full_stack", "short_stack", "restart"), 72)
"""Registers a thread of each walk on CUDA: with 64 some spill, with mailboxes or on the way to lights, and none is faster."""

LEAST_STACK = 64
"""Places of a walk's stack at least: an array of fewer is kept in registers by ptxas for sm_75, which then spills."""

HEADROOM = (1.5, 1.25, 1.1)
"""Room beyond what the first trees of a scene need, as it moves later: the most that stays within the limit of bytes."""

GROWTH = (2.0, 1.5, 1.25)
"""By how much room grows that was too small, by the same rule."""

_SUMS = 6
_MEASURED = _SUMS + 2
_MEASURE_BLOCKS = 256
_VIEW = struct_dtype([("nodes", "pointer"), ("references", "pointer"), ("box", "pointer")])


class KdTreeHierarchy(Hierarchy):
    """See the module. A builder gives `name`, `title`, `Options` (a KdTreeOptions) and `emit`."""

    family = "kdtree"
    capabilities = Capabilities(refit=False, splits_references=True, splits_space=True, primitive_kinds=("triangle", "sphere"))
    options: KdTreeOptions

    def __init__(self, target: Target, options: Any, layout: str = "auto", traversal: str = "auto") -> None:
        super().__init__(target, options, layout, traversal)
        if layout not in ("auto", LAYOUT):
            raise OptionError("layout", layout, f"{self.name} has only {LAYOUT}")
        if traversal != "auto" and traversal not in self.traversals(LAYOUT):
            raise OptionError("traversal", traversal, f"{LAYOUT} has the traversals {', '.join(self.traversals(LAYOUT))}")
        self.layout_name = LAYOUT
        self.traversal_name = self.traversals(LAYOUT)[0] if traversal == "auto" else traversal
        self.tree = KdTree(target)
        self.walked = WalkedRecords(target)
        self._built: Primitives | None = None
        self._sized_for: tuple[Any, ...] = ()  # the topology that there is room for
        self._is_unread = False  # whether there may have been a build whose status nobody has asked for
        self._outcome: Callable[[], np.ndarray | None] | None = None
        self._pending: Callable[[], np.ndarray | None] | None = None
        self._measured = np.zeros(_MEASURED)
        self._is_measured = False
        self._too_small = 0  # what was too small for the newest build, as measured
        self._quality = KdTreeQuality(target)

    @classmethod
    def layouts(cls) -> tuple[str, ...]:
        return (LAYOUT,)

    @classmethod
    def default_layout(cls, target_kind: str, lanes_apart: int = 0) -> str:
        return LAYOUT

    @classmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        return ("full_stack", "short_stack", "restart")

    def test_triangles_by(self, name: str) -> None:
        self.walked = WalkedRecords(self.target, name)

    # -- what a builder gives ---------------------------------------------------------------------------------------
    @abc.abstractmethod
    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        """Fill the draft, its counts and status included, for at least one primitive, with the working memory that `capacity` names. Inactive
        primitives are in no leaf. Launches only."""

    def max_depth(self) -> int:
        """The most inner nodes on a way from the root to a leaf."""
        return self.options.levels(self._last_built().count)

    def scratch_bytes(self) -> int:
        """Scratch memory that builds take beside the draft."""
        return 0

    # -- build ------------------------------------------------------------------------------------------------------
    def lacks_room(self, primitives: Primitives) -> bool:
        return primitives.count > 0 and (self._sized_for != primitives.topology or self._newest_status() != 0)

    def make_room(self, primitives: Primitives) -> None:
        self._find_room(primitives, self._newest_status() if self._sized_for == primitives.topology else 0)

    def prepare(self, primitives: Primitives, update: str) -> None:
        self._is_unread = True

    def _newest_status(self) -> int:
        """What was too small for the newest build, as far as is known. Does not wait."""
        self._take_measured()
        if self._outcome is None and self._is_unread:
            self._outcome, self._is_unread = self.target.read_later(self.tree.counts), False
        counts = None if self._outcome is None else self._outcome()
        if counts is not None:
            self._outcome, self._too_small = None, int(counts[STATUS_NOW])
        return self._too_small

    @property
    def is_behind(self) -> bool:
        self._take_measured()
        return self._too_small != 0

    def build(self, primitives: Primitives) -> None:
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives)
        if primitives.count == 0:
            self.tree.empty()
        elif self._sized_for == primitives.topology:
            self._build_once(primitives)
        else:
            self._find_room(primitives, 0)  # nobody called make_room
        self.walked.update(primitives, self.tree.records, primitives.count, None, "build")
        self._built = primitives

    def _find_room(self, primitives: Primitives, status: int) -> None:
        """Build with memory that grows until these primitives have enough, and leave headroom: first as for a scene that nothing is known of, or by
        what was too small. The tree is whole then. Waits."""
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives)
        before = self.tree.held()
        try:
            if status != 0:
                self._grow(status, primitives)
            else:
                options = self.options
                first = Capacity.at_first(primitives.count, options.references_per_primitive, options.max_leaf_size)
                self._reserve_within(first, primitives)
            counts = self._build_and_read(primitives)
            while counts[STATUS_NOW] != 0:
                self._grow(int(counts[STATUS_NOW]), primitives)
                counts = self._build_and_read(primitives)
            before = self.tree.held()
            wanted = self._with_headroom(counts, primitives)
            if wanted != self.tree.capacity:
                self._reserve(wanted, primitives)
                self._build_once(primitives)
        except BaseException:
            self.tree.restore(before)  # the tree before, with the room that it had
            self._sized_for = ()
            raise
        self._sized_for, self._outcome, self._is_unread = primitives.topology, None, False

    def _build_and_read(self, primitives: Primitives) -> np.ndarray:
        self._build_once(primitives)
        return self.target.download(self.tree.counts)

    def _build_once(self, primitives: Primitives) -> None:
        tree, target = self.tree, self.target
        draft = tree.draft()
        self.emit(primitives, draft, tree.capacity)
        unit = target.unit(unit_source("gpu/hierarchy/kdtree/publish.cu", primitives))
        drafted = (draft.counts, draft.nodes, draft.parent, draft.references, draft.box)
        walked = (tree.counts, tree.nodes, tree.parent, tree.references, tree.box, tree.records, tree.order)
        most = max(primitives.count, min(tree.capacity.references, 4 * primitives.count))
        with target.phase("build.publish"):
            target.launch(unit, "publish_tree", most, primitives.view, *drafted, *walked)

    def _reserve(self, capacity: Capacity, primitives: Primitives) -> None:
        self._pending, self._too_small = None, 0
        self.tree.reserve(capacity, primitives.count, KINDS[primitives.kind].record_floats)
        self.generation += 1

    def _with_headroom(self, counts: np.ndarray, primitives: Primitives) -> Capacity:
        """Room for a tree that was just built, and for what moves later, as far as the limit of bytes allows."""
        most, present = Capacity.at_most(primitives.count), self.tree.capacity
        needed = (int(counts[NODES_NOW]), int(counts[REFERENCES_NOW]), int(counts[WORKING_NOW]))
        for factor in HEADROOM:
            nodes, references, working = (int(factor * count) + 256 for count in needed)
            wanted = Capacity(
                min(most.nodes, max(nodes, present.nodes)),
                min(most.references, max(references, present.references)),
                min(most.working, max(working, present.working)),
            )
            if self._has_room_for(wanted, primitives):
                return wanted
        return present

    def _grow(self, status: int, primitives: Primitives) -> None:
        """More room of what was too small; HierarchyError at the limits."""
        present = self.tree.capacity
        larger = [grown for factor in GROWTH if (grown := present.grown(status, primitives.count, factor)) != present]
        if not larger:
            what = "nodes" if status & NODES_FULL else "references"
            raise HierarchyError(
                f"The structure {self.name} would need more than {MOST_REFERENCES} {what} a primitive for this scene of {primitives.count:,} "
                f"primitives, and is not built: too many of them reach across the splits. Raise max_leaf_size, or lower max_depth or "
                f"references_per_primitive."
            )
        fitting = [capacity for capacity in larger if self._has_room_for(capacity, primitives)]
        self._reserve_within(fitting[0] if fitting else larger[-1], primitives)

    def _reserve_within(self, capacity: Capacity, primitives: Primitives) -> None:
        """Reserve, or raise HierarchyError where that is more than a tree may take."""
        if not self._has_room_for(capacity, primitives):
            raise HierarchyError(
                f"The structure {self.name} would take more than {MOST_BYTES} bytes a primitive for this scene of {primitives.count:,} primitives, "
                f"and is not built: too many of them reach across the splits. Raise max_leaf_size, or lower references_per_primitive."
            )
        self._reserve(capacity, primitives)

    def _has_room_for(self, capacity: Capacity, primitives: Primitives) -> bool:
        """Whether a tree of this capacity stays within the bytes that it may take, those of building it included."""
        if self.options.max_leaf_size < MOST_BYTES_LEAF:
            return True
        tree, held = self.tree, (self.tree.capacity, self._built)
        tree.capacity, self._built = capacity, primitives
        try:
            bytes_of_tree = capacity.bytes_of_tree(primitives.count, KINDS[primitives.kind].record_floats)
            return bytes_of_tree + capacity.bytes_of_draft + self.scratch_bytes() <= MOST_BYTES * primitives.count + BYTES_FREE
        finally:
            tree.capacity, self._built = held

    def refit(self, primitives: Primitives) -> None:
        if self._built is not None and not primitives.has_topology_of(self._built):
            raise CannotRefitError(f"The primitives' topology has changed since {self.name} was built, which cannot be refitted at all: rebuild it.")
        raise CannotRefitError(f"The structure {self.name} cannot be refitted: primitives would leave the cells they are listed in. Rebuild it.")

    # -- what others read -------------------------------------------------------------------------------------------
    def traversal(self) -> Traversal:
        tree = self.tree
        built = self._last_built()
        records = self.walked.of_walk(built, tree.records)
        type_name = "".join(word.capitalize() for word in self.traversal_name.split("_"))
        view = make_struct(_VIEW, nodes=tree.nodes, references=tree.references, box=tree.box)
        constants: tuple[tuple[str, int], ...] = (("MAILBOXES", MAILBOXES if self.options.mailboxes else 0),)
        if self.traversal_name == "full_stack":
            constants += (("STACK_DEPTH", LEAST_STACK),)
        if self.traversal_name == "short_stack":
            constants += (("SHORT_STACK", SHORT_STACK),)
        return Traversal(
            f"gpu/hierarchy/kdtree/traversals/{self.traversal_name}.cuh", type_name, view, *records, constants, WALK_REGISTERS[self.traversal_name]
        )

    def measure(self) -> None:
        primitives, tree, target = self._last_built(), self.tree, self.target
        if primitives.count == 0:
            self._measured, self._is_measured, self._too_small = np.zeros(_MEASURED), True, 0
            self.measured_tree = self.tree_to_measure
            return
        unit = target.unit(unit_source("gpu/hierarchy/kdtree/statistics.cu", primitives))
        sums = target.scratch("kdtree.sums", _MEASURE_BLOCKS * _SUMS, np.float64)
        result = target.scratch("kdtree.measured", _MEASURED, np.float64)
        costs = (self.statistics.traversal_cost, self.statistics.intersection_cost)
        arguments = (tree.records, primitives.count, tree.counts, tree.nodes, tree.parent, tree.box, *costs, sums)
        target.launch(unit, "measure_blocks", primitives.count, *arguments, blocks=_MEASURE_BLOCKS)
        target.launch(unit, "measure_tree", 1, tree.counts, tree.box, sums, _MEASURE_BLOCKS, result)
        self._pending = target.read_later(result)

    def measure_quality(self) -> None:
        self._quality.start(self.tree, self._last_built(), self.max_depth(), self.statistics)

    def _take_measured(self) -> None:
        """What was measured last, once it has arrived."""
        arrived = self._pending() if self._pending is not None else None
        if arrived is not None:
            self._measured, self._is_measured, self._pending, self._too_small = arrived, True, None, int(arrived[-1])
            self.measured_tree = self.tree_to_measure

    def stats(self) -> HierarchyStatistics:
        self._take_measured()
        cost, inner_count, leaf_count, empty_count, inactive_count, depth, references, _ = self._measured
        return HierarchyStatistics(
            node_count=int(inner_count),
            leaf_count=int(leaf_count),
            empty_leaf_count=int(empty_count),
            reference_count=int(references),
            primitive_count=0 if self._built is None else self._built.count,
            inactive_count=int(inactive_count),
            depth=int(depth) if self._is_measured else None,
            sah_cost=float(cost) if self._is_measured else None,
            bytes=self.tree.bytes + self.walked.bytes,
            scratch_bytes=self.tree.draft_bytes + self.scratch_bytes(),
            is_behind=self._too_small != 0,
            **vars(self._quality.latest()),
        )

    def nodes(self) -> NodeTable:
        return read_node_table(self.target, self.tree, self._last_built())

    def _last_built(self) -> Primitives:
        if self._built is None:
            raise HierarchyError(f"The structure {self.name} has not been built yet.")
        return self._built
