"""Brute force has one leaf."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..traversed_nodes import PAGE, EventSpace, TraversedNodes, TreeNode, vector


class Nodes(TraversedNodes):
    """It is called ~0."""

    @classmethod
    def space_of(cls, hierarchy: Any) -> EventSpace:
        return EventSpace(0, 1)

    def root(self) -> TreeNode | None:
        table = self.hierarchy.nodes()
        if len(table) == 0:
            return None
        count = int(table.reference_count[0])
        return TreeNode(~0, None, 0, vector(table.lower[0]), vector(table.upper[0]), True, 0, count)

    def children(self, node: TreeNode, first: int = 0, most: int = PAGE) -> tuple[TreeNode, ...]:
        return ()

    def parent_of(self, node_id: int) -> int | None:
        return None

    def leaves_with(self, places: np.ndarray) -> list[int]:
        return [~0]

    def all_references(self) -> np.ndarray:
        return np.asarray(self.hierarchy.nodes().references)
