"""The binary layout in Aila and Laine's compact form with terminated leaf lists, to compare with bvh2. bvh2_compact.cuh
draws it.

Idea: Links are places in memory and a leaf's list ends by itself, so that a traversal neither multiplies nor unpacks a
count.

Paper: The kernels that accompany Aila and Laine, Understanding the Efficiency of Ray Traversal on GPUs (2009).

Cost: 64 bytes per node and 4 per reference; one launch after every build and refit.

Limits: There to be compared: a leaf's references are one fetch more, so it gains nothing over bvh2.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar

import numpy as np

from ....rows import Ints, Struct
from ....target.base import Array, Target
from ....target.structs import pack
from ...base import Primitives
from ...primitives import reserved
from ..tree import EMPTY_CHILD, NODE_DTYPE, CanonicalTree
from . import PAIR_DTYPE, Layout, read_pairs


@dataclasses.dataclass(frozen=True)
class NodesAndLists(Struct):
    """What Bvh2CompactStack holds."""

    nodes: Annotated[Array, "const float4*"]
    root: Ints
    lists: Ints


class Bvh2Compact(Layout):
    """A node's index is its canonical id, a list's place that of its first reference."""

    name = "bvh2_compact"
    title = "Binary, compact (BVH2)"
    node_dtype: ClassVar[np.dtype] = PAIR_DTYPE
    waiting_per_level = 1

    _lists: Array | None = None

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._root = target.upload(np.array([EMPTY_CHILD], np.int32), "hierarchy")

    def reserve(self, primitive_count: int) -> None:
        self._nodes = reserved(self.target, self._nodes, (max(1, primitive_count - 1), 16), np.float32, "hierarchy")
        self._lists = reserved(self.target, self._lists, (max(1, primitive_count),), np.int32, "hierarchy")

    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        unit = self.target.unit(tree.unit_source("gpu/hierarchy/bvh/layouts/bvh2_compact.cu", primitives))
        capacity = tree.node_capacity
        self.target.launch(
            unit,
            "write_bvh2_compact_nodes",
            max(1, capacity),
            **tree.leaf_boxes(),
            nodes=tree.nodes,
            flags=tree.flags,
            root=tree.root,
            node_capacity=capacity,
            compact=self.nodes,
            lists=self._lists,
            compact_root=self._root,
        )

    def read_children(self, tree: CanonicalTree, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Words are the canonical tree's own: here links are places in memory."""
        _, lower, upper = read_pairs(self.target.download(self.nodes[first : first + count]))
        words = self.target.download(tree.nodes[first : first + count]).view(NODE_DTYPE).reshape(-1)
        return np.stack([words["left"], words["right"]], axis=1), lower, upper

    def traversal_view(self, tree: CanonicalTree) -> np.ndarray:
        return pack(
            NodesAndLists(nodes=self.nodes, root=self._root if tree.count > 0 else tree.root, lists=self._lists)
        )

    @property
    def bytes(self) -> int:
        return (
            0
            if self._nodes is None or self._lists is None
            else int(self._nodes.nbytes + self._lists.nbytes + self._root.nbytes)
        )
