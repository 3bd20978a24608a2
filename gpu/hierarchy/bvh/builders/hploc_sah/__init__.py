"""H-PLOC below, a full sweep above: nearest neighbours paired in chunks, which the surface area heuristic then splits
from the root down.

Idea: Pairing nearest neighbours is right most often for small clusters; pairs of large ones are less often right. So
chunks of some 110 primitives, which end at high nodes of a linear BVH, are paired as hploc pairs them, until four
clusters are left, and a sweep makes the tree above: the clusters of 32 chunks at a time are split by the surface area
heuristic, every cluster a candidate. All but the uppermost two levels become nodes, and the four subtrees below these
are split again with those of 32 neighbours, until one group holds them all.

Paper: Ours, above the chunks of Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler, H-PLOC: Hierarchical Parallel
Locally-Ordered Clustering for Bounding Volume Hierarchy Construction (2024).

Cost: About twice the time of the linear BVH. On smooth meshes its trees cost 2 to 4 % less than those of hploc, which
takes a sixth less time, and are within some 8 % of a binned SAH builder's. Where triangles are of very unlike sizes, as
in rooms and halls, hploc is the better one: its trees cost less there, and in Crytek's Sponza a fifth of the primary
rays is lost with this one.

Limits: A larger search radius costs time, and past 4 makes most trees worse. Clusters of one chunk stay together below
its four, so that the linear BVH's worst splits still show. Leaves hold neighbours in Morton order alone, so that their
place is known at once. Where a tree would become too deep, neighbours in Morton order are paired, and sets are halved:
the depth never passes code bits + 97. Node ids follow from the places of references, not from the order of arrival:
deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ...clusters import MOST_WIDE_LEAF, ClusterOptions
from ...pairing import LARGE_COUNT, THREADS, Pairing, PairingBuilder

WINDOW, LARGE_WINDOW = 112, 128
"""Gaps of a window, in which a chunk ends, below and from LARGE_COUNT: up to twice as many references, less one."""

KEPT = 4
"""Clusters that a chunk leaves, at most: more make no better trees, and larger groups."""

MOST_ITEMS = 256
"""Clusters of the largest group. A group ends in a window of chunks that have half as many."""

LEVELS_LEFT_OPEN = 2
"""Levels of a group that do not become nodes: a group leaves four clusters, at most."""

MOST_LEVELS = 15
"""Levels of a group; a set that could not end in time otherwise is halved."""

LEFT_OPEN = 72
"""Nodes that a refit's chunks and groups leave open, at most: sets above the chunks are split wherever it is best, so
that links go further than along the curve."""

_MOST_GROUPINGS = 5
"""Launches that make one tree of the chunks of 2^27 references."""

_IN_CHUNKS = 22
"""Depth of a chunk's trees beyond the code bits: POSITION_RANKS of cut_chunks.cu, HEADROOM and the root's last halvings
of pairing.cuh."""


def groupings(chunk_count: int) -> list[tuple[int, int, int]]:
    """What the launches of sweep_groups join: chunks, clusters per chunk leaves at most, and the groups that they
    become."""
    steps, kept = [], KEPT
    while chunk_count > 1:
        group_count = 1 if chunk_count * kept <= MOST_ITEMS else -(-chunk_count // (MOST_ITEMS // 2 // kept))
        steps.append((chunk_count, kept, group_count))
        chunk_count, kept = group_count, 1 << LEVELS_LEFT_OPEN
    return steps


@dataclasses.dataclass(frozen=True)
class HplocSahOptions(ClusterOptions):
    """Options of H-PLOC under a sweep."""


class HplocSah(PairingBuilder):
    """See the module."""

    name = "hploc_sah"
    title = "H-PLOC below a full SAH sweep"
    construction = "bottom_up"
    left_open = LEFT_OPEN
    most_wide_leaf = MOST_WIDE_LEAF
    Options = HplocSahOptions

    def max_depth(self) -> int:
        return self.code_bits + _IN_CHUNKS + _MOST_GROUPINGS * MOST_LEVELS

    def scratch_bytes(self) -> int:
        count = self.tree.count
        return self.morton_order.scratch_bytes(count) + 32 * count  # slots

    def join(self, pairing: Pairing) -> None:
        """Chunks, and groups of them, split by the surface area heuristic."""
        target, n = self.target, pairing.primitives.count
        window = WINDOW if n < LARGE_COUNT else LARGE_WINDOW
        chunk_count = -(-n // window)
        chunks = [target.scratch(f"hploc_sah.chunks{side}", (chunk_count, 2), np.int32) for side in (0, 1)]
        unit = self.chunk_unit("hploc_sah/cut_chunks.cu", pairing, most=2 * window, kept=KEPT, WINDOW=window)
        with target.phase("build.clusters"):
            target.launch(
                unit, "build_clusters", n, **pairing.beginning, chunks=chunks[0], block=THREADS, blocks=chunk_count
            )
        with target.phase("build.joining"):
            sizes = {"MOST_ITEMS": MOST_ITEMS, "MOST_LEVELS": MOST_LEVELS, "LEVELS_LEFT_OPEN": LEVELS_LEFT_OPEN}
            unit = self.pairing_unit("hploc_sah/sweep_groups.cu", pairing, **sizes)
            for step, (count, kept, group_count) in enumerate(groupings(chunk_count)):
                here, there = chunks[step % 2], chunks[1 - step % 2]
                target.launch(
                    unit,
                    "sweep_groups",
                    count * kept,
                    chunk_count=count,
                    group_count=group_count,
                    kept=kept,
                    is_last=int(group_count == 1),
                    chunks=here,
                    groups=there,
                    **pairing.outputs,
                    block=MOST_ITEMS,
                    blocks=group_count,
                )
            if chunk_count == 1:
                self.link_root(pairing)


__all__ = ["HplocSah", "HplocSahOptions"]
