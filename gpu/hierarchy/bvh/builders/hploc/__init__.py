"""H-PLOC: nearest neighbours paired from below along the climb of a linear BVH.

Idea: A linear BVH groups primitives by a fixed grid, which is fast and often wrong. Pairing whatever makes the smallest
box is right more often, but needs many passes over all clusters. H-PLOC joins the two: subtrees of the linear BVH meet
as ever, but where one holds more than 16 primitives their clusters are gathered by a warp and paired with their nearest
neighbours until 16 are left. What is left goes on up to the next meeting.

Paper: Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler, H-PLOC: Hierarchical Parallel Locally-Ordered Clustering
for Bounding Volume Hierarchy Construction (2024), after Meister and Bittner, Parallel Locally-Ordered Clustering for
BVH Construction (2017); the climb after Apetrei (2014).

Cost: Less than twice the time of the linear BVH, for trees whose SAH cost is within some 11 % of a binned SAH builder's
on smooth meshes, and below it where triangles are of very unlike sizes, as in halls and furnished rooms. The choice for
scenes that are rebuilt every frame and traced with more than a ray or two per pixel. hploc_sah makes what lies above
the chunks from above instead: a sixth slower, 2 to 4 % cheaper on smooth meshes, and worse for rays in halls.

Limits: A larger search radius costs time, and past 4 makes most trees worse. Clusters are paired within one subtree of
the linear BVH, so that its worst splits still show high up. Leaves hold neighbours in Morton order alone, so that their
place is known at once. Where pairing nearest neighbours would make a tree too deep, neighbours in Morton order are
paired instead: the depth never passes code bits + 43. Node ids follow from the places of references, not from the order
of arrival: deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ....primitives import REFERENCE_BITS
from ...clusters import MOST_WIDE_LEAF, ClusterOptions
from ...pairing import HALF, LARGE_COUNT, THREADS, Pairing, PairingBuilder

CHUNKS = {"cuda": 64, "host": 128}
"""References that one block joins in shared memory before it goes on in global memory."""

LARGE_CHUNK = 256
"""From LARGE_COUNT primitives on."""

_ABOVE_CODES = 43
"""Depth beyond the code bits: the largest rank of a gap is 31 above them; HEADROOM (8) and the root's last halvings (4)
of pairing.cuh."""


@dataclasses.dataclass(frozen=True)
class HplocOptions(ClusterOptions):
    """Options of H-PLOC."""


class Hploc(PairingBuilder):
    """See the module."""

    name = "hploc"
    title = "H-PLOC (nearest neighbours along a linear BVH)"
    construction = "bottom_up"
    most_wide_leaf = MOST_WIDE_LEAF
    Options = HplocOptions

    def max_depth(self) -> int:
        return self.code_bits + _ABOVE_CODES + self.tree.reference_bits - REFERENCE_BITS

    def scratch_bytes(self) -> int:
        count = self.tree.count
        return self.morton_order.scratch_bytes(count) + 36 * count  # slots and leftovers

    def join(self, pairing: Pairing) -> None:
        """Chunks, and what lies above them by meetings in global memory."""
        target, n = self.target, pairing.primitives.count
        chunk = CHUNKS[target.kind] if n < LARGE_COUNT else LARGE_CHUNK
        chunk_count = -(-n // chunk)
        unit = self.chunk_unit("hploc/hploc.cu", pairing, most=chunk, kept=HALF)
        leftovers = target.scratch("hploc.leftovers", chunk_count * (chunk + 1), np.int32)
        with target.phase("build.clusters"):
            target.launch(
                unit,
                "build_clusters",
                n,
                **pairing.beginning,
                leftovers=leftovers,
                block=THREADS,
                blocks=chunk_count,
            )
        with target.phase("build.joining"):
            places = chunk_count * (chunk + 1)
            target.launch(
                unit,
                "join_chunks",
                places,
                n=n,
                chunk_count=chunk_count,
                keys=pairing.keys,
                leftovers=leftovers,
                **pairing.outputs,
                arrivals=self.tree.waiting,
                block=THREADS,
                blocks=-(-places // THREADS) if target.kind == "cuda" else 0,
            )
            self.link_root(pairing)


__all__ = ["Hploc", "HplocOptions"]
