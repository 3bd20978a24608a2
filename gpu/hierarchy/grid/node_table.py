"""A grid as the plain columns that tests, overlays and tree views know: a root, below it the cells, and of two levels
below those the cells of their blocks. On request, outside the frame: it waits for the target."""

from __future__ import annotations

import numpy as np

from ...target.base import Target, UnitSource
from ..base import NodeTable, Primitives
from ..grown_tree import NODES_NOW, REFERENCES_NOW, GrownTree
from ..primitives import scene_references, unit_source


def read_node_table(target: Target, tree: GrownTree, primitives: Primitives, has_blocks: bool) -> NodeTable:
    """Root first, then the nodes in their order, so that a row is the number by which traversals call a node; a cell
    that is all of the grid or of its block is no row of its own."""
    counts = target.download(tree.counts)
    count = int(counts[NODES_NOW]) if primitives.count else 0
    if count == 0:
        none, no_box = np.zeros(0, np.int32), np.zeros((0, 3), np.float32)
        return NodeTable(none, none, no_box, no_box, np.zeros(0, bool), none, none, none, none)
    boxes, owner = _boxes(target, tree, count, has_blocks, unit_source("gpu/hierarchy/grid/statistics.cu", primitives))
    words = target.download(tree.nodes)[:count].astype(np.int64)
    upper = int(np.count_nonzero(owner < 0)) if has_blocks else 0
    is_block = (np.arange(count) < upper) & (words[:, 1] != 0)
    first, end = np.where(is_block | (np.arange(count) < upper), 0, words.T)
    _take_single_cells(words, owner, is_block, first, end)
    root = target.download(tree.box)[:, :3]
    is_there = np.concatenate([[True], owner >= -1])
    if np.count_nonzero(owner == -1) == 1:  # the root is its only cell
        alone = int(np.flatnonzero(owner == -1)[0])
        is_there[1 + alone] = False
        root_leaf, root_range = not is_block[alone], (first[alone], end[alone])
    else:
        alone, root_leaf, root_range = -2, False, (0, 0)
    row_of = np.cumsum(is_there) - 1
    parent = np.where((owner < 0) | (owner == alone), 0, row_of[1 + np.maximum(owner, 0)])
    depth = np.where((owner < 0) | (owner == alone), 1, 2)
    references = target.download(tree.references)[: counts[REFERENCES_NOW]]

    def rows(of_root: object, of_nodes: np.ndarray, dtype: type) -> np.ndarray:
        return np.concatenate([np.asarray(of_root, dtype)[None], of_nodes.astype(dtype)])[is_there]

    return NodeTable(
        parent=rows(-1, parent, np.int32),
        depth=rows(0, depth, np.int32),
        lower=rows(root[0], boxes[:, 0], np.float32),
        upper=rows(root[1], boxes[:, 1], np.float32),
        is_leaf=rows(root_leaf, ~is_block, bool),
        first_reference=rows(root_range[0], first, np.int32),
        reference_count=rows(root_range[1] - root_range[0], end - first, np.int32),
        references=scene_references(target, primitives, references),
        event_ids=rows(0, 1 + np.arange(count), np.int32),
    )


def _boxes(
    target: Target, tree: GrownTree, count: int, has_blocks: bool, source: UnitSource
) -> tuple[np.ndarray, np.ndarray]:
    """The box of each node (count, 2, 3), and of the cells of blocks the block, -1 of others."""
    boxes, owner = target.empty((count, 2, 3), np.float32, "nodes"), target.empty(count, np.int32, "nodes")
    target.launch(
        target.unit(source),
        "write_boxes",
        count,
        counts=tree.counts,
        nodes=tree.nodes,
        box=tree.box,
        has_blocks=int(has_blocks),
        boxes=boxes,
        owner=owner,
    )
    return target.download(boxes), target.download(owner)


def _take_single_cells(
    words: np.ndarray, owner: np.ndarray, is_block: np.ndarray, first: np.ndarray, end: np.ndarray
) -> None:
    """A block of one cell is that cell: it lists what that lists, which is marked (-2) as no node of its own."""
    single = np.flatnonzero(is_block & (words[:, 1] == (1 | 1 << 8 | 1 << 16)))
    inside = words[single, 0]
    first[single], end[single] = words[inside, 0], words[inside, 1]
    is_block[single] = False
    owner[inside] = -2
