"""A builder whose tree the test gives: order, links, parents. Emits topology alone, and lets the family compute the
rest."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.hierarchy.base import Capabilities, Primitives, StructureChoice
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.tree import NODE_DTYPE, leaf_words
from raygrove.gpu.target.base import Target


@dataclasses.dataclass(frozen=True)
class NoOptions:
    """None."""


@dataclasses.dataclass
class GivenTree:
    """`children` (ids, 2) words where `exists`; `boxes` (references, 2, 3) where references are parts of primitives."""

    order: np.ndarray
    children: np.ndarray
    exists: np.ndarray
    root: int = 0
    boxes: np.ndarray | None = None

    def parents(self) -> np.ndarray:
        """Of every id; something wild where there is no node."""
        found = np.full(len(self.children), 12345, np.int32)
        for node_id in np.flatnonzero(self.exists):
            for child in self.children[node_id]:
                if child >= 0:
                    found[child] = node_id
        found[0] = -1
        return found


def random_tree(count: int, seed: int, max_leaf_size: int = 3, chain: float = 0.1) -> GivenTree:
    """Any shape over `count` references: ids without order and with gaps, leaves of any size, parts of it as deep as it
    goes."""
    random = np.random.default_rng(seed)
    ids = np.concatenate([[0], random.permutation(np.arange(1, max(1, count - 1)))]).astype(np.int32)
    children = np.full((max(1, count - 1), 2), 99, np.int32)
    exists = np.zeros(max(1, count - 1), bool)
    used = 1

    def word(first: int, last: int, waiting: list[tuple[int, int, int]]) -> int:
        nonlocal used
        size = last - first
        if size <= max_leaf_size and (size == 1 or random.random() < 0.5):
            return int(leaf_words(first, size))
        node_id = int(ids[used])
        used += 1
        waiting.append((node_id, first, last))
        return node_id

    if count <= 1:
        return GivenTree(np.arange(count, dtype=np.int32), children, exists, int(leaf_words(0, 1)))
    waiting = [(0, 0, count)]
    while waiting:
        node_id, first, last = waiting.pop()
        split = first + 1 if random.random() < chain else int(random.integers(first + 1, last))
        children[node_id] = word(first, split, waiting), word(split, last, waiting)
        exists[node_id] = True
    return GivenTree(random.permutation(count).astype(np.int32), children, exists)


class GivenBuilder(BvhHierarchy):
    """See the module. Abstract for the registry's eyes: nobody finds it there."""

    name = "given"
    title = "A tree of the test's"
    Options = NoOptions
    capabilities = Capabilities(primitive_kinds=("triangle", "sphere", "mixed"))

    def __init__(self, target: Target, tree: GivenTree, layout: str = "auto") -> None:
        super().__init__(target, StructureChoice(layout=layout))
        self.given = tree

    def max_depth(self) -> int:
        return 200

    def emit(self, primitives: Primitives) -> bool:
        tree, given, target = self.tree, self.given, self.target
        nodes = np.zeros(len(given.children), NODE_DTYPE)
        nodes["left"], nodes["right"] = given.children.T
        target.write(tree.order[: len(given.order)], given.order)
        target.write(tree.root, np.array([given.root], np.int32))
        if tree.node_capacity:
            ids = len(given.children)
            target.write(tree.nodes[:ids], nodes.view(np.float32).reshape(-1, 8))
            target.write(tree.parent[:ids], given.parents())
            target.write(tree.flags[:ids], given.exists.astype(np.uint8))
        return self.compute_bounds(primitives)


class SplitBuilder(GivenBuilder):
    """The same over parts of primitives."""

    capabilities = Capabilities(refit=False, splits_references=True, primitive_kinds=("triangle",))

    def reference_capacity(self, primitives: Primitives) -> int:
        return len(self.given.order) + 7

    def emit(self, primitives: Primitives) -> bool:
        boxes, tree = self.given.boxes, self.tree
        assert boxes is not None and tree.reference_boxes is not None
        rows = np.zeros((len(boxes), 8), np.float32)
        rows[:, :3], rows[:, 4:7] = boxes[:, 0], boxes[:, 1]
        self.target.write(tree.reference_boxes[: len(boxes)], rows)
        self.target.write(tree.reference_count, np.array([len(boxes)], np.int32))
        self.target.fill(tree.flags, 0)
        return super().emit(primitives)
