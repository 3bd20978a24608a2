"""Functions that are builders of one's own, for tests: registered while a test runs, and forgotten after it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from raygrove.gpu.hierarchy.bvh.own.decorator import builder
from raygrove.gpu.hierarchy.bvh.own.tree import Tree
from raygrove.gpu.hierarchy.bvh.tree import first_references, reference_counts
from raygrove.gpu.hierarchy.registry import unregister

from .given_tree import GivenTree, random_tree


@contextlib.contextmanager
def registered(name: str, function: Callable[..., Any], **more: Any) -> Iterator[None]:
    """A function as a structure, for as long as this lasts."""
    builder(name, **more)(function)
    try:
        yield
    finally:
        unregister(name)


def halved(bounds: np.ndarray, *, max_leaf_size: int = 4) -> Tree:
    """The boxes in their order, halved again and again."""
    order, nodes, children, count = np.arange(len(bounds)), [(0, len(bounds))], [], []
    for first, size in nodes:
        is_leaf = size <= max_leaf_size
        children.append((len(nodes), len(nodes) + 1))
        count.append(size if is_leaf else 0)
        if not is_leaf:
            nodes += [(first, size // 2), (first + size // 2, size - size // 2)]
    return Tree(children=children, first=[node[0] for node in nodes], count=count, primitives=order)


def rows_of(given: GivenTree, seed: int) -> dict[str, np.ndarray]:
    """A tree of words as rows of inner nodes and leaves, in any order, with rows between that nothing leads to."""
    random = np.random.default_rng(seed)
    words = [given.root]
    for word in words:
        if word >= 0:
            words.extend(given.children[word].tolist())
    row_count = len(words) + 5
    rows = np.concatenate([[0], 1 + random.permutation(row_count - 1)])[: len(words)]
    of_word = dict(zip(words, rows.tolist(), strict=True))
    made = {
        "children": random.integers(-9, 9, (row_count, 2)),
        "first": np.full(row_count, -3),
        "count": np.full(row_count, -7),
    }
    for word, row in of_word.items():
        if word >= 0:
            made["children"][row], made["count"][row] = [of_word[child] for child in given.children[word]], 0
        else:
            made["first"][row], made["count"][row] = first_references(word), reference_counts(word)
    return {**made, "primitives": given.order}


def with_bounds(rows: dict[str, np.ndarray], boxes: np.ndarray, parts: np.ndarray | None = None) -> Tree:
    """The same with the boxes of nodes, as small as they can be; `parts` are those of the references where they are
    none of whole primitives."""
    held = boxes[rows["primitives"]] if parts is None else parts
    bounds = np.full((len(rows["count"]), 6), np.nan, np.float32)

    def bound(row: int) -> np.ndarray:
        first, count = rows["first"][row], rows["count"][row]
        below = (
            held[first : first + count] if count > 0 else np.array([bound(child) for child in rows["children"][row]])
        )
        bounds[row] = *below[:, :3].min(axis=0), *below[:, 3:].max(axis=0)
        return bounds[row]

    bound(0)
    return Tree(bounds=bounds, **rows)


def any_tree(bounds: np.ndarray, *, seed: int = 3, max_leaf_size: int = 3) -> Tree:
    """A tree of any shape, with bounds."""
    return with_bounds(rows_of(random_tree(len(bounds), seed, max_leaf_size), seed), bounds)


def cut_in_two(bounds: np.ndarray, *, seed: int = 5) -> Tree:
    """Every box cut at the middle of its longest side, in a tree of any shape."""
    count = len(bounds)
    axis, each = (bounds[:, 3:] - bounds[:, :3]).argmax(axis=1), np.arange(count)
    left, right = bounds.copy(), bounds.copy()
    left[each, 3 + axis] = right[each, axis] = (bounds[each, axis] + bounds[each, 3 + axis]) / 2
    given = random_tree(2 * count, seed, max_leaf_size=1)
    parts = np.concatenate([left, right])[given.order]
    rows = rows_of(given, seed)
    return with_bounds({**rows, "primitives": given.order % count}, bounds, parts)
