"""The tree that is walked, and the draft that a builder fills (nodes.cuh has the device side).

Both have, on the target:

- `counts` (4,) int32: nodes, references, status, and what the builder's working memory had to hold (in units of its own).
- `nodes` (N, 2) int32: 8 bytes a node, the root in front, children side by side and behind their parent, so that left ones have odd numbers.
- `parent` (N,) int32: the parent of each node, -1 of the root.
- `references` (R,) int32: prim_ids, those of a leaf side by side.
- `box` (2, 4) float32: the root's cell, lower and upper.

The draft is scratch memory. It becomes the tree when it is whole (publish.cu); where something was too small its status says so, and the tree before
stays. Records are the primitives', one each in the scene's order: references do not multiply them.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ...target.base import Array, Target
from ..base import HierarchyError
from ..primitives import reserved

MOST_REFERENCES = 8
"""References a primitive at most; a scene that needs more has to be built with larger or cheaper leaves."""

MOST_BYTES, MOST_BYTES_LEAF = 400, 64
"""Bytes a primitive in all, those of building included, for trees with leaves of so many or more. Smaller leaves take what 8 references take."""

BYTES_FREE = 1 << 18
"""Bytes that do not count: what is held whatever the number of primitives."""

MOST_DEPTH = 60
"""Levels at most: walks keep a bit a level."""

NODES_NOW, REFERENCES_NOW, STATUS_NOW, WORKING_NOW, COUNT_WORDS = range(5)
NODES_FULL, REFERENCES_FULL, WORKING_FULL = 1, 2, 4
LEAF_AXIS = 3


@dataclasses.dataclass(frozen=True)
class Capacity:
    """Room for a tree: nodes, references, and what the builder works on at one time, in references."""

    nodes: int
    references: int
    working: int

    @classmethod
    def at_first(cls, primitive_count: int, share: float, max_leaf_size: int) -> Capacity:
        """Where nothing is known of the scene: what most closed surfaces need. It doubles where a scene needs more."""
        n = primitive_count
        nodes = int(min(3.0, 16.0 / max_leaf_size) * n) + 64
        return cls(nodes, int(min(share, 2.0) * n) + 256, int(min(share, 1.5) * n) + 256)

    @classmethod
    def at_most(cls, primitive_count: int) -> Capacity:
        """The limits of kd-trees."""
        most = MOST_REFERENCES * primitive_count + 256
        return cls(2 * most, most, most)

    def grown(self, status: int, primitive_count: int, factor: float = 2.0) -> Capacity:
        """`factor` times as much of what was too small, within the limits."""
        most = Capacity.at_most(primitive_count)

        def more(present: int, limit: int, flag: int) -> int:
            return min(int(factor * present), limit) if status & flag else present

        return Capacity(
            more(self.nodes, most.nodes, NODES_FULL),
            more(self.references, most.references, REFERENCES_FULL),
            more(self.working, most.working, WORKING_FULL),
        )

    def bytes_of_tree(self, primitive_count: int, record_floats: int) -> int:
        """Of the tree that is walked."""
        return 12 * self.nodes + 4 * self.references + (4 + 4 * record_floats) * primitive_count

    @property
    def bytes_of_draft(self) -> int:
        """Of the draft."""
        return 12 * self.nodes + 4 * self.references


@dataclasses.dataclass(frozen=True)
class Draft:
    """What a builder fills, status included: 0, or what was too small."""

    counts: Array
    nodes: Array
    parent: Array
    references: Array
    box: Array


class KdTree:
    """See the module. `capacity` is what there is room for."""

    nodes: Array
    node_pairs: Array
    parent: Array
    references: Array
    records: Array
    order: Array

    def __init__(self, target: Target) -> None:
        self.target = target
        self.capacity = Capacity(0, 0, 0)
        self._held: dict[str, Array] = {}
        self.counts = target.empty(COUNT_WORDS, np.int32, "hierarchy")
        self.box = target.empty((2, 4), np.float32, "hierarchy")
        self.reserve(Capacity(1, 1, 1), 0, 1)
        self.empty()

    def empty(self) -> None:
        """Make it the tree of no primitive: one empty leaf in a box that no ray meets."""
        self.target.write(self.counts, np.array([0, 0, 0, 0], np.int32))
        self.target.write(self.nodes[:1], np.array([[0, LEAF_AXIS]], np.int32))
        self.target.write(self.parent[:1], np.array([-1], np.int32))
        self.target.write(self.box, np.array([[3e38] * 4, [-3e38] * 4], np.float32))

    def reserve(self, capacity: Capacity, primitive_count: int, record_floats: int) -> None:
        """Make room; the content is lost where an array was too small."""
        if 2 * capacity.nodes >= 1 << 30 or capacity.references >= 1 << 30:
            raise HierarchyError(f"A kd-tree holds at most {1 << 30:,} references; {capacity.references:,} were asked for: make leaves larger.")
        self.capacity = capacity
        self._hold("node_pairs", (capacity.nodes // 2 + 1, 4), np.int32)
        self._pair_nodes()
        self._hold("parent", (capacity.nodes,), np.int32)
        self._hold("references", (capacity.references,), np.int32)
        self._hold("order", (max(1, primitive_count),), np.int32)
        records = self._held.get("records")
        if records is not None and records.shape[1] != record_floats:
            del self._held["records"]
        self._hold("records", (max(1, primitive_count), record_floats), np.float32)

    def held(self) -> tuple[Capacity, dict[str, Array]]:
        """The arrays as they are, for `restore`: with counts and box, which only a whole tree overwrites, they are the tree that is walked."""
        return self.capacity, dict(self._held)

    def restore(self, held: tuple[Capacity, dict[str, Array]]) -> None:
        """Take arrays back that were held before room was reserved, where no tree was made since."""
        self.capacity, self._held = held[0], dict(held[1])
        for name, array in self._held.items():
            setattr(self, name, array)
        self._pair_nodes()

    def draft(self) -> Draft:
        """Room for a tree as large as the one that is walked, in scratch memory."""
        target, capacity = self.target, self.capacity
        return Draft(
            target.scratch("kdtree.counts", COUNT_WORDS, np.int32),
            target.scratch("kdtree.nodes", (capacity.nodes, 2), np.int32),
            target.scratch("kdtree.parent", capacity.nodes, np.int32),
            target.scratch("kdtree.references", capacity.references, np.int32),
            target.scratch("kdtree.box", (2, 4), np.float32),
        )

    @property
    def bytes(self) -> int:
        """Reserved bytes."""
        return int(self.counts.nbytes + self.box.nbytes) + sum(int(array.nbytes) for array in self._held.values())

    @property
    def draft_bytes(self) -> int:
        """Scratch memory of the draft."""
        return self.capacity.bytes_of_draft

    def _pair_nodes(self) -> None:
        """The root takes the second half of the first 16 bytes, and each two children the 16 behind."""
        self.nodes = self.node_pairs.reshape(-1, 2)[1:]

    def _hold(self, name: str, shape: tuple[int, ...], dtype: type) -> None:
        array = reserved(self.target, self._held.get(name), shape, dtype, "hierarchy")
        self._held[name] = array
        setattr(self, name, array)
