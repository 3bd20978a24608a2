"""Walks a structure's node table and says what is wrong with it, and what its statistics should be."""

from __future__ import annotations

import dataclasses

import numpy as np

from gpu.hierarchy.base import NodeTable


@dataclasses.dataclass(frozen=True)
class WalkedStatistics:
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


def walk_statistics(table: NodeTable) -> WalkedStatistics:
    """Counts of the rows and the cost by its definition."""
    if len(table) == 0:
        return WalkedStatistics(0, 0, 0, 0.0)
    area = half_area(table.lower, table.upper)
    weight = np.where(table.is_leaf, table.reference_count, 1)
    cost = float((area * weight).sum() / area[0]) if area[0] > 0 else 0.0
    return WalkedStatistics(int((~table.is_leaf).sum()), int(table.is_leaf.sum()), int(table.depth.max()), cost)


def check_tree(table: NodeTable, lower: np.ndarray, upper: np.ndarray, splits_references: bool = False, splits_space: bool = False) -> None:
    """Assert that the table is a tree over the primitives with boxes `lower`, `upper` (inverted: inactive), its boxes as small as they can be.
    Where space is split boxes are cells, which hold a part of what they list; leaves may be empty and inactive primitives in none."""
    count = len(lower)
    if count == 0:
        assert len(table) == 0
        return
    _check_shape(table, 0 if splits_space else 1)
    references = np.concatenate([table.references[f : f + c] for f, c in zip(table.first_reference, table.reference_count, strict=True)])
    times = np.bincount(references, minlength=count)
    assert len(times) == count
    listed = times[(lower <= upper).all(axis=1)] if splits_space else times
    assert (listed >= 1).all() if splits_references else (listed == 1).all()
    for row in np.flatnonzero(table.is_leaf):
        inside = table.references[table.first_reference[row] : table.first_reference[row] + table.reference_count[row]]
        if splits_space:
            assert (table.lower[row] <= table.upper[row]).all()
            assert (lower[inside] <= table.upper[row]).all() and (upper[inside] >= table.lower[row]).all()
            continue
        box_lower, box_upper = lower[inside].min(axis=0), upper[inside].max(axis=0)
        if splits_references:
            assert (table.lower[row] >= box_lower).all() and (table.upper[row] <= box_upper).all()
            assert (table.lower[row] <= table.upper[row]).all() or not (box_lower <= box_upper).all()
        else:
            np.testing.assert_array_equal(table.lower[row], box_lower)
            np.testing.assert_array_equal(table.upper[row], box_upper)
    for row in np.flatnonzero(~table.is_leaf):
        children = np.flatnonzero(table.parent == row)
        np.testing.assert_array_equal(table.lower[row], table.lower[children].min(axis=0))
        np.testing.assert_array_equal(table.upper[row], table.upper[children].max(axis=0))


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
