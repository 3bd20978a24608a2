"""The way from a structure's root down to the leaf that holds a primitive, read from the table of nodes that every
structure gives."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.hierarchy.base import NOT_TOLD, NodeTable

Vector = tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class PathNode:
    """One node of the way: its row in the table, its box, how much of its parent's surface it has (the root: 1), and
    what lies in it. `event_id` is what the traversal calls it, None: the same, NOT_TOLD: a wide layout has joined it
    with the node above."""

    node_id: int
    depth: int
    lower: Vector
    upper: Vector
    share: float
    is_leaf: bool
    reference_count: int
    event_id: int | None = None

    @property
    def told(self) -> int | None:
        """What the traversal calls it; None where it goes through no such node."""
        told = self.node_id if self.event_id is None else self.event_id
        return told if told != NOT_TOLD else None


def path_to(table: NodeTable, prim_id: int, point: Vector) -> tuple[PathNode, ...]:
    """The nodes from the root to the leaf with `prim_id`; where references were split, to the leaf whose box lies
    nearest to `point`. Empty where no leaf holds the primitive."""
    leaves = _leaves_with(table, prim_id)
    if len(leaves) == 0:
        return ()
    outside = np.maximum(np.maximum(table.lower[leaves] - point, point - table.upper[leaves]), 0.0)
    row = int(leaves[np.argmin(np.sum(outside**2, axis=1))])
    rows = []
    while row >= 0:
        rows.append(row)
        row = int(table.parent[row])
    return tuple(path_node(table, row) for row in reversed(rows))


def _leaves_with(table: NodeTable, prim_id: int) -> np.ndarray:
    """Rows of the leaves whose references name the primitive."""
    places = np.flatnonzero(table.references == prim_id)
    leaves = np.flatnonzero(table.is_leaf & (table.reference_count > 0))
    if len(places) == 0 or len(leaves) == 0:
        return leaves[:0]
    first = table.first_reference[leaves]
    order = np.argsort(first, kind="stable")
    at = np.searchsorted(first[order], places, side="right") - 1
    found = leaves[order[np.maximum(at, 0)]]
    is_inside = (at >= 0) & (places < table.first_reference[found] + table.reference_count[found])
    return np.asarray(found[is_inside])


def path_node(table: NodeTable, row: int) -> PathNode:
    """A row of the table."""
    parent = int(table.parent[row])
    own, above = _area(table, row), _area(table, parent) if parent >= 0 else 0.0
    lower, upper = ((float(x), float(y), float(z)) for x, y, z in (table.lower[row], table.upper[row]))
    share = own / above if above > 0.0 else 1.0
    return PathNode(
        node_id=row,
        depth=int(table.depth[row]),
        lower=lower,
        upper=upper,
        share=share,
        is_leaf=bool(table.is_leaf[row]),
        reference_count=int(table.reference_count[row]),
        event_id=None if table.event_ids is None else int(table.event_ids[row]),
    )


def _area(table: NodeTable, row: int) -> float:
    x, y, z = np.maximum(table.upper[row].astype(np.float64) - table.lower[row], 0.0)
    return float(2.0 * (x * y + y * z + z * x))
