"""The small-node stage: from nodes of at most 64 references to leaves."""

from __future__ import annotations

import numpy as np

from .....primitives.radix_sort import exclusive_scan
from .....target.base import Array, Target, UnitSource
from .....target.structs import make_struct, struct_dtype
from ....base import Primitives
from ...tree import Capacity, Draft
from .large import ROOM, SMALL, Shapes, most_roots
from .options import MedianSahOptions

SMALL_THREADS = 32
PLACE_THREADS = 512
NOTES = 64
SMALL_LEVELS = 20
ROUND_WORDS = 4
SIDES = 6

_POINTERS = (
    *("totals", "counts", "references", "root_cells", "root_ranges", "firsts", "planes", "sets", "prim_ids", "small_nodes", "small_nodes_too"),
    *("rounds", "candidates", "small_additions", "root_places", "draft_nodes", "draft_parent", "draft_references"),
)
_RULES = ("traversal_cost", "intersection_cost", "empty_factor", "by_cost", "max_leaf_size", "max_depth")
_NUMBERS = (*((name, "float") for name in _RULES[:3]), *((name, "int") for name in _RULES[3:]))
_ROOM = ("root_capacity", "slot_capacity", "node_capacity", "reference_capacity")
_STAGE = struct_dtype((*((name, "pointer") for name in _POINTERS), *_NUMBERS, *((name, "int") for name in _ROOM)))
"""SmallStage of rounds.cu."""


class SmallStage:
    """One build's."""

    def __init__(self, target: Target, options: MedianSahOptions, capacity: Capacity, max_depth: int) -> None:
        self.target, self.options, self.capacity, self.max_depth, self.ways = target, options, capacity, max_depth, options.ways()
        self.roots = most_roots(capacity)
        self.by_subtrees = self.ways.grows_subtrees or options.max_leaf_size >= SMALL  # then none is parted, and planes would be of no use
        self.slots = max(self.roots, capacity.references // (options.max_leaf_size + 1) + 2)

    def shapes(self) -> Shapes:
        """Working memory."""
        parts_any = self.options.max_leaf_size < SMALL
        shapes: Shapes = {"root_places": ((self.roots, 2), np.int32)}
        if self.by_subtrees:
            return shapes | {
                "root_counts": ((self.roots, 4), np.int32),
                "notes": ((self.roots * NOTES if parts_any else 1,), np.int16),
            }
        references = 2 * self.capacity.working
        return shapes | {
            "firsts": ((self.roots,), np.int32),
            "planes": ((SIDES * references,), np.float32),
            "sets": ((SIDES * references, 4), np.uint32),
            "prim_ids": ((references,), np.int32),
            "small_nodes": ((self.slots, 12), np.float32),
            "small_nodes_too": ((self.slots, 12), np.float32),
            "candidates": ((self.slots,), np.int32),
            "small_additions": ((3 * self.slots,), np.int32),
            "rounds": (((SMALL_LEVELS + 1) * ROUND_WORDS,), np.int32),
        }

    def build(self, primitives: Primitives, held: dict[str, Array], draft: Draft) -> None:
        """All small roots to their leaves."""
        if self.by_subtrees:
            self._grow_subtrees(held, draft)
        else:
            self._part_in_rounds(held, draft)
        if not self.ways.sorts_by_atomics:
            return
        leaves = self.target.unit(UnitSource(f"{ROOM}/large_leaves.cu"))
        ordered = (held["totals"], draft.counts, primitives.count, held["root_ranges"], held["root_places"], held["references"], draft.references)
        self.target.launch(leaves, "sort_large_leaves", self.roots, *ordered, block=256)

    def _rules(self) -> tuple[float, float, float, int, int, int]:
        options = self.options
        costs = (options.traversal_cost, options.intersection_cost, options.empty_factor)
        return (*costs, int(options.stop == "sah"), options.max_leaf_size, self.max_depth)

    def _grow_subtrees(self, held: dict[str, Array], draft: Draft) -> None:
        """A block a root: counted, given places, written."""
        target = self.target
        unit = target.unit(UnitSource(f"{ROOM}/subtrees.cu", constants=(("MANKU", not self.ways.counts_by_popc),)))
        roots = (held["totals"], draft.counts, held["references"], held["root_cells"], held["root_ranges"])
        counts, places, jobs = held["root_counts"], held["root_places"], self.roots * SMALL_THREADS
        outputs = (counts, held["notes"], places, draft.nodes, draft.parent, draft.references)
        room = (self.capacity.nodes, self.capacity.references)
        target.launch(unit, "grow_subtrees", jobs, *roots, *self._rules(), 0, *outputs, block=SMALL_THREADS)
        target.launch(unit, "place_subtrees", 1, held["totals"], counts, *room, draft.counts, places, block=PLACE_THREADS, blocks=1)
        target.launch(unit, "grow_subtrees", jobs, *roots, *self._rules(), 1, *outputs, block=SMALL_THREADS)

    def _part_in_rounds(self, held: dict[str, Array], draft: Draft) -> None:
        """Planes and sets of all roots, then a level of all small nodes at a time."""
        target = self.target
        unit = target.unit(UnitSource(f"{ROOM}/rounds.cu", constants=(("MANKU", not self.ways.counts_by_popc),)))
        stage = self._stage(held, draft)
        target.launch(unit, "size_roots", self.roots, stage)
        exclusive_scan(target, held["firsts"], held["firsts"], "median_sah.scan")
        target.launch(unit, "make_planes", self.roots * SMALL_THREADS, stage, block=SMALL_THREADS)
        for level in range(SMALL_LEVELS):
            jobs = min(self.roots << min(level, 12), self.slots) * SMALL_THREADS
            target.launch(unit, "choose_small", jobs, stage, level, block=SMALL_THREADS)
            exclusive_scan(target, held["small_additions"], held["small_additions"], "median_sah.scan")
            target.launch(unit, "part_small", jobs, stage, level, block=SMALL_THREADS)

    def _stage(self, held: dict[str, Array], draft: Draft) -> np.ndarray:
        """What all rounds of a build take."""
        tree = {"counts": draft.counts, "draft_nodes": draft.nodes, "draft_parent": draft.parent, "draft_references": draft.references}
        rules = dict(zip(_RULES, self._rules(), strict=True))
        room = {"root_capacity": self.roots, "slot_capacity": self.slots, "node_capacity": self.capacity.nodes}
        arrays = {name: held[name] for name in _POINTERS if name not in tree}
        return make_struct(_STAGE, **arrays, **tree, **rules, **room, reference_capacity=self.capacity.references)
