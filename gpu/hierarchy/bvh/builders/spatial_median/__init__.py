"""Spatial median: every node is split by the plane in the middle of its primitives' centroids.

Idea: Along one axis, the centroids' greatest extent or x, y, z in turn, centroids below the middle go left, the others
right. What linear builders do on a fixed grid (lbvh, hlbvh_median) happens here at the middle of what is really there.

Paper: Told by Meister, Methods for Fast Construction of Bounding Volume Hierarchies (2014), 4.2; Wald, On Fast
Construction of SAH-based Bounding Volume Hierarchies (2007), compares with it.

Cost: O(n d) for d levels: the middle is found by binary search in a sorted list, and nodes partition the sorted lists
stably, as sweep_sah does. The upper nodes are one block's work each; task_pool without SAH makes much the same trees
faster.

Limits: Where the middle splits nothing, and where a set would be too large for the levels that are left, it is halved.
One launch for every level that there may be, 40 by default; max_depth ends the tree earlier, in leaves of whatever is
there. Deterministic.
"""

from __future__ import annotations

import dataclasses

from ...sorted_lists import MedianOptions, SortedListsBuilder


@dataclasses.dataclass(frozen=True)
class SpatialMedianOptions(MedianOptions):
    """Options of the spatial median."""


class SpatialMedian(SortedListsBuilder):
    """See the module."""

    name = "spatial_median"
    title = "Spatial median"
    construction = "top_down"
    Options = SpatialMedianOptions
    rule = SortedListsBuilder.SPATIAL_MEDIAN


__all__ = ["SpatialMedian", "SpatialMedianOptions"]
