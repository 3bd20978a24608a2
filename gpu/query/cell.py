"""Periodic boxes: what repeats in all directions, as simulations of molecules have it.

Distances are those to the nearest image (minimum image convention), whatever the box's shape, and wherever places and
centres lie, in it or outside.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..hierarchy.base import HierarchyError
from ..primitives.reduce import reduce
from ..rows import Row, Vector
from ..target.base import Array, Target, UnitSource

FLATTEST = 1e-6
"""Of the volume of edges at right angles, the least that three edges may have: flatter ones are no box in float32."""

ROUNDED_UP = 1.0001
"""Of the farthest nearest image, so that rounding leaves none out."""


@dataclasses.dataclass(frozen=True)
class CellRow(Row):
    """A periodic box as kernels read it, and what was put into it."""

    a: Vector
    b: Vector
    c: Vector
    """The edges."""
    to_a: Vector
    to_b: Vector
    to_c: Vector
    """What a place is multiplied with for its coordinates along the edges, in edges."""
    lower: Vector
    upper: Vector
    """The least and the largest coordinate of what is in it, in edges."""
    per_distance: Vector
    """How many edges a distance of 1 is at most."""
    farthest: float
    """No image that is the nearest one is farther."""


def edges_of(periodic: Any) -> np.ndarray:
    """The edges (3, 3) float64, a row each, of a periodic box as users give it: three lengths along x, y and z, or
    three edges, which need not be at right angles. HierarchyError where that is no box."""
    given = np.asarray(periodic, np.float64)
    edges = np.diag(given) if given.shape == (3,) else given
    if edges.shape != (3, 3) or not np.isfinite(edges).all():
        raise HierarchyError(
            f"A periodic box is three lengths, or three edges (3, 3), all finite; this one is {given.tolist()}."
        )
    lengths = np.linalg.norm(edges, axis=1)
    if not abs(np.linalg.det(edges)) > FLATTEST * np.prod(lengths) or (given.ndim == 1 and given.min() <= 0):
        raise HierarchyError(
            f"The periodic box {given.tolist()} has no volume: lengths are above 0, and edges not in one plane."
        )
    return edges


def upload_cell(target: Target, edges: np.ndarray, centres: Array) -> Array:
    """The row of a box with these `edges` around `centres` (N, 3) float32 on the target. Waits."""
    across = np.linalg.inv(edges)
    unit, count = target.unit(UnitSource("gpu/query/cell.cu")), len(centres)
    a, b, c, to_a, to_b, to_c, per_distance = map(_vector, (*edges, *across.T, np.linalg.norm(across, axis=0)))
    farthest = float(np.linalg.norm(edges, axis=1).sum() / 2) * ROUNDED_UP
    row = CellRow(a, b, c, to_a, to_b, to_c, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), per_distance, farthest)
    cell = target.upload(np.array(row.numbers(), np.float32), "queries")
    coordinates = target.scratch("queries.coordinates", (3, max(1, count)), np.float32)
    target.launch(unit, "write_coordinates", count, points=centres, count=count, cell=cell, coordinates=coordinates)
    ends = target.zeros((2, 3), np.float32, "queries")
    for side, operation in enumerate(("minimum", "maximum")):
        for axis in range(3):
            reduce(target, operation, coordinates[axis][:count], ends[side, axis : axis + 1])
    lower, upper = target.download(ends).astype(np.float64)
    held = dataclasses.replace(row, lower=_vector(lower), upper=_vector(upper))
    target.write(cell, np.array(held.numbers(), np.float32))
    return cell


def _vector(row: np.ndarray) -> Vector:
    x, y, z = (float(number) for number in row)
    return x, y, z
