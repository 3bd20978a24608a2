"""Nodes with what a browser of trees shows of each: how much of the whole it is, and how its children lie."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Hashable

import numpy as np

from ..hierarchy.base import NOT_TOLD
from ..hierarchy.traversed_nodes import PAGE, TraversedNodes, TreeNode
from .hot_spots import HotSpots

__all__ = ["PAGE", "NodeVisits", "TreeNode", "TreeRow", "TreeRows", "TreeWay", "rows_of", "way_of"]

MOST_COMPARED = 8
"""Children whose boxes are compared with each other: cells of a grid do not overlap."""


@dataclasses.dataclass(frozen=True)
class TreeRow:
    """A node. `area_share` is its surface over the root's, so how likely a ray that meets the root meets it; `sah` what
    it adds to the tree's SAH cost, c_t = c_i = 1: that share for an inner node, times its references for a leaf.
    `overlap` is the surface that its children share pair by pair, over its own; None of leaves and of grids."""

    node: TreeNode
    area_share: float
    sah: float
    overlap: float | None


@dataclasses.dataclass(frozen=True, eq=False)
class NodeVisits:
    """How often rays entered nodes, by what events call these: `ids` in order, and the `visits` of each."""

    ids: np.ndarray
    visits: np.ndarray

    @classmethod
    def counted(cls, found: HotSpots) -> NodeVisits:
        """Of counted rays."""
        ids = found.table.event_ids
        assert ids is not None, "what has no such ids is not counted"
        rows = np.flatnonzero(ids != NOT_TOLD)
        rows = rows[np.argsort(ids[rows], kind="stable")]
        return cls(ids[rows], found.visits[rows])

    def of(self, node_id: int) -> int | None:
        """Those of a node; None of one that was not counted."""
        place = int(np.searchsorted(self.ids, node_id))
        is_known = place < len(self.ids) and int(self.ids[place]) == node_id
        return int(self.visits[place]) if is_known else None


@dataclasses.dataclass(frozen=True)
class TreeRows:
    """Some nodes of one tree; `key` says which. `sah_cost` is that of the whole tree as last measured, None where
    nobody knows."""

    rows: tuple[TreeRow, ...]
    key: Hashable
    sah_cost: float | None = None


@dataclasses.dataclass(frozen=True)
class TreeWay:
    """The way from the root to a node, none where there is no such; and of each node on it but the last the first page
    of its children."""

    rows: TreeRows
    pages: tuple[TreeRows, ...] = ()


def way_of(nodes: TraversedNodes, path: tuple[TreeNode, ...], key: Hashable) -> TreeWay:
    """A path, and what is beside it. Waits."""
    return TreeWay(rows_of(nodes, path, key), tuple(rows_of(nodes, nodes.children(one), key) for one in path[:-1]))


def rows_of(nodes: TraversedNodes, some: tuple[TreeNode, ...], key: Hashable) -> TreeRows:
    """The rows of some nodes. Waits: the children of each are read."""
    root = nodes.root() if some else None
    whole = root.area if root is not None else 0.0
    return TreeRows(tuple(_row(nodes, one, whole) for one in some), key, nodes.hierarchy.stats().sah_cost)


def _row(nodes: TraversedNodes, node: TreeNode, whole: float) -> TreeRow:
    share = node.area / whole if whole > 0.0 else 1.0
    sah = share * (node.reference_count if node.is_leaf else 1)
    return TreeRow(node, share, sah, None if node.is_leaf else _overlap(nodes, node))


def _overlap(nodes: TraversedNodes, node: TreeNode) -> float | None:
    children = nodes.children(node, 0, MOST_COMPARED + 1)
    if len(children) > MOST_COMPARED or node.area <= 0.0:
        return None
    return sum(_shared(*pair) for pair in itertools.combinations(children, 2)) / node.area


def _shared(one: TreeNode, other: TreeNode) -> float:
    """The surface of what two boxes have in common; that of a common face counts for nothing."""
    lower = (max(pair) for pair in zip(one.lower, other.lower, strict=True))
    upper = (min(pair) for pair in zip(one.upper, other.upper, strict=True))
    x, y, z = (high - low for low, high in zip(lower, upper, strict=True))
    return 2.0 * (x * y + y * z + z * x) if min(x, y, z) > 0.0 else 0.0
