"""The boxes of a tree's nodes at several instants of a clip: made by refitting on the host, and proved."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import Error
from ..hierarchy.base import NodeTable
from ..hierarchy.bvh.own.tree import Tree, columns_of, levels_and_parents, levels_of
from .validation import Fault, validate

BoxesAt = Callable[[float], np.ndarray]
"""The boxes (N, 6) of primitives at an instant, in seconds."""


def with_frames(tree: Tree, times: Sequence[float], boxes_at: BoxesAt) -> Tree:
    """The tree with the boxes of its nodes at each of these instants, as small as they can be. Error for a tree that
    splits references, whose boxes do not follow what moves."""
    if tree.splits_references:
        raise Error("a tree that splits references has no boxes of other instants", "", "leave --frames out")
    bounds = np.stack([refitted(tree, boxes_at(time)) for time in times])
    return dataclasses.replace(tree, frame_bounds=bounds, frame_times=np.asarray(times, np.float32))


def refitted(tree: Tree, boxes: np.ndarray) -> np.ndarray:
    """(M, 6) float32: the boxes of a tree's nodes over primitives that are these boxes now; NaN of rows that nothing
    leads to. TreeError where it is no tree."""
    columns = columns_of(tree, False)
    found = np.full((len(columns.count), 6), np.nan, np.float32)
    for level in reversed(levels_of(columns)):
        leaves = level[columns.count[level] > 0]
        if len(leaves):
            first, count = columns.first[leaves], columns.count[leaves]
            begin = np.concatenate([[0], np.cumsum(count)[:-1]])
            places = np.repeat(first - begin, count) + np.arange(count.sum())
            held = boxes[columns.primitives[places]]
            found[leaves, :3] = np.minimum.reduceat(held[:, :3], begin)
            found[leaves, 3:] = np.maximum.reduceat(held[:, 3:], begin)
        inner = level[columns.count[level] == 0]
        left, right = (found[columns.children[inner, side]] for side in range(2))
        found[inner, :3] = np.minimum(left[:, :3], right[:, :3])
        found[inner, 3:] = np.maximum(left[:, 3:], right[:, 3:])
    return found


def frame_table(tree: Tree, time: float) -> NodeTable:
    """The nodes of a tree with the boxes that it has of the frame nearest to a time in seconds. ValueError where it has
    none; TreeError where it is no tree."""
    if tree.frame_bounds is None or not len(tree.frame_times):
        raise ValueError("The tree has no boxes of frames.")
    bounds = np.asarray(tree.frame_bounds)[int(np.abs(np.asarray(tree.frame_times) - time).argmin())]
    kept = _nodes_of(tree)
    return dataclasses.replace(kept[1], lower=bounds[kept[0], :3], upper=bounds[kept[0], 3:])


_nodes: weakref.WeakKeyDictionary[Tree, tuple[np.ndarray, NodeTable]] = weakref.WeakKeyDictionary()


def _nodes_of(tree: Tree) -> tuple[np.ndarray, NodeTable]:
    """The rows of a tree, level by level, and its nodes without boxes; the same in every frame, found once."""
    if (kept := _nodes.get(tree)) is not None:
        return kept
    columns = columns_of(tree, tree.splits_references)
    levels, parent = levels_and_parents(columns)
    rows = np.concatenate(levels)
    places = np.full(len(columns.count), -1, np.int32)
    places[rows] = np.arange(len(rows))
    is_leaf = columns.count[rows] > 0
    depth = np.repeat(np.arange(len(levels), dtype=np.int32), [len(level) for level in levels])
    parents = np.where(parent[rows] < 0, -1, places[parent[rows]]).astype(np.int32)
    first = np.where(is_leaf, columns.first[rows], 0).astype(np.int32)
    count, empty = columns.count[rows].astype(np.int32), np.zeros((len(rows), 3), np.float32)
    table = NodeTable(parents, depth, empty, empty, is_leaf, first, count, columns.primitives.astype(np.int32))
    return _nodes.setdefault(tree, (rows, table))


def frame_faults(tree: Tree, boxes_at: BoxesAt, ulps: int = 1) -> tuple[Fault, ...]:
    """What is wrong with a tree's boxes of frames, of each kind of fault the first frame; nothing where it has none.
    The tree itself is sound by then."""
    if tree.frame_bounds is None:
        return ()
    times, bounds = np.asarray(tree.frame_times), np.asarray(tree.frame_bounds)
    if bounds.ndim != 3 or len(times) != len(bounds) or not np.isfinite(times).all():
        said = f"frame_bounds are {bounds.shape} and frame_times {times.shape}: (T, M, 6) and T numbers of seconds."
        return (Fault("malformed", None, f"Its {said}"),)
    found: dict[str, Fault] = {}
    for number, time in enumerate(times.tolist()):
        at_it = dataclasses.replace(tree, bounds=bounds[number], frame_bounds=None, frame_times=None)
        checked = validate(at_it, boxes_at(time), splits_references=tree.splits_references, ulps=ulps)
        for fault in checked.faults:
            before = found.get(fault.code)
            if before is not None:
                found[fault.code] = dataclasses.replace(before, count=before.count + fault.count)
                continue
            said = f"In frame {number}, at {time:g} s: {fault.sentence}"
            found[fault.code] = dataclasses.replace(fault, sentence=said)
    return tuple(found.values())
