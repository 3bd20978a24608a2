"""The nodes of grids: a root, its cells, and of two levels the cells of its blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..grown_cells import GrownCells
from ..traversed_nodes import PAGE, TreeNode, vector

SINGLE_CELL = 1 | 1 << 8 | 1 << 16


class Nodes(GrownCells):
    """The root is called 0 where it has more than one cell, a cell by its place and 1 more. A block of one cell is that
    cell."""

    def __init__(self, hierarchy: Any) -> None:
        super().__init__(hierarchy)
        box = self.target.download(self.tree.box)
        xy, z = (int(row[3:].view(np.int32)[0]) for row in box)
        self._counts = np.array([xy & 0xFFFF, xy >> 16, z], np.int64)
        self._lower, self._upper = box[0, :3].astype(np.float64), box[1, :3].astype(np.float64)
        self._has_blocks = bool(hierarchy.has_blocks)

    @property
    def _cells(self) -> int:
        return int(self._counts.prod())

    def root(self) -> TreeNode | None:
        if self.node_count == 0:
            return None
        if self._cells == 1:
            alone = self._cell(0, None, 0, self._lower, self._upper)
            return alone if self._has_blocks else TreeNode(0, None, 0, *_of(alone))
        return TreeNode(0, None, 0, vector(self._lower), vector(self._upper), False)

    def children(self, node: TreeNode, first: int = 0, most: int = PAGE) -> tuple[TreeNode, ...]:
        if node.is_leaf:
            return ()
        begin, counts, lower, upper = self._inside(node)
        return tuple(
            self._child(node, begin, counts, lower, upper, place)
            for place in range(first, min(first + most, int(counts.prod())))
        )

    def child(self, node: TreeNode, node_id: int) -> TreeNode | None:
        if node.is_leaf:
            return None
        begin, counts, lower, upper = self._inside(node)
        place = node_id - 1 - begin
        if not 0 <= place < int(counts.prod()):
            return None
        return self._child(node, begin, counts, lower, upper, place)

    def parent_of(self, node_id: int) -> int | None:
        root = self.root()
        if root is None or node_id == root.id or not 0 < node_id <= self.node_count:
            return None
        if not self._has_blocks or node_id <= self._cells:
            return 0
        words = self.target.download(self.tree.nodes[: self._cells]).astype(np.int64)
        begin, counts = words[:, 0], words[:, 1]
        size = (counts & 255) * (counts >> 8 & 255) * (counts >> 16)
        found = np.flatnonzero((begin < node_id) & (node_id <= begin + size) & (counts != SINGLE_CELL))
        return 1 + int(found[0]) if len(found) else None

    def leaf_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """By place; blocks have none, but one of a single cell has its."""
        words = self.words().astype(np.int64)
        first, end = words[:, 0].copy(), words[:, 1].copy()
        if self._has_blocks:
            upper = np.arange(self._cells)
            single = upper[words[upper, 1] == SINGLE_CELL]
            first[upper] = end[upper] = 0
            inside = words[single, 0]
            first[single], end[single] = words[inside, 0], words[inside, 1]
            end[inside] = first[inside]
        return first, end - first

    def leaves_with(self, places: np.ndarray) -> list[int]:
        alone = self._cells == 1 and not self._has_blocks
        return [0] if alone else [1 + place for place in super().leaves_with(places)]

    def _inside(self, node: TreeNode) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        """Where the cells of the root or of a block begin, how many there are along each axis, and its box."""
        if node.id == 0:
            return 0, self._counts, self._lower, self._upper
        begin, packed = (int(value) for value in self.word(node.id - 1))
        return begin, _unpacked(packed), np.array(node.lower), np.array(node.upper)

    def _child(
        self, node: TreeNode, begin: int, counts: np.ndarray, lower: np.ndarray, upper: np.ndarray, place: int
    ) -> TreeNode:
        x, y, z = counts.tolist()
        at = np.array([place % x, place // x % y, place // x // y])
        ends = [np.where(step == counts, upper, lower + (upper - lower) / counts * step) for step in (at, at + 1)]
        return self._cell(begin + place, node.id, node.depth + 1, *ends)

    def _cell(self, place: int, parent: int | None, depth: int, lower: np.ndarray, upper: np.ndarray) -> TreeNode:
        first, end = (int(value) for value in self.word(place))
        box = vector(lower), vector(upper)
        if self._has_blocks and place < self._cells:
            if end not in (0, SINGLE_CELL):
                return TreeNode(1 + place, parent, depth, *box, False)
            first, end = (int(value) for value in self.word(first)) if end else (0, 0)
        return TreeNode(1 + place, parent, depth, *box, True, first, end - first)


def _unpacked(packed: int) -> np.ndarray:
    return np.array([packed & 255, packed >> 8 & 255, packed >> 16], np.int64)


def _of(node: TreeNode) -> Any:
    return node.lower, node.upper, node.is_leaf, node.first_reference, node.reference_count
