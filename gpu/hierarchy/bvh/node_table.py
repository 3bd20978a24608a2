"""A canonical tree as the plain columns that tests, overlays and tree views know. On request, outside the frame: it
waits for the target."""

from __future__ import annotations

import numpy as np

from ...target.base import Target
from ..base import NodeTable, Primitives
from ..primitives import scene_references
from .tree import NODE_DTYPE, CanonicalTree, first_references, reference_counts


def read_node_table(
    target: Target, tree: CanonicalTree, primitives: Primitives, indices: np.ndarray | None = None
) -> NodeTable:
    """The tree level by level, root first; a left child stands before its right sibling. `indices`: what the layout
    calls each node id, NOT_TOLD where it has no such node; None: the same."""
    if tree.count == 0:
        return empty_table()
    boxes, root_box = _read_boxes(target, tree, primitives)
    nodes = target.download(tree.nodes)[: max(1, tree.count - 1)].view(NODE_DTYPE).reshape(-1)
    children = np.stack([nodes["left"], nodes["right"]], axis=1)
    levels = [(np.array([-1]), target.download(tree.root), root_box[None])]
    first_row = 0
    while True:
        _, words, _ = levels[-1]
        inner = np.flatnonzero(words >= 0)
        if len(inner) == 0:
            break
        ids = words[inner]
        levels.append((np.repeat(first_row + inner, 2), children[ids].reshape(-1), boxes[ids].reshape(-1, 2, 3)))
        first_row += len(words)
    words = np.concatenate([level[1] for level in levels])
    box = np.concatenate([level[2] for level in levels])
    is_leaf = words < 0
    first = first_references(words, tree.reference_bits)
    inner_ids = words if indices is None or len(indices) == 0 else indices[np.where(is_leaf, 0, words)]
    long_leaves = None if tree.long_leaves is None else target.download(tree.long_leaves)
    return NodeTable(
        parent=np.concatenate([level[0] for level in levels]).astype(np.int32),
        depth=np.repeat(np.arange(len(levels)), [len(level[1]) for level in levels]).astype(np.int32),
        lower=box[:, 0],
        upper=box[:, 1],
        is_leaf=is_leaf,
        first_reference=np.where(is_leaf, first, 0).astype(np.int32),
        reference_count=np.where(is_leaf, reference_counts(words, long_leaves, tree.reference_bits), 0).astype(
            np.int32
        ),
        references=scene_references(
            target, primitives, target.download(tree.order)[: int(target.download(tree.reference_count)[0])]
        ),
        event_ids=np.where(is_leaf, ~first, inner_ids).astype(np.int32),
    )


def empty_table() -> NodeTable:
    """The table of a tree over nothing: no row."""
    none, no_box = np.zeros(0, np.int32), np.zeros((0, 3), np.float32)
    return NodeTable(none, none, no_box, no_box, np.zeros(0, bool), none, none, none, none)


def _read_boxes(target: Target, tree: CanonicalTree, primitives: Primitives) -> tuple[np.ndarray, np.ndarray]:
    """Both children's boxes of every node id (ids, 2, 2, 3), and the root's (2, 3)."""
    unit = target.unit(tree.unit_source("gpu/hierarchy/bvh/statistics.cu", primitives))
    boxes = target.empty((max(1, tree.count - 1), 2, 2, 3), np.float32, "node table")
    root_box = target.empty((2, 3), np.float32, "node table")
    target.launch(
        unit,
        "write_boxes",
        tree.count,
        **tree.leaf_boxes(),
        nodes=tree.nodes,
        flags=tree.flags,
        root=tree.root,
        n=tree.count,
        boxes=boxes,
        root_box=root_box,
    )
    return target.download(boxes), target.download(root_box)
