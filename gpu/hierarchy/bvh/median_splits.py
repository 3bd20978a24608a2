"""Spatial median splits of references in Morton order by work queues: of `hlbvh_median`, and below the clusters of
`hlbvh_sah`.

median_splits.cu has the kernels and the reasons. The queues' first tasks are the root's, by `begin_with_root`, or what
a builder puts there itself.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ...target.base import Array, Target, Unit, UnitSource
from .tree import CanonicalTree

TASK = 128
"""References of the largest task that one block finishes in shared memory."""

WIDE_LEVELS = 5
"""Levels of wider tasks per launch."""

BATCH = 8
"""Tasks that a block finishes together."""

WIDE_BLOCK = {"cuda": 512, "host": 1}
SMALL_BLOCK = {"cuda": 128, "host": 1}
MOST_BLOCKS = 4096


@dataclasses.dataclass(frozen=True)
class Queues:
    """Work queues of one build: two that wide tasks go to and fro between, one of small tasks, and how many lie in
    each.

    `counts` has a counter a launch of wide tasks, one more that the last of them fills with nothing, and the small
    tasks' last.
    """

    wide: tuple[Array, Array]
    small: Array
    counts: Array
    wide_bound: int

    @property
    def launches(self) -> int:
        """Launches of wide tasks that may be needed, whatever the codes."""
        return int(self.counts.shape[0]) - 2


class MedianSplits:
    """See the module."""

    def __init__(self, target: Target, code_bits: int) -> None:
        self.target, self.code_bits = target, code_bits
        self.max_leaf_size = 1
        """Of the tree to be built next; the builder sets it first, as it depends on the primitives."""

    def unit(self, tree: CanonicalTree) -> Unit:
        """The unit of median_splits.cu."""
        constants = {
            "REFERENCE_BITS": tree.reference_bits,
            "CODE_BITS": self.code_bits,
            "TASK": TASK,
            "WIDE_LEVELS": WIDE_LEVELS,
            "BATCH": BATCH,
        }
        return self.target.unit(UnitSource("gpu/hierarchy/bvh/median_splits.cu", constants=tuple(constants.items())))

    def queues(self, count: int, bits: int, first_tasks: int = 1) -> Queues:
        """Room for the tasks of `count` references that `first_tasks` tasks start with and that still have `bits` bits
        of their codes to split by."""
        # A split takes a bit of the code; when all are equal it halves. Above TASK references a task is wide.
        levels = 0 if count <= TASK else bits + (-(-count // TASK) - 1).bit_length()
        wide_bound = max(1, count // (TASK + 1))
        scratch = self.target.scratch
        wide = (
            scratch("median.wide", (wide_bound, 2), np.int32),
            scratch("median.next_wide", (wide_bound, 2), np.int32),
        )
        small = scratch("median.small", (max(1, first_tasks, count // (self.max_leaf_size + 1)), 2), np.int32)
        counts = scratch("median.counts", -(-levels // WIDE_LEVELS) + 2, np.int32)
        return Queues(wide, small, counts, wide_bound)

    def begin_with_root(self, keys: Array, prim_ids: Array | None, tree: CanonicalTree) -> Queues:
        """Queues that hold the root alone; writes the order of the references, clears the flags."""
        n = tree.count
        queues = self.queues(n, self.code_bits)
        self.target.launch(
            self.unit(tree),
            "begin_with_root",
            n,
            n=n,
            keys=keys,
            prim_ids=prim_ids,
            order=tree.order,
            parent=tree.parent,
            flags=tree.flags,
            root=tree.root,
            max_leaf_size=self.max_leaf_size,
            wide=queues.wide[0],
            small=queues.small,
            counts=queues.counts,
            queue_count=int(queues.counts.shape[0]),
        )
        return queues

    def split(self, keys: Array, tree: CanonicalTree, queues: Queues, first_tasks: int = 1) -> None:
        """Work the queues off: links, parents and EXISTS flags of every node below the first tasks."""
        target, unit, kind = self.target, self.unit(tree), self.target.kind
        links = {
            "keys": keys,
            **tree.links(),
            "max_leaf_size": self.max_leaf_size,
        }
        (wide, next_wide), counts = queues.wide, queues.counts
        small_count = counts[queues.launches + 1 :]
        bound = first_tasks
        for launch in range(queues.launches):
            bound = min(bound, queues.wide_bound)
            target.launch(
                unit,
                "split_wide_tasks",
                bound,
                **links,
                wide=wide,
                wide_count=counts[launch:],
                next_wide=next_wide,
                next_wide_count=counts[launch + 1 :],
                small=queues.small,
                small_count=small_count,
                block=WIDE_BLOCK[kind],
                blocks=min(bound, MOST_BLOCKS),
            )
            wide, next_wide, bound = next_wide, wide, bound << WIDE_LEVELS
        batches = -(-int(queues.small.shape[0]) // BATCH)
        blocks = min(batches, MOST_BLOCKS)
        target.launch(
            unit,
            "finish_small_tasks",
            batches,
            **links,
            small=queues.small,
            small_count=small_count,
            block=SMALL_BLOCK[kind],
            blocks=blocks,
        )

    def scratch_bytes(self, count: int) -> int:
        """Bytes of the queues of `count` references."""
        return 16 * max(1, count // (TASK + 1)) + 8 * max(1, count // (self.max_leaf_size + 1))
