"""The binary layout in Aila and Laine's compact form with terminated leaf lists, to compare with bvh2. bvh2_compact.cuh draws it.

Idea: Links are places in memory and a leaf's list ends by itself, so that a walk neither multiplies nor unpacks a count.

Paper: The kernels that accompany Aila and Laine, Understanding the Efficiency of Ray Traversal on GPUs (2009).

Cost: 64 bytes a node and 4 a reference; one launch after every build and refit.

Limits: There to be compared: a leaf's references are one fetch more, so it gains nothing over bvh2.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....target.base import Array, Target
from ....target.structs import make_struct, struct_dtype
from ...base import Primitives
from ...primitives import reserved, unit_source
from ..tree import EMPTY_CHILD, CanonicalTree
from . import Layout

_VIEW = struct_dtype([("nodes", "pointer"), ("root", "pointer"), ("lists", "pointer")])


class Bvh2Compact(Layout):
    """A node's index is its canonical id, a list's place that of its first reference."""

    name = "bvh2_compact"
    node_dtype: ClassVar[np.dtype] = np.dtype([("xy", "f4", (2, 4)), ("z", "f4", 4), ("left", "i4"), ("right", "i4"), ("unused", "i4", 2)])
    waiting_per_level = 1

    _lists: Array | None = None

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._root = target.upload(np.array([EMPTY_CHILD], np.int32), "hierarchy")

    def reserve(self, primitive_count: int) -> None:
        self._nodes = reserved(self.target, self._nodes, (max(1, primitive_count - 1), 16), np.float32, "hierarchy")
        self._lists = reserved(self.target, self._lists, (max(1, primitive_count),), np.int32, "hierarchy")

    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        unit = self.target.unit(unit_source("gpu/hierarchy/bvh/layouts/bvh2_compact.cu", primitives))
        capacity, boxes = tree.node_capacity, (tree.records, tree.reference_boxes, tree.long_leaves, tree.nodes)
        outputs = (self.nodes, self._lists, self._root)
        self.target.launch(unit, "write_bvh2_compact_nodes", max(1, capacity), *boxes, tree.flags, tree.root, capacity, *outputs)

    def walk_view(self, tree: CanonicalTree) -> np.ndarray:
        return make_struct(_VIEW, nodes=self.nodes, root=self._root if tree.count > 0 else tree.root, lists=self._lists)

    @property
    def bytes(self) -> int:
        return 0 if self._nodes is None or self._lists is None else int(self._nodes.nbytes + self._lists.nbytes + self._root.nbytes)
