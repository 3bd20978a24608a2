"""The structure of a view's last picture, looked into: one ray through it, and its nodes a few at a time. Between
frames, on the thread of the engine; all of it waits."""

from __future__ import annotations

from collections.abc import Hashable

from .analysis.followed_ray import FollowedRay, told_nodes
from .analysis.pseudocode import pseudocode
from .analysis.ray_log import record_ray
from .analysis.tree_rows import TreeRows, rows_of
from .hierarchy.base import HierarchyError
from .hierarchy.traversed_nodes import PAGE, TraversedNodes, TreeNode, traversed_nodes
from .view_slot import ViewSlot


class Inspector:
    """See the module. `key` is another value for another tree, and after each refit."""

    def __init__(self, slot: ViewSlot) -> None:
        self._slot = slot
        self._of: Hashable = None
        self._nodes: TraversedNodes | None = None

    @property
    def key(self) -> Hashable:
        """Which tree it is."""
        return (self._slot.parts, self._slot.tree.number)

    @property
    def nodes(self) -> TraversedNodes:
        """The nodes, as the view's traversal goes through them. HierarchyError where the structure does not tell."""
        self._slot.bring_up_to_date()
        if self._nodes is None or self._of != self.key:
            self._nodes, self._of = traversed_nodes(self._slot.hierarchy), self.key
        return self._nodes

    def follow(self, x: float, y: float, kind: str = "closest") -> FollowedRay:
        """What the ray through pixel (x, y) of the picture did."""
        tracer = self._slot.tracer()
        log = record_ray(tracer, self._slot.ray_through(x, y), kind)
        hierarchy = self._slot.hierarchy
        names = (hierarchy.name, hierarchy.layout_name, hierarchy.traversal_name)
        try:
            nodes, remark = told_nodes(self.nodes, log), log.remark
        except HierarchyError as error:  # a family of another package: events, but no boxes
            nodes, remark = {}, " ".join(filter(None, [log.remark, str(error)]))
        return FollowedRay(log, nodes, pseudocode(tracer.traversal), names, self.key, remark)

    def root(self) -> TreeRows:
        """The root alone."""
        root = self.nodes.root()
        return rows_of(self.nodes, () if root is None else (root,), self.key)

    def children(self, node: TreeNode, first: int = 0, most: int = PAGE) -> TreeRows:
        """Children of a node, a page of them."""
        return rows_of(self.nodes, self.nodes.children(node, first, most), self.key)

    def path_to(self, node_id: int) -> TreeRows:
        """The nodes from the root to one; no rows where there is no such node. A search: it may read the tree once."""
        return rows_of(self.nodes, self.nodes.path_to(node_id), self.key)

    def path_to_primitive(self, prim_id: int) -> TreeRows:
        """The way to the first leaf that holds a primitive; no rows where none does. A search."""
        paths = self.nodes.paths_to_primitive(prim_id)
        return rows_of(self.nodes, paths[0] if paths else (), self.key)
