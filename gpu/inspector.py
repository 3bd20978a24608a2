"""The structure of a view's last picture, looked into: one ray through it, and its nodes a few at a time. Between
frames, on the thread of the engine; all of it waits."""

from __future__ import annotations

import weakref
from collections.abc import Hashable

from .analysis.build_steps import BuildReplay, replay_of
from .analysis.followed_ray import FollowedRay, told_nodes
from .analysis.pseudocode import pseudocode
from .analysis.ray_log import record_ray
from .analysis.tree_levels import Levels, built_beside, levels_of, spelling
from .analysis.tree_rows import TreeRows, TreeWay, rows_of, way_of
from .analysis.validation import boxes_of
from .hierarchy.base import HierarchyError
from .hierarchy.traversed_nodes import PAGE, TraversedNodes, TreeNode, Vector, traversed_nodes
from .view_slot import ViewSlot


class Inspector:
    """See the module. `key` is another value for another tree, and after each refit. A view that is given back goes at
    once, with its scene and arrays: whoever looks into it then gets a ReferenceError."""

    def __init__(self, slot: ViewSlot) -> None:
        self._slot: ViewSlot = weakref.proxy(slot)  # which keeps the inspector
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
        titles = hierarchy.titles()
        parts = (hierarchy.layout_name, hierarchy.traversal_name)
        names = (hierarchy.title, *(titles.get(name, name) for name in parts))
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

    def way_to(self, node_id: int) -> TreeWay:
        """The way to a node, empty where there is none such. A search: it may read the tree once."""
        return way_of(self.nodes, self.nodes.path_to(node_id), self.key)

    def way_to_primitive(self, prim_id: int) -> TreeWay:
        """The way to the first leaf that holds a primitive, empty where none does. A search."""
        paths = self.nodes.paths_to_primitive(prim_id)
        return way_of(self.nodes, paths[0] if paths else (), self.key)

    def way_to_box(self, lower: Vector, upper: Vector) -> TreeWay:
        """The way to the smallest node that holds a box, empty where none does."""
        return way_of(self.nodes, self.nodes.path_holding(lower, upper), self.key)

    def levels(self, beside: str = "") -> tuple[Levels, ...]:
        """The tree level by level, and that of another configuration over the same primitives where one is named: it
        is built for that. Raises Error for what is none."""
        self._slot.bring_up_to_date()
        hierarchy, context = self._slot.hierarchy, self._slot.context
        found = [levels_of(hierarchy.nodes(), spelling(hierarchy))]
        if beside and context is not None:
            with built_beside(hierarchy.target, beside, context.surface.primitives) as other:
                found.append(levels_of(other.nodes(), spelling(other)))
        return tuple(found)

    def build_replay(self) -> BuildReplay:
        """How the tree came to be, step by step. HierarchyError where it is not over triangles alone."""
        self._slot.bring_up_to_date()
        hierarchy, context = self._slot.hierarchy, self._slot.context
        if context is None or context.surface.primitives.kind != "triangle":
            raise HierarchyError("How a tree was built is shown of triangles alone.")
        surface, target = context.surface, hierarchy.target
        return replay_of(hierarchy, boxes_of(target.download(surface.positions), target.download(surface.triangles)))

    def way_through(self, path: tuple[TreeNode, ...]) -> TreeWay:
        """The way through nodes that are known, from the root on, as this tree has them; empty where it has not."""
        root = self.nodes.root()
        found = [root] if root is not None and path and path[0].id == root.id else []
        for below in path[1:]:
            child = self.nodes.child(found[-1], below.id) if found else None
            if child is None:
                return way_of(self.nodes, (), self.key)
            found.append(child)
        return way_of(self.nodes, tuple(found), self.key)
