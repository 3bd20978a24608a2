"""Regions from numpy arrays: what brute force in float64 finds, in parts that fit, and sentences for what is no
question."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import raygrove
from raygrove.gpu import library_queries
from raygrove.gpu.query import lists
from raygrove.gpu.target.base import Target
from tests.oracle.regions import sphere_distances, triangle_distances

CENTRES = np.random.default_rng(6).random((200, 3), dtype=np.float32)
PLACES = np.random.default_rng(7).uniform(-0.2, 1.2, (50, 3)).astype(np.float32)
AWAY = sphere_distances(CENTRES, np.zeros(200), PLACES)


@pytest.fixture
def tree(host_target: Target) -> Iterator[raygrove.Structure]:
    """Over points."""
    with raygrove.build_spheres(CENTRES, target=host_target) as made:
        yield made


def test_what_is_nearest(target: Target) -> None:
    corners = np.random.default_rng(8).random((90, 3), dtype=np.float32)
    with raygrove.build(corners, np.arange(90).reshape(30, 3), target=target) as mesh:
        found, near = mesh.nearest(PLACES), mesh.nearest(PLACES, np.linspace(0, 0.3, 50))
    distances = triangle_distances(corners.reshape(30, 3, 3), PLACES)
    np.testing.assert_array_equal(found.prim_id, distances.argmin(axis=1))
    np.testing.assert_allclose(found.distance, distances.min(axis=1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found.points - PLACES, axis=1), found.distance, rtol=1e-5, atol=1e-6)
    is_near = distances.min(axis=1) <= np.linspace(0, 0.3, 50)
    assert 5 < is_near.sum() < 45 and len(near) == 50
    np.testing.assert_array_equal(near.prim_id, np.where(is_near, found.prim_id, -1))
    assert np.isinf(near.distance[~is_near]).all() and np.isnan(near.points[~is_near]).all()


@pytest.mark.parametrize("at_once", [1 << 24, 7])
def test_questions_are_asked_in_parts(tree: raygrove.Structure, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers in one part and in many, each as long as memory allows."""
    monkeypatch.setattr(library_queries, "MOST_AT_ONCE", at_once)
    order = np.argsort(AWAY, axis=1)[:, :5]
    found = tree.k_nearest(PLACES, 5, np.linspace(0, 0.5, 50))
    is_there = np.take_along_axis(AWAY, order, axis=1) <= np.linspace(0, 0.5, 50)[:, None]
    np.testing.assert_array_equal(found.prim_ids, np.where(is_there, order, -1))
    assert np.isinf(found.distances[~is_there]).all() and len(found) == 50
    listed = tree.in_ball(PLACES, 0.25)
    assert [one.tolist() for one in listed] == [np.flatnonzero(row <= 0.25).tolist() for row in AWAY]
    np.testing.assert_array_equal(listed.counts, (AWAY <= 0.25).sum(axis=1))
    boxed = tree.in_box(PLACES, PLACES + np.float32(0.4))
    is_in = ((PLACES[:, None] <= CENTRES) & (PLACES[:, None] + np.float32(0.4) >= CENTRES)).all(axis=2)
    assert len(boxed) == 50 and boxed[-1].tolist() == np.flatnonzero(is_in[-1]).tolist()
    assert [one.tolist() for one in boxed] == [np.flatnonzero(row).tolist() for row in is_in]
    apart = np.linalg.norm(CENTRES[:, None].astype(float) - CENTRES[None], axis=2)
    np.testing.assert_array_equal(tree.pairs(0.2), np.argwhere(np.triu(apart <= 0.2, 1)))
    excluded = tree.k_nearest(CENTRES, 1, exclude=np.arange(200), periodic=[9, 9, 9]).prim_ids[:, 0]
    np.testing.assert_array_equal(excluded, np.where(np.eye(200), np.inf, apart).argmin(axis=1))


def test_long_lists_are_made_half_by_half(tree: raygrove.Structure, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tree.in_ball(PLACES, 0.4)
    boxes = tree.in_box(PLACES, PLACES + np.float32(0.4))
    monkeypatch.setattr(lists, "MOST_LISTED", int(whole.counts.max()))
    in_halves = tree.in_ball(PLACES, 0.4)
    np.testing.assert_array_equal(in_halves.prim_ids, whole.prim_ids)
    np.testing.assert_array_equal(in_halves.first, whole.first)
    np.testing.assert_array_equal(tree.in_box(PLACES, PLACES + np.float32(0.4)).prim_ids, boxes.prim_ids)
    monkeypatch.setattr(lists, "MOST_LISTED", int(whole.counts.max()) - 1)
    with pytest.raises(raygrove.HierarchyError, match="ask about fewer regions"):
        tree.in_ball(PLACES, 0.4)


def test_counts_need_no_lists(tree: raygrove.Structure) -> None:
    target = tree.target
    places = raygrove.Places(target.upload(PLACES, "test"), radius=0.25)
    boxes = raygrove.Boxes(places.points, target.upload(PLACES + np.float32(0.4), "test"))
    with raygrove.build_spheres(CENTRES, name="median_sah", target=target) as kd_tree:
        for asked in (tree.on_target(), kd_tree.on_target()):
            np.testing.assert_array_equal(target.download(asked.count_in_balls(places)), (AWAY <= 0.25).sum(axis=1))
            counts = tree.in_box(PLACES, PLACES + np.float32(0.4)).counts
            np.testing.assert_array_equal(target.download(asked.count_in_boxes(boxes)), counts)


def test_spheres_are_hit_and_contain(host_target: Target) -> None:
    with raygrove.build_spheres([[0, 0, 0], [5, 0, 0]], [1, 2], "hploc", target=host_target) as built:
        assert built.trace([0, 0, 9], [0, 0, -1]).t.tolist() == [8.0]
        assert built.containing([[0, 1, 0], [3.5, 0, 0], [2, 0, 0]]).counts.tolist() == [1, 1, 0]
        assert built.k_nearest([0, 0, 0], 2).distances.tolist() == [[0.0, 3.0]]
        assert built.k_nearest([0, 0, 0], 2, of="centres").distances.tolist() == [[0.0, 5.0]]
    with pytest.raises(ValueError, match="closed"):
        built.containing([0, 0, 0])
    with raygrove.build_spheres(CENTRES, name="sah_events", target=host_target) as built:
        leaf = built.leaf(PLACES)
        is_in = ((leaf.lower <= PLACES) & (leaf.upper >= PLACES)).all(axis=1)
        np.testing.assert_array_equal(is_in, leaf.leaf_id >= 0)
        assert 0 < is_in.sum() < 50 and leaf.reference_count[~is_in].max() == 0


def test_no_questions_and_no_points(tree: raygrove.Structure, host_target: Target) -> None:
    none = np.zeros((0, 3))
    assert tree.k_nearest(none, 3).prim_ids.shape == (0, 3) and len(tree.nearest(none)) == 0
    assert len(tree.in_box(none, none)) == 0 and len(tree.in_ball(none, 1.0)) == 0
    with raygrove.build_spheres(none, target=host_target) as empty:
        assert empty.k_nearest(PLACES, 2).prim_ids.max() == -1 and empty.pairs(1.0).shape == (0, 2)
        assert empty.in_ball(PLACES, 9.0).counts.sum() == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([[1, 2]],), r"points are rows of three numbers.*\(1, 2\)"),
        ((["a"],), "points are rows of three numbers"),
        ((PLACES, 3, [1.0, 2.0]), r"one for each of the 50 points; it is \(2,\)"),
        ((PLACES, 3, "far"), "radius is one number"),
    ],
)
def test_what_is_no_question_is_a_sentence(tree: raygrove.Structure, arguments: tuple, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        tree.k_nearest(*arguments)


def test_other_arrays_that_do_not_fit(tree: raygrove.Structure) -> None:
    with pytest.raises(ValueError, match=r"a row for each of the 50 points.*\(3,\)"):
        tree.k_nearest(PLACES, exclude=[1, 2, 3])
    with pytest.raises(ValueError, match="whole numbers"):
        tree.k_nearest(PLACES, exclude=np.zeros(50))
    with pytest.raises(ValueError, match="which no structure has"):
        tree.k_nearest(PLACES, exclude=np.full(len(PLACES), 2**32))
    with pytest.raises(ValueError, match="50 lower and 3 upper corners"):
        tree.in_box(PLACES, PLACES[:3])
    with pytest.raises(raygrove.HierarchyError, match="lbvh has the queries .*leaf was asked for"):
        tree.leaf(PLACES)
    with pytest.raises(IndexError):
        _ = tree.in_ball(PLACES, 0.1)[50]
