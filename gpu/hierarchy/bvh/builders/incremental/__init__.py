"""Incremental construction: primitives are inserted one by one, each where the tree grows least. The first automatic
way to build a BVH.

Idea: A primitive starts at the root. There it either gets a node together with all that is below, or goes on into the
child whose area it enlarges least, whichever costs less; at the end every box on its way up grows around it.

Paper: Goldsmith and Salmon, Automatic Creation of Object Hierarchies for Ray Tracing (1987); told by Meister, Methods
for Fast Construction of Bounding Volume Hierarchies (2014), 4.4.

Cost: O(n log n) steps one after the other: no insertion can start before the last one has ended. One thread does them,
slow on any target and slowest on a GPU, which takes fewer primitives for that. Leaves and links at the end are
parallel. Its trees cost a quarter to a half more than those of binned_sah.

Limits: At most 1,048,576 primitives on the host, 32,768 on a GPU. The tree depends on the order of insertion:
`shuffled` is mostly better than the order of a modelled mesh, whose neighbours come one after the other. A tree that
would pass 62 levels takes a primitive in at another place instead, so the depth is bounded. Leaves are what the cost
makes of the finished tree from below. Deterministic.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from .....settings import option
from ....base import Primitives
from ....primitives import unit_source
from ....scratch import Shapes, bytes_of, scratch_arrays
from ...limited import LimitedBuilder
from ...stopping import LeafOptions

MOST_HEIGHT = 62
INSERTIONS = 4096
"""Primitives that one launch inserts."""


@dataclasses.dataclass(frozen=True)
class IncrementalOptions(LeafOptions):
    """Options of insertion; leaves as top-down builders have them."""

    order: str = option(
        "shuffled",
        "The order of insertion: that of the scene, or one that leaps about in it.",
        choices=("scene", "shuffled"),
    )


def golden_step(count: int) -> int:
    """A stride through `count` things that meets each one once, far from all before: near the golden section of their
    number."""
    step = max(1, round(0.6180339887 * count))
    while math.gcd(step, count) > 1:
        step += 1
    return step


class Incremental(LimitedBuilder):
    """See the module."""

    name = "incremental"
    title = "Incremental (insertion one by one)"
    construction = "insertion"
    ids_follow_references = True
    Options = IncrementalOptions
    options: IncrementalOptions
    most_primitives = {"host": 1 << 20, "cuda": 1 << 15}
    instead = "binned_sah, or lbvh for the fastest build"

    def max_depth(self) -> int:
        return MOST_HEIGHT

    def scratch_bytes(self) -> int:
        return bytes_of(self._arrays(max(1, self.tree.count)))

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, primitives.count
        held = scratch_arrays(target, "incremental", self._arrays(n))
        unit = target.unit(unit_source("gpu/hierarchy/bvh/builders/incremental/incremental.cu", primitives))
        growing = {
            "growing": held["nodes"],
            "growing_parent": held["parent"],
            "sizes": held["sizes"],
            "growing_root": held["root"],
        }
        with target.phase("build.insertion"):
            target.launch(
                unit,
                "begin_tree",
                n,
                primitives=primitives.view,
                **growing,
                arrived=held["arrived"],
                ends=held["ends"],
                flags=tree.flags,
            )
            step = golden_step(n) if self.options.order == "shuffled" else 1
            for first in range(1, n, INSERTIONS):
                end = min(n, first + INSERTIONS)
                target.launch(unit, "insert", 1, n=n, first=first, end=end, step=step, **growing, block=32, blocks=1)
        with target.phase("build.leaves"):
            target.launch(
                unit,
                "end_leaves",
                n,
                n=n,
                **self.options.device_values(),
                **growing,
                arrived=held["arrived"],
                ends=held["ends"],
                costs=held["costs"],
            )
            target.launch(
                unit,
                "emit_tree",
                2 * n - 1,
                n=n,
                **growing,
                ends=held["ends"],
                order=tree.order,
                **tree.links(),
                root=tree.root,
            )
        return self.compute_bounds(primitives)

    def _arrays(self, n: int) -> Shapes:
        """Shapes and types of the scratch memory."""
        return {
            "nodes": ((2 * n, 8), np.float32),
            "parent": ((2 * n,), np.int32),
            "sizes": ((2 * n, 2), np.int32),
            "root": ((1,), np.int32),
            "arrived": ((n,), np.int32),
            "ends": ((n,), np.uint8),
            "costs": ((n,), np.float32),
        }


__all__ = ["Incremental", "IncrementalOptions"]
