"""The binary layout as a structure of arrays: three arrays of 16 bytes per node, to compare with bvh2. bvh2_soa.cuh
draws it.

Idea: Threads that read the same part of neighbouring nodes touch neighbouring words, as one does for arrays that are
read in order.

Paper: Aila and Laine's ray caster (2009) has both forms to choose from.

Cost: 48 bytes per node; one launch after every build and refit.

Limits: There to be compared: a traversal's next node is nobody's neighbour, so what bvh2 reads from one place comes
from three.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar

import numpy as np

from ....rows import Int, Ints, Struct
from ....target.base import Array
from ....target.structs import pack
from ...base import Primitives
from ...primitives import reserved
from ..tree import CanonicalTree
from . import Layout, read_pairs

ARRAYS = 3


@dataclasses.dataclass(frozen=True)
class NodesInParts(Struct):
    """What Bvh2SoaStack holds."""

    nodes: Annotated[Array, "const float4*"]
    root: Ints
    capacity: Int
    unused: Int


class Bvh2Soa(Layout):
    """A node's index in every array is its canonical id."""

    name = "bvh2_soa"
    title = "Binary, structure of arrays (BVH2)"
    node_dtype: ClassVar[np.dtype] = np.dtype([("part", "f4", 4)])
    waiting_per_level = 1

    def reserve(self, primitive_count: int) -> None:
        self._nodes = reserved(
            self.target, self._nodes, (max(1, primitive_count - 1), ARRAYS * 4), np.float32, "hierarchy"
        )

    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        unit = self.target.unit(tree.unit_source("gpu/hierarchy/bvh/layouts/bvh2_soa.cu", primitives))
        capacity = tree.node_capacity
        self.target.launch(
            unit,
            "write_bvh2_soa_nodes",
            capacity,
            **tree.leaf_boxes(),
            nodes=tree.nodes,
            flags=tree.flags,
            node_capacity=capacity,
            capacity=len(self.nodes),
            arrays=self.nodes,
        )

    def read_children(self, tree: CanonicalTree, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        parts = self.nodes.reshape(ARRAYS, len(self.nodes), 4)
        words = [self.target.download(part[first : first + count]) for part in parts]
        return read_pairs(np.concatenate([*words, np.zeros_like(words[0])], axis=1))

    def traversal_view(self, tree: CanonicalTree) -> np.ndarray:
        return pack(NodesInParts(nodes=self.nodes, root=tree.root, capacity=len(self.nodes), unused=0))
