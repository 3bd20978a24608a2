"""The nodes of octrees: eighths of their parents' cells, as far as they lie in the scene's box."""

from __future__ import annotations

import numpy as np

from ..grown_cells import GrownCells
from ..traversed_nodes import PAGE, TreeNode, vector
from .node_table import planes_at
from .options import MOST_LEVELS

Cell = tuple[np.ndarray, int]
"""The lower corner on the grid, and how many nodes are above."""


class Nodes(GrownCells):
    """A node is called by its place, leaves too. Children that hold nothing are none."""

    def root(self) -> TreeNode | None:
        return None if self.node_count == 0 else self._node(0, None, (np.zeros(3, np.int64), 0))

    def children(self, node: TreeNode, first: int = 0, most: int = PAGE) -> tuple[TreeNode, ...]:
        if node.is_leaf:
            return ()
        at, mask = (int(value) for value in self.word(node.id))
        corner, depth = self._cell(node.id)
        half = (1 << MOST_LEVELS) >> (depth + 1)
        found: list[TreeNode] = []
        for octant in (octant for octant in range(8) if mask >> octant & 1):
            below = corner + half * np.array([octant >> 2, octant >> 1 & 1, octant & 1])
            found.append(self._node(at + len(found), node.id, (below, depth + 1)))
        return tuple(found)[first : first + most]

    def leaf_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        words = self.words()
        return words[:, 0], np.where(words[:, 1] < 0, ~words[:, 1], 0).astype(np.int64)

    def _cell(self, node_id: int) -> Cell:
        steps, at = [], node_id
        while (above := self.parent_of(at)) is not None:
            first, mask = (int(value) for value in self.word(above))
            octant = [octant for octant in range(8) if mask >> octant & 1][at - first]
            steps.append(octant)
            at = above
        corner, half = np.zeros(3, np.int64), 1 << MOST_LEVELS
        for octant in reversed(steps):
            half >>= 1
            corner += half * np.array([octant >> 2, octant >> 1 & 1, octant & 1])
        return corner, len(steps)

    def _node(self, at: int, parent: int | None, cell: Cell) -> TreeNode:
        word, (corner, depth) = self.word(at), cell
        box, size = self.target.download(self.tree.box), (1 << MOST_LEVELS) >> depth
        lower, upper = (vector(planes_at(box, place[None])[0]) for place in (corner, corner + size))
        if int(word[1]) >= 0:
            return TreeNode(at, parent, depth, lower, upper, False)
        return TreeNode(at, parent, depth, lower, upper, True, int(word[0]), ~int(word[1]))
