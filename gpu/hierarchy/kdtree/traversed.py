"""The nodes of kd-trees: cells, cut by the planes above them."""

from __future__ import annotations

import numpy as np

from ..grown_cells import GrownCells
from ..traversed_nodes import PAGE, TreeNode, vector
from .tree import LEAF_AXIS


class Nodes(GrownCells):
    """A node is called by its place, leaves too."""

    def root(self) -> TreeNode | None:
        if self.node_count == 0:
            return None
        box = self.target.download(self.tree.box)
        return self._node(0, None, 0, box[0, :3], box[1, :3])

    def children(self, node: TreeNode, first: int = 0, most: int = PAGE) -> tuple[TreeNode, ...]:
        if node.is_leaf:
            return ()
        word = self.word(node.id)
        axis, left, plane = int(word[1]) & 3, int(word[1:].view(np.uint32)[0]) >> 2, word[:1].view(np.float32)[0]
        lower, upper = np.array(node.lower, np.float32), np.array(node.upper, np.float32)
        end, begin = upper.copy(), lower.copy()
        end[axis] = begin[axis] = plane
        sides = ((left, lower, end), (left + 1, begin, upper))
        return tuple(self._node(at, node.id, node.depth + 1, *box) for at, *box in sides)[first : first + most]

    def leaf_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        words = self.words()
        is_leaf = (words[:, 1] & 3) == LEAF_AXIS
        return words[:, 0], np.where(is_leaf, words[:, 1].view(np.uint32) >> 2, 0).astype(np.int64)

    def _node(self, at: int, parent: int | None, depth: int, lower: np.ndarray, upper: np.ndarray) -> TreeNode:
        word = self.word(at)
        box = vector(lower), vector(upper)
        if int(word[1]) & 3 != LEAF_AXIS:
            return TreeNode(at, parent, depth, *box, False)
        return TreeNode(at, parent, depth, *box, True, int(word[0]), int(word[1:].view(np.uint32)[0]) >> 2)
