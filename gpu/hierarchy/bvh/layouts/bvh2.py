"""The binary layout: 64 bytes per node, both children's boxes in it. bvh2.cuh draws it.

Idea: A node holds its children's boxes and places, so that one fetch decides about both, and a child that is missed is
never fetched. Boxes are kept as centre and half extent: traversals need no minimum and maximum of two planes.
Halves along x and y have 16 bits, so that 48 bytes are read.

Paper: Aila and Laine, Understanding the Efficiency of Ray Traversal on GPUs (2009).

Cost: 64 bytes for each inner node. Builders that know the boxes may write it themselves; a refit writes it on its way
up.

Limits: A traversal fetches about twice as many nodes as a wide layout's, one after the other. Boxes are up to 1/128
wider along x and y than what they hold; beyond 5e17 they are not culled.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....target.base import Array
from ...base import Primitives
from ...primitives import reserved
from ..tree import CanonicalTree
from . import PAIR_DTYPE, Layout, read_pairs


class Bvh2(Layout):
    """A node's index is its canonical id, so that builders and the refit may write it on their way."""

    name = "bvh2"
    title = "Binary (BVH2)"
    node_dtype: ClassVar[np.dtype] = PAIR_DTYPE
    waiting_per_level = 1

    def reserve(self, primitive_count: int) -> None:
        self._nodes = reserved(self.target, self._nodes, (max(1, primitive_count - 1), 16), np.float32, "hierarchy")

    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        unit = self.target.unit(tree.unit_source("gpu/hierarchy/bvh/layouts/bvh2.cu", primitives))
        capacity = tree.node_capacity
        self.target.launch(
            unit,
            "write_bvh2_nodes",
            capacity,
            **tree.leaf_boxes(),
            nodes=tree.nodes,
            flags=tree.flags,
            node_capacity=capacity,
            bvh2=self.nodes,
        )

    def read_children(self, tree: CanonicalTree, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return read_pairs(self.target.download(self.nodes[first : first + count]))

    @property
    def bvh2_nodes(self) -> Array | None:
        return self._nodes
