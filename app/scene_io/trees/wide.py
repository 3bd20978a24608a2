"""Nodes of up to eight children as binary ones: a node of k children becomes k - 1, halved in slot order."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .found import TreeSource

MOST_LEVELS = 128


class Slots(NamedTuple):
    """The slots of K nodes, W each: `node` (K, W) the inner child there, -1 for none; `first` and `size` (K, W) what a
    leaf there lists, size 0 for no leaf; `box` (K, W, 6) float32."""

    node: np.ndarray
    first: np.ndarray
    size: np.ndarray
    box: np.ndarray


class Binary(NamedTuple):
    """Columns as FoundTree has them, `size` its count; `first` is what the slot says."""

    children: np.ndarray
    first: np.ndarray
    size: np.ndarray
    bounds: np.ndarray


def binary(source: TreeSource, decode: Callable[[np.ndarray], Slots], nodes: int, *, grows: bool) -> Binary:
    """The tree below node 0 of `nodes`. With `grows`, of decoded bytes, a box that a child stands out of is made to
    hold it."""
    ids, slots = _walked(source, decode, nodes)
    number = np.full(nodes, -1, np.int64)
    number[ids] = np.arange(len(ids))
    is_inner, is_leaf = slots.node >= 0, slots.size > 0
    used = is_inner | is_leaf
    kids = used.sum(axis=1)
    if (kids == 0).any():
        raise source.error(f"node {ids[int(np.argmax(kids == 0))]} has no child")
    leaves = np.argwhere(is_leaf)
    starts = np.cumsum(np.maximum(kids - 1, 0)) - np.maximum(kids - 1, 0)
    inner_rows = int(np.maximum(kids - 1, 0).sum())
    row_of = np.full(slots.node.shape, -1, np.int64)
    row_of[is_leaf] = inner_rows + np.arange(len(leaves))
    top = starts.copy()
    for place in np.flatnonzero(kids == 1)[::-1]:  # later levels first: an only child stands in the node's place
        slot = int(np.argmax(used[place]))
        child = slots.node[place, slot]
        top[place] = top[number[child]] if child >= 0 else row_of[place, slot]
    row_of[is_inner] = top[number[slots.node[is_inner]]]
    count = inner_rows + len(leaves)
    children, bounds = np.full((count, 2), -1, np.int64), np.zeros((count, 6), np.float32)
    first, counts = np.zeros(count, np.int64), np.zeros(count, np.int64)
    rows = row_of[is_leaf]
    first[rows], counts[rows], bounds[rows] = slots.first[is_leaf], slots.size[is_leaf], slots.box[is_leaf]
    for width in range(2, slots.node.shape[1] + 1):
        wide = np.flatnonzero(kids == width)
        order = np.argsort(~used[wide], axis=1, kind="stable")[:, :width]
        below, boxes = row_of[wide[:, None], order], slots.box[wide[:, None], order]
        for place, (begin, middle, end) in enumerate(_halves(width)):
            row = starts[wide] + place
            for side, (low, high) in enumerate(((begin, middle), (middle, end))):
                inside = starts[wide] + _halves(width).index(_half(low, high)) if high - low > 1 else below[:, low]
                children[row, side] = inside
            bounds[row, :3] = boxes[:, begin:end, :3].min(axis=1)
            bounds[row, 3:] = boxes[:, begin:end, 3:].max(axis=1)
    return _from_root(Binary(children, first, counts, bounds), int(top[0]), grows)


def _walked(source: TreeSource, decode: Callable[[np.ndarray], Slots], nodes: int) -> tuple[np.ndarray, Slots]:
    """The nodes below node 0, level by level, and their slots."""
    seen, levels, found = np.zeros(nodes, bool), [np.zeros(1, np.int64)], list[Slots]()
    seen[0] = True
    while len(levels[-1]):
        if len(levels) > MOST_LEVELS:
            raise source.error(f"node {levels[-1][0]} lies below {MOST_LEVELS} others", "Such a tree is not traced")
        slots = decode(levels[-1])
        found.append(slots)
        below = slots.node[slots.node >= 0]
        above = np.repeat(levels[-1], (slots.node >= 0).sum(axis=1))
        is_out = below >= nodes
        if is_out.any():
            place = int(np.argmax(is_out))
            raise source.error(f"node {above[place]} has the child {below[place]}, and there are {nodes:,} nodes")
        times = np.bincount(below, minlength=nodes) if len(below) else np.zeros(nodes, int)
        again = seen[below] | (times[below] > 1)
        if again.any():
            place = int(np.argmax(again))
            raise source.error(f"node {above[place]} has the child {below[place]}, which has another parent, too")
        seen[below] = True
        levels.append(below)
    return np.concatenate(levels), Slots(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _halves(width: int) -> list[tuple[int, int, int]]:
    """The binary nodes of a node of so many children: where each begins, is halved, and ends."""
    made = [_half(0, width)]
    for begin, middle, end in made:  # the list grows on the way
        made += [_half(low, high) for low, high in ((begin, middle), (middle, end)) if high - low > 1]
    return made


def _half(begin: int, end: int) -> tuple[int, int, int]:
    return begin, (begin + end + 1) // 2, end


def _from_root(tree: Binary, root: int, grows: bool) -> Binary:
    """The rows that the root leads to, level by level, it first."""
    levels = [np.array([root])]
    while len(levels[-1]):
        below = tree.children[levels[-1]].reshape(-1)
        levels.append(below[below >= 0])
    order = np.concatenate(levels)
    if grows:
        for level in reversed(levels):
            inner = level[tree.children[level, 0] >= 0]
            inside = tree.bounds[tree.children[inner]]
            tree.bounds[inner, :3] = np.minimum(tree.bounds[inner, :3], inside[:, :, :3].min(axis=1))
            tree.bounds[inner, 3:] = np.maximum(tree.bounds[inner, 3:], inside[:, :, 3:].max(axis=1))
    number = np.full(len(tree.size), -1, np.int64)
    number[order] = np.arange(len(order))
    children = tree.children[order]
    children = np.where(children < 0, -1, number[children])
    return Binary(children, tree.first[order], tree.size[order], tree.bounds[order])
