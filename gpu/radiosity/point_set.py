"""The points that exchange light, on a target and on the host; what of them must hold is seen to on the way.

Light is radiance, as materials emit it: a diffuse surface that sends out the radiosity B looks as bright as B / pi from
everywhere.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..nearest_points import areas_by_neighbours, normals_by_neighbours
from ..scene import Remark
from ..target.base import Array, Target


@dataclasses.dataclass(frozen=True, eq=False)
class PointValues:
    """N points on the host: `positions` (N, 3), `normals` (N, 3) of unit length, `areas` (N,) in square scene units,
    `reflectance` and `emission` (N, 3) linear, the latter as radiance."""

    positions: np.ndarray
    normals: np.ndarray
    areas: np.ndarray
    reflectance: np.ndarray
    emission: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class PointSet:
    """N points on a target, each array (N, 4) float32: `places` x, y, z and area; `normals` x, y, z and 0;
    `reflectance` and `emission` red, green, blue and 0."""

    places: Array
    normals: Array
    reflectance: Array
    emission: Array

    @property
    def count(self) -> int:
        """N."""
        return int(self.places.shape[0])


def empty_points(target: Target, count: int) -> PointSet:
    """Room for `count` points."""
    return PointSet(*(target.zeros((count, 4), np.float32, "radiosity") for _ in range(4)))


def upload_points(target: Target, values: PointValues) -> PointSet:
    """The points on a target."""

    def fours(three: np.ndarray, one: np.ndarray | float = 0.0) -> Array:
        rows = np.zeros((len(three), 4), np.float32)
        rows[:, :3], rows[:, 3] = three, one
        return target.upload(rows, "radiosity")

    return PointSet(
        fours(values.positions, values.areas),
        fours(values.normals),
        fours(values.reflectance),
        fours(values.emission),
    )


def _check_shapes(count: int, areas: np.ndarray | None, **threes: np.ndarray | None) -> None:
    wanted = {name: (values, (count, 3)) for name, values in threes.items()} | {"areas": (areas, (count,))}
    for name, (values, shape) in wanted.items():
        if values is not None and np.shape(values) != shape:
            raise ValueError(f"The points' {name} has the shape {np.shape(values)}; {count} points need {shape}.")


def points_of_cloud(
    positions: np.ndarray,
    reflectance: np.ndarray,
    emission: np.ndarray | None = None,
    normals: np.ndarray | None = None,
    areas: np.ndarray | None = None,
) -> tuple[PointValues, tuple[Remark, ...]]:
    """Points of a scan, (N, 3) each: what of them is missing is estimated from each one's nearest points, and said, as
    is reflectance that is not between 0 and 1, which is clamped. `areas` is (N,). Raises ValueError where arrays do not
    fit each other or positions, normals or areas are not finite, or there are fewer points than an estimate needs."""
    positions = np.asarray(positions, np.float64).reshape(-1, 3)
    count, remarks = len(positions), []
    _check_shapes(count, reflectance=reflectance, emission=emission, normals=normals, areas=areas)
    for name, values in (("positions", positions), ("normals", normals), ("areas", areas)):
        bad = 0 if values is None else int(np.count_nonzero(~np.isfinite(np.asarray(values).reshape(count, -1)).all(1)))
        if bad:
            raise ValueError(f"The points' {name} are not finite at {bad:,} of {count:,} points: leave those out.")
    if normals is None:
        normals = normals_by_neighbours(positions)
        remarks.append(Remark(count, "Points without a normal have one estimated from their nearest points."))
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    if areas is None:
        areas = areas_by_neighbours(positions)
        remarks.append(Remark(count, "Points without an area have one estimated from how near others are."))
    given = np.asarray(reflectance, np.float64)
    clamped = np.clip(np.nan_to_num(given), 0.0, 1.0)
    strange = int(np.any(clamped != given, axis=1).sum())
    if strange:
        remarks.append(Remark(strange, "A point's reflectance is not between 0 and 1: it is clamped."))
    shines = np.zeros((count, 3)) if emission is None else np.maximum(np.asarray(emission, np.float64), 0.0)
    unit = np.asarray(normals, np.float64) / np.where(lengths > 0.0, lengths, 1.0)
    return PointValues(positions, unit, np.asarray(areas, np.float64), clamped, shines), tuple(remarks)
