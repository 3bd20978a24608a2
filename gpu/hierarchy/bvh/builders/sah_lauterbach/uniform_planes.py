"""The queue of tasks as published: a block a task, which tries uniform planes of the node's box (uniform_planes.cu)."""

from __future__ import annotations

import dataclasses

import numpy as np

from .....target.base import Target
from ....base import Primitives
from ....primitives import unit_source
from ....scratch import Shapes, bytes_of, scratch_arrays
from ...sah_queue import QueueRules
from ...tree import CanonicalTree

MOST_BLOCKS = 4096


@dataclasses.dataclass(frozen=True)
class UniformPlanes:
    """A build of `tree` by `planes` planes per axis. Of the rules those of the queue are taken."""

    target: Target
    tree: CanonicalTree
    rules: QueueRules
    planes: int
    most_blocks: int = MOST_BLOCKS

    def levels(self, n: int) -> int:
        """Levels that tasks may have, were there no bound of the depth: after so many halvings and the extra levels all
        are leaves."""
        leaf_size = self.rules.leaf_at_once
        return max(0, -(-n // leaf_size) - 1).bit_length() + self.rules.extra_levels if n > leaf_size else 0

    def scratch_bytes(self) -> int:
        """Of the arrays that a build takes."""
        return bytes_of(self._arrays(max(1, self.tree.count)))

    def link_nodes(self, primitives: Primitives) -> None:
        """Write order, links, parents, EXISTS flags and root."""
        target, tree, n, rules = self.target, self.tree, primitives.count, self.rules
        held = scratch_arrays(target, "uniform_planes", self._arrays(n))
        unit = target.unit(
            unit_source("gpu/hierarchy/bvh/builders/sah_lauterbach/uniform_planes.cu", primitives, PLANES=self.planes)
        )
        queue = {name: held[name] for name in ("out_tasks", "out_boxes", "counts", "tasks", "task_boxes")}
        leaf = {"max_leaf_size": rules.leaf_at_once}
        with target.phase("build.references"):
            target.launch(
                unit,
                "begin_tasks",
                1,
                n=n,
                **leaf,
                budget=int(rules.nodes_per_primitive * (n - 1)),
                counts=held["counts"],
                out_tasks=held["out_tasks"],
                out_boxes=held["out_boxes"],
                parent=tree.parent,
                root=tree.root,
                long_leaves=tree.long_leaves,
                blocks=1,
            )
            target.launch(
                unit,
                "write_task_references",
                n,
                primitives=primitives.view,
                references=held["references"],
                order=tree.order,
                flags=tree.flags,
                out_boxes=held["out_boxes"],
            )
            target.launch(unit, "compact_tasks", 1, is_first=1, **leaf, **queue, block=1024, blocks=1)
        levels, blocks = self.levels(n), min(len(held["tasks"]), self.most_blocks)
        launched = min(levels, rules.max_depth)
        nodes = {**tree.links(), "root": tree.root, "long_leaves": tree.long_leaves}
        with target.phase("build.queue"):
            for level in range(launched):
                references, partitioned = (held["references"], held["partitioned"])[:: -1 if level % 2 else 1]
                target.launch(
                    unit,
                    "split_tasks",
                    1,
                    levels_left=levels - level,
                    **leaf,
                    **queue,
                    references=references,
                    partitioned=partitioned,
                    order=tree.order,
                    **nodes,
                    block=-(-3 * self.planes // 32) * 32,
                    blocks=blocks,
                )
                target.launch(unit, "compact_tasks", 1, is_first=0, **leaf, **queue, block=1024, blocks=1)
            if launched < levels:
                left = {"counts": held["counts"], "tasks": held["tasks"]}
                target.launch(unit, "close_tasks", len(held["tasks"]), **left, **nodes)

    def _arrays(self, n: int) -> Shapes:
        """Shapes and types of the scratch memory: every task has more references than a leaf."""
        tasks = n // (self.rules.leaf_at_once + 1) + 1
        return {
            "references": ((n, 8), np.float32),
            "partitioned": ((n, 8), np.float32),
            "counts": ((1,), np.int32),
            "tasks": ((tasks, 4), np.int32),
            "task_boxes": ((tasks, 6), np.int32),
            "out_tasks": ((2 * tasks, 4), np.int32),
            "out_boxes": ((2 * tasks, 6), np.int32),
        }
