"""Every structure answers the queries that it says it answers, as a numpy oracle in float64 does."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Hierarchy, HierarchyError, StructureChoice
from raygrove.gpu.hierarchy.primitives import sphere_primitives, triangle_primitives
from raygrove.gpu.hierarchy.registry import make_structure, structures, telling_layouts
from raygrove.gpu.query.query import Queries
from raygrove.gpu.query.questions import upload_boxes, upload_places
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES, TriangleScene, mixed_scene, sphere_scene
from tests.oracle.regions import sphere_distances, sphere_gaps, triangle_distances, triangle_gaps

LAYOUTS = [
    (name, layout)
    for name in structures()
    for layout in telling_layouts(name)
    if layout in (("bvh2", "bvh4") if name == "lbvh" else ("bvh2", *structures()[name].layouts()[:1]))
]
"""bvh2 has a visit of its own, every other layout the canonical tree's, tried with lbvh alone. A visit answers whoever
built the tree: each is asked everything, each structure the nearest ones, boxes and balls."""
EDGE = 1e-5
"""How near to touching float32 may say either, in units of scenes as large as 1."""


def able(query: str) -> pytest.MarkDecorator:
    """Over each structure, in each layout, that says it answers."""
    found = [choice for choice in LAYOUTS if query in structures()[choice[0]].capabilities.queries]
    return pytest.mark.parametrize("choice", found, ids="-".join)


def over_scenes(query: str) -> pytest.MarkDecorator:
    """Those, each over nasty scenes, and one of each visit over all scenes."""
    pairs = [
        (choice, scene_name)
        for choice in able(query).args[1]
        for scene_name in (SCENES if choice[0] in ("lbvh", "brute_force") else ("degenerate", "soup"))
    ]
    names = ["-".join((*choice, scene_name)) for choice, scene_name in pairs]
    return pytest.mark.parametrize(("choice", "scene_name"), pairs, ids=names)


@functools.cache
def scene_and_distances(name: str, later: bool = False, count: int = 150) -> tuple[TriangleScene, np.ndarray]:
    """A scene, and how far `places` are from it."""
    scene = SCENES[name]()
    return scene, triangle_distances(scene.corners(later), places(count))


@functools.cache
def scene_and_gaps(name: str, later: bool = False, count: int = 80) -> tuple[TriangleScene, np.ndarray]:
    """A scene, and the gaps between it and `boxes`."""
    scene = SCENES[name]()
    return scene, triangle_gaps(scene.corners(later), *boxes(count))


def make(target: Target, choice: tuple[str, str]) -> Hierarchy:
    """The structure."""
    return make_structure(target, choice[0], StructureChoice(layout=choice[1]))


def places(count: int = 150) -> np.ndarray:
    """In and around the unit cube."""
    return np.random.default_rng(3).uniform(-0.5, 1.5, (count, 3)).astype(np.float32)


def boxes(count: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Boxes of many sizes in and around the unit cube; of every 20 one is a point, one flat, one inverted, one all."""
    random = np.random.default_rng(4)
    middle, half = (
        random.uniform(-0.2, 1.2, (count, 3)),
        0.5 * random.random((count, 1)) ** 3 * random.random((count, 3)),
    )
    half[0::20], half[1::20, 1], half[2::20], half[3::20] = 0.0, 0.0, -0.1, 9.0
    return (middle - half).astype(np.float32), (middle + half).astype(np.float32)


def check_nearest(hierarchy: Hierarchy, distances: np.ndarray, points: np.ndarray, most: float = np.inf) -> None:
    """Distances as the oracle's (N, P), the primitive where no other is as near, and a point so far away."""
    target = hierarchy.target
    found = Queries(hierarchy).nearest(upload_places(target, points, most))
    prim_id, distance = target.download(found.prim_id), target.download(found.distance)
    at = target.download(found.points)
    expected = distances.min(axis=1, initial=np.inf)
    is_there = expected < most - EDGE if np.isfinite(most) else np.isfinite(expected)
    is_away = expected > most + EDGE if np.isfinite(most) else ~np.isfinite(expected)
    assert (prim_id[is_away] == -1).all() and np.isinf(distance[is_away]).all()
    assert np.isnan(at[is_away]).all()
    assert (prim_id[is_there] >= 0).all()
    np.testing.assert_allclose(distance[is_there], expected[is_there], rtol=1e-5, atol=EDGE)
    chosen = distances[np.flatnonzero(is_there), prim_id[is_there]]
    np.testing.assert_allclose(chosen, expected[is_there], rtol=1e-5, atol=EDGE)
    away = np.linalg.norm(at[is_there] - points[is_there].astype(np.float64), axis=1)
    np.testing.assert_allclose(away, expected[is_there], rtol=1e-5, atol=EDGE)


def check_boxes(hierarchy: Hierarchy, gaps: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Each box lists each primitive once that reaches into it; those that all but touch may be listed."""
    target = hierarchy.target
    found = Queries(hierarchy).in_boxes(upload_boxes(target, lower, upper))
    prim_ids, first, counts = (target.download(array) for array in (found.prim_ids, found.first, found.counts))
    assert len(prim_ids) == counts.sum() and (first == np.cumsum(counts) - counts).all()
    for i in range(len(lower)):
        listed = np.zeros(gaps.shape[1], int)
        np.add.at(listed, prim_ids[first[i] : first[i] + counts[i]], 1)
        assert listed.max(initial=0) <= 1
        sure = np.abs(gaps[i]) > EDGE
        np.testing.assert_array_equal(listed[sure] == 1, gaps[i][sure] < 0)


@pytest.mark.covers("choice.0", "choice.1 scene_name")
@over_scenes("nearest")
def test_nearest(target: Target, choice: tuple[str, str], scene_name: str) -> None:
    scene, expected = scene_and_distances(scene_name)
    hierarchy = make(target, choice)
    hierarchy.build(scene.upload(target))
    check_nearest(hierarchy, expected, places())
    check_nearest(hierarchy, expected, places(), 0.08)


@pytest.mark.covers("choice.0", "choice.1 scene_name")
@over_scenes("box")
def test_boxes(target: Target, choice: tuple[str, str], scene_name: str) -> None:
    scene, gaps = scene_and_gaps(scene_name)
    hierarchy = make(target, choice)
    hierarchy.build(scene.upload(target))
    check_boxes(hierarchy, gaps, *boxes())


@able("nearest")
def test_refitted_trees_are_queried_where_things_are_now(target: Target, choice: tuple[str, str]) -> None:
    hierarchy = make(target, choice)
    if not hierarchy.capabilities.refit:
        pytest.skip("this structure is never refitted")
    scene, expected = scene_and_distances("soup", later=True, count=60)
    hierarchy.build(scene.upload(target))
    hierarchy.refit(scene.upload(target, later=True))
    check_nearest(hierarchy, expected, places(60))
    if "box" in hierarchy.capabilities.queries:
        check_boxes(hierarchy, scene_and_gaps("soup", later=True, count=40)[1], *boxes(40))


@pytest.mark.covers("choice.0", "choice.1 count")
@pytest.mark.parametrize("count", [0, 1, 400])
@able("nearest")
def test_spheres_are_balls(target: Target, choice: tuple[str, str], count: int) -> None:
    centres, radii, primitives = sphere_scene(target, count)
    hierarchy, (lower, upper) = make(target, choice), boxes()
    if "sphere" not in hierarchy.capabilities.primitive_kinds:
        pytest.skip("this structure takes no spheres")
    hierarchy.build(primitives)
    points = np.concatenate([places(), centres[:20]])
    check_nearest(hierarchy, sphere_distances(centres, radii, points), points)
    if "box" in hierarchy.capabilities.queries:
        check_boxes(hierarchy, sphere_gaps(centres, radii, lower, upper), lower, upper)


@pytest.mark.covers("choice.1")
@able("nearest")
def test_triangles_and_spheres(target: Target, choice: tuple[str, str]) -> None:
    triangles, centres, radii, primitives = mixed_scene(target, 300, 200)
    hierarchy, (lower, upper), points = make(target, choice), boxes(), places()
    if "mixed" not in hierarchy.capabilities.primitive_kinds:
        pytest.skip("this structure takes no triangles beside spheres")
    hierarchy.build(primitives)
    distances = triangle_distances(triangles.corners(), points), sphere_distances(centres, radii, points)
    check_nearest(hierarchy, np.concatenate(distances, axis=1), points)
    if "box" in hierarchy.capabilities.queries:
        gaps = triangle_gaps(triangles.corners(), lower, upper), sphere_gaps(centres, radii, lower, upper)
        check_boxes(hierarchy, np.concatenate(gaps, axis=1), lower, upper)


@pytest.mark.covers("choice.1")
@able("nearest")
def test_what_is_hidden_is_not_found(target: Target, choice: tuple[str, str]) -> None:
    """Some of the scene's triangles, by the scene's numbers."""
    scene, points = SCENES["soup"](), places(60)
    shown = np.flatnonzero(np.arange(len(scene.indices)) % 3 == 1).astype(np.int32)
    hidden = np.ones(len(scene.indices), bool)
    hidden[shown] = False
    positions, indices = target.upload(scene.positions, "test"), target.upload(scene.indices[shown], "test")
    hierarchy = make(target, choice)
    hierarchy.build(triangle_primitives(positions, indices, target.upload(shown, "test")))
    distances = scene_and_distances("soup", count=60)[1].copy()
    distances[:, hidden] = np.inf
    check_nearest(hierarchy, distances, points)
    if "box" in hierarchy.capabilities.queries:
        gaps = scene_and_gaps("soup", count=40)[1].copy()
        gaps[:, hidden] = np.inf
        check_boxes(hierarchy, gaps, *boxes(40))


@pytest.mark.covers("choice.1")
@able("nearest")
def test_touching_counts_and_equals_are_told_by_their_numbers(target: Target, choice: tuple[str, str]) -> None:
    """In whole numbers nothing is rounded: a box that touches a face, an edge or a corner has it, one beside it not; of
    two equally near the smaller number is found; a place on a face is at no distance from it."""
    wall = np.array([[[0, 0, 0], [0, 4, 0], [0, 0, 4]], [[2, 0, 0], [2, 4, 0], [2, 0, 4]]], np.float32)
    positions = target.upload(np.tile(wall, (40, 1, 1)).reshape(-1, 3), "test")
    hierarchy = make(target, choice)
    hierarchy.build(
        triangle_primitives(positions, target.upload(np.arange(240, dtype=np.int32).reshape(-1, 3), "test"))
    )
    asked = np.array([[0, 1, 1], [2, 1, 1], [1, 1, 1], [-3, 1, 1], [0, -3, -4]], np.float32)
    found = Queries(hierarchy).nearest(upload_places(target, asked, np.array([0, 0, 1, 2.5, 9], np.float32)))
    np.testing.assert_array_equal(target.download(found.prim_id), [0, 1, 0, -1, 0])
    np.testing.assert_array_equal(target.download(found.distance)[[0, 1, 2, 4]], [0, 0, 1, 5])
    if "box" in hierarchy.capabilities.queries:
        lower = np.array([[-1, 1, 1], [0, 4, 0], [0, 1, 1], [0.5, 0, 0], [1, 2, 2], [1, 3, 3]], np.float32)
        upper = np.array([[0, 2, 2], [0, 5, 0], [0, 1, 1], [1.5, 4, 4], [2, 2, 2], [2, 3, 3]], np.float32)
        boxed = Queries(hierarchy).in_boxes(upload_boxes(target, lower, upper))
        np.testing.assert_array_equal(target.download(boxed.counts), [40, 40, 40, 0, 40, 0])
        assert (target.download(boxed.prim_ids) % 2).tolist() == [0] * 120 + [1] * 40


@pytest.mark.covers("choice.1")
@able("nearest")
def test_inactive_spheres_are_nowhere(target: Target, choice: tuple[str, str]) -> None:
    """Not even for who asks near their centre, although they share a leaf with others."""
    hierarchy = make(target, choice)
    if "sphere" not in hierarchy.capabilities.primitive_kinds:
        pytest.skip("this structure takes no spheres")
    centres, radii = np.array([[0, 0, 0], [50, 0, 0]], np.float32), np.array([-1, 0.5], np.float32)
    hierarchy.build(sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test")))
    found = Queries(hierarchy).nearest(upload_places(target, centres + np.float32([1, 0, 0])))
    assert target.download(found.prim_id).tolist() == [1, 1]
    assert target.download(found.distance).tolist() == [48.5, 0.5]
    if "box" in hierarchy.capabilities.queries:
        lower, upper = np.array([[-1, -1, -1], [-1, -1, -1]], np.float32), np.array([[1, 1, 1], [60, 1, 1]], np.float32)
        boxed = Queries(hierarchy).in_boxes(upload_boxes(target, lower, upper))
        assert target.download(boxed.counts).tolist() == [0, 1]


@pytest.mark.covers("choice.1")
@able("nearest")
def test_strange_questions_find_nothing(target: Target, choice: tuple[str, str]) -> None:
    hierarchy = make(target, choice)
    hierarchy.build(SCENES["soup"]().upload(target))
    asked = np.array([[np.nan, 0, 0], [0, np.inf, 0], [0, 0, 0], [0, 0, 0]], np.float32)
    found = Queries(hierarchy).nearest(upload_places(target, asked, np.array([np.inf, np.inf, -1, np.nan])))
    np.testing.assert_array_equal(target.download(found.prim_id), [-1] * 4)
    assert len(Queries(hierarchy).nearest(upload_places(target, np.zeros((0, 3)))).prim_id) == 0
    if "box" in hierarchy.capabilities.queries:
        lower = np.array([[np.nan, 0, 0], [1, 1, 1], [-np.inf] * 3], np.float32)
        upper = np.array([[1, 1, 1], [0, 2, 2], [np.inf] * 3], np.float32)
        counts = target.download(Queries(hierarchy).in_boxes(upload_boxes(target, lower, upper)).counts)
        assert counts.tolist() == [0, 0, 1500]
        assert len(Queries(hierarchy).in_boxes(upload_boxes(target, np.zeros((0, 3)), np.zeros((0, 3)))).counts) == 0


def test_a_structure_that_was_not_built_is_not_queried(host_target: Target) -> None:
    with pytest.raises(HierarchyError, match="lbvh.*built"):
        Queries(make(host_target, ("lbvh", "bvh2"))).nearest(upload_places(host_target, places(3)))


def test_trees_visit_few(host_target: Target) -> None:
    """A far place is answered by a tree in less time than by everything: asked of spheres in a row, each by its own."""
    centres = np.stack([np.arange(300.0), np.zeros(300), np.zeros(300)], axis=1).astype(np.float32)
    hierarchy = make(host_target, ("lbvh", "bvh2"))
    radii = np.full(300, 0.25, np.float32)
    hierarchy.build(sphere_primitives(host_target.upload(centres, "test"), host_target.upload(radii, "test")))
    found = Queries(hierarchy).nearest(upload_places(host_target, centres + np.float32([0, 1, 0])))
    np.testing.assert_array_equal(host_target.download(found.prim_id), np.arange(300))
    np.testing.assert_array_equal(host_target.download(found.distance), np.full(300, 0.75, np.float32))
