"""The cells beside the one that was picked, of structures whose leaves divide space, read from the table of nodes that
every structure gives."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.app.frames.node_path import PathNode, path_node
from raygrove.gpu.hierarchy.base import NodeTable

CONTACTS = ("face", "edge", "corner")
SHARE = 1e-4
"""Of the smaller cell's side, what planes that are the same may differ by, since cells of different blocks round on
their own."""

MOST = 256
"""Neighbours across faces, along edges and at corners that are handed on, each: the nearest ones."""


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """The leaves that meet a cell from outside: across a part of a face, along a part of an edge and no face, or at a
    corner alone, of any size. `counts` is how many there are of each; of those at most MOST are here, those whose
    middles are nearest."""

    face: tuple[PathNode, ...]
    edge: tuple[PathNode, ...]
    corner: tuple[PathNode, ...]
    counts: tuple[int, int, int]

    def of(self, contact: str) -> tuple[PathNode, ...]:
        """Those that meet it so."""
        found: tuple[PathNode, ...] = getattr(self, contact)
        return found


def neighbours_of(table: NodeTable, row: int) -> Neighbours:
    """The neighbours of the leaf in a row of the table. In a scene that is flat along an axis cells are flat there, and
    share that axis with all others."""
    lower, upper = table.lower.astype(np.float64), table.upper.astype(np.float64)
    sizes, root = upper - lower, upper[0] - lower[0]
    is_cell = table.is_leaf & np.all((sizes > 0.0) | (root <= 0.0), axis=1)
    is_cell[row] = False
    rows = np.flatnonzero(is_cell)
    slack = SHARE * np.minimum(sizes[rows], sizes[row])
    common = np.minimum(upper[rows], upper[row]) - np.maximum(lower[rows], lower[row])
    meets = np.all(common >= -slack, axis=1)
    is_flat = (sizes[rows] <= 0.0) & (sizes[row] <= 0.0)
    apart = np.sum((common <= slack) & ~is_flat, axis=1)
    away = np.linalg.norm((lower[rows] + upper[rows] - lower[row] - upper[row]) / 2.0, axis=1)
    found, counts = [], []
    for axes in (1, 2, 3):
        here = np.flatnonzero(meets & (apart == axes))
        nearest = here[np.argsort(away[here], kind="stable")[:MOST]]
        found.append(tuple(path_node(table, int(rows[index])) for index in nearest))
        counts.append(len(here))
    return Neighbours(found[0], found[1], found[2], (counts[0], counts[1], counts[2]))
