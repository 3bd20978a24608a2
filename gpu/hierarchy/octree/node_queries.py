"""Queries of an octree over points, in batches (Goradia et al. 2008, section 4): the walk in post order, parents,
children, the node of a place, common ancestors, neighbours, leaves of a subtree. What needs no tree is in
cell_queries.py.

Nodes are numbers (n,) int32 on the target, -1 for none, of which nothing is found; places are (n, 3) float32 in the
points' unit. Batches have up to MOST_ITEMS queries (gpu/target/base.py).

    asked = NodeQueries(target, tree)
    nodes = asked.nodes_of_places(places)
    ranges = asked.leaves_below(nodes)
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...primitives.compact import compact
from ...target.base import Array, Target, UnitSource
from ..base import HierarchyError
from .cell_queries import DIRECTIONS, Cells, neighbours
from .point_tree import PointTree

_SOURCE = UnitSource("gpu/hierarchy/octree/tree_queries.cu")

CONTACTS = {"corner": 1, "edge": 2, "face": 4, "all": 7}
"""How leaves meet a cell, as bits (tree_queries.cu)."""

MOST_LISTED = 2**31 - 1
"""Neighbours in all lists of one query together: where lists begin is counted in 32 bits."""


@dataclasses.dataclass(frozen=True, eq=False)
class PostOrder:
    """The nodes of a tree so that children come before their parents, along the Z-order: `nodes` (m,) int32, -1 behind
    the last one, and `rank` (m,) int32, the place of each node."""

    nodes: Array
    rank: Array


@dataclasses.dataclass(frozen=True, eq=False)
class LeafRanges:
    """The leaves below each of n nodes: `counts[i]` of `leaves` from `first[i]` on, all (n,) int32. `leaves` (m,) int32
    are those of the whole tree along the Z-order."""

    leaves: Array
    first: Array
    counts: Array


@dataclasses.dataclass(frozen=True, eq=False)
class LeafLists:
    """Leaves of each of n cells: `counts[i]` of `nodes` from `first[i]` on, int32, along the Z-order."""

    nodes: Array
    first: Array
    counts: Array


class NodeQueries:
    """Asks one tree, as it was last built. The walk and the leaves are put in order when they are first asked for: who
    builds the tree anew asks anew."""

    def __init__(self, target: Target, tree: PointTree) -> None:
        self.target, self.tree = target, tree
        self._order: PostOrder | None = None
        self._leaves: tuple[Array, Array] | None = None

    def post_order(self) -> PostOrder:
        """Every node after its children: the walk that the paper's octree is stored in."""
        if self._order is None:
            self._put_in_order()
        assert self._order is not None
        return self._order

    def parents(self, nodes: Array) -> Array:
        """(n,) int32; -1 of the root."""
        return self._ask("find_node_parents", nodes=self._checked(nodes))

    def children(self, nodes: Array, octant: Array) -> Array:
        """The child of each in an octant (n,) int32 (4 for the upper half in x, 2 in y, 1 in z), however much smaller
        than it its cell may be; -1 where no points are."""
        self._same(nodes, octant)
        return self._ask("find_node_children", nodes=nodes, octant=self._checked(octant))

    def cells(self, nodes: Array) -> Cells:
        """Of each node."""
        return self._cells("find_node_cells", len(nodes), nodes=self._checked(nodes))

    def cells_of_places(self, places: Array) -> Cells:
        """The smallest possible cell of each place (n, 3); none outside of the root cube, whose end belongs to it."""
        self._check_cells("A place is looked for")
        if len(places.shape) != 2 or places.shape[1] != 3 or places.dtype != np.float32:
            raise HierarchyError(f"Places are (n, 3) of float32; {tuple(places.shape)} of {places.dtype} was given.")
        return self._cells("find_cells", len(places), positions=places)

    def nodes_of_places(self, places: Array) -> Array:
        """The smallest node whose cell holds each place (n, 3): a leaf, or an inner node where there are no points
        nearby; -1 outside of the root cube."""
        return self.nodes_over(self.cells_of_places(places))

    def nodes_over(self, cells: Cells) -> Array:
        """The smallest node whose cell holds each cell: the cell's own node, where it is one."""
        return self._ask("find_nodes_over", len(cells), **cells.arrays)

    def common_ancestors(self, nodes: Array, others: Array) -> Array:
        """The node that is above both and farthest from the root, which may be one of them."""
        self._same(nodes, others)
        return self._ask("find_node_ancestors", nodes=nodes, others=self._checked(others))

    def leaves_below(self, nodes: Array) -> LeafRanges:
        """The leaves of each subtree; a leaf is its own."""
        if self._leaves is None:
            self._put_in_order()
        assert self._leaves is not None
        leaves, count = self._leaves
        found = {name: self.target.empty(len(nodes), np.int32, "queries") for name in ("first", "counts")}
        asked = {"leaves": leaves, "leaf_count": count, "nodes": self._checked(nodes)}
        self._launch("find_leaves_below", len(nodes), **asked, **found)
        return LeafRanges(leaves, **found)

    def neighbours(self, nodes: Array, kind: str = "face") -> Array:
        """The smallest node over the cell of the same size in each direction, (directions, n) int32 in the order of
        DIRECTIONS[kind] (cell_queries.py): as large as the node or larger; -1 outside of the root cube."""
        self._check_cells("Neighbours are looked for")
        beside = neighbours(self.target, self.cells(nodes), kind)
        flat = Cells(beside.code.reshape(-1), beside.level.reshape(-1))
        return self.nodes_over(flat).reshape(len(DIRECTIONS[kind]), -1)

    def neighbouring_leaves(self, cells: Cells, kind: str = "face") -> LeafLists:
        """The leaves, of any size, that meet each cell from outside: across a face, along an edge and no face, at a
        corner alone, or all of these. Waits, to learn how many they are. HierarchyError where they are more than
        MOST_LISTED, and for other kinds."""
        self._check_cells("Neighbours are looked for")
        if kind not in CONTACTS:
            raise HierarchyError(f"Leaves meet at a {', '.join(CONTACTS)}; {kind!r} was asked for.")
        target, n = self.target, len(cells)
        counts, first = (target.zeros(n, np.int32, "queries") for _ in range(2))
        asked: dict[str, Any] = {**cells.arrays, "contacts": CONTACTS[kind]}
        self._launch("count_neighbours", n, **asked, counts=counts)
        if n:
            target.exclusive_scan(counts, first, "queries.scan")
        total = int(target.download(counts).sum(dtype=np.int64))
        if total > MOST_LISTED:
            raise HierarchyError(
                f"These cells have {total:,} neighbouring leaves, and at most {MOST_LISTED:,} are listed at once: ask "
                f"about fewer cells."
            )
        nodes = target.empty(total, np.int32, "queries")
        if total:
            self._launch("list_neighbours", n, **asked, first=first, nodes=nodes)
        return LeafLists(nodes, first, counts)

    # -- launches -------------------------------------------------------------------------------------------------
    def _put_in_order(self) -> None:
        """A stable sort of the nodes from the deepest on, by the last codes of their cells."""
        target, m = self.target, self.tree.capacity
        keys, nodes = target.empty(m, np.uint64, "queries"), target.empty(m, np.int32, "queries")
        self._launch("list_backwards", m, keys=keys, nodes=nodes, counted=False)
        _, by_code = target.sort_pairs(keys, nodes, (0, 64), "queries.sort")
        order, rank, is_leaf, leaves = (target.zeros(m, np.int32, "queries") for _ in range(4))
        count = target.zeros(1, np.int32, "queries")
        self._launch("rank_in_order", m, nodes=by_code, order=order, rank=rank, is_leaf=is_leaf, counted=False)
        compact(target, order, is_leaf, leaves, count, "queries.compact")
        self._order, self._leaves = PostOrder(order, rank), (leaves, count)

    def _ask(self, kernel: str, count: int | None = None, **arguments: Any) -> Array:
        count = len(arguments["nodes"]) if count is None else count
        found = self.target.empty(count, np.int32, "queries")
        self._launch(kernel, count, **arguments, **{"nodes" if kernel == "find_nodes_over" else "found": found})
        return found

    def _cells(self, kernel: str, count: int, **arguments: Any) -> Cells:
        found = Cells(self.target.empty(count, np.uint64, "queries"), self.target.empty(count, np.int32, "queries"))
        self._launch(kernel, count, **arguments, **found.arrays)
        return found

    def _launch(self, kernel: str, count: int, counted: bool = True, **arguments: Any) -> None:
        if count:
            batch = {"count": count} if counted else {}
            unit = self.target.unit(_SOURCE)
            self.target.launch(unit, kernel, count, tree=self.tree.view, **batch, **arguments)

    def _check_cells(self, doing: str) -> None:
        if self.tree.split != "cell_middle":
            raise HierarchyError(
                f"{doing} among cells, and the nodes of this octree are none: it was divided by {self.tree.split}. "
                f"Divide it by cell_middle."
            )

    def _checked(self, numbers: Array) -> Array:
        if len(numbers.shape) != 1 or numbers.dtype != np.int32:
            raise HierarchyError(
                f"Nodes and octants are (n,) of int32; {tuple(numbers.shape)} of {numbers.dtype} was given."
            )
        return numbers

    def _same(self, nodes: Array, others: Array) -> None:
        if len(self._checked(nodes)) != len(others):
            raise HierarchyError(f"One a node was expected, for {len(nodes):,} nodes; {len(others):,} were given.")
