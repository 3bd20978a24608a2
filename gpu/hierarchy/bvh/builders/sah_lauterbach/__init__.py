"""Top-down SAH with task queues: every node is parted where the surface area heuristic says, all nodes of a level at once.

Idea: A task is a node that is still to be parted. Each level bins the primitives of all tasks of the input queue by their centroids, evaluates the
planes between the bins of three axes, parts the primitives stably, and writes two tasks each to the output queue, whose holes a compaction removes.
Tasks of at most 256 primitives leave the queue: one warp parts each of them down to its leaves, with a queue of its own in shared memory.

Paper: Lauterbach et al., Fast BVH Construction on GPUs (2009), section 4; retold by Meister, Methods for Fast Construction of Bounding Volume
Hierarchies (2014), section 5.2.2. Bins after Wald, On Fast Construction of SAH-based Bounding Volume Hierarchies (2007).

Cost: Four launches a level for log2(n / 256) levels and some more, and one for everything below. About ten times the time of a linear BVH, for trees
that are faster to trace.

Limits: The planes lie between 16 bins of the centroids' bounds, not at every primitive, and a leaf is made where max_leaf_size primitives are left,
whatever the heuristic says of it. Where a task would need more levels than are left, or no plane parts it, it is parted at its median: log2(n / 256)
+ extra_levels levels of the queue and 20 below bound the depth by 58; max_depth ends the tree earlier, in leaves of whatever is there. The device
alone knows how many levels there are, so all that there may be are launched. Unlike the paper's, a large task is the work of many blocks, and
centroids' bounds are binned, not the node's box. Deterministic.
"""

from __future__ import annotations

import dataclasses

from .....settings import option
from ...sah_queue import SMALL_LEVELS, QueueRules, SahQueueBuilder
from ...stopping import depth_option, memory_option
from ...tree import MAX_LEAF_SIZE, REFERENCE_BITS

BINS = 16
SMALL = SahQueueBuilder.small
MOST_EXTRA_LEVELS = 20


@dataclasses.dataclass(frozen=True)
class SahLauterbachOptions:
    """Options of the task-queue builder."""

    max_leaf_size: int = option(
        4, "Most primitives in a leaf: larger leaves make a smaller tree and more intersection tests.", minimum=1, maximum=MAX_LEAF_SIZE
    )
    extra_levels: int = option(
        10,
        "Levels of the queue beyond those that halving needs: fewer of them cost less time and part more nodes at their median.",
        minimum=0,
        maximum=MOST_EXTRA_LEVELS,
    )
    nodes_per_primitive: float = memory_option()
    max_depth: int = depth_option(REFERENCE_BITS + MOST_EXTRA_LEVELS + SMALL_LEVELS)


class SahLauterbach(SahQueueBuilder):
    """See the module."""

    name = "sah_lauterbach"
    title = "SAH by task queues (Lauterbach)"
    Options = SahLauterbachOptions
    options: SahLauterbachOptions

    @property
    def rules(self) -> QueueRules:
        options, leaf_size = self.options, self.options.max_leaf_size
        return QueueRules(BINS, 0, leaf_size, options.extra_levels, options.max_depth, (leaf_size, 0, 1.0, 1.0), options.nodes_per_primitive)


__all__ = ["SahLauterbach", "SahLauterbachOptions"]
