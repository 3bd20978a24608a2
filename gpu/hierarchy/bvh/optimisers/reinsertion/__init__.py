"""Reinsertion: every subtree looks for a better place in the whole tree, and those that do not get in each other's way
move at once.

Idea: Taking a subtree out makes the boxes above it smaller, putting it in elsewhere makes others larger. The best place
for it is found by a search that leaves out what cannot gain. Thousands of subtrees may move in a round, as long as no
node is touched by two of them: of those that meet, the one with the greater gain moves.

Paper: Meister and Bittner, Parallel Reinsertion for Bounding Volume Hierarchy Optimization (2018), after Bittner,
Hapala and Havran, Fast Insertion-Based Optimization of Bounding Volume Hierarchies (2013).

Cost: Many times a fast build, for scenes that stand still or are traced for long. It finds what the other optimisers do
not: moves from one part of the tree to another. More rounds gain more, less and less.

Limits: A move locks the whole way between its two places, so that gains add up exactly; the paper's variant that locks
less moves more in a round and may lose again. A search ends after 512 nodes. A round that made the tree dearer, or more
than sixteen deeper, would be taken back. The SAH cost never rises. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from ....base import Primitives
from ...tree import CanonicalTree
from .. import Optimiser

SLACK = 16
"""How much deeper the tree may get."""


@dataclasses.dataclass(frozen=True)
class ReinsertionOptions:
    """Options of reinsertion."""

    rounds: int = option(16, "How often every subtree looks for a better place.", minimum=1, maximum=64)


class Reinsertion(Optimiser):
    """See the module."""

    name = "reinsertion"
    title = "Parallel reinsertion"
    moves_far = True
    Options = ReinsertionOptions
    options: ReinsertionOptions

    def max_depth(self, depth: int) -> int:
        return depth + SLACK

    def scratch_bytes(self, reference_count: int) -> int:
        return (1 + 8 + 8 + 8 + 12 + 16 + 8) * reference_count

    def improve(self, tree: CanonicalTree, primitives: Primitives, after_refit: bool = False) -> None:
        target, capacity = self.target, tree.node_capacity
        if capacity == 0:
            return
        unit = target.unit(
            tree.unit_source("gpu/hierarchy/bvh/optimisers/reinsertion/reinsertion.cu", primitives, SLACK=SLACK)
        )
        starts, locks = (
            target.scratch("optimise.starts", capacity, np.uint8),
            target.scratch("optimise.locks", capacity, np.uint64),
        )
        subtrees = target.scratch("optimise.subtrees", (capacity, 2), np.int32)
        costs, progress = (
            target.scratch("optimise.costs", capacity, np.float64),
            target.scratch("optimise.progress", 3, np.float64),
        )
        saved = target.scratch("optimise.saved", (capacity, 3), np.int32)
        keys, targets = (
            target.scratch("optimise.keys", 2 * capacity, np.uint64),
            target.scratch("optimise.targets", 2 * capacity, np.int32),
        )
        found = {"node_capacity": capacity, "progress": progress}
        boxes = {**tree.leaf_boxes(), "nodes": tree.nodes, "parent": tree.parent}
        edges, links = 2 * capacity, {"nodes": tree.nodes, "parent": tree.parent}
        locking = {"keys": keys, "targets": targets, "locks": locks}
        with target.phase("optimise.reinsertion"):
            for number in range(self.options.rounds + 1):
                sizes = {"node_capacity": capacity, "starts": starts}
                target.launch(unit, "mark_round", capacity, nodes=tree.nodes, flags=tree.flags, **sizes, locks=locks)
                sums = {"subtrees": subtrees, "costs": costs}
                target.launch(unit, "sum_areas", capacity, **boxes, **sizes, **sums, waiting=tree.waiting)
                target.launch(
                    unit,
                    "judge_round",
                    len(tree.every_root),
                    **sums,
                    roots=tree.every_root,
                    root_count=len(tree.every_root),
                    is_first=int(number == 0),
                    progress=progress,
                    block=256,
                    blocks=1,
                )
                target.launch(unit, "save_or_take_back", capacity, **tree.links(), **found, saved=saved)
                if number == self.options.rounds:
                    break
                chosen = {"keys": keys, "targets": targets}
                target.launch(unit, "find_targets", edges, **boxes, flags=tree.flags, **found, **chosen)
                target.launch(unit, "lock_nodes", edges, **links, **found, **locking)
                target.launch(unit, "check_locks", edges, **links, **found, **locking)
                target.launch(unit, "move_subtrees", edges, **links, **found, targets=targets)


__all__ = ["Reinsertion", "ReinsertionOptions"]
