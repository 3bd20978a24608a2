"""What is asked of a structure, many questions at a time: places with how far around them, and boxes. On the target, so
that arrays that are there already are asked about without a copy."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from ..hierarchy.base import HierarchyError
from ..rows import Float, Floats, Int, Ints, Struct
from ..target.base import Array, Target
from ..target.structs import pack

HEADERS = ("gpu/query/questions.cuh",)

OWN_RULES = ("others", "later")
"""Which primitives are found by one that asks itself: all others, or those of larger numbers, so that each pair is
found once."""

FLOAT_MAX = float(np.finfo(np.float32).max)


@dataclasses.dataclass(frozen=True)
class PlaceRows(Struct):
    """Places as kernels read them."""

    points: Floats
    radii: Floats
    own: Ints
    cell: Floats
    radius: Float
    own_rule: Int


@dataclasses.dataclass(frozen=True)
class BoxRows(Struct):
    """Boxes as kernels read them."""

    lower: Floats
    upper: Floats


@dataclasses.dataclass(frozen=True)
class QueryParts(Struct):
    """What QueryInput of input.cuh holds, of types that each unit names."""

    tree: Annotated[np.ndarray, "class Tree"]
    records: Annotated[np.ndarray, "class Records"]
    question: Annotated[np.ndarray, "class Question"]


@dataclasses.dataclass(frozen=True, eq=False)
class Places:
    """N places on the target: `points` (N, 3) float32, and how far a primitive may be, `radii` (N,) float32 or `radius`
    for all. Where the places are primitives' own, `own` (N,) int32 are their numbers, which are not found (`own_rule`
    others), nor are smaller ones (`own_rule` later). A place that is not finite, or a radius below 0, finds nothing.
    `periodic` are the edges (3, 3) of a box that repeats (cell.py), for distances to centres."""

    points: Array
    radii: Array | None = None
    radius: float = FLOAT_MAX
    own: Array | None = None
    own_rule: str = OWN_RULES[0]
    periodic: np.ndarray | None = None

    device_type, headers = "Places", HEADERS

    def __post_init__(self) -> None:
        _check("points", self.points, (len(self.points), 3), np.float32)
        _check("radii", self.radii, (len(self.points),), np.float32)
        _check("own", self.own, (len(self.points),), np.int32)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def arrays(self) -> tuple[Array | None, ...]:
        """What lies on the target."""
        return self.points, self.radii, self.own

    def part(self, some: slice) -> Places:
        """Some of them, side by side."""
        radii, own = (None if rows is None else rows[some] for rows in (self.radii, self.own))
        return dataclasses.replace(self, points=self.points[some], radii=radii, own=own)

    def packed(self, cell: Array | None) -> np.ndarray:
        """The by-value struct; `cell` is that of the periodic box."""
        radius = min(self.radius, FLOAT_MAX)
        return pack(PlaceRows(self.points, self.radii, self.own, cell, radius, OWN_RULES.index(self.own_rule)))


@dataclasses.dataclass(frozen=True, eq=False)
class Boxes:
    """N boxes on the target, `lower` and `upper` (N, 3) float32, cut at 1e18. An inverted box, or one that is not a
    number, holds nothing."""

    lower: Array
    upper: Array

    device_type, headers = "Boxes", HEADERS
    periodic = None

    def __post_init__(self) -> None:
        _check("lower", self.lower, (len(self.lower), 3), np.float32)
        _check("upper", self.upper, (len(self.lower), 3), np.float32)

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def arrays(self) -> tuple[Array | None, ...]:
        """What lies on the target."""
        return self.lower, self.upper

    def part(self, some: slice) -> Boxes:
        """Some of them, side by side."""
        return Boxes(self.lower[some], self.upper[some])

    def packed(self, _: Array | None) -> np.ndarray:
        """The by-value struct."""
        return pack(BoxRows(self.lower, self.upper))


def upload_places(target: Target, points: np.ndarray, max_distance: np.ndarray | float = np.inf) -> Places:
    """Places from the host, points (N, 3); `max_distance`, how far a primitive may be, is (N,) or one for all."""
    rows = target.upload(np.ascontiguousarray(points, np.float32).reshape(-1, 3), "queries")
    if np.ndim(max_distance) == 0:
        return Places(rows, radius=float(max_distance))
    return Places(rows, target.upload(np.minimum(max_distance, FLOAT_MAX).astype(np.float32), "queries"))


def upload_boxes(target: Target, lower: np.ndarray, upper: np.ndarray) -> Boxes:
    """Boxes from the host, both (N, 3)."""
    sides = (np.ascontiguousarray(side, np.float32).reshape(-1, 3) for side in (lower, upper))
    return Boxes(*(target.upload(side, "queries") for side in sides))


def _check(name: str, array: Array | None, shape: tuple[int, ...], dtype: type) -> None:
    if array is None:
        return
    if tuple(array.shape) != shape or array.dtype != dtype:
        raise HierarchyError(
            f"Queries take {name} as an array {shape} of {np.dtype(dtype)} on the target; this one is "
            f"{tuple(array.shape)} of {array.dtype}."
        )
    if not array.flags.c_contiguous:
        raise HierarchyError(f"Queries read {name} where they lie, row after row: make a contiguous copy of the array.")


def check_target(target: Target, arrays: tuple[Array | None, ...]) -> None:
    """Raise HierarchyError where arrays are not where the target's kernels read: in the GPU's memory, or in the
    host's."""
    wanted = target.kind == "cuda"
    for array in arrays:
        if array is not None and hasattr(array, "__cuda_array_interface__") != wanted:
            there, here = ("the GPU", "the host") if wanted else ("the host", "a GPU")
            raise HierarchyError(
                f"The structure's target reads arrays in the memory of {there}, and this one is in that of {here}: "
                f"upload it to the target first."
            )
