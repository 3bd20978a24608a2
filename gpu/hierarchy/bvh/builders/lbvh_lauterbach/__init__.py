"""The first linear BVH: lists of the places where Morton codes differ, sorted by level, give the nodes level by level.

Idea: Sorted along a Morton curve, two neighbours are split at the highest bit in which their codes differ; at that
level and at all levels below, their gap is the end of an interval. Every gap writes one record (level, gap) for each of
those levels, one stable sort by level gathers the ends of all intervals of a level from left to right, and a record
that splits an interval finds its two ends beside itself. Intervals that stay whole at a level would be nodes with one
child, singletons; they are recognised by their level and get no node.

Paper: Lauterbach et al., Fast BVH Construction on GPUs (2009), section 3; retold by Meister, Methods for Fast
Construction of Bounding Volume Hierarchies (2014), section 5.2.1.

Cost: Three to six records per primitive are written and sorted beside the codes, and the boxes take a pass of their
own: several times the time and twice the scratch memory of `lbvh`, for the same tree. It is here to be compared.

Limits: Those of `lbvh`: splits lie on a fixed grid, equal codes are split by position, the depth never passes code bits
+ 26 (27 of 2^26 primitives and more). In the paper every gap lists all levels to the last (`lists` = whole); by default
its list ends where both of its neighbours stand alone, which loses no node. Eight levels are listed and sorted at a
time, because the length of the whole list is known to the device alone. Deterministic.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .....settings import option
from .....target.base import Array, DeviceCount, Unit
from ....base import Primitives
from ....morton_order import MortonOptions
from ....primitives import unit_source
from ...morton_builder import CodeBuilder
from ...stopping import leaf_size_by_kind_option

LEVELS = 8
"""Levels that are listed and sorted at a time: at most so many records a gap."""
LEVEL_BITS = 4
"""Of a record: its level, or 15 past the end of the list."""


@dataclasses.dataclass(frozen=True)
class LbvhLauterbachOptions(MortonOptions):
    """Options of Lauterbach's linear BVH."""

    max_leaf_size: int = leaf_size_by_kind_option()
    lists: str = option(
        "short",
        "Where the list of a gap ends: where nothing is left to split (short), or, as published, at the last level "
        "(whole), for the same tree.",
        choices=("short", "whole"),
    )


class LbvhLauterbach(CodeBuilder):
    """See the module."""

    name = "lbvh_lauterbach"
    title = "Linear BVH by split lists (Lauterbach)"
    construction = "linear"
    Options = LbvhLauterbachOptions
    options: LbvhLauterbachOptions

    def scratch_bytes(self) -> int:
        sorted_bytes = 2 * (8 if self.code_bits == 30 else 12)
        return self.tree.count * (sorted_bytes + 2 * 4 * LEVELS + 2 * 4 + 1)

    def link_nodes(self, primitives: Primitives, keys: Array, prim_ids: Array | None) -> None:
        target, tree, n = self.target, self.tree, primitives.count
        constants = {"CODE_BITS": self.code_bits, "LEVELS": LEVELS}
        unit = target.unit(
            unit_source("gpu/hierarchy/bvh/builders/lbvh_lauterbach/lbvh_lauterbach.cu", primitives, **constants)
        )
        levels = target.scratch("lauterbach.levels", n, np.uint8)
        position_bits = (n - 1).bit_length()
        with target.phase("build.records"):
            target.launch(
                unit,
                "find_levels",
                n,
                n=n,
                keys=keys,
                prim_ids=prim_ids,
                position_bits=position_bits,
                max_leaf_size=self.leaf_size,
                order=tree.order,
                levels=levels,
                parent=tree.parent,
                root=tree.root,
            )
        if n > 1:
            level_count = self.code_bits + position_bits
            listed = {"levels": levels, "level_count": level_count if self.options.lists == "whole" else 0}
            for first_level in range(0, level_count, LEVELS):
                self._emit_levels(unit, n, {**listed, "first_level": first_level})

    def _emit_levels(self, unit: Unit, n: int, listed: dict[str, Any]) -> None:
        """The nodes of LEVELS levels: their split lists, sorted, and what is found there."""
        target, tree, gaps = self.target, self.tree, n - 1
        counts, offsets = (target.scratch(f"lauterbach.{name}", gaps, np.int32) for name in ("counts", "offsets"))
        records = target.scratch("lauterbach.records", gaps * LEVELS, np.uint32)
        record_count = target.scratch("lauterbach.record_count", 1, np.int32)
        with target.phase("build.records"):
            target.launch(unit, "count_records", gaps, gap_count=gaps, **listed, counts=counts)
            target.exclusive_scan(counts, offsets, "lauterbach.scan")
            target.launch(
                unit,
                "write_records",
                gaps * LEVELS,
                gap_count=gaps,
                **listed,
                counts=counts,
                offsets=offsets,
                records=records,
                record_count=record_count,
            )
        with target.phase("build.split_sort"):
            bits = (tree.reference_bits, tree.reference_bits + LEVEL_BITS)
            records = target.sort_keys(records, bits, "lauterbach.sort")
        with target.phase("build.topology"):
            size = DeviceCount(record_count, gaps * LEVELS)
            target.launch(
                unit,
                "emit_nodes",
                size,
                n=n,
                levels=listed["levels"],
                first_level=listed["first_level"],
                records=records,
                record_count=record_count,
                max_leaf_size=self.leaf_size,
                **tree.links(),
            )


__all__ = ["LbvhLauterbach", "LbvhLauterbachOptions"]
