"""Full-sweep SAH: every plane between two primitives is tried, on all three axes, at every node. The best a greedy
choice of planes can do.

Idea: The surface area heuristic needs, for a plane, the boxes and the numbers of both sides. Along a list that is
sorted by centroids they are known for all planes after one sweep upwards and one downwards. Sorting anew at every node
would cost more than the sweeps: all primitives are sorted once along each axis, and a node that partitions one list
partitions the other two with it, in their order.

Paper: MacDonald and Booth, Heuristics for Ray Tracing Using Space Subdivision (1990), for the cost; the sorted lists
after Wald and Havran, On Building Fast kd-Trees for Ray Tracing, and on Doing That in O(N log N) (2006). Told by
Meister, Methods for Fast Construction of Bounding Volume Hierarchies (2014), 4.2.

Cost: O(n log n), two to three times the time of binned_sah on two cores, for trees at most one per cent cheaper. The
upper nodes are one block's work each: slow on a GPU, where it is there for its trees.

Limits: It chooses for one node at a time, so a binned tree can turn out cheaper by luck. One launch for every level
that there may be, 40 by default; sets that would be too large by then are halved. max_depth ends the tree earlier, in
leaves of whatever is there. Deterministic.
"""

from __future__ import annotations

import dataclasses

from ...sorted_lists import SortedListsBuilder
from ...stopping import LevelOptions


@dataclasses.dataclass(frozen=True)
class SweepSahOptions(LevelOptions):
    """Options of the full sweep."""


class SweepSah(SortedListsBuilder):
    """See the module."""

    name = "sweep_sah"
    title = "SAH, full sweep"
    construction = "top_down"
    Options = SweepSahOptions
    rule = SortedListsBuilder.SWEEP


__all__ = ["SweepSah", "SweepSahOptions"]
