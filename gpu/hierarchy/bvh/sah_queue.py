"""Builders from the top by a queue of tasks: every node is parted by binned SAH, all nodes of a level at once (sah_large_tasks.cu), and what is small
enough is finished by one warp (sah_small_tasks.cu). What sah_lauterbach and binned_sah have in common.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from ...target.base import Array, Unit
from ..base import Primitives
from ..primitives import unit_source
from .bvh import BvhHierarchy
from .tree import REFERENCE_BITS

BIN_WORDS = 7
_FOLDER = "gpu/hierarchy/bvh"

SMALL_LEVELS = 20
"""Levels below a small task's node: 7 or 8 by medians alone."""


@dataclasses.dataclass(frozen=True)
class QueueRules:
    """What the builders differ in. `stopping`: the arguments of a Stopping; `leaf_at_once`: sets that are leaves unseen; `extra_levels`: those of the
    queue beyond those that halving needs."""

    bins: int
    sweep: int
    leaf_at_once: int
    extra_levels: int
    max_depth: int
    stopping: tuple[int, int, float, float]
    nodes_per_primitive: float


class SahQueueBuilder(BvhHierarchy):
    """See the module. A builder gives `rules`."""

    ids_follow_references = True
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
        return self.least_levels(1 << REFERENCE_BITS) + self.rules.extra_levels + SMALL_LEVELS

    def least_levels(self, n: int) -> int:
        """Levels of the queue after which halving alone leaves nothing larger than a small task."""
        return max(0, -(-n // self.small) - 1).bit_length()

    def scratch_bytes(self) -> int:
        return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in self._arrays(max(1, self.tree.count)).values())

    def levels_of_queue(self, n: int) -> int:
        """How many levels large tasks can have: after so many halvings and the extra levels none has more than `small` references."""
        return self.least_levels(n) + self.rules.extra_levels if n > self.small else 0

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, primitives.count
        held = {name: target.scratch(f"sah_queue.{name}", shape, dtype) for name, (shape, dtype) in self._arrays(n).items()}
        rules, constants = self.rules, {"BINS": self.rules.bins, "SMALL": self.small, "CHUNK": self.chunk}
        large = target.unit(unit_source(f"{_FOLDER}/sah_large_tasks.cu", primitives, **constants))
        small = target.unit(unit_source(f"{_FOLDER}/sah_small_tasks.cu", primitives, SWEEP=rules.sweep, **constants))
        with target.phase("build.references"):
            queue = (held["counts"], held["out_tasks"], held["out_bounds"])
            budget = int(rules.nodes_per_primitive * (n - 1))
            target.launch(large, "start_queue", 1, n, rules.leaf_at_once, budget, *queue, tree.parent, tree.root, blocks=1)
            bins = held["bins"]
            target.launch(large, "write_references", n, primitives.view, held["references"], held["out_bounds"], tree.flags, len(bins), bins)
            self._compact(large, held, 0)
        levels = self.levels_of_queue(n)
        launched = min(levels, rules.max_depth)
        with target.phase("build.queue"):
            for level in range(launched):
                self._part_level(large, held, level, levels - level)
            if launched < levels:
                left = (held["counts"], held["tasks"], held["parted" if launched % 2 else "references"], tree.order)
                blocks = min(len(held["tasks"]), self.most_blocks)
                target.launch(large, "close_tasks", 1, *left, tree.nodes, tree.parent, tree.flags, tree.root, tree.long_leaves, blocks=blocks)
        with target.phase("build.small_tasks"):
            arguments = (held["counts"], held["small_tasks"], held["references"], held["parted"], SMALL_LEVELS, rules.max_depth)
            blocks = min(len(held["small_tasks"]), 4 * self.most_blocks)
            outputs = (tree.order, tree.nodes, tree.parent, tree.flags, tree.root, tree.long_leaves)
            target.launch(small, "part_small_tasks", n, *arguments, *rules.stopping, *outputs, block=32, blocks=blocks)
        return self.fit(primitives, "build")

    def _part_level(self, unit: Unit, held: dict[str, Array], level: int, levels_left: int) -> None:
        target, tree = self.target, self.tree
        counts, tasks, first_chunks, bounds = (held[name] for name in ("counts", "tasks", "first_chunks", "bounds"))
        references, parted = (held["references"], held["parted"])[:: -1 if level % 2 else 1]
        task_blocks, chunk_blocks = (min(len(held[name]), self.most_blocks) for name in ("tasks", "chunk_tasks"))
        binned = (held["bins"], held["chunk_tasks"], held["chunk_counts"])
        target.launch(unit, "bin_chunks", 1, counts, tasks, first_chunks, bounds, references, *binned, blocks=chunk_blocks)
        splits, left_before, out_tasks, out_bounds = (held[name] for name in ("splits", "left_before", "out_tasks", "out_bounds"))
        arguments = (counts, levels_left, self.rules.leaf_at_once, tasks, first_chunks, held["bins"], held["chunk_counts"])
        outputs = (splits, left_before, out_tasks, out_bounds, tree.nodes, tree.parent, tree.flags)
        target.launch(unit, "choose_splits", 1, *arguments, *outputs, blocks=task_blocks)
        queue = (counts, tasks, first_chunks, bounds, held["chunk_tasks"], splits, left_before)
        target.launch(unit, "part_chunks", 1, *queue, references, parted, out_bounds, blocks=chunk_blocks)
        self._compact(unit, held, level + 1)

    def _compact(self, unit: Unit, held: dict[str, Array], depth: int) -> None:
        names = ("out_tasks", "out_bounds", "counts", "tasks", "first_chunks", "bounds", "small_tasks")
        self.target.launch(unit, "compact_queue", 1, depth, *(held[name] for name in names), block=1024, blocks=1)

    def _arrays(self, n: int) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the scratch memory: a level has at most n / `small` large tasks, and one chunk more than full ones for each."""
        bins, tasks = self.rules.bins, n // (self.small + 1) + 1
        chunks = n // self.chunk + tasks
        smalls = min(n, 1 + 2 * tasks * self.levels_of_queue(n))
        return {
            "references": ((n, 8), np.float32),
            "parted": ((n, 8), np.float32),
            "counts": ((3,), np.int32),
            "tasks": ((tasks, 4), np.int32),
            "first_chunks": ((tasks,), np.int32),
            "bounds": ((tasks, 6), np.int32),
            "bins": ((tasks * 3 * bins, BIN_WORDS), np.int32),
            "splits": ((tasks, 4), np.int32),
            "out_tasks": ((2 * tasks, 4), np.int32),
            "out_bounds": ((2 * tasks, 6), np.int32),
            "chunk_tasks": ((chunks,), np.int32),
            "chunk_counts": ((chunks, 3 * bins), np.int32),
            "left_before": ((chunks,), np.int32),
            "small_tasks": ((smalls, 4), np.int32),
        }
