"""The canonical tree of the family: what every builder emits, and optimisers, layouts, refit and statistics take.

For n references, which are as many as the primitives unless the builder splits them (canonical.cuh has the device
side):

- `order` (n,) int32: reference -> prim_id. The references of a leaf are neighbours.
- `reference_count` (1,) int32: how many references there are now. A builder that splits references reserves room for
  `count` of them, fills as
  many as it needs, from the front, and writes their number here, on the device; for all others it is `count`.
- `reference_boxes` (n, 8) float32 or None: where references are split, the box of each one's part (lower, 0, upper, 0),
  written by the builder.
- `records` (n, floats): one record per reference, what traversals intersect (gpu/hierarchy/primitives.py).
- `nodes` (n - 1, 8) float32: inner nodes, 32 bytes: lower, left, upper, right. Ids may have gaps; the root is 0.
  Builders after Karras give a
  node over the references [first, last] the id `first` where it is a right child, `last` where it is a left one.
- `parent` (n - 1,) int32: the parent of each inner node, -1 of the root.
- `flags` (n - 1,) uint8, written for every id by every build: bit 0 the node exists, bit 1 it is collapsed, bit 2 both
  children are leaves (there
  a refit starts). A node is collapsed when it is not the root and no child of it is collapsed: wide layouts put its
  children in its parent's node. Decided from below, so that every node which stays has a collapsed child or is the
  root: wide nodes number at most half of the inner nodes, rounded up.
- `root` (1,) int32: the root as a child word; the first of `roots` (2,), where builders from clusters keep what it was
  before, too.

A child word is an inner node's id, or a leaf: ~(first reference | (count - 1) << 26), count 1 to 32 (from 2^26
references on 27 bits, and counts to 16: `reference_bits`); -2^31 is no child
at all (an empty tree). Leaves' boxes are not stored: they are the boxes of their references. Word by word in Python:
leaf_words, first_references, reference_counts.

- `long_leaves` (n / 32 + 1,) int32 or None: where a bound of the depth may make leaves of more than 32 references, the
  count of each leaf whose word
  says 32, at first reference / 32, written by the builder. Without it no leaf is longer.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...primitive_views import LongLeaves
from ...target.base import Array, Target, UnitSource
from ...target.structs import pack_behind
from ..base import HierarchyError, Primitives, Records
from ..primitives import MAX_WIDE_PRIMITIVES, REFERENCE_BITS, reference_bits, reserved, unit_source

EMPTY_CHILD = -(1 << 31)
MAX_LEAF_SIZE = 32
"""Most references in a leaf: a word has 31 - REFERENCE_BITS bits for their number, one bit less in wide trees."""
MAX_WIDE_LEAF_SIZE = 16
NO_ONE = -1
NODE_EXISTS = 1
"""Of `flags`; 2: it is collapsed."""
NODE_DTYPE = np.dtype([("lower", "f4", 3), ("left", "i4"), ("upper", "f4", 3), ("right", "i4")])


def leaf_words(first: Any, count: Any, bits: int = REFERENCE_BITS) -> Any:
    """The child words of leaves, of a tree whose references have so many bits; numbers or integer arrays."""
    return ~(first | (count - 1) << bits)


def first_references(words: Any, bits: int = REFERENCE_BITS) -> Any:
    """The first reference of each leaf word."""
    return ~words & (1 << bits) - 1


def reference_counts(words: Any, long_leaves: np.ndarray | None = None, bits: int = REFERENCE_BITS) -> Any:
    """The number of references of each leaf word; of long leaves as `long_leaves` of their tree says."""
    most = 1 << 31 - bits
    counts = (~words >> bits & most - 1) + 1
    if long_leaves is None:
        return counts
    is_long = (words < 0) & (counts == most)
    return np.where(is_long, long_leaves[np.where(is_long, first_references(words, bits) // most, 0)], counts)


class CanonicalTree:
    """The arrays, in memory that grows in steps of 1/8. `count` is the number of references now, or, where they are
    split, the most there may be;
    `node_capacity` that of node ids."""

    order: Array
    records: Array
    nodes: Array
    parent: Array
    flags: Array
    reference_boxes: Array | None = None
    long_leaves: Array | None = None
    every_root: Array
    """The words of all roots: `root` alone, but in a forest."""
    waiting: Array
    """Scratch of n words, NO_ONE between launches: who came first where two subtrees meet. Kernels leave it as they
    found it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.count, self.reference_bits = 0, REFERENCE_BITS
        self._held: dict[str, Array] = {}
        self.roots = target.empty(2, np.int32, "hierarchy")
        self.root = self.every_root = self.roots[:1]
        self.reference_count = target.empty(1, np.int32, "hierarchy")
        self._written_count = -1
        self.empty()

    def empty(self) -> None:
        """Make it the tree of no primitive."""
        self._take_count(0, False)
        self.target.write(self.root, np.array([EMPTY_CHILD], np.int32))

    def choose_words(self, count: int) -> None:
        """How many bits references have where there are so many: what a builder's bound of the depth may depend on."""
        self.reference_bits = reference_bits(count)

    def reserve(
        self, count: int, record_floats: int, splits_references: bool = False, has_long_leaves: bool = False
    ) -> None:
        """Make room for `count` references; the content is lost. Where references are split, the builder writes how
        many there are."""
        self.choose_words(count)
        if count >= MAX_WIDE_PRIMITIVES:
            raise HierarchyError(
                f"A tree holds at most {MAX_WIDE_PRIMITIVES - 1:,} references; {count:,} were asked for: let the "
                f"builder split fewer."
            )
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
        if splits_references:
            self._hold(
                "reference_boxes",
                reserved(self.target, self._held.get("reference_boxes"), (max(1, count), 8), np.float32, "hierarchy"),
            )
        if has_long_leaves:
            places = (count // (1 << 31 - self.reference_bits) + 1,)
            self._hold(
                "long_leaves", reserved(self.target, self._held.get("long_leaves"), places, np.int32, "hierarchy")
            )
        self._take_count(count, splits_references)

    def unit_source(self, path: str, primitives: Primitives, **constants: float) -> UnitSource:
        """A unit over this tree and the primitives in it: where references are split there may be so many that they are
        wider than the primitives' number asks for."""
        return unit_source(path, primitives, REFERENCE_BITS=self.reference_bits, **constants)

    def as_forest(self, roots: Array, flags: Array) -> CanonicalTree:
        """The same arrays as several trees, with these roots, of which optimisers touch the nodes that exist by these
        flags."""
        forest = copy.copy(self)
        forest.every_root, forest.flags = roots, flags
        return forest

    def links(self) -> dict[str, Any]:
        """What kernels take that read or write inner nodes, by the names that they call it."""
        return {"nodes": self.nodes, "parent": self.parent, "flags": self.flags}

    def leaf_boxes(self) -> dict[str, Any]:
        """What kernels find the boxes of leaves by, by the names that they call it."""
        return {
            "record_data": self.records,
            "reference_boxes": self.reference_boxes,
            "long_leaves": self.long_leaves,
        }

    @property
    def node_capacity(self) -> int:
        """How many node ids there can be."""
        return max(0, self.count - 1)

    @property
    def bytes(self) -> int:
        """Reserved bytes, `waiting` not among them."""
        return int(self.roots.nbytes + self.reference_count.nbytes) + sum(
            int(array.nbytes) for name, array in self._held.items() if name != "waiting"
        )

    def with_long_leaves(self, records: Records) -> Records:
        """What traversals intersect where leaves may be long; `records` as they are where none is."""
        if self.long_leaves is None:
            return records
        header, type_name, view, registers = records
        behind = pack_behind(view, LongLeaves(self.long_leaves))
        return Records(header, f"InLongLeaves<{type_name}>", behind, registers)

    def _take_count(self, count: int, splits_references: bool) -> None:
        """Written only where it is another one than before: rebuilds of one scene write nothing."""
        self.count = count
        if splits_references:
            self._written_count = -1
        elif count != self._written_count:
            self.target.write(self.reference_count, np.array([count], np.int32))
            self._written_count = count

    def _hold(self, name: str, array: Array) -> None:
        self._held[name] = array
        setattr(self, name, array)
