"""Top-down SAH with task queues: every node is parted where the surface area heuristic says, all nodes of a level at once.

Idea: A task is a node that is still to be parted. Each level bins the primitives of all tasks of the input queue by their centroids, evaluates the
planes between the bins of three axes, parts the primitives stably, and writes two tasks each to the output queue, whose holes a compaction removes.
Tasks of at most 256 primitives leave the queue: one warp parts each of them down to its leaves, with a queue of its own in shared memory.

Paper: Lauterbach et al., Fast BVH Construction on GPUs (2009), section 4; retold by Meister, BVH construction on the GPU (2014), section 5.2.2. Bins
after Wald, On Fast Construction of SAH-based Bounding Volume Hierarchies (2007).

Cost: Five launches a level for log2(n / 256) levels and some more, and one for everything below. About ten times the time of a linear BVH, for trees
that are faster to trace.

Limits: The planes lie between 16 bins of the centroids' bounds, not at every primitive, and a leaf is made where max_leaf_size primitives are left,
whatever the heuristic says of it. Where a task would need more levels than are left, or no plane parts it, it is parted at its median: log2(n / 256)
+ extra_levels levels of the queue and 20 below bound the depth by 58. The device alone knows how many levels there are, so all that there may be are
launched. Unlike the paper's, a large task is the work of many blocks, and centroids' bounds are binned, not the node's box. Deterministic.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .....settings import option
from .....target.base import Array, Unit
from ....base import Primitives
from ....primitives import unit_source
from ...bvh import BvhHierarchy
from ...tree import MAX_LEAF_SIZE, REFERENCE_BITS

BINS = 16
SMALL = 256
"""Most primitives of a task that a warp finishes alone."""
CHUNK = 512
"""Primitives of a larger task that a block works on."""
SMALL_LEVELS = 20
"""Levels below a small task's node: 8 by medians alone."""
BIN_WORDS = 7
MOST_BLOCKS = 4096
FOLDER = "gpu/hierarchy/bvh/builders/sah_lauterbach"


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
        maximum=20,
    )


class SahLauterbach(BvhHierarchy):
    """See the module."""

    name = "sah_lauterbach"
    title = "SAH by task queues (Lauterbach)"
    Options = SahLauterbachOptions
    options: SahLauterbachOptions

    def max_depth(self) -> int:
        return (REFERENCE_BITS - (SMALL.bit_length() - 1)) + self.options.extra_levels + SMALL_LEVELS

    def scratch_bytes(self) -> int:
        return sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in self._arrays(max(1, self.tree.count)).values())

    def levels_of_queue(self, n: int) -> int:
        """How many levels large tasks can have: after so many halvings and the extra levels none has more than SMALL references."""
        return max(0, -(-n // SMALL) - 1).bit_length() + self.options.extra_levels if n > SMALL else 0

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, primitives.count
        held = {name: target.scratch(f"sah_lauterbach.{name}", shape, dtype) for name, (shape, dtype) in self._arrays(n).items()}
        constants = {"BINS": BINS, "SMALL": SMALL, "CHUNK": CHUNK}
        large = target.unit(unit_source(f"{FOLDER}/large_tasks.cu", primitives, **constants))
        small = target.unit(unit_source(f"{FOLDER}/small_tasks.cu", primitives, SMALL_LEVELS=SMALL_LEVELS, **constants))
        leaf_size = self.options.max_leaf_size
        with target.phase("build.references"):
            queue = (held["counts"], held["out_tasks"], held["out_bounds"])
            target.launch(large, "start_queue", 1, n, leaf_size, *queue, tree.parent, tree.root, blocks=1)
            bins = held["bins"]
            target.launch(large, "write_references", n, primitives.view, held["references"], held["out_bounds"], tree.flags, len(bins), bins)
            self._compact(large, held, 1, 0)
        levels = self.levels_of_queue(n)
        with target.phase("build.queue"):
            for level in range(levels):
                self._part_level(large, held, level, levels - level)
        with target.phase("build.small_tasks"):
            arguments = (held["counts"], held["small_tasks"], held["references"], held["parted"], leaf_size)
            blocks = min(len(held["small_tasks"]), 4 * MOST_BLOCKS)
            target.launch(small, "part_small_tasks", n, *arguments, tree.order, tree.nodes, tree.parent, tree.flags, block=32, blocks=blocks)
        return self.fit(primitives, "build")

    def _part_level(self, unit: Unit, held: dict[str, Array], level: int, levels_left: int) -> None:
        target, tree = self.target, self.tree
        counts, tasks, first_chunks, bounds = (held[name] for name in ("counts", "tasks", "first_chunks", "bounds"))
        references, parted = (held["references"], held["parted"])[:: -1 if level % 2 else 1]
        task_blocks, chunk_blocks = (min(len(held[name]), MOST_BLOCKS) for name in ("tasks", "chunk_tasks"))
        binned = (held["bins"], held["chunk_tasks"], held["chunk_counts"])
        target.launch(unit, "bin_chunks", 1, counts, tasks, first_chunks, bounds, references, *binned, blocks=chunk_blocks)
        splits, left_before, out_tasks, out_bounds = (held[name] for name in ("splits", "left_before", "out_tasks", "out_bounds"))
        arguments = (counts, levels_left, self.options.max_leaf_size, tasks, first_chunks, held["bins"], held["chunk_counts"])
        outputs = (splits, left_before, out_tasks, out_bounds, tree.nodes, tree.parent, tree.flags)
        target.launch(unit, "choose_splits", 1, *arguments, *outputs, blocks=task_blocks)
        queue = (counts, tasks, first_chunks, bounds, held["chunk_tasks"], splits, left_before)
        target.launch(unit, "part_chunks", 1, *queue, references, parted, out_bounds, blocks=chunk_blocks)
        self._compact(unit, held, 0, (level + 1) % 2)

    def _compact(self, unit: Unit, held: dict[str, Array], is_start: int, parity: int) -> None:
        names = ("out_tasks", "out_bounds", "counts", "tasks", "first_chunks", "bounds", "small_tasks")
        self.target.launch(unit, "compact_queue", 1, is_start, parity, *(held[name] for name in names), block=1024, blocks=1)

    def _arrays(self, n: int) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the scratch memory: a level has at most n / SMALL large tasks, and one chunk more than full ones for each."""
        tasks = n // (SMALL + 1) + 1
        chunks = n // CHUNK + tasks
        smalls = min(n, 1 + 2 * tasks * self.levels_of_queue(n))
        return {
            "references": ((n, 8), np.float32),
            "parted": ((n, 8), np.float32),
            "counts": ((3,), np.int32),
            "tasks": ((tasks, 4), np.int32),
            "first_chunks": ((tasks,), np.int32),
            "bounds": ((tasks, 6), np.int32),
            "bins": ((tasks * 3 * BINS, BIN_WORDS), np.int32),
            "splits": ((tasks, 4), np.int32),
            "out_tasks": ((2 * tasks, 4), np.int32),
            "out_bounds": ((2 * tasks, 6), np.int32),
            "chunk_tasks": ((chunks,), np.int32),
            "chunk_counts": ((chunks, 3 * BINS), np.int32),
            "left_before": ((chunks,), np.int32),
            "small_tasks": ((smalls, 4), np.int32),
        }


__all__ = ["SahLauterbach", "SahLauterbachOptions"]
