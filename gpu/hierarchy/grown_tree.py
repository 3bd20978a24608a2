"""The arrays of a structure whose size is not known before it is built, and the draft that its builder fills.

Both have, on the target:

- `counts` (4,) int32: nodes, references, status, and what the builder's working memory had to hold (in units of its
  own); growing.cuh names the words.
- `nodes` (N, words) int32: as the family draws them, the root or the first one in front.
- `parent` (N,) int32: the parent of each node, -1 of the root; None where the family has no use for it.
- `references` (R,) int32: prim_ids, those of a leaf side by side.
- `box` (2, 4) float32: the box of everything, lower and upper.

The draft is scratch memory. It becomes the structure when it is whole (publish.cu); where something was too small its
status says so, and what was there before stays. Records are the primitives', one each in the scene's order: references
do not multiply them.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..target.base import Array, Target
from .base import HierarchyError, Primitives
from .primitives import KINDS, reserved, unit_source
from .runs import RUN_BYTES, bound_runs, run_count

NODES_NOW, REFERENCES_NOW, STATUS_NOW, WORKING_NOW, COUNT_WORDS = range(5)
NODES_FULL, REFERENCES_FULL, WORKING_FULL = 1, 2, 4

BYTES_FREE = 1 << 18
"""Bytes that do not count towards a limit: what is held whatever the number of primitives."""

SPARE = 256
"""Room for so many references more than a limit in primitives says: a scene of one primitive has a tree, too."""


@dataclasses.dataclass(frozen=True)
class NodeShape:
    """What a family's nodes are to those who copy them: 4-byte words each, the words of the only node over nothing,
    whether nodes have parents, how many places stay free in front, so that later nodes lie where they are read at
    once, and whether long lists of references have boxes around runs of them (runs.py)."""

    words: int
    empty: tuple[int, ...]
    has_parents: bool = False
    free_in_front: int = 0
    has_runs: bool = False

    @property
    def bytes(self) -> int:
        """Of a node and its parent."""
        return 4 * self.words + (4 if self.has_parents else 0)


@dataclasses.dataclass(frozen=True)
class Limits:
    """Where a structure gives up instead of growing: nodes and references per primitive, and bytes per primitive in
    all, those of building included (None: as many as those take). `advice` ends the message. Below `preferred` bytes
    per primitive it stays where it can: it grows by less there, and keeps less headroom."""

    nodes: int
    references: int
    bytes: int | None
    advice: str
    preferred: int | None = None


@dataclasses.dataclass(frozen=True)
class Capacity:
    """Room for a tree: nodes, references, and what the builder works on at one time, in references."""

    nodes: int
    references: int
    working: int

    @classmethod
    def at_most(cls, limits: Limits, primitive_count: int) -> Capacity:
        """What the limits allow."""
        references = limits.references * primitive_count + SPARE
        return cls(limits.nodes * primitive_count + 2 * SPARE, references, references)

    def grown(self, status: int, most: Capacity, factor: float) -> Capacity:
        """`factor` times as much of what was too small, within the limits."""

        def more(present: int, limit: int, flag: int) -> int:
            return min(int(factor * present), limit) if status & flag else present

        return Capacity(
            more(self.nodes, most.nodes, NODES_FULL),
            more(self.references, most.references, REFERENCES_FULL),
            more(self.working, most.working, WORKING_FULL),
        )

    def times(self, factors: tuple[float, float, float]) -> Capacity:
        """So many times as much of each."""
        nodes, references, working = factors
        return Capacity(int(nodes * self.nodes), int(references * self.references), int(working * self.working))

    def smaller(self, other: Capacity) -> Capacity:
        """The smaller of both, number by number."""
        return Capacity(*map(min, dataclasses.astuple(self), dataclasses.astuple(other)))

    def larger(self, other: Capacity) -> Capacity:
        """The larger of both, number by number."""
        return Capacity(*map(max, dataclasses.astuple(self), dataclasses.astuple(other)))

    def draft_bytes(self, shape: NodeShape) -> int:
        """Of the draft."""
        return shape.bytes * self.nodes + 4 * self.references

    def tree_bytes(self, shape: NodeShape, primitives: Primitives) -> int:
        """Of the tree that is traversed, records included."""
        runs = RUN_BYTES * run_count(self.references) if shape.has_runs else 0
        return self.draft_bytes(shape) + runs + 4 * (1 + KINDS[primitives.kind].record_floats) * primitives.count


@dataclasses.dataclass(frozen=True)
class Draft:
    """What a builder fills, status included: 0, or what was too small."""

    counts: Array
    nodes: Array
    parent: Array
    references: Array
    box: Array


class GrownTree:
    """See the module. `capacity` is what there is room for."""

    nodes: Array
    parent: Array
    references: Array
    runs: Array
    records: Array
    order: Array

    def __init__(self, target: Target, shape: NodeShape) -> None:
        self.target, self.shape = target, shape
        self.capacity = Capacity(0, 0, 0)
        self._held: dict[str, Array] = {}
        self.counts = target.empty(COUNT_WORDS, np.int32, "hierarchy")
        self.box = target.empty((2, 4), np.float32, "hierarchy")
        self.reserve(Capacity(1, 1, 1), 0, 1)
        self.empty()

    def empty(self) -> None:
        """Make it the tree of no primitive: the family's empty node in a box that no ray meets."""
        self.target.write(self.counts, np.array([0, 0, 0, 0], np.int32))
        self.target.write(self.nodes[:1], np.array([self.shape.empty], np.int32))
        if self.shape.has_parents:
            self.target.write(self.parent[:1], np.array([-1], np.int32))
        self.target.write(self.box, np.array([[3e38] * 4, [-3e38] * 4], np.float32))

    def reserve(self, capacity: Capacity, primitive_count: int, record_floats: int) -> None:
        """Make room; the content is lost where an array was too small."""
        if 2 * capacity.nodes >= 1 << 30 or capacity.references >= 1 << 30:
            raise HierarchyError(
                f"A tree holds fewer than {1 << 29:,} nodes and {1 << 30:,} references; {capacity.nodes:,} and "
                f"{capacity.references:,} were asked for: make leaves larger."
            )
        self.capacity = capacity
        self._hold("nodes", (capacity.nodes + self.shape.free_in_front, self.shape.words), np.int32)
        self._hold("parent", (capacity.nodes if self.shape.has_parents else 0,), np.int32)
        self._hold("references", (capacity.references,), np.int32)
        self._hold("runs", (run_count(capacity.references) if self.shape.has_runs else 0, 2, 4), np.float32)
        self._hold("order", (max(1, primitive_count),), np.int32)
        records = self._held.get("records")
        if records is not None and records.shape[1] != record_floats:
            del self._held["records"]
        self._hold("records", (max(1, primitive_count), record_floats), np.float32)
        self._show()

    def arrays_in_use(self) -> tuple[Capacity, dict[str, Array]]:
        """The arrays as they are, for `restore`: with counts and box, which only a whole tree overwrites, they are the
        tree that is traversed."""
        return self.capacity, dict(self._held)

    def restore(self, held: tuple[Capacity, dict[str, Array]]) -> None:
        """Take arrays back that were held before room was reserved, where no tree was made since."""
        self.capacity, self._held = held[0], dict(held[1])
        self._show()

    def draft(self, capacity: Capacity) -> Draft:
        """Room for a tree of that capacity, in scratch memory."""
        target, shape = self.target, self.shape
        return Draft(
            target.scratch("draft.counts", COUNT_WORDS, np.int32),
            target.scratch("draft.nodes", (capacity.nodes, shape.words), np.int32),
            target.scratch("draft.parent", capacity.nodes, np.int32) if shape.has_parents else None,
            target.scratch("draft.references", capacity.references, np.int32),
            target.scratch("draft.box", (2, 4), np.float32),
        )

    def publish(self, draft: Draft, primitives: Primitives) -> None:
        """Launch the copy of a whole draft; one that did not fit leaves only its status. Launches only."""
        unit = self.target.unit(unit_source("gpu/hierarchy/publish.cu", primitives, NODE_WORDS=self.shape.words))
        self.target.launch(
            unit,
            "publish_tree",
            max(primitives.count, min(self.capacity.references, 4 * primitives.count)),
            primitives=primitives.view,
            draft_counts=draft.counts,
            draft_nodes=draft.nodes,
            draft_parent=draft.parent,
            draft_references=draft.references,
            draft_box=draft.box,
            counts=self.counts,
            nodes=self.nodes,
            parent=self.parent if self.shape.has_parents else None,
            references=self.references,
            box=self.box,
            record_data=self.records,
            order=self.order,
        )

    def bound_runs(self, draft: Draft, primitives: Primitives, keys: Array | None) -> None:
        """Launch what bounds the runs of a draft that was published, or, by the sorted `keys` of its references, those
        that lie in one list."""
        bound_runs(self.target, self.runs, primitives, draft.counts, draft.references, self.capacity.references, keys)

    @property
    def bytes(self) -> int:
        """Reserved bytes."""
        return int(self.counts.nbytes + self.box.nbytes) + sum(int(array.nbytes) for array in self._held.values())

    def _hold(self, name: str, shape: tuple[int, ...], dtype: type) -> None:
        self._held[name] = reserved(self.target, self._held.get(name), shape, dtype, "hierarchy")

    def _show(self) -> None:
        """The arrays that are held by their names; of the nodes those behind the places that stay free."""
        for name, array in self._held.items():
            setattr(self, name, array)
        self.nodes = self._held["nodes"][self.shape.free_in_front :]
