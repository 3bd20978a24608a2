"""The nodes of bounding volume hierarchies, of whichever layout is traversed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitives import scene_references
from ..traversed_nodes import PAGE, EventSpace, TraversedNodes, TreeNode, vector
from .tree import EMPTY_CHILD, MAX_LEAF_SIZE, first_references, reference_counts

CHUNK = 1 << 18
"""Nodes that a search reads together."""


class Nodes(TraversedNodes):
    """A leaf is called ~ its first reference, an inner node by its place in the layout."""

    def __init__(self, hierarchy: Any) -> None:
        super().__init__(hierarchy)
        self._tree, self._layout = hierarchy.tree, hierarchy.layout
        self._parents: tuple[np.ndarray, np.ndarray] | None = None
        self._rows: dict[int, tuple[TreeNode, ...]] = {}

    @classmethod
    def space_of(cls, hierarchy: Any) -> EventSpace:
        tree = hierarchy.tree
        is_plain = tree.long_leaves is None and tree.reference_boxes is None
        return EventSpace(hierarchy.layout.node_count(tree), max(1, tree.count), MAX_LEAF_SIZE if is_plain else 0)

    def root(self) -> TreeNode | None:
        if self._tree.count == 0:
            return None
        word = int(self.target.download(self._tree.root)[0])
        if word == EMPTY_CHILD:
            return None
        if word < 0:  # a leaf has its box in its references alone
            table = self.hierarchy.nodes()
            return self._node(word, None, 0, table.lower[0], table.upper[0])
        words, lower, upper = self._layout.read_children(self._tree, word, 1)
        used = words[0] != EMPTY_CHILD
        return self._node(word, None, 0, lower[0, used].min(axis=0), upper[0, used].max(axis=0))

    def children(self, node: TreeNode, first: int = 0, most: int = PAGE) -> tuple[TreeNode, ...]:
        if node.is_leaf:
            return ()
        if node.id not in self._rows:
            words, lower, upper = self._layout.read_children(self._tree, node.id, 1)
            self._rows[node.id] = tuple(
                self._node(int(words[0, place]), node.id, node.depth + 1, lower[0, place], upper[0, place])
                for place in np.flatnonzero(words[0] != EMPTY_CHILD)
            )
        return self._rows[node.id][first : first + most]

    def parent_of(self, node_id: int) -> int | None:
        of_nodes, of_leaves = self._all_parents()
        parents, at = (of_nodes, node_id) if node_id >= 0 else (of_leaves, ~node_id)
        found = int(parents[at]) if at < len(parents) else -1
        return found if found >= 0 else None

    def leaves_with(self, places: np.ndarray) -> list[int]:
        root = self.root()
        if root is not None and root.is_leaf:
            return [root.id]
        starts = np.flatnonzero(self._all_parents()[1] >= 0)
        at = np.searchsorted(starts, places, side="right") - 1
        return [~int(first) for first in np.unique(starts[at[at >= 0]])]

    def all_references(self) -> np.ndarray:
        tree, count = self._tree, int(self.target.download(self._tree.reference_count)[0])
        return scene_references(self.target, self.hierarchy.last_built(), self.target.download(tree.order[:count]))

    def some_references(self, first: int, count: int) -> np.ndarray:
        found = self.target.download(self._tree.order[first : first + count])
        return scene_references(self.target, self.hierarchy.last_built(), found)

    def _node(self, word: int, parent: int | None, depth: int, lower: Any, upper: Any) -> TreeNode:
        if word >= 0:
            return TreeNode(word, parent, depth, vector(lower), vector(upper), False)
        bits, long_leaves = self._tree.reference_bits, self._tree.long_leaves
        first, count, most = int(first_references(word, bits)), int(reference_counts(word, None, bits)), 1 << 31 - bits
        if long_leaves is not None and count == most:
            count = int(self.target.download(long_leaves[first // most : first // most + 1])[0])
        return TreeNode(~first, parent, depth, vector(lower), vector(upper), True, first, count)

    def _all_parents(self) -> tuple[np.ndarray, np.ndarray]:
        """The parents of nodes by their numbers, and of leaves by their first references; -1 of the root and of what is
        none. From the root on, level by level: places that nobody leads to may hold anything."""
        if self._parents is None:
            tree = self._tree
            of_nodes, of_leaves = np.full(max(1, tree.count), -1, np.int32), np.full(max(1, tree.count), -1, np.int32)
            level = self.target.download(tree.root).astype(np.int64)
            level = level[level >= 0]
            words = self._all_words() if len(level) else np.zeros((0, 1), np.int32)
            while len(level):
                below, above = words[level].reshape(-1), np.repeat(level, words.shape[1])
                used = below != EMPTY_CHILD
                below, above = below[used], above[used]
                is_inner = below >= 0
                of_nodes[below[is_inner]] = above[is_inner]
                of_leaves[first_references(below[~is_inner], tree.reference_bits)] = above[~is_inner]
                level = below[is_inner].astype(np.int64)
            self._parents = of_nodes, of_leaves
        return self._parents

    def _all_words(self) -> np.ndarray:
        capacity = self._layout.node_count(self._tree)
        chunks = [
            self._layout.read_children(self._tree, first, min(CHUNK, capacity - first))[0]
            for first in range(0, capacity, CHUNK)
        ]
        return np.concatenate(chunks)
