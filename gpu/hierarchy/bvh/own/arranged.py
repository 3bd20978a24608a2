"""A checked tree as the arrays of the family's canonical tree (../tree.py): nodes numbered depth first, the references
of a leaf side by side."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ...primitives import reference_bits
from ..tree import NO_ONE, NODE_DTYPE, leaf_words
from .tree import Checked, Columns

LEAF_OF_INACTIVE = 8
"""Primitives without a box in a leaf: no ray gets there, and a refit may bring them back."""


class Arranged(NamedTuple):
    """`order` (R,) int32, `nodes` (I, 8) float32 without boxes, `parent` (I,) int32, `root` a word; `depth` inner nodes
    on the longest way. `long_leaves` as the tree has it, None where no leaf is longer than its word can say; `boxes`
    (R, 8) float32 of the references, None where they are whole."""

    order: np.ndarray
    nodes: np.ndarray
    parent: np.ndarray
    root: int
    depth: int
    long_leaves: np.ndarray | None
    boxes: np.ndarray | None


def inactive_tree(ids: np.ndarray) -> Checked:
    """A balanced tree over primitives that have no box, at least one of them."""
    leaf_count = -(-len(ids) // LEAF_OF_INACTIVE)
    rows = np.arange(2 * leaf_count - 1)
    is_leaf = rows >= leaf_count - 1
    first = np.where(is_leaf, (rows - leaf_count + 1) * LEAF_OF_INACTIVE, 0)
    count = np.where(is_leaf, np.minimum(LEAF_OF_INACTIVE, len(ids) - first), 0)
    children = np.where(is_leaf[:, None], 0, 2 * rows[:, None] + (1, 2))
    levels = tuple(rows[2**level - 1 : 2 ** (level + 1) - 1] for level in range(len(rows).bit_length()))
    return Checked(Columns(children, first, count, ids, None), levels, ids, np.repeat(rows, count))


def joined(left: Checked, right: Checked) -> Checked:
    """Both under a new root."""
    behind, root = len(left.columns.count), len(left.columns.count) + len(right.columns.count)
    children = np.concatenate([left.columns.children, right.columns.children + behind, [[0, behind]]])
    children[root, 0], children[root, 1] = left.levels[0][0], right.levels[0][0] + behind
    count = np.concatenate([left.columns.count, right.columns.count, [0]])
    both = itertools.zip_longest(
        left.levels, (level + behind for level in right.levels), fillvalue=np.zeros(0, np.int64)
    )
    levels = (np.array([root]), *(np.concatenate(pair) for pair in both))
    listed = np.concatenate([left.listed, right.listed])
    listed_in = np.concatenate([left.listed_in, right.listed_in + behind])
    none = np.zeros(0, np.int64)
    return Checked(Columns(children, none, count, none, None), levels, listed, listed_in)


def arranged(tree: Checked, boxes: np.ndarray | None) -> Arranged:
    """The tree's arrays; `boxes` (R, 6) of what each entry of `tree.listed` is a part, None where all are whole."""
    children, count, levels = tree.columns.children, tree.columns.count, tree.levels
    inner_below, references_below = (count == 0).astype(np.int64), count.copy()
    inner_levels = [level[count[level] == 0] for level in levels]
    for inner in reversed(inner_levels):
        for below in (inner_below, references_below):
            below[inner] += below[children[inner]].sum(axis=1)
    ids, first = np.zeros(len(count), np.int64), np.zeros(len(count), np.int64)
    for inner in inner_levels:
        left, right = children[inner].T
        ids[left], ids[right] = ids[inner] + 1, ids[inner] + 1 + inner_below[left]
        first[left], first[right] = first[inner], first[inner] + references_below[left]

    starts = np.flatnonzero(np.diff(tree.listed_in, prepend=-1))
    lengths = np.diff(starts, append=len(tree.listed))
    places = first[tree.listed_in] + np.arange(len(tree.listed)) - np.repeat(starts, lengths)
    order = np.zeros(len(places), np.int32)
    order[places] = tree.listed
    bits = reference_bits(len(order))
    words, long_leaves = _words(ids, first, count, bits)
    inner = np.concatenate(inner_levels)
    nodes = np.zeros(len(inner), NODE_DTYPE)
    parent = np.full(len(inner), NO_ONE, np.int32)
    nodes["left"][ids[inner]], nodes["right"][ids[inner]] = words[children[inner]].T
    for side in (0, 1):
        below = children[inner, side]
        is_inner = count[below] == 0
        parent[ids[below[is_inner]]] = ids[inner[is_inner]]
    return Arranged(
        order=order,
        nodes=nodes.view(np.float32).reshape(-1, 8),
        parent=parent,
        root=int(words[levels[0][0]]),
        depth=sum(len(level) > 0 for level in inner_levels),
        long_leaves=long_leaves,
        boxes=None if boxes is None else _rows(boxes, places),
    )


def _words(ids: np.ndarray, first: np.ndarray, count: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray | None]:
    """The child word of each node, and what words cannot say of long leaves."""
    most = 1 << 31 - bits
    is_leaf, is_long = count > 0, count >= most
    words = np.where(is_leaf, leaf_words(first, np.minimum(count, most), bits), ids).astype(np.int32)
    if not (count > most).any():
        return words, None
    long_leaves = np.zeros(int(first[is_leaf].max()) // most + 1, np.int32)
    long_leaves[first[is_long] // most] = count[is_long]
    return words, long_leaves


def _rows(boxes: np.ndarray, places: np.ndarray) -> np.ndarray:
    rows = np.zeros((len(places), 8), np.float32)
    rows[places, :3], rows[places, 4:7] = boxes[:, :3], boxes[:, 3:]
    return rows
