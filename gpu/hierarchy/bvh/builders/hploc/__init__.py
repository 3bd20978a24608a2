"""H-PLOC: nearest neighbours paired from below along the climb of a linear BVH, and parted from above where subtrees are large.

Idea: A linear BVH groups primitives by a fixed grid, which is fast and often wrong. Pairing whatever makes the smallest box is right more often, but
needs many passes over all clusters. H-PLOC joins the two: subtrees of the linear BVH meet as ever, but where one holds more than 16 primitives
their clusters are gathered by a warp and paired with their nearest neighbours until 16 are left.

Paper: Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler, H-PLOC: Hierarchical Parallel Locally-Ordered Clustering for Bounding Volume
Hierarchy Construction (2024), after Meister and Bittner, Parallel Locally-Ordered Clustering for BVH Construction (2017); the climb after Apetrei
(2014). Ours: that ends at some 64 primitives. The clusters of eight such chunks at a time are parted from above by the surface area heuristic,
every cluster a candidate; all but the uppermost three levels become nodes, and the eight subtrees below these are parted again with those of 16
neighbours, until one group holds them all.

Cost: Less than twice the time of the linear BVH, for trees whose SAH cost is near a binned SAH builder's. The choice for scenes that are rebuilt
every frame and traced with more than a ray or two a pixel.

Limits: A larger search radius costs time, and past 4 makes most trees worse. Chunks and groups end at high nodes of the linear BVH, so that its
worst splits still show a little. Leaves hold neighbours in Morton order alone, so that their place is known at once. Where a tree would become
too deep, neighbours in Morton order are paired, or sets halved, instead: the depth never passes code bits + 97. Node ids follow from the places
of references, not from the order of arrival: deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....target.base import Target, Unit
from ....base import Primitives
from ....primitives import unit_source
from ...bvh import BvhHierarchy
from ...clusters import ClusterOptions, plant_root
from ...morton_order import MortonOrder

_FOLDER = "gpu/hierarchy/bvh/builders/hploc/"

CHUNK = 64
"""Gaps of a window, in which a chunk ends: 1 to 2 * CHUNK - 1 references that a block joins by itself."""

THREADS = 32
"""Of a block that does, on CUDA: a warp alone, which waits for nobody, and what it holds is free again as soon as it is done."""

KEPT = 16
"""Clusters that a chunk leaves, at most."""

MOST_ITEMS = 256
"""Clusters of the largest group. A group ends in a window of chunks that have half as many."""

LEVELS_LEFT_OPEN = 3
"""Levels of a group that do not become nodes: a group leaves eight clusters, at most."""

MOST_LEVELS = 15
"""Levels of a group; a set that could not end in time otherwise is halved."""

_MOST_GROUPINGS = 5
"""Launches that make one tree of the chunks of 2^26 references."""

_IN_CHUNKS = 22
"""Depth of a chunk's trees beyond the code bits: POSITION_RANKS, HEADROOM and the root's last halvings of hploc.cu."""


def groupings(chunk_count: int) -> list[tuple[int, int, int]]:
    """What the launches of sweep_groups join: chunks, clusters a chunk leaves at most, and the groups that they become."""
    steps, kept = [], KEPT
    while chunk_count > 1:
        group_count = 1 if chunk_count * kept <= MOST_ITEMS else -(-chunk_count // (MOST_ITEMS // 2 // kept))
        steps.append((chunk_count, kept, group_count))
        chunk_count, kept = group_count, 1 << LEVELS_LEFT_OPEN
    return steps


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
        return self.code_bits + _IN_CHUNKS + _MOST_GROUPINGS * MOST_LEVELS

    def scratch_bytes(self) -> int:
        count = self.tree.count
        return self._morton_order.scratch_bytes(count) + count * 32 + -(-count // CHUNK) * 16

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n, bvh2 = self.target, self.tree, primitives.count, self.direct_nodes
        keys, prim_ids = self._morton_order.sort(primitives)
        chunk_count = -(-n // CHUNK)
        slots = target.scratch("hploc.slots", (n, 8), np.float32)
        chunks = [target.scratch(f"hploc.chunks{side}", (chunk_count, 2), np.int32) for side in (0, 1)]
        outputs = (tree.nodes, tree.parent, tree.flags, tree.roots, bvh2, slots)
        with target.phase("build.clusters"):
            arguments = (primitives.view, keys, prim_ids, tree.order, tree.records, *outputs, chunks[0])
            target.launch(self._unit("hploc.cu", primitives), "build_clusters", n, *arguments, block=THREADS, blocks=chunk_count)
        with target.phase("build.joining"):
            unit = self._unit("sweep_groups.cu", primitives)
            for step, (count, kept, group_count) in enumerate(groupings(chunk_count)):
                here, there = chunks[step % 2], chunks[1 - step % 2]
                joined = (count, group_count, kept, int(group_count == 1), here, there, *outputs)
                target.launch(unit, "sweep_groups", count * kept, *joined, block=MOST_ITEMS, blocks=group_count)
            plant_root(target, tree, primitives, bvh2, self._constants())
        return bvh2 is not None

    def _constants(self) -> dict[str, float]:
        """Those of clusters.cuh."""
        leaves = {"MAX_LEAF_SIZE": self.options.max_leaf_size, "LEAVES_IN_ORDER": True, "TRAVERSAL_COST": self.options.traversal_cost}
        return {"CODE_BITS": self.code_bits, **leaves, "WRITES_BVH2": self.direct_nodes is not None}

    def _unit(self, file: str, primitives: Primitives) -> Unit:
        chunks = {"CHUNK": CHUNK, "THREADS": THREADS, "RADIUS": self.options.radius}
        groups = {"MOST_ITEMS": MOST_ITEMS, "MOST_LEVELS": MOST_LEVELS, "LEVELS_LEFT_OPEN": LEVELS_LEFT_OPEN}
        return self.target.unit(unit_source(_FOLDER + file, primitives, **self._constants(), **(chunks if file == "hploc.cu" else groups)))


__all__ = ["Hploc", "HplocOptions"]
