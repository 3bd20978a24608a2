"""What rays do in a structure, by an independent traversal in float64 over its table of nodes: no kernel, no event."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.hierarchy.base import NOT_TOLD, NodeTable

CLOSE = 1e-4
"""Decisions nearer than this may fall otherwise where numbers are rounded."""


@dataclasses.dataclass
class Walked:
    """By row of the table: visits, tests of primitives, hits, where the hit that stays was found, children that rays
    were not sent on to. `is_sure`: no decision was close."""

    visits: np.ndarray
    tests: np.ndarray
    hits: np.ndarray
    found: np.ndarray
    culled: np.ndarray
    is_sure: bool = True


def slabs(lower: np.ndarray, upper: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, ...]:
    """Where a ray enters and leaves boxes (N, 3), from 0 on."""
    inverse = 1.0 / np.where(np.abs(direction) < 1e-12, 1e-12, direction)
    ends = np.stack([(lower - origin) * inverse, (upper - origin) * inverse])
    return np.maximum(ends.min(axis=0).max(axis=1), 0.0), ends.max(axis=0).min(axis=1)


def distances(vertices: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distance at which a ray meets each triangle (inf: not at all), and how far from an edge or the decision."""
    a, b, c = (vertices[:, i].astype(np.float64) for i in range(3))
    normal = np.cross(b - a, c - a)
    along = normal @ direction
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.einsum("ij,ij->i", normal, a - origin) / along
        point = origin + t[:, None] * direction - a
        area = np.einsum("ij,ij->i", normal, normal)
        v = np.einsum("ij,ij->i", np.cross(b - a, point), normal) / area
        u = np.einsum("ij,ij->i", np.cross(point, c - a), normal) / area
    inside = np.minimum(np.minimum(u, v), 1.0 - u - v)
    inside = np.where(np.isfinite(inside), inside, -1.0)
    return np.where((inside >= 0.0) & (t > 0.0), t, np.inf), np.abs(inside)


def children_of(table: NodeTable) -> list[list[int]]:
    """The rows below each that are nodes of the layout."""
    assert table.event_ids is not None
    found: list[list[int]] = [[] for _ in range(len(table))]
    for row in range(1, len(table)):
        if table.event_ids[row] != NOT_TOLD:
            above = int(table.parent[row])
            while table.event_ids[above] == NOT_TOLD:
                above = int(table.parent[above])
            found[above].append(row)
    return found


def nearest_first(
    table: NodeTable, vertices: np.ndarray, origin: np.ndarray, direction: np.ndarray, is_any: bool = False
) -> Walked:
    """A stack, the nearest child first, the others dropped where they begin behind the hit."""
    walked = Walked(*(np.zeros(len(table), np.int64) for _ in range(5)))
    entry, exit = slabs(table.lower.astype(np.float64), table.upper.astype(np.float64), origin, direction)
    at, margin = distances(vertices, origin, direction)
    children = children_of(table)
    end, place = np.inf, -1
    stack = [(0, 0.0)]
    while stack:
        row, begins = stack.pop()
        walked.is_sure &= abs(begins - end) > CLOSE
        if begins > end:
            continue
        walked.visits[row] += 1
        if table.is_leaf[row]:
            first = table.first_reference[row]
            for primitive in table.references[first : first + table.reference_count[row]]:
                walked.tests[row] += 1
                walked.is_sure &= margin[primitive] > CLOSE
                if at[primitive] < end:
                    walked.hits[row] += 1
                    end, place = at[primitive], row
                    if is_any:
                        walked.found[place] += 1
                        return walked
            continue
        below = np.array(children[row])
        last = np.minimum(exit[below], end)
        walked.is_sure &= bool((np.abs(entry[below] - last) > CLOSE).all())
        entered = below[entry[below] <= last]
        walked.culled[row] += len(below) - len(entered)
        order = entered[np.argsort(entry[entered], kind="stable")]
        walked.is_sure &= len(order) < 2 or bool((np.diff(entry[order]) > CLOSE).all())
        stack += [(int(one), float(entry[one])) for one in order[::-1]]
    if place >= 0:
        walked.found[place] += 1
    return walked


def met(table: NodeTable, vertices: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, bool]:
    """Which nodes of the layout a ray is in before its nearest hit, and whether that is sure: what a traversal from
    front to back visits, whatever it looks like, and any traversal of a ray without a hit."""
    assert table.event_ids is not None
    entry, exit = slabs(table.lower.astype(np.float64), table.upper.astype(np.float64), origin, direction)
    at, margin = distances(vertices, origin, direction)
    last = np.minimum(exit, at.min(initial=np.inf))
    is_sure = bool((np.abs(entry - last) > CLOSE).all() and (margin > CLOSE).all())
    return (entry < last) & (table.event_ids != NOT_TOLD), is_sure
