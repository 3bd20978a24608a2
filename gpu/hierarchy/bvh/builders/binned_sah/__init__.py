"""Top-down binned SAH: the reference for the quality of a tree. Every node is split at the bin boundary of
least SAH cost.

Idea: The surface area heuristic counts what a node costs: its area times the primitives below, the sides of a plane
added. Here every node, whatever its size, bins the centroids of all of its primitives on all three axes over their own
bounds, and takes the cheapest plane. Sets of at most 32 primitives are not binned: every plane between two of them is
tried, on every axis. A leaf is made where that costs no more than its best split.

Paper: Wald, On Fast Construction of SAH-based Bounding Volume Hierarchies (2007). The cost, and the termination
criterion, is the surface area heuristic of MacDonald and Booth (1990). The levels are those of Lauterbach et al., Fast
BVH Construction on GPUs (2009): its queue, chunks and small tasks are shared with sah_lauterbach.

Cost: Four launches per level for log2(n / 128) + 10 levels, and one for everything below, by one warp per task. A tenth
to a sixth more time than sah_lauterbach, for trees that cost 4 per cent less.

Limits: It chooses for this node alone: spatial splits (sbvh) and optimisers find cheaper trees. Planes of sets larger
than 32 lie between bins. Where a task would need more levels than are left, or no plane splits it, it is split at its
median: log2(n / 128) + 10 levels of the queue and 20 below bound the depth; max_depth ends the tree earlier, in leaves
of whatever is there. The device alone knows how many levels there are, so all that there may be are launched.
Deterministic.
"""

from __future__ import annotations

import dataclasses

from .....settings import option
from ....primitives import REFERENCE_BITS
from ...sah_queue import SMALL_LEVELS, QueueRules, SahQueueBuilder
from ...stopping import StoppingOptions, depth_option

SWEEP = 32
"""Sets of at most so many primitives try every plane; as many as a leaf can hold, so that the cost of a leaf is always
an exact one."""
EXTRA_LEVELS = 10
"""Levels of the queue beyond those that halving needs."""
MOST_DEPTH = REFERENCE_BITS + EXTRA_LEVELS + SMALL_LEVELS
"""More than any tree has."""


@dataclasses.dataclass(frozen=True)
class BinnedSahOptions(StoppingOptions):
    """Options of the builder of binned SAH, which the other builders of trees are compared with."""

    bins: int = option(
        32,
        "Bins per axis over the centroids of a set: more bins find better planes and take longer.",
        minimum=4,
        maximum=32,
    )
    max_depth: int = depth_option(MOST_DEPTH)


class BinnedSah(SahQueueBuilder):
    """See the module."""

    name = "binned_sah"
    title = "Binned SAH, top-down"
    construction = "top_down"
    Options = BinnedSahOptions
    options: BinnedSahOptions
    small = 128

    @property
    def rules(self) -> QueueRules:
        options = self.options
        stopping, share = options.device_values(), options.nodes_per_primitive
        return QueueRules(options.bins, SWEEP, options.leaf_at_once, EXTRA_LEVELS, options.max_depth, stopping, share)


__all__ = ["BinnedSah", "BinnedSahOptions"]
