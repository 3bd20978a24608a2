"""The small-node stage: from nodes of at most 64 references to leaves."""

from __future__ import annotations

import numpy as np

from .....target.base import Array, Target, UnitSource
from ....base import Primitives
from ...tree import Capacity, Draft
from .large import ROOM, SMALL, Shapes, most_roots
from .options import MedianSahOptions

SMALL_THREADS = 64
PLACE_THREADS = 512
NOTES = 64


class SmallStage:
    """One build's; `ways`: constants of the units."""

    def __init__(self, target: Target, options: MedianSahOptions, capacity: Capacity, max_depth: int, ways: dict[str, bool]) -> None:
        self.target, self.options, self.capacity, self.max_depth, self.ways = target, options, capacity, max_depth, ways
        self.roots = most_roots(capacity)

    def shapes(self) -> Shapes:
        """Working memory."""
        return {
            "root_counts": ((self.roots, 2), np.int32),
            "root_places": ((self.roots, 2), np.int32),
            "notes": ((self.roots * NOTES if self.options.max_leaf_size < SMALL else 1,), np.int16),
        }

    def build(self, primitives: Primitives, held: dict[str, Array], draft: Draft) -> None:
        """All small roots, a block each."""
        target, options = self.target, self.options
        unit = target.unit(UnitSource(f"{ROOM}/subtrees.cu", constants=tuple(self.ways.items())))
        roots = (held["totals"], draft.counts, held["references"], held["root_cells"], held["root_ranges"])
        costs = (options.traversal_cost, options.intersection_cost, options.empty_factor)
        rules = (*costs, int(options.stop == "sah"), options.max_leaf_size, self.max_depth)
        counts, places, jobs = held["root_counts"], held["root_places"], self.roots * SMALL_THREADS
        outputs = (counts, held["notes"], places, draft.nodes, draft.parent, draft.references)
        room = (self.capacity.nodes, self.capacity.references)
        target.launch(unit, "grow_subtrees", jobs, *roots, *rules, 0, *outputs, block=SMALL_THREADS)
        target.launch(unit, "place_subtrees", 1, held["totals"], counts, *room, draft.counts, places, block=PLACE_THREADS, blocks=1)
        target.launch(unit, "grow_subtrees", jobs, *roots, *rules, 1, *outputs, block=SMALL_THREADS)
        leaves = target.unit(UnitSource(f"{ROOM}/large_leaves.cu"))
        ordered = (held["totals"], draft.counts, primitives.count, held["root_ranges"], places, held["references"], draft.references)
        target.launch(leaves, "sort_large_leaves", self.roots, *ordered, block=256)
