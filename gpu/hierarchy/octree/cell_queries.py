"""Queries of an octree's cells by number alone, in batches, without a tree (Goradia et al. 2008, section 4).

A cell is `code` and `level`: of n cells arrays (n,) of uint64 and int32 on the target. Level 0 is the root cube, 21 the
finest; the code is the cell's prefix of a Z-order code, 3 bits a level. What does not exist, the root's parent or a
neighbour outside the root, has the level -1, and of it nothing is found either. Launches only; batches have up to
MOST_ITEMS cells (gpu/target/base.py).
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

from ...target.base import Array, Target, UnitSource
from ..base import HierarchyError

_SOURCE = UnitSource("gpu/hierarchy/octree/cell_queries.cu")

DIRECTIONS = {
    kind: np.array([step for step in itertools.product((-1, 0, 1), repeat=3) if np.count_nonzero(step) in kinds])
    for kind, kinds in {"face": (1,), "edge": (2,), "corner": (3,), "all": (1, 2, 3)}.items()
}
"""The steps x, y, z to neighbours of the same size, ascending: across 6 faces, 12 edges, 8 corners, or all 26."""


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """Cells on the target: `code` (n,) uint64 and `level` (n,) int32, -1 of what does not exist."""

    code: Array
    level: Array

    def __post_init__(self) -> None:
        shapes = tuple(self.code.shape), tuple(self.level.shape)
        if shapes[0] != shapes[1] or self.code.dtype != np.uint64 or self.level.dtype != np.int32:
            raise HierarchyError(
                f"Cells are codes of uint64 and as many levels of int32; {shapes[0]} of {self.code.dtype} and "
                f"{shapes[1]} of {self.level.dtype} were given."
            )

    def __len__(self) -> int:
        return int(np.prod(self.code.shape))

    @property
    def arrays(self) -> dict[str, Array]:
        """By the names of kernels' parameters."""
        return {"code": self.code, "level": self.level}


def upload_cells(target: Target, code: np.ndarray, level: np.ndarray) -> Cells:
    """Cells from the host."""
    return Cells(
        target.upload(np.asarray(code, np.uint64), "queries"), target.upload(np.asarray(level, np.int32), "queries")
    )


def parents(target: Target, cells: Cells) -> Cells:
    """The cell one level up that holds each: the first 3 (level - 1) bits."""
    return _ask(target, "find_parents", cells)


def children(target: Target, cells: Cells, octant: Array) -> Cells:
    """The child of each in an `octant` (n,) int32: 4 for the upper half in x, 2 in y, 1 in z. None below the finest
    level, and for other numbers."""
    _check(octant, len(cells), "octants")
    return _ask(target, "find_children", cells, octant=octant)


def contains(target: Target, outer: Cells, inner: Cells) -> Array:
    """Whether each cell of `outer` holds that of `inner`, itself included: (n,) int32 of 0 and 1."""
    _same(outer, inner)
    found = target.empty(len(outer), np.int32, "queries")
    _launch(target, "test_containment", outer, **_named("inner", inner), is_inside=found)
    return found


def children_holding(target: Target, cells: Cells, inner: Cells) -> Cells:
    """The child of each that holds the cell of `inner`: none where that is not below it."""
    _same(cells, inner)
    return _ask(target, "find_children_holding", cells, **_named("inner", inner))


def common_ancestors(target: Target, cells: Cells, others: Cells) -> Cells:
    """The smallest cell that holds both: the longest common prefix of whole levels."""
    _same(cells, others)
    return _ask(target, "find_common_ancestors", cells, **_named("other", others))


def neighbours(target: Target, cells: Cells, kind: str = "all") -> Cells:
    """The cells of the same size beside each, (directions, n) in the order of DIRECTIONS[kind]: face, edge, corner or
    all. None outside the root. HierarchyError for other kinds."""
    if kind not in DIRECTIONS:
        raise HierarchyError(f"Neighbours are across a {', '.join(DIRECTIONS)}; {kind!r} was asked for.")
    steps = target.upload(DIRECTIONS[kind].astype(np.int32), "queries")
    shape = (len(DIRECTIONS[kind]), len(cells))
    return _ask(target, "find_beside", cells, shape, steps=steps, directions=shape[0])


def boxes(target: Target, cells: Cells, root: Array) -> Array:
    """Lower corner and side of each, (n, 4) float32 in the unit of `root` (4,) float32, the root cube (`PointTree
    .root`); NaN of what does not exist."""
    found = target.empty((len(cells), 4), np.float32, "queries")
    _launch(target, "place_cells", cells, root=root, boxes=found)
    return found


def _ask(target: Target, kernel: str, cells: Cells, shape: tuple[int, ...] | None = None, **arguments: Any) -> Cells:
    shape = (len(cells),) if shape is None else shape
    found = Cells(target.empty(shape, np.uint64, "queries"), target.empty(shape, np.int32, "queries"))
    _launch(target, kernel, cells, **arguments, **_named("found", found))
    return found


def _launch(target: Target, kernel: str, cells: Cells, **arguments: Any) -> None:
    if len(cells):
        target.launch(target.unit(_SOURCE), kernel, len(cells), **cells.arrays, count=len(cells), **arguments)


def _named(prefix: str, cells: Cells) -> dict[str, Array]:
    return {f"{prefix}_{name}": array for name, array in cells.arrays.items()}


def _same(cells: Cells, others: Cells) -> None:
    if len(cells) != len(others):
        raise HierarchyError(f"Cells are asked about in pairs; {len(cells):,} and {len(others):,} were given.")


def _check(numbers: Array, count: int, what: str) -> None:
    if tuple(numbers.shape) != (count,) or numbers.dtype != np.int32:
        raise HierarchyError(
            f"{count:,} {what} of int32 were expected; {tuple(numbers.shape)} of {numbers.dtype} was given."
        )
