"""The nodes of a structure as its traversals go through them, a few at a time: read from the target when they are asked
for, by the numbers that events call them (gpu/device/traversal_events.cuh). Nothing reads the whole of a tree but a
search.

A family whose traversals tell events has a module `traversed.py` with the class `Nodes`. All of it waits for the
target, outside the frame.
"""

from __future__ import annotations

import abc
import dataclasses
import importlib
from typing import Any, NamedTuple

import numpy as np

from .base import Hierarchy, HierarchyError

PAGE = 256
"""Children that are read together: a grid has millions of them."""

MOST_SHOWN = 100
"""References of a leaf, and leaves of a primitive, that are listed at most."""

MOST_OPENED = 1 << 14
"""Nodes whose children are read in the search for the one that holds a box."""

Vector = tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class TreeNode:
    """A node or a leaf. `id` is what events call it, `parent` its parent's, None of the root. The box is what rays are
    tested against, which in some layouts is a little larger than what lies in it; of an empty one `lower` is above
    `upper`. A leaf has `reference_count` references from `first_reference` on."""

    id: int
    parent: int | None
    depth: int
    lower: Vector
    upper: Vector
    is_leaf: bool
    first_reference: int = 0
    reference_count: int = 0

    @property
    def area(self) -> float:
        """The surface of its box, 0 of an empty one."""
        x, y, z = (max(0.0, high - low) for low, high in zip(self.lower, self.upper, strict=True))
        return 2.0 * (x * y + y * z + z * x)


class EventSpace(NamedTuple):
    """Bounds of what events call nodes: numbers are below `nodes`, the first references of leaves that are no nodes
    below `references`. No leaf tests more than `most_tests` primitives a visit, no ray visits a node twice, and none
    tests a primitive in two leaves; 0: nobody knows that."""

    nodes: int
    references: int
    most_tests: int = 0

    @property
    def places(self) -> int:
        """How many there are."""
        return self.nodes + self.references


class TraversedNodes(abc.ABC):
    """See the module. A family gives `space_of`, `root`, `children`, `references`, `parent_of` and `leaves_with`."""

    def __init__(self, hierarchy: Any) -> None:
        self.hierarchy, self.target = hierarchy, hierarchy.target

    @classmethod
    @abc.abstractmethod
    def space_of(cls, hierarchy: Any) -> EventSpace:
        """That of a structure. Reads nothing of it: it holds for every tree that there is room for."""

    @abc.abstractmethod
    def root(self) -> TreeNode | None:
        """The root; None of a tree over nothing."""

    @abc.abstractmethod
    def children(self, node: TreeNode, first: int = 0, most: int = PAGE) -> tuple[TreeNode, ...]:
        """The children of a node from the `first` on, at most so many; none of a leaf."""

    @abc.abstractmethod
    def parent_of(self, node_id: int) -> int | None:
        """The parent of a node or leaf; None of the root, and of what is no node. May read the whole tree once."""

    @abc.abstractmethod
    def leaves_with(self, places: np.ndarray) -> list[int]:
        """The leaves that hold these places of the references, each once."""

    @abc.abstractmethod
    def all_references(self) -> np.ndarray:
        """The scene's numbers of the primitives in the order of the references."""

    def references(self, node: TreeNode, most: int = MOST_SHOWN) -> tuple[int, ...]:
        """The first of a leaf's primitives, by the scene's numbers."""
        first, count = node.first_reference, min(node.reference_count, most)
        return tuple(self.some_references(first, count).tolist()) if count else ()

    def some_references(self, first: int, count: int) -> np.ndarray:
        """Those of `all_references` from the `first` on."""
        return self.all_references()[first : first + count]

    def child(self, node: TreeNode, node_id: int) -> TreeNode | None:
        """The child of that number; None where the node has none such."""
        return next((one for one in self.children(node) if one.id == node_id), None)

    def path_to(self, node_id: int) -> tuple[TreeNode, ...]:
        """The nodes from the root to this one; none where there is no such node."""
        root, ids = self.root(), [node_id]
        if root is None:
            return ()
        while ids[-1] != root.id:
            above = self.parent_of(ids[-1])
            if above is None or len(ids) > 1 << 12:
                return ()
            ids.append(above)
        path = [root]
        for below in reversed(ids[:-1]):
            found = self.child(path[-1], below)
            if found is None:
                return ()
            path.append(found)
        return tuple(path)

    def path_holding(self, lower: Vector, upper: Vector, most: int = MOST_OPENED) -> tuple[TreeNode, ...]:
        """The nodes from the root to the smallest that holds a box, none where not even the root does. Boxes of nodes
        overlap, so that all ways down through such nodes are gone, until `most` were opened."""
        root = self.root()
        if root is None or not _holds(root, lower, upper):
            return ()
        best: tuple[TreeNode, ...] = (root,)
        waiting = [best]
        while waiting and most > 0:
            path, most = waiting.pop(), most - 1
            first = 0
            while page := self.children(path[-1], first):
                first += len(page)
                waiting += [(*path, one) for one in page if _holds(one, lower, upper)]
            if path[-1].area <= best[-1].area:
                best = path
        return best

    def paths_to_primitive(self, prim_id: int) -> tuple[tuple[TreeNode, ...], ...]:
        """The ways to the leaves that hold a primitive, at most MOST_SHOWN of them; none where no leaf does."""
        places = np.flatnonzero(self.all_references() == prim_id)[:MOST_SHOWN]
        paths = [self.path_to(leaf) for leaf in self.leaves_with(places)] if len(places) else []
        return tuple(path for path in paths if path)


def traversed_nodes(hierarchy: Hierarchy) -> TraversedNodes:
    """Those of a structure that is built; HierarchyError where its family does not tell them."""
    hierarchy.last_built()
    found: TraversedNodes = _nodes_class(hierarchy)(hierarchy)
    return found


def event_space(hierarchy: Hierarchy) -> EventSpace:
    """What events of a structure's traversal may call its nodes; HierarchyError where its family does not tell them."""
    found: EventSpace = _nodes_class(hierarchy).space_of(hierarchy)
    return found


def _nodes_class(hierarchy: Hierarchy) -> Any:
    try:
        module = importlib.import_module(f".{hierarchy.family}.traversed", __package__)
    except ModuleNotFoundError as error:
        raise HierarchyError(
            f"The structure {hierarchy.name} does not tell its nodes one by one: its family {hierarchy.family} has no "
            f"module traversed.py."
        ) from error
    return module.Nodes


def _holds(node: TreeNode, lower: Vector, upper: Vector) -> bool:
    return all(
        low <= begin and end <= high for low, begin, end, high in zip(node.lower, lower, upper, node.upper, strict=True)
    )


def vector(row: Any) -> Vector:
    """Three numbers of a row."""
    x, y, z = (float(value) for value in row)
    return x, y, z
