"""Traverses a structure's node table and says what is wrong with it, and what its statistics should be."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.hierarchy.base import NodeTable


@dataclasses.dataclass(frozen=True)
class TreeStatistics:
    """Counts and SAH cost (c_t = c_i = 1, root included) as a walker finds them."""

    node_count: int
    leaf_count: int
    depth: int
    sah_cost: float


def half_area(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Half the surface of each box (N, 3), (N, 3); 0 for an inverted one."""
    size = upper.astype(np.float64) - lower.astype(np.float64)
    area = size[:, 0] * size[:, 1] + size[:, 1] * size[:, 2] + size[:, 2] * size[:, 0]
    return np.where((size < 0).any(axis=1), 0.0, area)


def tree_statistics(table: NodeTable) -> TreeStatistics:
    """Counts of the rows and the cost by its definition."""
    if len(table) == 0:
        return TreeStatistics(0, 0, 0, 0.0)
    area = half_area(table.lower, table.upper)
    weight = np.where(table.is_leaf, table.reference_count, 1)
    cost = float((area * weight).sum() / area[0]) if area[0] > 0 else 0.0
    return TreeStatistics(int((~table.is_leaf).sum()), int(table.is_leaf.sum()), int(table.depth.max()), cost)


def check_tree(
    table: NodeTable, lower: np.ndarray, upper: np.ndarray, splits_references: bool = False, splits_space: bool = False
) -> None:
    """Assert that the table is a tree over the primitives with boxes `lower`, `upper` (inverted: inactive), its boxes
    as small as they can be. Where space is split boxes are cells, which hold a part of what they list; leaves may be
    empty and inactive primitives in none."""
    count = len(lower)
    if count == 0:
        assert len(table) == 0
        return
    _check_shape(table, 0 if splits_space else 1)
    references = np.concatenate(
        [table.references[f : f + c] for f, c in zip(table.first_reference, table.reference_count, strict=True)]
    )
    times = np.bincount(references, minlength=count)
    assert len(times) == count
    listed = times[(lower <= upper).all(axis=1)] if splits_space else times
    assert (listed >= 1).all() if splits_references else (listed == 1).all()
    leaves = np.flatnonzero(table.reference_count > 0)
    in_leaf = np.repeat(leaves, table.reference_count[leaves])
    if splits_space:
        assert (table.lower[table.is_leaf] <= table.upper[table.is_leaf]).all()
        assert (lower[references] <= table.upper[in_leaf]).all() and (upper[references] >= table.lower[in_leaf]).all()
    else:
        _check_leaf_boxes(table, leaves, *_boxes_of(in_leaf, lower[references], upper[references]), splits_references)
    order = 1 + np.argsort(table.parent[1:], kind="stable")
    box_lower, box_upper = _boxes_of(table.parent[order], table.lower[order], table.upper[order])
    np.testing.assert_array_equal(table.lower[~table.is_leaf], box_lower)
    np.testing.assert_array_equal(table.upper[~table.is_leaf], box_upper)


def _boxes_of(groups: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The box around the boxes of each group; members of a group stand together."""
    if len(groups) == 0:
        return lower, upper
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    return np.minimum.reduceat(lower, starts), np.maximum.reduceat(upper, starts)


def _check_leaf_boxes(
    table: NodeTable, leaves: np.ndarray, lower: np.ndarray, upper: np.ndarray, splits_references: bool
) -> None:
    """Assert that leaves have the boxes `lower`, `upper` of what they list, or smaller ones where primitives are
    split."""
    if not splits_references:
        np.testing.assert_array_equal(table.lower[leaves], lower)
        np.testing.assert_array_equal(table.upper[leaves], upper)
        return
    assert (table.lower[leaves] >= lower).all() and (table.upper[leaves] <= upper).all()
    is_box = (table.lower[leaves] <= table.upper[leaves]).all(axis=1)
    assert (is_box | ~(lower <= upper).all(axis=1)).all()


def _check_shape(table: NodeTable, fewest_references: int) -> None:
    rows = np.arange(len(table))
    assert table.parent[0] == -1 and table.depth[0] == 0
    assert (table.parent[1:] >= 0).all() and (table.parent[1:] < rows[1:]).all()
    assert (table.depth[1:] == table.depth[table.parent[1:]] + 1).all()
    child_count = np.bincount(table.parent[1:], minlength=len(table))
    assert (child_count[table.is_leaf] == 0).all()
    assert (child_count[~table.is_leaf] >= 2).all()
    assert (table.reference_count[table.is_leaf] >= fewest_references).all()
    assert (table.reference_count[~table.is_leaf] == 0).all()
