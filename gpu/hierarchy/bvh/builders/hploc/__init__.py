"""H-PLOC: nearest neighbours paired from below along the climb of a linear BVH.

Idea: A linear BVH groups primitives by a fixed grid, which is fast and often wrong. Pairing whatever makes the smallest box is right more often, but
needs many passes over all clusters. H-PLOC joins the two: subtrees of the linear BVH meet as ever, but where one holds more than 16 primitives
their clusters are gathered by a warp and paired with their nearest neighbours until 16 are left. What is left goes on up to the next meeting.

Paper: Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler, H-PLOC: Hierarchical Parallel Locally-Ordered Clustering for Bounding Volume
Hierarchy Construction (2024), after Meister and Bittner, Parallel Locally-Ordered Clustering for BVH Construction (2017); the climb after Apetrei
(2014).

Cost: About twice the time of the linear BVH, for trees whose SAH cost is near a binned SAH builder's. The choice for scenes that are rebuilt every
frame and traced with more than a ray or two a pixel.

Limits: A larger search radius costs time, and past 4 makes most trees worse. Clusters are paired within one subtree of the linear BVH, so that its
worst splits still show high up. Leaves hold neighbours in Morton order alone, so that their place is known at once. Where pairing nearest
neighbours would make a tree too deep, neighbours in Morton order are paired instead: the depth never passes code bits + 43. Node ids follow from the
places of references, not from the order of arrival: deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....target.base import Target
from ....base import Primitives
from ....primitives import unit_source
from ...bvh import BvhHierarchy
from ...clusters import ClusterOptions, plant_root
from ...morton_order import MortonOrder

CHUNKS = {"cuda": 64, "host": 128}
"""References that one block joins in shared memory before it goes on in global memory."""

LARGE_COUNT, LARGE_CHUNK = 4_000_000, 256
"""So many primitives, and more, keep a GPU busy whatever the chunk: larger ones then leave less to global memory."""

THREADS = 32
"""Of a block, on CUDA: a warp alone, which waits for nobody, and what it holds is free again as soon as it is done."""

_ABOVE_CODES = 43
"""Depth beyond the code bits: the largest rank of a gap is 31 above them; HEADROOM (8) and the root's last halvings (4) of hploc.cu."""


@dataclasses.dataclass(frozen=True)
class HplocOptions(ClusterOptions):
    """Options of H-PLOC."""


class Hploc(BvhHierarchy):
    """See the module."""

    name = "hploc"
    title = "H-PLOC (nearest neighbours along a linear BVH)"
    Options = HplocOptions
    options: HplocOptions

    def __init__(self, target: Target, options: HplocOptions, layout: str = "auto", traversal: str = "auto") -> None:
        super().__init__(target, options, layout, traversal)
        self.code_bits = int(options.code_bits)
        self._morton_order = MortonOrder(target, self.code_bits)

    def max_depth(self) -> int:
        return self.code_bits + _ABOVE_CODES

    def scratch_bytes(self) -> int:
        count = self.tree.count
        return self._morton_order.scratch_bytes(count) + count * 36

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, primitives.count
        chunk, bvh2 = CHUNKS[target.kind] if n < LARGE_COUNT else LARGE_CHUNK, self.direct_nodes
        keys, prim_ids = self._morton_order.sort(primitives)
        cost, size = self.options.traversal_cost, self.options.max_leaf_size
        leaves = {"MAX_LEAF_SIZE": size, "LEAVES_IN_ORDER": True, "TRAVERSAL_COST": cost}
        shared = {"CODE_BITS": self.code_bits, **leaves, "WRITES_BVH2": bvh2 is not None}
        own = {"CHUNK": chunk, "THREADS": THREADS, "RADIUS": self.options.radius}
        unit = target.unit(unit_source("gpu/hierarchy/bvh/builders/hploc/hploc.cu", primitives, **shared, **own))
        slots = target.scratch("hploc.slots", (n, 8), np.float32)
        chunk_count = -(-n // chunk)
        leftovers = target.scratch("hploc.leftovers", chunk_count * (chunk + 1), np.int32)
        outputs = (tree.nodes, tree.parent, tree.flags, tree.roots, bvh2)
        with target.phase("build.clusters"):
            arguments = (primitives.view, keys, prim_ids, tree.order, tree.records, *outputs, slots, leftovers)
            target.launch(unit, "build_clusters", n, *arguments, block=THREADS, blocks=chunk_count)
        with target.phase("build.joining"):
            places = chunk_count * (chunk + 1)
            joining = (n, chunk_count, keys, leftovers, *outputs, slots, tree.waiting)
            target.launch(unit, "join_chunks", places, *joining, block=THREADS, blocks=-(-places // THREADS) if target.kind == "cuda" else 0)
            plant_root(target, tree, primitives, bvh2, shared)
        return bvh2 is not None


__all__ = ["Hploc", "HplocOptions"]
