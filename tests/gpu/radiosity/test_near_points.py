"""The points nearest to a place beside all distances, and in how few leaves they are looked for."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.radiosity.hierarchical import HierarchicalOptions
from raygrove.gpu.radiosity.point_set import PointValues
from raygrove.gpu.target.base import Target, UnitSource
from tests.oracle.radiosity import spiral_sphere

from .test_hierarchical import lit_room, placed

MOST_LEAVES = 64


def nearest_of(target: Target, values: PointValues, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the four points nearest to each place (P, 4), and in how many leaves (P,)."""
    made = placed(target, values, HierarchicalOptions())
    unit = target.unit(UnitSource("tests/gpu/radiosity/near_points.cu"))
    found = target.zeros((len(asked), 4), np.int32, "test")
    leaves = target.zeros(len(asked), np.int32, "test")
    rows = np.concatenate([asked, np.zeros((len(asked), 1))], axis=1).astype(np.float32)
    target.launch(
        unit,
        "find_nearest_points",
        len(asked),
        tree=made.tree.view,
        shapes=made.shapes,
        asked=target.upload(rows, "test"),
        count=len(asked),
        found=found,
        leaves=leaves,
    )
    return target.download(found), target.download(leaves)


@pytest.mark.parametrize("farness", [1.0, 30.0])
def test_the_nearest_points_are_found_from_near_and_far(target: Target, farness: float) -> None:
    """From far away twice the nearest distance reaches every point there is."""
    values = lit_room(3000, turned=True)
    random = np.random.default_rng(3)
    middle = values.positions.mean(axis=0)
    asked = (middle + farness * random.normal(size=(200, 3))).astype(np.float32).astype(np.float64)
    found, leaves = nearest_of(target, values, asked)
    distances = np.linalg.norm(asked[:, None] - values.positions.astype(np.float32).astype(np.float64), axis=2)
    expected = np.sort(distances, axis=1)[:, :4]
    np.testing.assert_allclose(np.take_along_axis(distances, found, axis=1), expected, rtol=1e-4)
    assert all(len(set(row)) == 4 for row in found.tolist())
    assert leaves.mean() < 12 and leaves.max() <= MOST_LEAVES


def test_points_that_are_all_equally_far_are_not_all_looked_at(target: Target) -> None:
    places, outwards = spiral_sphere(20_000)
    count = len(places)
    values = PointValues(places, outwards, np.full(count, 1e-3), np.full((count, 3), 0.5), np.ones((count, 3)))
    found, leaves = nearest_of(target, values, np.zeros((1, 3)))
    assert (found >= 0).all() and len(set(found[0].tolist())) == 4
    assert leaves[0] == MOST_LEAVES


def test_fewer_points_than_are_asked_for(target: Target) -> None:
    values = lit_room(3000)
    three = PointValues(
        *(
            np.asarray(column)[:3]
            for column in (values.positions, values.normals, values.areas, values.reflectance, values.emission)
        )
    )
    found, _ = nearest_of(target, three, np.array([[5.0, 5.0, 5.0]]))
    assert sorted(found[0].tolist()) == [-1, 0, 1, 2]
