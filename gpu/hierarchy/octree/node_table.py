"""An octree as the plain columns that tests, overlays and tree views know. On request, outside the frame: it waits for
the target."""

from __future__ import annotations

import numpy as np

from ...target.base import Target
from ..base import NOT_TOLD, NodeTable, Primitives
from ..grown_tree import NODES_NOW, REFERENCES_NOW, GrownTree
from ..primitives import scene_references
from .options import MOST_LEVELS


def read_node_table(target: Target, tree: GrownTree, primitives: Primitives) -> NodeTable:
    """The nodes by their numbers, root first, and behind them the children that hold nothing, as empty leaves; a node's
    box is its cell, as far as it lies in the scene's box."""
    counts = target.download(tree.counts)
    if counts[NODES_NOW] == 0:
        return _empty_table()
    words = target.download(tree.nodes)[: counts[NODES_NOW]]
    parent, depth, corner = _with_empty_leaves(words)
    count = len(parent)
    is_leaf, listed = np.ones(count, bool), np.zeros(count, np.int32)
    is_leaf[: len(words)] = words[:, 1] < 0
    listed[: len(words)] = np.where(words[:, 1] < 0, ~words[:, 1], 0)
    first = np.zeros(count, np.int32)
    first[: len(words)] = np.where(words[:, 1] < 0, words[:, 0], 0)
    box, size = target.download(tree.box), (1 << MOST_LEVELS) >> depth[:, None].astype(np.int64)
    references = target.download(tree.references)[: counts[REFERENCES_NOW]]
    return NodeTable(
        parent=parent,
        depth=depth,
        lower=planes_at(box, corner),
        upper=planes_at(box, corner + size),
        is_leaf=is_leaf,
        first_reference=first,
        reference_count=listed,
        references=scene_references(target, primitives, references),
        event_ids=np.where(np.arange(count) < len(words), np.arange(count), NOT_TOLD).astype(np.int32),
    )


def planes_at(box: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Places on the grid (N, 3) in scene units, as nodes.cuh has them: a product and a sum that are rounded once."""
    lower, upper, half = box[0, :3], box[1, :3], np.longdouble(box[0, 3])
    at = (half * (places * (2.0 / (1 << MOST_LEVELS))) + lower).astype(np.float32)
    return np.asarray(np.where(places >= 1 << MOST_LEVELS, upper, np.minimum(at, upper)), np.float32)


def _with_empty_leaves(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parent, depth and lower corner on the grid, of the nodes and of the children that hold nothing."""
    parent, depth = np.full(len(words), -1, np.int32), np.zeros(len(words), np.int32)
    corner = np.zeros((len(words), 3), np.int64)
    level, level_nodes = 0, np.zeros(1, np.int64)
    absent: list[tuple[np.ndarray, np.ndarray]] = []
    while len(inner := level_nodes[words[level_nodes, 1] >= 0]):
        half, children, place = (1 << MOST_LEVELS) >> (level + 1), [], words[inner, 0].astype(np.int64)
        for octant in range(8):
            at = corner[inner] + half * np.array([octant >> 2, octant >> 1 & 1, octant & 1])
            is_there = (words[inner, 1] >> octant & 1) == 1
            here = place[is_there]
            parent[here], depth[here], corner[here] = inner[is_there], level + 1, at[is_there]
            absent.append((inner[~is_there], at[~is_there]))
            children.append(here)
            place = place + is_there
        level, level_nodes = level + 1, np.concatenate(children)
    if not absent:
        return parent, depth, corner
    above, at = (np.concatenate(columns) for columns in zip(*absent, strict=True))
    return (
        np.concatenate([parent, above.astype(np.int32)]),
        np.concatenate([depth, depth[above] + np.int32(1)]),
        np.concatenate([corner, at]),
    )


def _empty_table() -> NodeTable:
    """The table of a tree over nothing: no row."""
    none, no_box = np.zeros(0, np.int32), np.zeros((0, 3), np.float32)
    return NodeTable(none, none, no_box, no_box, np.zeros(0, bool), none, none, none, none)
