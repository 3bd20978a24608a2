"""Distances in boxes that repeat, against all images in float64."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raygrove.gpu.hierarchy.base import Hierarchy, HierarchyError
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.query.cell import edges_of
from raygrove.gpu.query.query import Queries
from raygrove.gpu.query.questions import Places
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES

from .test_neighbours import ASKED_FOR_MANY, VISITS, check_k_nearest, lists_of, make

OFTEN = (("lbvh", "bvh2"), ("sbvh", "bvh2"), ("grid", "auto"))
"""Of the visits, each of which is asked for what is near in other tests: images are asked for one by one, outside."""
SKEWED = [[1.0, 0.0, 0.0], [0.7, 0.8, 0.0], [-0.4, 0.3, 1.2]]


def image_distances(points: np.ndarray, centres: np.ndarray, periodic: object, images: int = 3) -> np.ndarray:
    """(N, P): from each place to the nearest image of each centre. Both are moved into the box first."""
    edges = edges_of(periodic)
    points, centres = (rows @ np.linalg.inv(edges) % 1.0 @ edges for rows in (points.astype(float), centres))
    away = points[:, None] - centres[None]
    moves = np.array(list(itertools.product(range(-images, images + 1), repeat=3))) @ edges
    return np.min([np.linalg.norm(away + move, axis=2) for move in moves], axis=0)


def built(target: Target, choice: tuple[str, str], centres: np.ndarray) -> Hierarchy:
    """Over points."""
    hierarchy = make(target, choice)
    radii = target.zeros(len(centres), np.float32, "test")
    hierarchy.build(sphere_primitives(target.upload(centres, "test"), radii))
    return hierarchy


def scattered(count: int, seed: int, size: float) -> np.ndarray:
    """Points, some of them outside of the box."""
    return np.random.default_rng(seed).uniform(-size, 1 + size, (count, 3)).astype(np.float32)


@pytest.mark.parametrize(
    "choice",
    [pytest.param(choice, marks=[] if choice in OFTEN else pytest.mark.full, id="-".join(choice)) for choice in VISITS],
)
@pytest.mark.parametrize("periodic", [[1.0, 1.5, 0.8], SKEWED], ids=["lengths", "edges"])
def test_the_nearest_images(target: Target, choice: tuple[str, str], periodic: object) -> None:
    centres, points = scattered(80, 1, 0.5), scattered(40, 2, 2.0)
    distances = image_distances(points, centres, periodic)
    queries = Queries(built(target, choice, centres), of="centres")
    edges, uploaded = edges_of(periodic), target.upload(points, "test")
    many = ((100, np.inf),) if choice in ASKED_FOR_MANY else ()
    for k, most in ((1, np.inf), (8, np.inf), (8, 0.2), *many):
        check_k_nearest(queries, Places(uploaded, radius=most, periodic=edges), distances, k, most)
    for most in (0.2, 0.6, 5.0):
        asked = Places(uploaded, radius=most, periodic=edges)
        for listed, far in zip(lists_of(target, queries.in_balls(asked)), distances, strict=True):
            sure = np.abs(far - most) > 1e-5
            np.testing.assert_array_equal(np.isin(np.arange(80), listed)[sure], (far <= most)[sure])
            assert listed == sorted(set(listed))


@settings(max_examples=15, deadline=None)
@given(
    lengths=st.lists(st.floats(0.3, 3.0), min_size=3, max_size=3),
    tilts=st.lists(st.floats(-0.9, 0.9), min_size=3, max_size=3),
    seed=st.integers(0, 1000),
)
def test_boxes_of_any_shape(host_target: Target, lengths: list[float], tilts: list[float], seed: int) -> None:
    edges = np.diag(lengths)
    edges[1, 0], edges[2, 0], edges[2, 1] = tilts[0] * lengths[0], tilts[1] * lengths[0], tilts[2] * lengths[1]
    centres, points = scattered(20, seed, 0.3), scattered(10, seed + 1, 0.3)
    queries = Queries(built(host_target, ("lbvh", "bvh2"), centres), of="centres")
    asked = Places(host_target.upload(points, "test"), periodic=edges)
    check_k_nearest(queries, asked, image_distances(points, centres, edges, 5), 20)


def test_strange_places_and_no_points(host_target: Target) -> None:
    """A place that is not finite, or beyond 2^24 boxes, finds nothing; nor does anyone among no points."""
    points = host_target.upload(np.array([[np.nan, 0, 0], [1e12, 0, 0], [0, 0, 0]], np.float32), "test")
    asked = Places(points, periodic=np.eye(3))
    for centres, expected in ((scattered(5, 1, 0), [-1, -1, 0]), (np.zeros((0, 3), np.float32), [-1, -1, -1])):
        queries = Queries(built(host_target, ("lbvh", "bvh2"), centres), of="centres")
        found = host_target.download(queries.k_nearest(asked, 1).prim_ids)[:, 0]
        assert np.minimum(found, 0).tolist() == expected
    far = built(host_target, ("lbvh", "bvh2"), np.array([[np.nan] * 3, [0.9, 0, 0]], np.float32))
    nearest = Queries(far, of="centres").k_nearest(asked, 2)
    assert host_target.download(nearest.prim_ids)[2].tolist() == [1, -1]
    np.testing.assert_allclose(host_target.download(nearest.distances)[2, 0], 0.1, rtol=1e-6)


def test_what_is_no_periodic_box_is_refused(host_target: Target) -> None:
    for wrong in ([1, 2], [[1, 0], [0, 1]], [1, np.inf, 1]):
        with pytest.raises(HierarchyError, match="three lengths, or three edges"):
            edges_of(wrong)
    for flat in ([1, 0, 1], [1, -1, 1], [[1, 0, 0], [2, 0, 0], [0, 0, 1]]):
        with pytest.raises(HierarchyError, match="has no volume"):
            edges_of(flat)
    hierarchy = make(host_target, ("lbvh", "bvh2"))
    hierarchy.build(SCENES["two"]().upload(host_target))
    asked = Places(host_target.zeros((1, 3), np.float32, "test"), periodic=np.eye(3))
    with pytest.raises(HierarchyError, match="centres of spheres"):
        Queries(hierarchy).in_balls(asked)
    with pytest.raises(HierarchyError, match="k = 1"):
        Queries(hierarchy).nearest(asked)
