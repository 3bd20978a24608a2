"""Top-down binned SAH: the reference for the quality of a tree. Every node parts at the cheapest of all planes between its bins.

Idea: The surface area heuristic counts what a node costs: its area times the primitives below, the sides of a plane added. Here every node, whatever
its size, bins the centroids of all of its primitives on all three axes over their own bounds, and takes the cheapest plane. Sets of at most 32
primitives are not binned: every plane between two of them is tried, on every axis. A leaf is made where that costs no more than its best split.

Paper: Wald, On Fast Construction of SAH-based Bounding Volume Hierarchies (2007). The cost is MacDonald and Booth's (1990), by which it ends too. The
levels are those of Lauterbach et al., Fast BVH Construction on GPUs (2009): its queue, chunks and small tasks are shared with sah_lauterbach.

Cost: Four launches a level for log2(n / 128) + 10 levels, and one for everything below, by one warp a task. A tenth to a
sixth more time than sah_lauterbach, for trees that cost 4 per cent less.

Limits: It chooses for this node alone: spatial splits (sbvh) and optimisers find cheaper trees. Planes of sets larger than 32 lie between bins.
Where a task would need more levels than are left, or no plane parts it, it is parted at its median, so the depth is at most the larger of max_depth
and log2(n / 128) + 7. The device alone knows how many levels there are, so all that there may be are launched. Deterministic.
"""

from __future__ import annotations

import dataclasses

from .....settings import option
from ...sah_queue import QueueRules, SahQueueBuilder
from ...stopping import StoppingOptions
from ...tree import REFERENCE_BITS

SWEEP = 32
"""Sets of at most so many primitives try every plane; as many as a leaf can hold, so that the cost of a leaf is always an exact one."""
SMALL_LEVELS = 20
"""Levels below a small task's node: 7 by medians alone."""
EXTRA_LEVELS = 10
"""Levels of the queue beyond those that halving needs."""


@dataclasses.dataclass(frozen=True)
class BinnedSahOptions(StoppingOptions):
    """Options of the reference builder."""

    bins: int = option(32, "Bins an axis over the centroids of a set: more of them find better planes and cost time.", minimum=4, maximum=32)
    max_depth: int = option(
        REFERENCE_BITS + EXTRA_LEVELS + SMALL_LEVELS,
        "Depth: sets that could not be small enough by then otherwise are halved. Less than halving needs counts as that.",
        minimum=8,
        maximum=REFERENCE_BITS + EXTRA_LEVELS + SMALL_LEVELS,
    )


class BinnedSah(SahQueueBuilder):
    """See the module."""

    name = "binned_sah"
    title = "Binned SAH, from the top"
    Options = BinnedSahOptions
    options: BinnedSahOptions
    small = 128

    def max_depth(self) -> int:
        return max(self.options.max_depth, self.least_levels(1 << REFERENCE_BITS) + self.small.bit_length() - 1)

    @property
    def rules(self) -> QueueRules:
        options, least = self.options, self.small.bit_length() - 1
        spare = options.max_depth - self.least_levels(self.tree.count)
        small_levels = min(SMALL_LEVELS, max(least, spare))
        extra_levels, stopping = min(EXTRA_LEVELS, max(0, spare - small_levels)), options.device_values()
        return QueueRules(options.bins, SWEEP, options.leaf_at_once, extra_levels, small_levels, stopping, options.nodes_per_primitive)


__all__ = ["BinnedSah", "BinnedSahOptions"]
