"""Top-down SAH with task queues: every node is split where the surface area heuristic says, all nodes of a level at
once.

Idea: A task is a node that is still to be split. Each level bins the primitives of all tasks of the input queue by
their centroids, evaluates the planes between the bins of three axes, partitions the primitives stably, and writes two
tasks each to the output queue, whose holes a compaction removes. Tasks of at most 256 primitives leave the queue: one
warp splits each of them down to its leaves, with a queue of its own in shared memory. As the paper has it (`planes` =
uniform) planes part the node's box at equal distances, each task is one block's down to the leaves, and each thread of
the block finds the cost of a plane.

Paper: Lauterbach et al., Fast BVH Construction on GPUs (2009), section 4; retold by Meister, Methods for Fast
Construction of Bounding Volume Hierarchies (2014), section 5.2.2. Bins after Wald, On Fast Construction of SAH-based
Bounding Volume Hierarchies (2007).

Cost: Four launches per level for log2(n / 256) levels and some more, and one for everything below. About ten times the
time of a linear BVH, for trees that are faster to trace. With uniform planes two launches per level for log2(n /
max_leaf_size) levels and some more; near the root a few blocks go through all primitives, which takes longest.

Limits: The planes lie between 16 bins of the centroids' bounds, or at equal distances, not at every primitive, and a
leaf is made where max_leaf_size primitives are left, whatever the heuristic says of it. Where a task would need more
levels than are left, or no plane splits it, it is split at its median: log2(n / 256) + extra_levels levels of the queue
and 20 below bound the depth by 58; max_depth ends the tree earlier, in leaves of whatever is there. The device alone
knows how many levels there are, so all that there may be are launched. Unlike the paper's, a large task is the work of
many blocks where centroids are binned. Deterministic.
"""

from __future__ import annotations

import dataclasses

from .....settings import option
from ....base import Primitives
from ....primitives import REFERENCE_BITS
from ...sah_queue import SMALL_LEVELS, QueueRules, SahQueueBuilder
from ...stopping import depth_option, leaf_size_option, memory_option
from .uniform_planes import UniformPlanes

BINS = 16
SMALL = SahQueueBuilder.small
MOST_EXTRA_LEVELS = 20


@dataclasses.dataclass(frozen=True)
class SahLauterbachOptions:
    """Options of the task-queue builder."""

    max_leaf_size: int = leaf_size_option(4)
    planes: str = option(
        "bins",
        "Where splits are tried: between 16 bins of the centroids, or, as published, at planes that part the node's "
        "box at equal distances, by a block a task (uniform).",
        choices=("bins", "uniform"),
    )
    planes_per_axis: int = option(
        32,
        "Uniform planes per axis, the paper's t: a block of three times as many threads tries them.",
        minimum=4,
        maximum=64,
    )
    extra_levels: int = option(
        10,
        "Levels of the queue beyond those that halving needs: fewer of them cost less time and split more nodes at "
        "their median.",
        minimum=0,
        maximum=MOST_EXTRA_LEVELS,
    )
    nodes_per_primitive: float = memory_option()
    max_depth: int = depth_option(REFERENCE_BITS + MOST_EXTRA_LEVELS + SMALL_LEVELS)


class SahLauterbach(SahQueueBuilder):
    """See the module."""

    name = "sah_lauterbach"
    title = "SAH by task queues (Lauterbach)"
    construction = "top_down"
    Options = SahLauterbachOptions
    options: SahLauterbachOptions

    @property
    def rules(self) -> QueueRules:
        options, leaf_size = self.options, self.options.max_leaf_size
        return QueueRules(
            bins=BINS,
            sweep=0,
            leaf_at_once=leaf_size,
            extra_levels=options.extra_levels,
            max_depth=options.max_depth,
            stopping={"max_leaf_size": leaf_size, "by_cost": 0, "traversal_cost": 1.0, "intersection_cost": 1.0},
            nodes_per_primitive=options.nodes_per_primitive,
        )

    @property
    def uniform(self) -> UniformPlanes:
        """The paper's form of the queue."""
        return UniformPlanes(self.target, self.tree, self.rules, self.options.planes_per_axis, self.most_blocks)

    @property
    def is_uniform(self) -> bool:
        """Whether that is what builds."""
        return self.options.planes == "uniform"

    def most_levels(self) -> int:
        return self.uniform.levels(1 << self.tree.reference_bits) if self.is_uniform else super().most_levels()

    def scratch_bytes(self) -> int:
        return self.uniform.scratch_bytes() if self.is_uniform else super().scratch_bytes()

    def emit(self, primitives: Primitives) -> bool:
        if not self.is_uniform:
            return super().emit(primitives)
        self.uniform.link_nodes(primitives)
        return self.compute_bounds(primitives)


__all__ = ["SahLauterbach", "SahLauterbachOptions"]
