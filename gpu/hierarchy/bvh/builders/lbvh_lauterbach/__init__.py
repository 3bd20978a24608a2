"""The first linear BVH: lists of the places where Morton codes part, sorted by level, give the nodes level by level.

Idea: Sorted along a Morton curve, two neighbours part at the highest bit in which their codes differ; at that level and at all levels below, their
gap is the end of an interval. Every gap writes one record (level, gap) for each of those levels, one stable sort by level gathers the ends of all
intervals of a level from left to right, and a record that splits an interval finds its two ends beside itself. Intervals that stay whole at a level
would be nodes with one child, singletons; they are recognised by their level and get no node.

Paper: Lauterbach et al., Fast BVH Construction on GPUs (2009), section 3; retold by Meister, Methods for Fast Construction of Bounding Volume
Hierarchies (2014), section 5.2.1.

Cost: Three to six records a primitive are written and sorted beside the codes, and the boxes take a pass of their own: several times the time and
twice the scratch memory of `lbvh`, for the same tree. It is here to be compared.

Limits: Those of `lbvh`: splits lie on a fixed grid, equal codes are split by position, the depth never passes code bits + 26. In the paper every
gap lists all levels to the last, here its list ends where both of its neighbours stand alone, which loses no node. Eight levels are listed and
sorted at a time, because the length of the whole list is known to the device alone. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from .....target.base import Array, DeviceCount, Target, Unit
from ....base import Primitives
from ....primitives import unit_source
from ...bvh import BvhHierarchy
from ...morton_order import MortonOptions, MortonOrder
from ...tree import MAX_LEAF_SIZE, REFERENCE_BITS

LEVELS = 8
"""Levels that are listed and sorted at a time: at most so many records a gap."""
LEVEL_BITS = 4
"""Of a record: its level, or 15 past the end of the list."""


@dataclasses.dataclass(frozen=True)
class LbvhLauterbachOptions(MortonOptions):
    """Options of Lauterbach's linear BVH."""

    max_leaf_size: int = option(4, "Most primitives in a leaf; 1 makes a node of every split.", minimum=1, maximum=MAX_LEAF_SIZE)


class LbvhLauterbach(BvhHierarchy):
    """See the module."""

    name = "lbvh_lauterbach"
    title = "Linear BVH by split lists (Lauterbach)"
    Options = LbvhLauterbachOptions
    options: LbvhLauterbachOptions
    ids_follow_references = True

    def __init__(self, target: Target, options: LbvhLauterbachOptions, layout: str = "auto", traversal: str = "auto") -> None:
        super().__init__(target, options, layout, traversal)
        self.code_bits = int(options.code_bits)
        self._morton = MortonOrder(target, self.code_bits)

    def max_depth(self) -> int:
        return self.code_bits + REFERENCE_BITS

    def scratch_bytes(self) -> int:
        sorted_bytes = 2 * (8 if self.code_bits == 30 else 12)
        return self.tree.count * (sorted_bytes + 2 * 4 * LEVELS + 2 * 4 + 1)

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, primitives.count
        keys, prim_ids = self._morton.sort(primitives)
        constants = {"CODE_BITS": self.code_bits, "LEVELS": LEVELS}
        unit = target.unit(unit_source("gpu/hierarchy/bvh/builders/lbvh_lauterbach/lbvh_lauterbach.cu", primitives, **constants))
        levels = target.scratch("lauterbach.levels", n, np.uint8)
        position_bits = (n - 1).bit_length()
        with target.phase("build.records"):
            outputs = (tree.order, levels, tree.parent, tree.root)
            target.launch(unit, "find_levels", n, n, keys, prim_ids, position_bits, self.options.max_leaf_size, *outputs)
        if n > 1:
            for first_level in range(0, self.code_bits + position_bits, LEVELS):
                self._emit_levels(unit, n, levels, first_level)
        return self.fit(primitives, "build")

    def _emit_levels(self, unit: Unit, n: int, levels: Array, first_level: int) -> None:
        """The nodes of LEVELS levels: their split lists, sorted, and what is found there."""
        target, tree, gaps = self.target, self.tree, n - 1
        counts, offsets = (target.scratch(f"lauterbach.{name}", gaps, np.int32) for name in ("counts", "offsets"))
        records = target.scratch("lauterbach.records", gaps * LEVELS, np.uint32)
        record_count = target.scratch("lauterbach.record_count", 1, np.int32)
        with target.phase("build.records"):
            target.launch(unit, "count_records", gaps, gaps, levels, first_level, counts)
            target.exclusive_scan(counts, offsets, "lauterbach.scan")
            target.launch(unit, "write_records", gaps * LEVELS, gaps, levels, first_level, counts, offsets, records, record_count)
        with target.phase("build.split_sort"):
            records = target.sort_keys(records, (REFERENCE_BITS, REFERENCE_BITS + LEVEL_BITS), "lauterbach.sort")
        with target.phase("build.topology"):
            size = DeviceCount(record_count, gaps * LEVELS)
            outputs = (tree.nodes, tree.parent, tree.flags)
            target.launch(unit, "emit_nodes", size, n, levels, first_level, records, record_count, self.options.max_leaf_size, *outputs)


__all__ = ["LbvhLauterbach", "LbvhLauterbachOptions"]
