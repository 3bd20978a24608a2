"""H-PLOC: nearest neighbours paired from below along the climb of a linear BVH.

Idea: A linear BVH groups primitives by a fixed grid, which is fast and often wrong. Pairing whatever makes the smallest box is right more often, but
needs many passes over all clusters. H-PLOC joins the two: subtrees of the linear BVH meet as ever, but where one holds more than 16 primitives
their clusters are gathered by a warp and paired with their nearest neighbours until 16 are left. What is left goes on up to the next meeting
(`top` = climb), or, from some 110 primitives on, is parted from above (`top` = sah): pairs of large clusters are less often right than small ones'.

Paper: Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler, H-PLOC: Hierarchical Parallel Locally-Ordered Clustering for Bounding Volume
Hierarchy Construction (2024), after Meister and Bittner, Parallel Locally-Ordered Clustering for BVH Construction (2017); the climb after Apetrei
(2014). Ours, with `top` = sah: chunks of some 110 primitives end at high nodes of the linear BVH and are paired until four clusters are left. The
clusters of 32 chunks at a time are parted from above by the surface area heuristic, every cluster a candidate; all but the uppermost two levels
become nodes, and the four subtrees below these are parted again with those of 32 neighbours, until one group holds them all.

Cost: About twice the time of the linear BVH, for trees whose SAH cost is within some 6 % of a binned SAH builder's. The choice for scenes that are
rebuilt every frame and traced with more than a ray or two a pixel. `top` = climb, as published, takes a sixth less: its trees cost 2 to 4 % more on
smooth meshes, and less where triangles are of very unlike sizes, as in rooms and halls: there it is worth a try.

Limits: A larger search radius costs time, and past 4 makes most trees worse. Clusters are paired within one subtree of the linear BVH, so that its
worst splits still show high up. Leaves hold neighbours in Morton order alone, so that their place is known at once. Where pairing nearest
neighbours would make a tree too deep, neighbours in Morton order are paired instead: the depth never passes code bits + 43 (with `top` = sah, which
halves sets then, + 97). Node ids follow from the places of references, not from the order of arrival: deterministic.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .....settings import option
from .....target.base import Array, Target, Unit
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

SAH_CHUNK, LARGE_SAH_CHUNK = 112, 128
"""Gaps of a window, in which a chunk ends under a SAH top, below and from LARGE_COUNT: up to twice as many references, less one."""

KEPT = 4
"""Clusters that a chunk leaves under a SAH top, at most: more make no better trees, and larger groups."""

MOST_ITEMS = 256
"""Clusters of the largest group. A group ends in a window of chunks that have half as many."""

LEVELS_LEFT_OPEN = 2
"""Levels of a group that do not become nodes: a group leaves four clusters, at most."""

MOST_LEVELS = 15
"""Levels of a group; a set that could not end in time otherwise is halved."""

LEFT_OPEN = 72
"""Nodes that a refit's chunks and groups leave open under a SAH top, at most: sets above the chunks are parted wherever it is best, so that links go
further than along the curve."""

_MOST_GROUPINGS = 5
"""Launches that make one tree of the chunks of 2^26 references."""

_IN_CHUNKS = 22
"""Depth of a chunk's trees beyond the code bits, under a SAH top: POSITION_RANKS, HEADROOM and the root's last halvings of hploc.cu."""


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

    top: str = option(
        "sah",
        "How subtrees of some 110 primitives become one tree: parted from above by the surface area heuristic (sah), or by the climb, as published, "
        "which is faster, and better where triangles are of very unlike sizes.",
        choices=("sah", "climb"),
    )


class Hploc(BvhHierarchy):
    """See the module."""

    name = "hploc"
    title = "H-PLOC (nearest neighbours along a linear BVH)"
    ids_follow_references = True
    Options = HplocOptions
    options: HplocOptions

    def __init__(self, target: Target, options: HplocOptions, layout: str = "auto", traversal: str = "auto") -> None:
        super().__init__(target, options, layout, traversal)
        self.code_bits = int(options.code_bits)
        if options.top == "sah":
            self.left_open = LEFT_OPEN
        self._morton_order = MortonOrder(target, self.code_bits)

    def max_depth(self) -> int:
        return self.code_bits + (_ABOVE_CODES if self.options.top == "climb" else _IN_CHUNKS + _MOST_GROUPINGS * MOST_LEVELS)

    def scratch_bytes(self) -> int:
        count = self.tree.count
        return self._morton_order.scratch_bytes(count) + count * (36 if self.options.top == "climb" else 32)  # slots, and leftovers

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n, bvh2 = self.target, self.tree, primitives.count, self.direct_nodes
        keys, prim_ids = self._morton_order.sort(primitives)
        slots = target.scratch("hploc.slots", (n, 8), np.float32)
        outputs = (tree.nodes, tree.parent, tree.flags, tree.roots, bvh2, slots)
        beginning = (primitives.view, keys, prim_ids, tree.order, tree.records, *outputs)
        if self.options.top == "sah":
            self._join_from_above(primitives, beginning, outputs)
        else:
            self._climb(primitives, keys, beginning, outputs)
        return bvh2 is not None

    def _climb(self, primitives: Primitives, keys: Array, beginning: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Chunks, and what lies above them by meetings in global memory."""
        target, n = self.target, primitives.count
        chunk = CHUNKS[target.kind] if n < LARGE_COUNT else LARGE_CHUNK
        chunk_count = -(-n // chunk)
        unit = self._unit("hploc.cu", primitives, CHUNK=chunk, THREADS=THREADS, RADIUS=self.options.radius, CUTS=False, KEPT=KEPT)
        leftovers = target.scratch("hploc.leftovers", chunk_count * (chunk + 1), np.int32)
        with target.phase("build.clusters"):
            target.launch(unit, "build_clusters", n, *beginning, leftovers, block=THREADS, blocks=chunk_count)
        with target.phase("build.joining"):
            places = chunk_count * (chunk + 1)
            joining = (n, chunk_count, keys, leftovers, *outputs, self.tree.waiting)
            target.launch(unit, "join_chunks", places, *joining, block=THREADS, blocks=-(-places // THREADS) if target.kind == "cuda" else 0)
            plant_root(target, self.tree, primitives, self.direct_nodes, self._constants())

    def _join_from_above(self, primitives: Primitives, beginning: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Chunks, and groups of them, parted by the surface area heuristic."""
        target, n = self.target, primitives.count
        chunk = SAH_CHUNK if n < LARGE_COUNT else LARGE_SAH_CHUNK
        chunk_count = -(-n // chunk)
        chunks = [target.scratch(f"hploc.chunks{side}", (chunk_count, 2), np.int32) for side in (0, 1)]
        unit = self._unit("hploc.cu", primitives, CHUNK=chunk, THREADS=THREADS, RADIUS=self.options.radius, CUTS=True, KEPT=KEPT)
        with target.phase("build.clusters"):
            target.launch(unit, "build_clusters", n, *beginning, chunks[0], block=THREADS, blocks=chunk_count)
        with target.phase("build.joining"):
            unit = self._unit("sweep_groups.cu", primitives, MOST_ITEMS=MOST_ITEMS, MOST_LEVELS=MOST_LEVELS, LEVELS_LEFT_OPEN=LEVELS_LEFT_OPEN)
            for step, (count, kept, group_count) in enumerate(groupings(chunk_count)):
                here, there = chunks[step % 2], chunks[1 - step % 2]
                joined = (count, group_count, kept, int(group_count == 1), here, there, *outputs)
                target.launch(unit, "sweep_groups", count * kept, *joined, block=MOST_ITEMS, blocks=group_count)
            if chunk_count == 1:
                plant_root(target, self.tree, primitives, self.direct_nodes, self._constants())

    def _constants(self) -> dict[str, float]:
        """Those of clusters.cuh."""
        leaves = {"MAX_LEAF_SIZE": self.options.max_leaf_size, "LEAVES_IN_ORDER": True, "TRAVERSAL_COST": self.options.traversal_cost}
        return {"CODE_BITS": self.code_bits, **leaves, "WRITES_BVH2": self.direct_nodes is not None}

    def _unit(self, file: str, primitives: Primitives, **constants: float) -> Unit:
        return self.target.unit(unit_source("gpu/hierarchy/bvh/builders/hploc/" + file, primitives, **self._constants(), **constants))


__all__ = ["Hploc", "HplocOptions"]
