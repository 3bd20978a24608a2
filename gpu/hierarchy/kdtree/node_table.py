"""A kd-tree as the plain columns that tests, overlays and tree views know. On request, outside the frame: it waits for
the target."""

from __future__ import annotations

import numpy as np

from ...target.base import Target
from ..base import NodeTable, Primitives
from ..grown_tree import NODES_NOW, REFERENCES_NOW, GrownTree
from ..primitives import scene_references
from .tree import LEAF_AXIS


def read_node_table(target: Target, tree: GrownTree, primitives: Primitives) -> NodeTable:
    """The tree level by level, root first; a node's box is its cell, cut by the planes above it."""
    counts = target.download(tree.counts)
    if counts[NODES_NOW] == 0:
        return empty_table()
    words = target.download(tree.nodes)[: counts[NODES_NOW]]
    planes, axes, seconds = words[:, 0].view(np.float32), words[:, 1] & 3, words[:, 1].view(np.uint32) >> 2
    ids, parents, cells = [np.zeros(1, np.int64)], [np.array([-1])], [target.download(tree.box)[None, :, :3].copy()]
    first_row = 0
    while True:
        here = ids[-1]
        inner = np.flatnonzero(axes[here] != LEAF_AXIS)
        if len(inner) == 0:
            break
        split = here[inner]
        children = np.repeat(cells[-1][inner], 2, axis=0)
        rows = np.arange(0, 2 * len(inner), 2)
        children[rows, 1, axes[split]] = planes[split]
        children[rows + 1, 0, axes[split]] = planes[split]
        parents.append(np.repeat(first_row + inner, 2))
        ids.append((seconds[split][:, None] + np.arange(2)).reshape(-1).astype(np.int64))
        cells.append(children)
        first_row += len(here)
    references = target.download(tree.references)[: counts[REFERENCES_NOW]]
    return _table(words, ids, parents, cells, scene_references(target, primitives, references))


def _table(
    words: np.ndarray, ids: list[np.ndarray], parents: list[np.ndarray], cells: list[np.ndarray], references: np.ndarray
) -> NodeTable:
    all_ids, box = np.concatenate(ids), np.concatenate(cells)
    is_leaf = (words[all_ids, 1] & 3) == LEAF_AXIS
    return NodeTable(
        parent=np.concatenate(parents).astype(np.int32),
        depth=np.repeat(np.arange(len(ids)), [len(level) for level in ids]).astype(np.int32),
        lower=box[:, 0],
        upper=box[:, 1],
        is_leaf=is_leaf,
        first_reference=np.where(is_leaf, words[all_ids, 0], 0).astype(np.int32),
        reference_count=np.where(is_leaf, words[all_ids, 1].view(np.uint32) >> 2, 0).astype(np.int32),
        references=references,
        event_ids=all_ids.astype(np.int32),
    )


def empty_table() -> NodeTable:
    """The table of a tree over nothing: no row."""
    none, no_box = np.zeros(0, np.int32), np.zeros((0, 3), np.float32)
    return NodeTable(none, none, no_box, no_box, np.zeros(0, bool), none, none, none, none)
