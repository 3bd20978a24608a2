"""Points on surfaces: where they are, how far apart, and how much area they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.gpu.nearest_points import nearest_points
from raygrove.gpu.radiosity.point_set import points_of_cloud
from raygrove.gpu.radiosity.sampling import SurfaceSamples, neighbours_within, sample_surface, shares_of
from tests.oracle.radiosity import spiral_sphere

SQUARE = np.array([[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]], float)


def places(corners: np.ndarray, samples: SurfaceSamples) -> np.ndarray:
    """Where the samples lie."""
    a, b, c = (corners[samples.prim_id, i] for i in range(3))
    return np.asarray(a + (b - a) * samples.u[:, None] + (c - a) * samples.v[:, None])


def apart(points: np.ndarray) -> np.ndarray:
    """(N,): how far each one's nearest neighbour is."""
    between = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(len(points)) * 9.0
    return np.asarray(between.min(axis=1))


def test_blue_noise_keeps_points_apart_and_leaves_no_gap() -> None:
    samples = sample_surface(SQUARE, np.zeros(2, int), np.ones(1), 600)
    points, side = places(SQUARE, samples), np.sqrt(1.0 / 600)
    assert len(points) == 600 and samples.area.sum() == pytest.approx(1.0, rel=1e-5)
    assert apart(points).min() > 0.6 * side
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 40), [0.0]), -1).reshape(-1, 3)
    gap = np.linalg.norm(grid[:, None] - points[None], axis=2).min(axis=1)
    assert gap.max() < 1.8 * side
    random = np.random.default_rng(1).random((600, 3)) * [1, 1, 0]
    assert apart(points).min() > 10 * apart(random).min()


def test_each_group_shares_its_own_area() -> None:
    corners = np.concatenate([SQUARE, SQUARE * 0.01 + [5, 5, 5]])
    samples = sample_surface(corners, np.array([0, 0, 1, 1]), np.array([1.0, 50.0]), 400)
    lamp = samples.prim_id >= 2
    assert samples.area[lamp].sum() == pytest.approx(1e-4, rel=1e-5)
    assert samples.area[~lamp].sum() == pytest.approx(1.0, rel=1e-5)
    assert lamp.sum() == 2 and (np.diff(samples.prim_id) >= 0).all()
    again = sample_surface(corners, np.array([0, 0, 1, 1]), np.array([1.0, 50.0]), 400)
    assert samples.u.tobytes() == again.u.tobytes()


def test_what_has_no_area_or_no_place_gets_no_points() -> None:
    corners = np.concatenate([SQUARE, np.full((1, 3, 3), np.nan), np.zeros((1, 3, 3))])
    samples = sample_surface(corners, np.array([0, 0, 0, 1]), np.ones(2), 50)
    assert set(samples.prim_id) == {0, 1}
    assert len(sample_surface(corners[2:], np.zeros(2, int), np.ones(1), 50).u) == 0
    assert len(sample_surface(corners[:0], np.zeros(0, int), np.ones(1), 50).u) == 0
    assert len(sample_surface(SQUARE, np.zeros(2, int), np.ones(1), 1).u) == 1


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=20), st.integers(1, 1000))
def test_shares_add_up(weights: list[float], count: int) -> None:
    given_weights = np.array(weights)
    shares = shares_of(given_weights, count)
    assert ((shares > 0) >= (given_weights > 0)).all() and (shares[given_weights == 0] == 0).all()
    assert shares.sum() == 0 if given_weights.sum() == 0 else shares.sum() >= count
    if count > 20 and (given_weights >= given_weights.sum() / count).all() and given_weights.sum() > 0:
        assert shares.sum() == count


def test_neighbours_are_those_of_all_pairs() -> None:
    points = np.random.default_rng(2).random((300, 3))
    first, second = neighbours_within(points, 0.13)
    found = {tuple(sorted(pair)) for pair in zip(first.tolist(), second.tolist(), strict=True)}
    near = np.argwhere(np.triu(np.linalg.norm(points[:, None] - points[None], axis=2) <= 0.13, 1))
    assert found == {tuple(pair) for pair in near.tolist()} and len(found) == len(first)


def test_nearest_points_are_those_of_all_pairs() -> None:
    random = np.random.default_rng(3)
    points = np.concatenate([random.random((200, 3)), random.random((60, 3)) * 0.01 + 4.0])
    _, distances = nearest_points(points, 5)
    between = np.linalg.norm(points[:, None] - points[None], axis=2) + np.diag(np.full(len(points), np.inf))
    np.testing.assert_allclose(distances, np.sort(between, axis=1)[:, :5], rtol=1e-9)


def test_a_scan_without_normals_gets_some_and_says_so() -> None:
    positions, inwards = spiral_sphere(900)
    reflectance = np.full((900, 3), 0.5)
    reflectance[:7] = 1.5
    values, remarks = points_of_cloud(positions * 3.0, reflectance)
    assert np.einsum("ij,ij->i", values.normals, -inwards).min() > 0.98
    assert values.areas.sum() == pytest.approx(4.0 * np.pi * 9.0, rel=0.1)
    assert values.reflectance.max() == 1.0
    said = [(remark.count, remark.sentence.split()[0]) for remark in remarks]
    assert said == [(900, "Points"), (900, "Points"), (7, "A")] and "clamped" in remarks[-1].sentence
    with pytest.raises(ValueError, match="5 points have no 12 others"):
        points_of_cloud(positions[:5], reflectance[:5])
    with pytest.raises(ValueError, match="reflectance has the shape"):
        points_of_cloud(positions, reflectance[:5], normals=inwards, areas=np.ones(900))
    with pytest.raises(ValueError, match="areas has the shape"):
        points_of_cloud(positions, reflectance, normals=inwards, areas=np.ones(3))
    lost = np.where(np.arange(len(positions))[:, None] == 3, np.nan, positions)
    with pytest.raises(ValueError, match="not finite at 1 of"):
        points_of_cloud(lost, reflectance)
