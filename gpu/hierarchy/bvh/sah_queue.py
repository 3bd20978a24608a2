"""Top-down builders with a queue of tasks: every node is split by binned SAH, all nodes of a level at once
(sah_large_tasks.cu), and what is small enough is finished by one warp (sah_small_tasks.cu). What sah_lauterbach and
binned_sah have in common."""

from __future__ import annotations

import abc
import dataclasses
from typing import ClassVar

import numpy as np

from ...target.base import Array, Unit
from ..base import Primitives
from ..primitives import unit_source
from ..scratch import Shapes, bytes_of, scratch_arrays
from .bins import BinRow
from .bvh import BvhHierarchy
from .tree import MAX_WIDE_LEAF_SIZE

_FOLDER = "gpu/hierarchy/bvh"

SMALL_LEVELS = 20
"""Levels below a small task's node: 7 or 8 by medians alone."""


@dataclasses.dataclass(frozen=True)
class QueueRules:
    """What the builders differ in. `stopping`: the arguments of a Stopping; `leaf_at_once`: sets that are leaves
    unseen; `extra_levels`: those of the queue beyond those that halving needs."""

    bins: int
    sweep: int
    leaf_at_once: int
    extra_levels: int
    max_depth: int
    stopping: dict[str, int | float]
    nodes_per_primitive: float


class SahQueueBuilder(BvhHierarchy):
    """See the module. A builder gives `rules`."""

    ids_follow_references = True
    most_wide_leaf = MAX_WIDE_LEAF_SIZE
    small: ClassVar[int] = 256
    """Most primitives of a task that a warp finishes alone."""
    chunk: ClassVar[int] = 512
    """Primitives of a larger task that a block works on."""
    most_blocks: ClassVar[int] = 4096

    @property
    @abc.abstractmethod
    def rules(self) -> QueueRules:
        """From the options."""

    def max_depth(self) -> int:
        return min(self.rules.max_depth, self.most_levels())

    def may_have_long_leaves(self) -> bool:
        return self.rules.max_depth < self.most_levels()

    def most_levels(self) -> int:
        """The depth that no tree passes, whatever the options bound it by."""
        return self.least_levels(1 << self.tree.reference_bits) + self.rules.extra_levels + SMALL_LEVELS

    def least_levels(self, n: int) -> int:
        """Levels of the queue after which halving alone leaves nothing larger than a small task."""
        return max(0, -(-n // self.small) - 1).bit_length()

    def scratch_bytes(self) -> int:
        return bytes_of(self._arrays(max(1, self.tree.count)))

    def levels_of_queue(self, n: int) -> int:
        """How many levels large tasks can have: after so many halvings and the extra levels none has more than `small`
        references."""
        return self.least_levels(n) + self.rules.extra_levels if n > self.small else 0

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, primitives.count
        held = scratch_arrays(target, "sah_queue", self._arrays(n))
        rules, constants = self.rules, {"BINS": self.rules.bins, "SMALL": self.small, "CHUNK": self.chunk}
        large = target.unit(unit_source(f"{_FOLDER}/sah_large_tasks.cu", primitives, **constants))
        small = target.unit(unit_source(f"{_FOLDER}/sah_small_tasks.cu", primitives, SWEEP=rules.sweep, **constants))
        with target.phase("build.references"):
            self._begin(large, held, primitives)
            self._compact(large, held, 0)
        levels = self.levels_of_queue(n)
        launched = min(levels, rules.max_depth)
        with target.phase("build.queue"):
            for level in range(launched):
                self._split_level(large, held, level, levels - level)
            if launched < levels:
                target.launch(
                    large,
                    "close_tasks",
                    1,
                    counts=held["counts"],
                    tasks=held["tasks"],
                    references=held["partitioned" if launched % 2 else "references"],
                    order=tree.order,
                    **tree.links(),
                    root=tree.root,
                    long_leaves=tree.long_leaves,
                    blocks=min(len(held["tasks"]), self.most_blocks),
                )
        with target.phase("build.small_tasks"):
            target.launch(
                small,
                "split_small_tasks",
                n,
                counts=held["counts"],
                small_tasks=held["small_tasks"],
                references=held["references"],
                other_references=held["partitioned"],
                most_levels=SMALL_LEVELS,
                max_depth=rules.max_depth,
                **rules.stopping,
                order=tree.order,
                **tree.links(),
                root=tree.root,
                long_leaves=tree.long_leaves,
                block=32,
                blocks=min(len(held["small_tasks"]), 4 * self.most_blocks),
            )
        return self.compute_bounds(primitives)

    def _begin(self, unit: Unit, held: dict[str, Array], primitives: Primitives) -> None:
        """The references, and a queue that holds the root."""
        target, tree, n, rules = self.target, self.tree, primitives.count, self.rules
        target.launch(
            unit,
            "start_queue",
            1,
            n=n,
            max_leaf_size=rules.leaf_at_once,
            budget=int(rules.nodes_per_primitive * (n - 1)),
            counts=held["counts"],
            out_tasks=held["out_tasks"],
            out_bounds=held["out_bounds"],
            parent=tree.parent,
            root=tree.root,
            long_leaves=tree.long_leaves,
            blocks=1,
        )
        target.launch(
            unit,
            "write_references",
            n,
            primitives=primitives.view,
            references=held["references"],
            out_bounds=held["out_bounds"],
            flags=tree.flags,
            bin_count=len(held["bins"]),
            bins=held["bins"],
        )

    def _split_level(self, unit: Unit, held: dict[str, Array], level: int, levels_left: int) -> None:
        target, tree = self.target, self.tree
        counts, tasks, first_chunks, bounds = (held[name] for name in ("counts", "tasks", "first_chunks", "bounds"))
        references, partitioned = (held["references"], held["partitioned"])[:: -1 if level % 2 else 1]
        task_blocks, chunk_blocks = (min(len(held[name]), self.most_blocks) for name in ("tasks", "chunk_tasks"))
        target.launch(
            unit,
            "bin_chunks",
            1,
            counts=counts,
            tasks=tasks,
            first_chunks=first_chunks,
            task_bounds=bounds,
            references=references,
            bins=held["bins"],
            task_of_chunk=held["chunk_tasks"],
            chunk_counts=held["chunk_counts"],
            blocks=chunk_blocks,
        )
        splits, left_before, out_tasks, out_bounds = (
            held[name] for name in ("splits", "left_before", "out_tasks", "out_bounds")
        )
        target.launch(
            unit,
            "choose_splits",
            1,
            counts=counts,
            levels_left=levels_left,
            max_leaf_size=self.rules.leaf_at_once,
            tasks=tasks,
            first_chunks=first_chunks,
            bins=held["bins"],
            chunk_counts=held["chunk_counts"],
            splits=splits,
            left_before=left_before,
            out_tasks=out_tasks,
            out_bounds=out_bounds,
            **tree.links(),
            blocks=task_blocks,
        )
        target.launch(
            unit,
            "partition_chunks",
            1,
            counts=counts,
            tasks=tasks,
            first_chunks=first_chunks,
            task_bounds=bounds,
            task_of_chunk=held["chunk_tasks"],
            splits=splits,
            left_before=left_before,
            references=references,
            partitioned=partitioned,
            out_bounds=out_bounds,
            blocks=chunk_blocks,
        )
        self._compact(unit, held, level + 1)

    def _compact(self, unit: Unit, held: dict[str, Array], depth: int) -> None:
        self.target.launch(
            unit,
            "compact_queue",
            1,
            depth=depth,
            out_tasks=held["out_tasks"],
            out_bounds=held["out_bounds"],
            counts=held["counts"],
            tasks=held["tasks"],
            first_chunks=held["first_chunks"],
            task_bounds=held["bounds"],
            small_tasks=held["small_tasks"],
            block=1024,
            blocks=1,
        )

    def _arrays(self, n: int) -> Shapes:
        """Shapes and types of the scratch memory: a level has at most n / `small` large tasks, and one chunk more than
        full ones for each."""
        bins, tasks = self.rules.bins, n // (self.small + 1) + 1
        chunks = n // self.chunk + tasks
        smalls = min(n, 1 + 2 * tasks * self.levels_of_queue(n))
        return {
            "references": ((n, 8), np.float32),
            "partitioned": ((n, 8), np.float32),
            "counts": ((3,), np.int32),
            "tasks": ((tasks, 4), np.int32),
            "first_chunks": ((tasks,), np.int32),
            "bounds": ((tasks, 6), np.int32),
            "bins": ((tasks * 3 * bins, BinRow.words()), np.int32),
            "splits": ((tasks, 4), np.int32),
            "out_tasks": ((2 * tasks, 4), np.int32),
            "out_bounds": ((2 * tasks, 6), np.int32),
            "chunk_tasks": ((chunks,), np.int32),
            "chunk_counts": ((chunks, 3 * bins), np.int32),
            "left_before": ((chunks,), np.int32),
            "small_tasks": ((smalls, 4), np.int32),
        }
