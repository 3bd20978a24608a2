"""Spatial median splits and their boxes, one kernel a level, as Meister's thesis has them (2014, 6.1.1): of
`hlbvh_median`, and below the clusters of `hlbvh_sah`, where `launches` is levels.

median_levels.cu and refit/levels.cu have the kernels. The thesis ends its loop when a queue is empty, whose length it
reads back. Nothing is read back here: every level that there may be is launched, the last ones empty.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...settings import option
from ...target.base import Array, Target, Unit, UnitSource
from ..base import Primitives
from .tree import CanonicalTree

REFIT_CONSTANTS = {"MARKS": 1, "KEEPS_BOXES": 1, "SLOTS": 0}


def launches_option() -> Any:
    """A field: how the work below is launched."""
    return option(
        "few",
        "How queues are worked off: several levels in a launch, and whole small subtrees in a block (few), or, as "
        "published, a launch a level, and another a level for the boxes of a build (levels). The trees are the same.",
        choices=("few", "levels"),
    )


@dataclasses.dataclass(frozen=True)
class Levels:
    """Tasks of all levels, one level behind the other: `firsts` and `counts` say where each begins and how many it
    has, known on the target alone; level k has at most `bounds[k]`."""

    tasks: Array
    firsts: Array
    counts: Array
    bounds: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Listed:
    """Nodes in any order with their levels, below `most`, beside them; at most `bound`."""

    count: Array
    node_ids: Array
    levels: Array
    bound: int
    most: int


class MedianLevels:
    """See the module."""

    def __init__(self, target: Target, code_bits: int) -> None:
        self.target, self.code_bits = target, code_bits
        self.max_leaf_size = 1
        """Of the tree to be built next; the builder sets it first, as it depends on the primitives."""

    def levels(self, count: int, bits: int, first_tasks: int = 1) -> Levels:
        """Room for the tasks of `count` references that `first_tasks` tasks start with and that still have `bits` bits
        of their codes to split by. A split takes a bit of the code; when all are equal it halves."""
        leaf_size = self.max_leaf_size
        number = bits + (-(-count // leaf_size) - 1).bit_length() if count > leaf_size else 0
        most = max(1, count // (leaf_size + 1))
        scratch = self.target.scratch
        firsts, counts = places = scratch("levels.places", (2, number + 1), np.int32)
        self.target.fill(places, 0)
        return Levels(
            scratch("levels.tasks", (max(1, count - 1), 2), np.int32),
            firsts,
            counts,
            tuple(min(most, first_tasks << min(level, 32)) for level in range(number)),
        )

    def begin_with_root(self, keys: Array, prim_ids: Array | None, tree: CanonicalTree) -> Levels:
        """Levels of which the first holds the root alone; writes the order of the references, clears the flags."""
        n = tree.count
        levels = self.levels(n, self.code_bits)
        self.target.launch(
            self._unit(tree),
            "begin_levels",
            n,
            n=n,
            keys=keys,
            prim_ids=prim_ids,
            order=tree.order,
            parent=tree.parent,
            flags=tree.flags,
            root=tree.root,
            max_leaf_size=self.max_leaf_size,
            tasks=levels.tasks,
            counts=levels.counts,
        )
        return levels

    def split(self, keys: Array, tree: CanonicalTree, levels: Levels) -> None:
        """A launch a level: links, parents and EXISTS flags of every node below the first tasks."""
        unit = self._unit(tree)
        for level, bound in enumerate(levels.bounds):
            self.target.launch(
                unit,
                "split_level",
                bound,
                keys=keys,
                **tree.links(),
                max_leaf_size=self.max_leaf_size,
                level=level,
                tasks=levels.tasks,
                firsts=levels.firsts,
                counts=levels.counts,
            )

    def compute_bounds(
        self,
        primitives: Primitives,
        tree: CanonicalTree,
        levels: Levels,
        bvh2: Array | None,
        above: Listed | None = None,
    ) -> bool:
        """Records, then boxes, flags and, where there is room, bvh2 nodes, a launch a level from below; of the nodes
        `above` the first tasks last. Whether there was room."""
        target = self.target
        constants = {**REFIT_CONSTANTS, "WRITES_BVH2": bvh2 is not None}
        unit = target.unit(tree.unit_source("gpu/hierarchy/bvh/refit/levels.cu", primitives, **constants))
        written = {"record_data": tree.records, "nodes": tree.nodes, "flags": tree.flags, "bvh2": bvh2}
        queued = {"tasks": levels.tasks, "firsts": levels.firsts, "counts": levels.counts}
        with target.phase("build.nodes"):
            target.launch(
                unit,
                "gather_records",
                tree.count,
                primitives=primitives.view,
                order=tree.order,
                record_data=tree.records,
            )
            for level in reversed(range(len(levels.bounds))):
                target.launch(unit, "refit_level", levels.bounds[level], level=level, **queued, **written)
            if above is not None:
                listed = {"listed_count": above.count, "node_ids": above.node_ids, "levels": above.levels}
                for level in reversed(range(above.most)):
                    target.launch(unit, "refit_listed", above.bound, level=level, **listed, **written)
        return bvh2 is not None

    def scratch_bytes(self, count: int) -> int:
        """Bytes of the levels of `count` references, but for a few words a level."""
        return 8 * max(1, count - 1)

    def _unit(self, tree: CanonicalTree) -> Unit:
        constants = (("REFERENCE_BITS", tree.reference_bits), ("CODE_BITS", self.code_bits))
        return self.target.unit(UnitSource("gpu/hierarchy/bvh/median_levels.cu", constants=constants))
