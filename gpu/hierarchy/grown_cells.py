"""What the nodes of kd-trees and octrees have in common where they are read a few at a time: words of 8 bytes, and the
parents beside them."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from .grown_tree import NODES_NOW, REFERENCES_NOW
from .primitives import scene_references
from .traversed_nodes import EventSpace, TraversedNodes


class GrownCells(TraversedNodes):
    """A family gives `root`, `children` and `leaf_ranges`."""

    def __init__(self, hierarchy: Any) -> None:
        super().__init__(hierarchy)
        self.tree = hierarchy.tree
        counts = self.target.download(self.tree.counts)
        has_any = hierarchy.last_built().count > 0
        self.node_count = int(counts[NODES_NOW]) if has_any else 0
        self.reference_count = int(counts[REFERENCES_NOW]) if has_any else 0

    @classmethod
    def space_of(cls, hierarchy: Any) -> EventSpace:
        return EventSpace(hierarchy.tree.capacity.nodes + 1, 0)  # grids call their root 0, and begin to count behind it

    @abc.abstractmethod
    def leaf_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all nodes the first reference and how many there are, 0 of inner nodes."""

    def word(self, at: int) -> np.ndarray:
        """The two words of a node."""
        return np.asarray(self.target.download(self.tree.nodes[at : at + 1])[0])

    def words(self) -> np.ndarray:
        """Those of all nodes."""
        return self.target.download(self.tree.nodes[: self.node_count])

    def parent_of(self, node_id: int) -> int | None:
        if not 0 < node_id < self.node_count:
            return None
        return int(self.target.download(self.tree.parent[node_id : node_id + 1])[0])

    def leaves_with(self, places: np.ndarray) -> list[int]:
        first, count = self.leaf_ranges()
        leaves = np.flatnonzero(count)
        leaves = leaves[np.argsort(first[leaves], kind="stable")]
        at = np.searchsorted(first[leaves], places, side="right") - 1
        found = leaves[at[at >= 0]]
        is_inside = places[at >= 0] < first[found] + count[found]
        return sorted({int(leaf) for leaf in found[is_inside]})

    def all_references(self) -> np.ndarray:
        return self.some_references(0, self.reference_count)

    def some_references(self, first: int, count: int) -> np.ndarray:
        found = self.target.download(self.tree.references[first : min(first + count, self.reference_count)])
        return scene_references(self.target, self.hierarchy.last_built(), found)
