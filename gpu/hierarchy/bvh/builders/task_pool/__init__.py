"""BVH with a pool of tasks: the tree is split from the root downwards, and every task gets as much of the machine as it
is large.

Idea: A task is a node that is still to be split. It goes through phases (binning, choice of the plane, counting, moving
its references), and each phase is cut into chunks of work that any block may take: at the root all blocks work at one
task, further down at thousands. Splits lie where the surface area heuristic is least, or in the middle.

Paper: Vinkler, Bittner, Havran, Hapala, Massively Parallel Hierarchical Scene Processing with Applications in Rendering
(2013), as Meister, Methods for Fast Construction of Bounding Volume Hierarchies (2014), describes it in 5.6. There one
kernel runs from beginning to end, and its warps wait at the pool for each other's phases. No block waits for another
here: a pool is worked off in rounds, a phase is a kernel, counters on the device say how many tasks and chunks there
are, and prefix sums put new tasks and moved references into an order that no arrival can change. The choice of the
plane stays with the chunk that finishes last. Tasks of up to 64 references are finished by a block each, with every
reference as a candidate.

Cost: Four or five launches per round, and rounds for twice the logarithm of the number of primitives, most of which
find little to do: of the order of a millisecond or two for half a million triangles on a large GPU. SAH trees are as
good as those of a binned builder.

Limits: Slower than builders along the Morton curve: references move once a level. After most of its rounds a task is
halved by position, which bounds the depth for scenes that are nested without end; max_depth ends the tree earlier, in
leaves of whatever is there. Deterministic.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .....rows import Int, Struct
from .....settings import option
from .....target.base import Array, Unit
from ....base import Primitives
from ....primitives import REFERENCE_BITS, WIDE_REFERENCE_BITS, unit_source
from ...bins import BinRow
from ...bvh import BvhHierarchy
from ...stopping import depth_option, leaf_size_by_kind_option
from ...tree import MAX_WIDE_LEAF_SIZE

_FOLDER = "gpu/hierarchy/bvh/builders/task_pool/"

CHUNK = 1024
"""References of a chunk of work."""

SMALL = 64
"""References of the largest task that one block finishes."""

SPARE_ROUNDS = 8
"""Rounds by planes beyond those that an even tree would take, before tasks are halved."""

SWEEP_LEVELS = 16
"""Levels within a small task below which sets are halved."""

MOST_BLOCKS = 4096


def levels_above(count: int) -> int:
    """Halvings of `count` references until no set is larger than SMALL."""
    return 0 if count <= SMALL else (-(-count // SMALL) - 1).bit_length()


def most_levels(reference_bits: int = REFERENCE_BITS) -> int:
    """The depth that no tree passes: rounds by planes, halvings, and what small tasks may have."""
    return 2 * levels_above(1 << reference_bits) + SPARE_ROUNDS + SWEEP_LEVELS + SMALL.bit_length()


@dataclasses.dataclass(frozen=True)
class TaskPoolOptions:
    """Options of the pool."""

    split: str = option(
        "sah",
        "Where tasks are split: at the plane of least SAH cost, or in the middle of the greatest extent.",
        choices=("sah", "median"),
    )
    bins: int = option(32, "Bins per axis: one more than the planes that are tried.", minimum=4, maximum=32)
    max_leaf_size: int = leaf_size_by_kind_option()
    max_depth: int = depth_option(most_levels(WIDE_REFERENCE_BITS))


@dataclasses.dataclass(frozen=True)
class TaskRow(Struct):
    """`Task` of pool.cuh."""

    first: Int
    count: Int
    is_left: Int
    depth: Int


@dataclasses.dataclass(frozen=True)
class Pool:
    """A pool's memory: tasks and their children, chunks, and two lists of references that moves go to and fro
    between."""

    counts: Array
    tasks: Array
    first_chunks: Array
    bounds: Array
    chunks: Array
    left_counts: Array
    planes: Array
    arrived: Array
    bins: Array
    children: Array
    child_bounds: Array
    small: Array
    boxes: Array
    lists: tuple[Array, Array]

    def work(self) -> dict[str, Array]:
        """What kernels take that work on chunks, by their names for it."""
        return {
            "counts": self.counts,
            "task_data": self.tasks,
            "chunk_data": self.chunks,
            "bounds": self.bounds,
            "boxes": self.boxes,
            "list": self.lists[0],
            "other_list": self.lists[1],
        }


class TaskPool(BvhHierarchy):
    """See the module."""

    name = "task_pool"
    title = "BVH, task pool (SAH)"
    construction = "top_down"
    ids_follow_references = True
    most_wide_leaf = MAX_WIDE_LEAF_SIZE
    Options = TaskPoolOptions
    options: TaskPoolOptions

    def max_depth(self) -> int:
        return min(self.options.max_depth, most_levels(self.tree.reference_bits))

    def may_have_long_leaves(self) -> bool:
        return self.options.max_depth < most_levels(self.tree.reference_bits)

    def scratch_bytes(self) -> int:
        n, tasks = self.tree.count, self._most_tasks(self.tree.count)
        bins = 3 * self.options.bins * 4 * BinRow.words() if self.options.split == "sah" else 0
        return (
            n * (32 + 2 * 4)
            + tasks * (4 + 24 + 4 + 4 + 48 + 12 * TaskRow.words() + bins)
            + (n // CHUNK + tasks) * 12
            + 4 * TaskRow.words() * n
        )

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, self.tree.count
        pool, options = self._make_pool(n), self.options
        constants = {"BINS": options.bins, "CHUNK": CHUNK, "SMALL": SMALL, "SPLITS_BY_SAH": options.split == "sah"}
        rounds = target.unit(unit_source(_FOLDER + "rounds.cu", primitives, **constants))
        finish = target.unit(unit_source(_FOLDER + "finish.cu", primitives, **constants, SWEEP_LEVELS=SWEEP_LEVELS))
        with target.phase("build.boxes"):
            target.launch(
                rounds,
                "clear_pool",
                1,
                n=n,
                bounds=pool.bounds,
                counts=pool.counts,
                tasks=pool.tasks,
                first_chunks=pool.first_chunks,
                small=pool.small,
                parent=tree.parent,
                root=tree.root,
                max_leaf_size=self.leaf_size,
            )
            target.launch(
                rounds,
                "begin_pool",
                n,
                primitives=primitives.view,
                boxes=pool.boxes,
                prim_ids=pool.lists[0],
                bounds=pool.bounds,
                flags=tree.flags,
            )
        planes_rounds = levels_above(n) + SPARE_ROUNDS if n > SMALL else 0
        all_rounds = planes_rounds + levels_above(n)
        with target.phase("build.rounds"):
            for number in range(min(all_rounds, options.max_depth)):
                self._round(rounds, pool, number, number >= planes_rounds)
            if options.max_depth < all_rounds:
                blocks = min(int(pool.planes.shape[0]), MOST_BLOCKS)
                target.launch(
                    rounds,
                    "keep_tasks",
                    blocks,
                    counts=pool.counts,
                    task_data=pool.tasks,
                    list=pool.lists[0],
                    other_list=pool.lists[1],
                    order=tree.order,
                    blocks=blocks,
                )
        with target.phase("build.small_tasks"):
            self._finish(finish, pool)
        return self.compute_bounds(primitives)

    def _finish(self, unit: Unit, pool: Pool) -> None:
        """The nodes of every small task, by one block each."""
        blocks = min(int(pool.small.shape[0]), MOST_BLOCKS)
        self.target.launch(
            unit,
            "finish_tasks",
            blocks,
            counts=pool.counts,
            small_data=pool.small,
            boxes=pool.boxes,
            list=pool.lists[0],
            other_list=pool.lists[1],
            **self._written(),
            order=self.tree.order,
            block=3 * SMALL,
            blocks=blocks,
        )

    def _written(self) -> dict[str, Any]:
        """What kernels take that write nodes, by their names for it."""
        sizes = {"max_leaf_size": self.leaf_size, "max_depth": self.options.max_depth}
        return {**sizes, **self.tree.links(), "long_leaves": self.tree.long_leaves}

    def _round(self, unit: Unit, pool: Pool, number: int, halves: bool) -> None:
        """One round: every phase of all tasks that there are, at most 2^number."""
        target, tree = self.target, self.tree
        most_tasks = min(1 << number, self._most_tasks(tree.count))
        most_chunks = min(tree.count // CHUNK + most_tasks, int(pool.chunks.shape[0]))
        task_blocks, chunk_blocks = min(most_tasks, MOST_BLOCKS), min(most_chunks, MOST_BLOCKS)
        target.launch(
            unit,
            "open_tasks",
            most_tasks,
            counts=pool.counts,
            task_data=pool.tasks,
            first_chunks=pool.first_chunks,
            bounds=pool.bounds,
            halves=int(halves),
            chunk_data=pool.chunks,
            bin_data=pool.bins,
            planes=pool.planes,
            arrived=pool.arrived,
            child_bounds=pool.child_bounds,
            block=128,
            blocks=task_blocks,
        )
        work = pool.work()
        if self.options.split == "sah" and not halves:
            binned = {"bin_data": pool.bins, "arrived": pool.arrived, "planes": pool.planes}
            target.launch(unit, "bin_chunks", most_chunks, **work, **binned, blocks=chunk_blocks)
        sides = {"planes": pool.planes, "left_counts": pool.left_counts}
        target.launch(unit, "count_chunks", most_chunks, **work, **sides, blocks=chunk_blocks)
        target.launch(
            unit,
            "move_chunks",
            most_chunks,
            **work,
            **sides,
            **self._written(),
            child_data=pool.children,
            child_bounds=pool.child_bounds,
            blocks=chunk_blocks,
        )
        target.launch(
            unit,
            "close_round",
            most_tasks,
            counts=pool.counts,
            child_data=pool.children,
            child_bounds=pool.child_bounds,
            task_data=pool.tasks,
            first_chunks=pool.first_chunks,
            bounds=pool.bounds,
            small_data=pool.small,
            block=1024,
            blocks=1,
        )

    @staticmethod
    def _most_tasks(count: int) -> int:
        return max(1, count // (SMALL + 1))

    def _make_pool(self, count: int) -> Pool:
        """Room for the tasks of `count` references: every task has more than SMALL, every chunk but a task's last one
        CHUNK."""
        tasks, is_sah = self._most_tasks(count), self.options.split == "sah"
        chunks = count // CHUNK + tasks

        def scratch(name: str, shape: int | tuple[int, ...], dtype: type = np.int32) -> Array:
            return self.target.scratch(f"pool.{name}", shape, dtype)

        return Pool(
            counts=scratch("counts", 3),
            tasks=scratch("tasks", (tasks, TaskRow.words())),
            first_chunks=scratch("first_chunks", tasks),
            bounds=scratch("bounds", (tasks, 6)),
            chunks=scratch("chunks", (chunks, 2)),
            left_counts=scratch("left_counts", chunks),
            planes=scratch("planes", tasks),
            arrived=scratch("arrived", tasks),
            bins=scratch("bins", tasks * 3 * self.options.bins * BinRow.words() if is_sah else 1, np.float32),
            children=scratch("children", (2 * tasks, TaskRow.words())),
            child_bounds=scratch("child_bounds", (2 * tasks, 6)),
            small=scratch("small", (count, TaskRow.words())),
            boxes=scratch("boxes", (count, 8), np.float32),
            lists=(scratch("list", count), scratch("other_list", count)),
        )


__all__ = ["TaskPool", "TaskPoolOptions"]
