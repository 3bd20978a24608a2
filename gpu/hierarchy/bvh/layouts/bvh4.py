"""The 4-wide layout: 128 bytes per node, the boxes of up to four children. bvh4.cuh draws it.

Idea: A node takes in those of its two children that are collapsed, so a pack tests four boxes for each node that it
fetches.

Paper: Wald, Benthin and Boulos, Getting Rid of Packets (2008); Ernst and Greiner, Multi Bounding Volume Hierarchies
(2008).

Cost: 128 bytes per node. The bottom-up collapse (tree.py) leaves at most half of the inner nodes, rounded up, as wide
nodes: that much is reserved. A launch and a scan number them after every build; a refit keeps the numbers.

Limits: Distances of up to four children are sorted, which is why single rays on a GPU are slower than with bvh2.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....target.base import Unit
from ...base import NOT_TOLD, Primitives
from ...primitives import reserved
from ..tree import NODE_EXISTS, CanonicalTree
from . import Layout

CHUNK = 1024
"""Node ids whose wide nodes one block gathers, where nodes are written by tiles."""

BY_TILES = {"cuda": True, "host": False}
"""Whether threads share a node: on an H200 0.50 instead of 0.94 ms for 12.8 million triangles; on a CPU a third slower.
"""


class Bvh4(Layout):
    """Nodes without gaps, in canonical order."""

    name = "bvh4"
    title = "4-wide (BVH4)"
    node_dtype: ClassVar[np.dtype] = np.dtype(
        [("x", "f4", (2, 4)), ("y", "f4", (2, 4)), ("z", "f4", (2, 4)), ("children", "i4", 4), ("unused", "i4", 4)]
    )
    waiting_per_level = 2
    lanes_go_alone = ("bvh4_stack",)

    def reserve(self, primitive_count: int) -> None:
        self._nodes = reserved(self.target, self._nodes, (primitive_count // 2 + 1, 32), np.float32, "hierarchy")

    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        target, capacity = self.target, tree.node_capacity
        if capacity == 0:
            return
        wide_ids = self.keep("wide_ids", capacity, np.int32)
        target.launch(
            self._unit(tree, primitives),
            "mark_wide_nodes",
            capacity,
            flags=tree.flags,
            node_capacity=capacity,
            is_wide_node=wide_ids,
        )
        target.exclusive_scan(wide_ids, wide_ids, "bvh.scan")
        self.rewrite(tree, primitives)

    def rewrite(self, tree: CanonicalTree, primitives: Primitives) -> None:
        capacity = tree.node_capacity
        if capacity > 0:
            wide_ids = self.keep("wide_ids", capacity, np.int32)
            is_tiled = BY_TILES[self.target.kind]
            kernel, blocks = ("write_bvh4_tiles", -(-capacity // CHUNK)) if is_tiled else ("write_bvh4_nodes", 0)
            self.target.launch(
                self._unit(tree, primitives),
                kernel,
                capacity,
                **tree.leaf_boxes(),
                nodes=tree.nodes,
                flags=tree.flags,
                wide_ids=wide_ids,
                node_capacity=capacity,
                bvh4=self.nodes,
                blocks=blocks,
            )

    def read_children(self, tree: CanonicalTree, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = self.target.download(self.nodes[first : first + count]).view(self.node_dtype).reshape(-1)
        lower, upper = (np.stack([rows[axis][:, side] for axis in "xyz"], axis=-1) for side in (0, 1))
        return rows["children"], lower, upper

    def indices(self, tree: CanonicalTree) -> np.ndarray | None:
        flags = self.target.download(tree.flags)[: tree.node_capacity]
        wide_ids = self.target.download(self.keep("wide_ids", max(1, tree.node_capacity), np.int32))[: len(flags)]
        return np.where(flags & 3 == NODE_EXISTS, wide_ids, NOT_TOLD)

    def _unit(self, tree: CanonicalTree, primitives: Primitives) -> Unit:
        return self.target.unit(tree.unit_source("gpu/hierarchy/bvh/layouts/bvh4.cu", primitives, CHUNK=CHUNK))
