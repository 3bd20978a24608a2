"""The sum over all pairs as an oracle in double precision has it, and what is known of light in closed rooms."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.radiosity.direct import Bounces, gather_from_all
from raygrove.gpu.radiosity.point_set import PointValues, upload_points
from raygrove.gpu.radiosity.sampling import sample_surface
from raygrove.gpu.target.base import Target
from tests.oracle.radiosity import after_bounces, form_factors, grey, rms_error, spiral_sphere


def bounced(target: Target, values: PointValues, count: int) -> np.ndarray:
    """Radiance (N, 3) after so many bounces on the target."""
    points = upload_points(target, values)
    light = Bounces(target, points)
    light.begin()
    for _ in range(count):
        light.add(lambda sent, gathered: gather_from_all(target, points, sent, gathered))
    return target.download(light.radiance)[:, :3]


def random_points(count: int, seed: int = 1) -> PointValues:
    """Points anywhere that look anywhere, two of them in one place."""
    random = np.random.default_rng(seed)
    normals = random.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    places = random.random((count, 3))
    places[-1] = places[0]
    columns = random.random((2, count, 3))
    return PointValues(places, normals, random.random(count) / count, *columns)


def box_room(count: int) -> PointValues:
    """The inside of a box of 2 by 1 by 1.5, grey, and shining."""
    low, high = np.zeros(3), np.array([2.0, 1.0, 1.5])
    corners = []
    for axis in range(3):
        u, v = np.eye(3)[(axis + 1) % 3] * high, np.eye(3)[(axis + 2) % 3] * high
        for start, across, along in ((low, u, v), (np.eye(3)[axis] * high, v, u)):
            corners += [[start, start + across, start + across + along], [start, start + across + along, start + along]]
    given = np.array(corners)
    samples = sample_surface(given, np.zeros(12, int), np.ones(1), count)
    a, b, c = (given[samples.prim_id, i] for i in range(3))
    normals = np.cross(b - a, c - a)
    places = a + (b - a) * samples.u[:, None] + (c - a) * samples.v[:, None]
    return grey(places, normals / np.linalg.norm(normals, axis=1, keepdims=True), samples.area)


@pytest.mark.parametrize("count", [1, 2, 9, 300])
@pytest.mark.parametrize("bounces", [1, 3])
def test_sums_are_the_oracles(target: Target, count: int, bounces: int) -> None:
    values = random_points(count)
    assert rms_error(bounced(target, values, bounces), after_bounces(values, bounces)) < 1e-5


def test_no_points(target: Target) -> None:
    none = np.zeros((0, 3))
    assert bounced(target, PointValues(none, none, np.zeros(0), none, none), 2).shape == (0, 3)


def test_a_closed_grey_sphere_is_as_bright_as_the_series_says(target: Target) -> None:
    places, normals = spiral_sphere(2000)
    values = grey(places, normals, 4.0 * np.pi / 2000)
    np.testing.assert_allclose(bounced(target, values, 14), 1.0 / (1.0 - 0.5), rtol=0.01)


def test_form_factors_of_a_closed_box_add_up_to_one(target: Target) -> None:
    """What arrives of a room that sends 1 everywhere is the sum of a point's form factors. Of two sides that meet, the
    last bit is lost between points that are nearer to the edge than to each other, the less the more points there
    are."""
    values = box_room(4000)
    sums = gathered_of(target, values, values.areas)
    in_middle = np.linalg.norm(values.positions - [1.0, 0.0, 0.75], axis=1) < 0.3
    assert in_middle.sum() > 50
    np.testing.assert_allclose(sums[in_middle], 1.0, atol=0.01)
    coarse = box_room(500)
    lost, more = 1.0 - sums.mean(), 1.0 - gathered_of(target, coarse, coarse.areas).mean()
    assert 0.0 < lost < 0.035 and more > 2.0 * lost


def test_form_factors_are_reciprocal(target: Target) -> None:
    values = random_points(24)
    factors = np.stack([gathered_of(target, values, values.areas * one) for one in np.eye(24)], axis=1)
    np.testing.assert_allclose(factors, form_factors(values, values), rtol=1e-4, atol=1e-8)
    exchanged = values.areas[:, None] * factors
    np.testing.assert_allclose(exchanged, exchanged.T, rtol=1e-4, atol=1e-10)
    assert (exchanged > 0.0).sum() > 50


def test_points_nearer_than_their_discs_send_as_discs_do(target: Target) -> None:
    """Two points that face each other, 0.05 apart, with areas of 1 and 0.5: the disc between them, of the mean of both,
    stands for the square of the distance times pi, which would give them 95 times as much."""
    places, normals = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.05]]), np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    none = np.zeros((2, 3))
    values = PointValues(places, normals, np.array([1.0, 0.5]), none, none)
    np.testing.assert_allclose(gathered_of(target, values, values.areas), [0.5 / 0.75, 1.0 / 0.75], rtol=1e-4)


def gathered_of(target: Target, values: PointValues, sent: np.ndarray) -> np.ndarray:
    """What each point gathers where points send so much."""
    points = upload_points(target, values)
    gathered = target.zeros((points.count, 4), np.float32, "test")
    rows = np.repeat(sent[:, None], 4, axis=1).astype(np.float32)
    gather_from_all(target, points, target.upload(rows, "test"), gathered)
    return np.asarray(target.download(gathered)[:, 0], np.float64)
