"""The canonical tree of the family: what every builder emits, and optimisers, layouts, refit and statistics take.

For n primitives (canonical.cuh has the device side):

- `order` (n,) int32: reference -> prim_id. References are numbered in leaf order.
- `records` (n, floats): one record a reference, what walks intersect (gpu/hierarchy/primitives.py).
- `nodes` (n - 1, 8) float32: inner nodes, 32 bytes: lower, left, upper, right. Ids may have gaps; the root is 0. Builders after Karras give a
  node over the references [first, last] the id `first` where it is a right child, `last` where it is a left one.
- `parent` (n - 1,) int32: the parent of each inner node, -1 of the root.
- `flags` (n - 1,) uint8, written for every id by every build: bit 0 the node exists, bit 1 it is absorbed, bit 2 both children are leaves (there
  a refit starts). A node is absorbed when it is not the root and no child of it is absorbed: wide layouts put its children in its parent's node.
  Decided from below, so that every node which stays has an absorbed child or is the root: wide nodes number at most half of the inner nodes,
  rounded up.
- `root` (1,) int32: the root as a child word.

A child word is an inner node's id, or a leaf: ~(first reference | (count - 1) << 27), count 1 to 16; -2^31 is no child at all (an empty tree).
Leaves' boxes are not stored: they are the boxes of their records. A subtree of at most max_leaf_size references is a leaf.
"""

from __future__ import annotations

import numpy as np

from ...target.base import Array, Target
from ..primitives import reserved

EMPTY_CHILD = -(1 << 31)
NO_ONE = -1
NODE_DTYPE = np.dtype([("lower", "f4", 3), ("left", "i4"), ("upper", "f4", 3), ("right", "i4")])


class CanonicalTree:
    """The arrays, in memory that grows in steps of 1/8. `count` is the number of references now, `node_capacity` that of node ids."""

    order: Array
    records: Array
    nodes: Array
    parent: Array
    flags: Array
    waiting: Array
    """Scratch of n words, NO_ONE between launches: who came first where two subtrees meet. Kernels leave it as they found it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.count = 0
        self._held: dict[str, Array] = {}
        self.root = target.empty(1, np.int32, "hierarchy")
        self.empty()

    def empty(self) -> None:
        """Make it the tree of no primitive."""
        self.count = 0
        self.target.write(self.root, np.array([EMPTY_CHILD], np.int32))

    def reserve(self, count: int, record_floats: int) -> None:
        """Make room for `count` references; the content is lost."""
        node_rows = max(1, count - 1)
        for name, shape, dtype in (
            ("order", (max(1, count),), np.int32),
            ("nodes", (node_rows, 8), np.float32),
            ("parent", (node_rows,), np.int32),
            ("flags", (node_rows,), np.uint8),
        ):
            self._hold(name, reserved(self.target, self._held.get(name), shape, dtype, "hierarchy"))
        held = self._held.get("records")
        if held is not None and held.shape[1] != record_floats:
            held = None
        self._hold("records", reserved(self.target, held, (max(1, count), record_floats), np.float32, "hierarchy"))
        waiting = reserved(self.target, self._held.get("waiting"), (max(1, count),), np.int32, "scratch")
        if waiting is not self._held.get("waiting"):
            self.target.fill(waiting, NO_ONE)
        self._hold("waiting", waiting)
        self.count = count

    @property
    def node_capacity(self) -> int:
        """How many node ids there can be."""
        return max(0, self.count - 1)

    @property
    def bytes(self) -> int:
        """Reserved bytes, `waiting` not among them."""
        return int(self.root.nbytes) + sum(int(array.nbytes) for name, array in self._held.items() if name != "waiting")

    def _hold(self, name: str, array: Array) -> None:
        self._held[name] = array
        setattr(self, name, array)
