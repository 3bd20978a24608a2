"""The binary layout as a structure of arrays: four arrays of 16 bytes a node, to compare with bvh2. bvh2_soa.cuh draws it.

Idea: Threads that read the same part of neighbouring nodes touch neighbouring words, as one does for arrays that are read in order.

Paper: Aila and Laine's ray caster (2009) has both forms to choose from.

Cost: 64 bytes a node; one launch after every build and refit.

Limits: There to be compared: a walk's next node is nobody's neighbour, so what bvh2 reads from one place comes from four.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....target.structs import make_struct, struct_dtype
from ...base import Primitives
from ...primitives import reserved, unit_source
from ..tree import CanonicalTree
from . import Layout

ARRAYS = 4
_VIEW = struct_dtype([("nodes", "pointer"), ("root", "pointer"), ("capacity", "int"), ("unused", "int")])


class Bvh2Soa(Layout):
    """A node's index in every array is its canonical id."""

    name = "bvh2_soa"
    node_dtype: ClassVar[np.dtype] = np.dtype([("part", "f4", 4)])
    waiting_per_level = 1

    def reserve(self, primitive_count: int) -> None:
        self._nodes = reserved(self.target, self._nodes, (max(1, primitive_count - 1), ARRAYS * 4), np.float32, "hierarchy")

    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        unit = self.target.unit(unit_source("gpu/hierarchy/bvh/layouts/bvh2_soa.cu", primitives))
        capacity, boxes = tree.node_capacity, (tree.records, tree.reference_boxes, tree.long_leaves, tree.nodes)
        self.target.launch(unit, "write_bvh2_soa_nodes", capacity, *boxes, tree.flags, capacity, len(self.nodes), self.nodes)

    def walk_view(self, tree: CanonicalTree) -> np.ndarray:
        return make_struct(_VIEW, nodes=self.nodes, root=tree.root, capacity=len(self.nodes), unused=0)
