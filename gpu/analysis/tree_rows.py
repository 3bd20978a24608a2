"""Nodes with what a browser of trees shows of each: how much of the whole it is, and how its children lie."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Hashable

from ..hierarchy.traversed_nodes import PAGE, TraversedNodes, TreeNode

__all__ = ["PAGE", "TreeNode", "TreeRow", "TreeRows", "TreeWay", "rows_of", "way_of"]

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
