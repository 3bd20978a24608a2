"""PLOC: all clusters search their nearest neighbour in Morton order at once; those that find each other are joined,
round by round.

Idea: Agglomerative clustering makes good trees by always joining the two clusters nearest to each other, and takes
quadratic time. In a list sorted by Morton code the nearest cluster is almost always a few places away, and any two that
are each other's nearest may be joined at once. So a round searches a window, joins all such pairs and closes the list,
until one is left.

Paper: Meister and Bittner, Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy Construction (2017);
Benthin, Drabinski, Tessari and Dittebrandt, PLOC++: Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy
Construction Revisited (2022).

Cost: Several times the linear BVH: three launches per round, and their number is fixed beforehand, so that nothing has
to be read back. Its trees are as good as H-PLOC's; that one is the faster way to them.

Limits: A radius past 4 costs time and makes no better trees. After each round at most five sixths of the clusters may
be left, counted from the first: nearest neighbours keep ahead of that (a fifth vanishes a round), and where they do not
(boxes nested in each other), others are paired in Morton order. So the number of rounds, and with it the depth, is
bounded. Node ids follow from the places of references: deterministic.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from .....target.base import DeviceCount, Target
from ....base import Primitives, StructureChoice
from ....primitives import unit_source
from ...clusters import MOST_WIDE_LEAF, ClusterOptions, finish_leaves, leaves_bytes, reserve_leaves
from ...morton_builder import MortonBuilder

CHUNKS = {"cuda": 256, "host": 1024}
"""Clusters of a segment: what one block pairs and joins; a multiple of 32."""

FINAL = {"cuda": 2048, "host": 2048}
"""So many clusters are left to one block. The same on every target, or trees would differ: the rounds before have a
schedule to keep."""

_MOST_BLOCKS = {"cuda": 132 * 16, "host": 64}


@dataclasses.dataclass(frozen=True)
class PlocOptions(ClusterOptions):
    """Options of PLOC."""


FREE_ROUNDS = 24
"""Rounds of the one block that takes the rest to the root, before it forces pairs."""


def schedule(count: int, final: int) -> list[int]:
    """The most clusters before the first round and after each one, until at most `final` are left: five sixths of those
    before, and 31."""
    bounds = [count]
    while bounds[-1] > final:
        bounds.append(bounds[-1] * 5 // 6 + 31)
    return bounds


def forced_rounds(count: int) -> int:
    """How many rounds merge_rest takes at most when it forces pairs: of 32 clusters 6 vanish, of fewer in proportion,
    and always one."""
    rounds = 0
    while count > 1:
        count -= max(1, count // 32 * 6 + count % 32 * 6 // 32)
        rounds += 1
    return rounds


class Ploc(MortonBuilder):
    """See the module."""

    name = "ploc"
    title = "PLOC (nearest neighbours, round by round)"
    construction = "bottom_up"
    most_wide_leaf = MOST_WIDE_LEAF
    ids_follow_references = True
    Options = PlocOptions
    options: PlocOptions

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self._rounds = target.zeros(4, np.int32, "hierarchy")

    def max_depth(self) -> int:
        final = FINAL[self.target.kind]
        return len(schedule(1 << self.tree.reference_bits, final)) - 1 + FREE_ROUNDS + forced_rounds(final)

    def scratch_bytes(self) -> int:
        count = self.tree.count
        return self.morton_order.scratch_bytes(count) + count * 68 + leaves_bytes(count, self.options.max_leaf_size)

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, primitives.count
        chunk, final, bvh2, most_blocks = (
            CHUNKS[target.kind],
            FINAL[target.kind],
            self.direct_nodes,
            _MOST_BLOCKS[target.kind],
        )
        keys, prim_ids = self.sort(primitives)
        cost, size = self.options.traversal_cost, self.options.max_leaf_size
        chosen = {"MAX_LEAF_SIZE": size, "LEAVES_IN_ORDER": False, "TRAVERSAL_COST": cost}
        shared = {"CODE_BITS": self.code_bits, **chosen, "WRITES_BVH2": bvh2 is not None}
        own = {"CHUNK": chunk, "FINAL": final, "RADIUS": self.options.radius}
        unit = target.unit(unit_source("gpu/hierarchy/bvh/builders/ploc/ploc.cu", primitives, **shared, **own))
        leaves = reserve_leaves(target, n, size)
        slots = target.scratch("ploc.slots", (2 * n, 8), np.float32)
        partners = target.scratch("ploc.partners", n, np.int32)
        segments = target.scratch("ploc.segments", -(-n // chunk), np.int32)
        outputs = {**tree.links(), "root": tree.roots, "leaves": leaves, "bvh2": bvh2}
        working = {"n": n, "slots": slots, "rounds": self._rounds, "partners": partners}
        with target.phase("build.clusters"):
            target.launch(
                unit,
                "start_clusters",
                n,
                primitives=primitives.view,
                keys=keys,
                prim_ids=prim_ids,
                slots=slots,
                rounds=self._rounds,
                leaves=leaves,
            )
            for before, after in itertools.pairwise(schedule(n, final)):
                blocks, count = min(-(-before // chunk), most_blocks), DeviceCount(self._rounds, before)
                pairing = {"most_left": after, "segment_counts": segments}
                target.launch(unit, "pair_clusters", count, **working, **pairing, blocks=blocks)
                scanned = {"rounds": self._rounds, "segment_counts": segments}
                target.launch(unit, "scan_segments", 1, **scanned, block=1024, blocks=1)
                target.launch(
                    unit,
                    "join_clusters_of_pairs",
                    count,
                    **working,
                    segment_starts=segments,
                    **outputs,
                    blocks=blocks,
                )
            target.launch(unit, "merge_rest", 1, **working, **outputs, block=512, blocks=1)
        finish_leaves(target, tree, primitives, keys, prim_ids, leaves, bvh2, shared)
        return bvh2 is not None


__all__ = ["Ploc", "PlocOptions"]
