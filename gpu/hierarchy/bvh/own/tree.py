"""The tree that a function of one's own gives, and what is wrong with it, in words: nothing follows an index of it
before all of this holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...base import HierarchyError

MOST_DEPTH = 255
"""Inner nodes on a way from the root, at most: traversals keep a stack that long for every ray at work."""

TOLERANCE = 1e-6
"""How far a box may stand out of the one that holds it, as a share of the largest coordinate: what rounding does."""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Tree:
    """A binary tree over N boxes; any array-likes on the host. Row 0 of the M nodes is the root.

    `count` (M,) integers: how many primitives a leaf has, 0 for an inner node. `children` (M, 2) integers: an inner
    node's two children, as rows of nodes; of leaves they are not looked at. `first` (M,) integers: where a leaf's
    primitives begin in `primitives` (R,) integers, rows of the boxes that the function was given; of inner nodes it is
    not looked at. `bounds` (M, 6), lower and upper of each node, are checked; None: they are only computed. Nodes that
    no way from the root leads to are left out. `splits_references` says that a primitive may be in several leaves.

    A file may have the boxes of several instants beside: `frame_bounds` (T, M, 6) at `frame_times` (T,), seconds of the
    clip. `rg.validate` looks at them; a build does not.

    Example:
        >>> import raygrove as rg
        >>> tree = rg.Tree(children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, 2], count=[0, 2, 1], primitives=[4, 0, 2])
    """

    children: Any
    first: Any
    count: Any
    primitives: Any
    bounds: Any = None
    splits_references: bool = False
    frame_bounds: Any = None
    frame_times: Any = None


class TreeError(HierarchyError):
    """A tree is none: the message names the first bad node and why. `code` is the kind of fault in a word, `node` that
    node where there is one."""

    def __init__(self, what: str, *, code: str = "malformed", node: int | None = None) -> None:
        super().__init__(what)
        self.code, self.node = code, node


@dataclasses.dataclass(frozen=True, eq=False)
class Columns:
    """A tree as arrays of one type each: int64, and float32 for bounds."""

    children: np.ndarray
    first: np.ndarray
    count: np.ndarray
    primitives: np.ndarray
    bounds: np.ndarray | None


@dataclasses.dataclass(frozen=True, eq=False)
class Checked:
    """A tree that is one: its nodes level by level, rows of `columns`; and the primitives of its leaves one after the
    other, of which leaf `listed_in` says each."""

    columns: Columns
    levels: tuple[np.ndarray, ...]
    listed: np.ndarray
    listed_in: np.ndarray


def checked_tree(tree: object, boxes: np.ndarray, splits_references: bool) -> Checked:
    """The tree over `boxes` (N, 6), at least one, if it is one. Each primitive is in exactly one leaf, in at least one
    where references are split. Raises TreeError."""
    columns = columns_of(tree, splits_references)
    levels = levels_of(columns)
    leaves = np.concatenate([level[columns.count[level] > 0] for level in levels])
    listed, listed_in = _listed(columns, leaves, len(boxes), splits_references)
    checked = Checked(columns, levels, listed, listed_in)
    if columns.bounds is not None:
        _check_bounds(checked, columns.bounds, boxes, splits_references)
    return checked


# -- arrays ------------------------------------------------------------------------------------------------------------
def columns_of(tree: object, splits_references: bool) -> Columns:
    """Its arrays, each of one type. Raises TreeError where they are no tree's."""
    if not isinstance(tree, Tree):
        raise TreeError(f"it gave {_article(type(tree).__name__)}; a raygrove.Tree is asked for.")
    count, first, primitives = (_integers(tree, name, 1) for name in ("count", "first", "primitives"))
    children = _integers(tree, "children", 2)
    if len(count) == 0:
        raise TreeError("it has no node; the root is row 0, a leaf where there is nothing to split.")
    bounds = None if tree.bounds is None else _bounds_of(tree.bounds)
    lengths = {"children": len(children), "first": len(first), "bounds": len(count if bounds is None else bounds)}
    for name, length in lengths.items():
        if length != len(count):
            raise TreeError(f"{name} has {length:,} rows, and count has {len(count):,}: both have one for each node.")
    if bounds is None and splits_references:
        raise TreeError("it has no bounds: where references are split, the boxes of leaves say which part is in them.")
    return Columns(children, first, count, primitives, bounds)


def _integers(tree: Tree, name: str, dimensions: int) -> np.ndarray:
    values = _array(getattr(tree, name), name)
    if values.size == 0:
        return np.zeros((0, 2) if dimensions == 2 else 0, np.int64)
    wanted = "(M, 2)" if dimensions == 2 else "(R,)" if name == "primitives" else "(M,)"
    if values.dtype.kind not in "iu" or values.ndim != dimensions or values.shape[1:] not in ((), (2,)):
        raise TreeError(f"{name} are whole numbers, {wanted}; these are {values.shape} of {values.dtype}.")
    return values.astype(np.int64)


def _bounds_of(given: object) -> np.ndarray:
    values = _array(given, "bounds")
    if values.dtype.kind not in "fiu" or values.ndim != 2 or values.shape[1] != 6:
        raise TreeError(f"bounds are rows of six numbers, (M, 6); these are {values.shape} of {values.dtype}.")
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _array(given: object, name: str) -> np.ndarray:
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:  # of another device, or of rows that differ in length
        raise TreeError(f"{name} is no array on the host: {error}") from error


# -- links -------------------------------------------------------------------------------------------------------------
def levels_of(columns: Columns) -> tuple[np.ndarray, ...]:
    """The rows that are reached from the root, level by level. Raises TreeError where links are not those of a tree."""
    return levels_and_parents(columns)[0]


def levels_and_parents(columns: Columns) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The same, and the parent of each row, -1 of the root and of rows that are not reached."""
    node_count, parent = len(columns.count), np.full(len(columns.count), -1, np.int64)
    levels = [np.zeros(1, np.int64)]
    while True:
        level = levels[-1]
        counts = columns.count[level]
        if (counts < 0).any():
            node = level[counts < 0][0]
            said = f"node {node} has a count of {columns.count[node]}: 0 for inner nodes, more for leaves."
            raise TreeError(said, code="negative_count", node=int(node))
        inner = level[counts == 0]
        if len(inner) == 0:
            return tuple(levels), parent
        if len(levels) > MOST_DEPTH:
            raise TreeError(
                f"node {inner[0]} lies below {len(levels)} others, and still has children: a tree has at most "
                f"{MOST_DEPTH} inner nodes on a way. Halve sets by number where splits leave one side almost empty.",
                code="too_deep",
                node=int(inner[0]),
            )
        children = columns.children[inner]
        is_wrong = (children < 0) | (children >= node_count)
        if is_wrong.any():
            row, side = np.argwhere(is_wrong)[0]
            raise TreeError(
                f"node {inner[row]} has a count of 0, so it is an inner node, and its {('left', 'right')[side]} child "
                f"is {children[row, side]}: children are rows from 0 to {node_count - 1}, and leaves have a count of "
                "at least 1.",
                code="child_out_of_range",
                node=int(inner[row]),
            )
        below, above = children.reshape(-1), np.repeat(inner, 2)
        _take_parents(parent, below, above)
        levels.append(below)


def _take_parents(parent: np.ndarray, below: np.ndarray, above: np.ndarray) -> None:
    """Note whose children they are. Raises TreeError where one is another's already."""
    is_taken = (parent[below] >= 0) | (below == 0)
    before = parent[below]
    parent[below] = above
    is_whole = not is_taken.any() and not (below[0::2] == below[1::2]).any()
    if is_whole and np.array_equal(parent[below], above):  # of a child of two nodes one would differ
        return
    parent[below] = before
    is_first = np.zeros(len(below), bool)
    is_first[np.unique(below, return_index=True)[1]] = True
    is_taken |= ~is_first
    place = int(np.argmax(is_taken))
    parent[below[:place]] = above[:place]
    node, child = int(above[place]), int(below[place])
    if child in _way_up(parent, node):
        said = f"node {node} has the child {child}, which is itself or lies above it: a cycle."
        raise TreeError(said, code="cycle", node=node)
    said = f"node {node} has the child {child}, which is a child of node {parent[child]} already."
    raise TreeError(said, code="shared_child", node=node)


def _way_up(parent: np.ndarray, node: int) -> Iterator[int]:
    while node >= 0:
        yield node
        node = int(parent[node])


# -- leaves ------------------------------------------------------------------------------------------------------------
def _listed(
    columns: Columns, leaves: np.ndarray, box_count: int, splits_references: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The primitives of the leaves, one leaf after the other, and the leaf of each."""
    first, count = columns.first[leaves], columns.count[leaves]
    is_outside = (first < 0) | (count > len(columns.primitives)) | (first > len(columns.primitives) - count)
    if is_outside.any():
        place = int(np.argmax(is_outside))
        raise TreeError(
            f"node {leaves[place]} is a leaf of primitives[{first[place]}:{first[place] + count[place]}], and "
            f"primitives has {len(columns.primitives):,} entries."
        )
    if not splits_references:  # more than there are must come twice: those that show it are enough
        most = int(np.searchsorted(np.cumsum(count), box_count, "right")) + 1
        leaves, first, count = leaves[:most], first[:most], count[:most]
    listed_in = np.repeat(leaves, count)
    starts = np.cumsum(count) - count
    listed = columns.primitives[np.arange(len(listed_in)) - np.repeat(starts - first, count)]
    is_wrong = (listed < 0) | (listed >= box_count)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        raise TreeError(
            f"node {listed_in[place]} lists primitive {listed[place]}, and there are {box_count:,} boxes, counted from "
            "0."
        )
    times = np.bincount(listed, minlength=box_count)
    if not splits_references and (times > 1).any():
        _raise_twice(listed, listed_in)
    if (times == 0).any():
        missing = np.flatnonzero(times == 0)
        others = f", nor are {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise TreeError(f"primitive {missing[0]} is in no leaf that the root leads to{others}.")
    return listed, listed_in


def _raise_twice(listed: np.ndarray, listed_in: np.ndarray) -> None:
    is_first = np.zeros(len(listed), bool)
    is_first[np.unique(listed, return_index=True)[1]] = True
    again = int(np.argmin(is_first))
    before = int(np.argmax(listed == listed[again]))
    where = f"node {listed_in[before]} lists it already"
    where = "the same node lists it twice" if listed_in[before] == listed_in[again] else where
    raise TreeError(
        f"node {listed_in[again]} lists primitive {listed[again]}, and {where}: each is in one leaf. A builder that "
        "splits references says so: builder(..., splits_references=True)."
    )


# -- boxes -------------------------------------------------------------------------------------------------------------
def _check_bounds(checked: Checked, bounds: np.ndarray, boxes: np.ndarray, splits_references: bool) -> None:
    """Raise TreeError where a box is none, or does not hold what is below it."""
    columns, levels, nodes = checked.columns, checked.levels, np.concatenate(checked.levels)
    is_wrong = ~np.isfinite(bounds[nodes]).all(axis=1)
    if is_wrong.any():
        raise TreeError(
            f"node {nodes[is_wrong][0]} has a box that is not finite: {shown_box(bounds[nodes[is_wrong][0]])}."
        )
    is_wrong = (bounds[nodes, :3] > bounds[nodes, 3:]).any(axis=1)
    if is_wrong.any():
        node = nodes[is_wrong][0]
        raise TreeError(
            f"node {node} has a box whose lower corner lies above its upper one: {shown_box(bounds[node])}."
        )
    slack = np.float32(TOLERANCE * max(np.abs(boxes).max(), np.abs(bounds[nodes]).max()))
    for level in levels:
        inner = level[columns.count[level] == 0]
        above, below = np.repeat(inner, 2), columns.children[inner].reshape(-1)
        is_out = _stands_out(bounds[below], bounds[above], slack)
        if is_out.any():
            node, child = above[is_out][0], below[is_out][0]
            raise TreeError(
                f"node {node} has the box {shown_box(bounds[node])}, which does not hold that of its child {child}, "
                f"{shown_box(bounds[child])}."
            )
    around, held = bounds[checked.listed_in], boxes[checked.listed]
    if splits_references:
        is_out = (around[:, :3] - slack > held[:, 3:]).any(axis=1) | (around[:, 3:] + slack < held[:, :3]).any(axis=1)
        what = "meet"
    else:
        is_out, what = _stands_out(held, around, slack), "hold"
    if is_out.any():
        node, primitive = checked.listed_in[is_out][0], checked.listed[is_out][0]
        raise TreeError(
            f"node {node} has the box {shown_box(bounds[node])}, which does not {what} that of primitive {primitive}, "
            f"{shown_box(boxes[primitive])}."
        )


def _stands_out(inside: np.ndarray, around: np.ndarray, slack: np.floating[Any]) -> np.ndarray:
    """Which rows' boxes are not within those around them."""
    below, above = inside[:, :3] < around[:, :3] - slack, inside[:, 3:] > around[:, 3:] + slack
    found: np.ndarray = (below | above).any(axis=1)
    return found


def shown_box(box: np.ndarray) -> str:
    """A box in words: from its lower corner to its upper one."""
    lower, upper = (", ".join(f"{number:.6g}" for number in corner) for corner in (box[:3], box[3:]))
    return f"({lower}) to ({upper})"


def _article(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"
