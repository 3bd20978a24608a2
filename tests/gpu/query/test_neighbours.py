"""k nearest, balls and leaves, by one structure of each visit, against numpy in float64."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import REGION_QUERIES, Hierarchy, HierarchyError, StructureChoice
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.hierarchy.registry import make_structure, structures
from raygrove.gpu.query.lists import ListedPrimitives
from raygrove.gpu.query.query import MOST_NEIGHBOURS, Queries
from raygrove.gpu.query.questions import Boxes, Places, upload_boxes, upload_places
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES, mixed_scene, sphere_scene
from tests.oracle.regions import sphere_distances, sphere_gaps, triangle_distances

FAMILIES = {one.family: name for name, one in reversed(structures().items()) if one.capabilities.queries}
VISITS = [
    *((name, "auto") for family, name in FAMILIES.items() if family != "bvh"),
    ("lbvh", "bvh2"), ("lbvh", "bvh4"), ("sbvh", "bvh2"),
]  # fmt: skip
"""A structure of each family that answers, both visits of BVHs, and one that lists a primitive in several leaves."""
ASKED_FOR_MANY = (("lbvh", "bvh2"), ("sbvh", "bvh2"))
"""Where more are asked for than the smallest list holds, for which units are compiled anew: a list is kept alike by
each visit, with and without primitives that are met twice."""
EDGE = 1e-5

over_visits = pytest.mark.parametrize("choice", VISITS, ids="-".join)


def make(target: Target, choice: tuple[str, str]) -> Hierarchy:
    """The structure."""
    return make_structure(target, choice[0], StructureChoice(layout=choice[1]))


def places(count: int = 60) -> np.ndarray:
    """In and around the unit cube."""
    return np.random.default_rng(5).uniform(-0.5, 1.5, (count, 3)).astype(np.float32)


def lists_of(target: Target, found: ListedPrimitives) -> list[list[int]]:
    """Of the target, as Python has them."""
    prim_ids, first, counts = (target.download(array) for array in (found.prim_ids, found.first, found.counts))
    assert len(prim_ids) == counts.sum() and (first == np.cumsum(counts) - counts).all()
    return [prim_ids[begin : begin + count].tolist() for begin, count in zip(first, counts, strict=True)]


def check_k_nearest(queries: Queries, asked: Places, distances: np.ndarray, k: int, most: float = np.inf) -> None:
    """The k smallest of `distances` (N, P), each by a primitive of its own that is so far."""
    found = queries.k_nearest(asked, k)
    prim_ids, at = queries.target.download(found.prim_ids), queries.target.download(found.distances)
    expected = np.full((len(asked), k), np.inf)
    nearest = np.sort(np.where(distances <= most, distances, np.inf), axis=1)[:, :k]
    expected[:, : nearest.shape[1]] = nearest
    sure = np.abs(expected - most) > EDGE if np.isfinite(most) else np.ones(expected.shape, bool)
    is_there = prim_ids >= 0
    np.testing.assert_array_equal(is_there[sure], np.isfinite(expected)[sure])
    both = is_there & np.isfinite(expected)
    np.testing.assert_allclose(at[both], expected[both], rtol=1e-5, atol=EDGE)
    assert np.isinf(at[~is_there]).all() and (at[:, 1:] >= at[:, :-1]).all()
    rows = np.nonzero(is_there)[0]
    np.testing.assert_allclose(distances[rows, prim_ids[is_there]], at[is_there], rtol=1e-5, atol=EDGE)
    for row in prim_ids:
        assert len(set(row[row >= 0])) == (row >= 0).sum()


@over_visits
def test_k_nearest_triangles(target: Target, choice: tuple[str, str]) -> None:
    scene, hierarchy = SCENES["soup"](), make(target, choice)
    hierarchy.build(scene.upload(target))
    distances, queries = triangle_distances(scene.corners(), places()), Queries(hierarchy)
    for k, most in ((1, np.inf), (8, np.inf), (8, 0.1)):
        check_k_nearest(queries, upload_places(target, places(), most), distances, k, most)
    if choice not in ASKED_FOR_MANY:
        return
    check_k_nearest(queries, upload_places(target, places()), distances, 100)
    radii = np.linspace(0, 0.2, len(places()))
    one_each = upload_places(target, places(), radii)
    found = target.download(queries.k_nearest(one_each, 128).prim_ids) >= 0
    sure = (np.abs(distances - radii[:, None]) > EDGE).all(axis=1)
    expected = np.minimum((distances <= radii[:, None]).sum(axis=1), 128)
    np.testing.assert_array_equal(found.sum(axis=1)[sure], expected[sure])


@over_visits
@pytest.mark.parametrize("count", [0, 1, 5, 300])
def test_k_nearest_balls_and_their_centres(target: Target, choice: tuple[str, str], count: int) -> None:
    centres, radii, primitives = sphere_scene(target, count)
    hierarchy = make(target, choice)
    hierarchy.build(primitives)
    asked = upload_places(target, places())
    check_k_nearest(Queries(hierarchy), asked, sphere_distances(centres, radii, places()), 8)
    to_centres = sphere_distances(centres, np.where(radii >= 0, 0, radii), places())
    check_k_nearest(Queries(hierarchy, of="centres"), asked, to_centres, 8)


@over_visits
def test_of_equals_the_smaller_number_comes_first(target: Target, choice: tuple[str, str]) -> None:
    """Whole numbers, so that nothing is rounded; a place leaves itself out, and all before it."""
    centres = np.array([[i % 3, i // 3 % 3, i // 9] for i in (*range(27), *range(27))], np.float32)
    hierarchy = make(target, choice)
    hierarchy.build(sphere_primitives(target.upload(centres, "test"), target.zeros(54, np.float32, "test")))
    points, own = target.upload(centres, "test"), target.upload(np.arange(54, dtype=np.int32), "test")
    squared = ((centres[:, None] - centres[None]) ** 2).sum(axis=2)
    for rule, skipped in (("others", np.eye(54, dtype=bool)), ("later", np.tri(54, dtype=bool))):
        keys = [sorted((squared[i, j], j) for j in range(54) if not skipped[i, j]) for i in range(54)]
        queries = Queries(hierarchy, of="centres")
        found = target.download(queries.k_nearest(Places(points, None, 1.0, own, rule), 8).prim_ids)
        expected = [[j for far2, j in row if far2 <= 1][:8] for row in keys]
        assert [row[row >= 0].tolist() for row in found] == expected
        lists = queries.in_balls(Places(points, None, 1.0, own, rule), ascending=True)
        assert lists_of(target, lists) == [sorted(j for far2, j in row if far2 <= 1) for row in keys]


@over_visits
def test_what_lies_in_balls(target: Target, choice: tuple[str, str]) -> None:
    """And, in balls of no size, what contains a place."""
    triangles, centres, radii, primitives = mixed_scene(target, 200, 200)
    hierarchy = make(target, choice)
    hierarchy.build(primitives)
    points = np.concatenate([places(), centres[:20]])
    parts = triangle_distances(triangles.corners(), points), sphere_distances(centres, radii, points)
    distances = np.concatenate(parts, axis=1)
    for most in (0.0, 0.15, 9.0):
        found = lists_of(target, Queries(hierarchy).in_balls(upload_places(target, points, most)))
        for listed, far in zip(found, distances, strict=True):
            assert len(set(listed)) == len(listed)
            sure = np.abs(far - most) > EDGE if most > 0 else (far == 0) | (far > EDGE)
            is_listed = np.isin(np.arange(len(far)), listed)
            np.testing.assert_array_equal(is_listed[sure], (far <= most)[sure])


@over_visits
def test_lists_may_be_asked_for_in_ascending_order(target: Target, choice: tuple[str, str]) -> None:
    centres, radii, primitives = sphere_scene(target, 300)
    hierarchy = make(target, choice)
    hierarchy.build(primitives)
    lower = np.concatenate([places(), places()[:1] + 9])
    found = lists_of(target, Queries(hierarchy).in_boxes(upload_boxes(target, lower, lower + 0.4), ascending=True))
    gaps = sphere_gaps(centres, radii, lower, lower + np.float32(0.4))
    assert found[-1] == [] and max(map(len, found)) > 5
    for listed, gap in zip(found, gaps, strict=True):
        assert listed == sorted(set(listed)) and set(listed) - set(np.flatnonzero(gap < EDGE)) == set()
        assert set(np.flatnonzero(gap < -EDGE)) - set(listed) == set()


@pytest.mark.parametrize("name", [name for name in structures() if "leaf" in structures()[name].capabilities.queries])
def test_the_leaf_of_a_place(target: Target, name: str) -> None:
    """Its cell is that of a leaf of the node table, of which one alone has the place inside."""
    hierarchy = make_structure(target, name)
    hierarchy.build(SCENES["soup"]().upload(target))
    table = hierarchy.nodes()
    points = np.concatenate([places(), np.full((1, 3), np.nan, np.float32)])
    found = Queries(hierarchy).leaves(upload_places(target, points))
    leaf_ids, counts, cells = (target.download(part) for part in (found.leaf_ids, found.reference_counts, found.cells))
    leaves = np.flatnonzero(table.is_leaf)
    is_in = (points[:, None] > table.lower[leaves]) & (points[:, None] < table.upper[leaves])
    holders = [leaves[row] for row in is_in.all(axis=2)]
    assert sum(len(held) == 1 for held in holders) > 10
    for i, held in enumerate(holders):
        assert len(held) <= 1 and (leaf_ids[i] >= 0) == (len(held) == 1)
        if len(held):
            np.testing.assert_array_equal(cells[i], [table.lower[held[0]], table.upper[held[0]]])
            assert counts[i] == table.reference_count[held[0]]
    assert len(set(leaf_ids[leaf_ids >= 0])) == len({tuple(cell.ravel()) for cell in cells[leaf_ids >= 0]})


def test_what_cannot_be_asked_is_refused(host_target: Target) -> None:
    hierarchy = make(host_target, ("lbvh", "bvh2"))
    hierarchy.build(SCENES["two"]().upload(host_target))
    asked, queries = upload_places(host_target, places(3)), Queries(hierarchy)
    for k in (0, MOST_NEIGHBOURS + 1):
        with pytest.raises(HierarchyError, match=f"1 to 128.*{k} were asked for"):
            queries.k_nearest(asked, k)
    with pytest.raises(HierarchyError, match="lbvh has the queries .*leaf was asked for"):
        queries.leaves(asked)
    with pytest.raises(HierarchyError, match="spheres alone; there are triangle primitives"):
        Queries(hierarchy, of="centres").nearest(asked)
    with pytest.raises(HierarchyError, match="not to corners"):
        Queries(hierarchy, of="corners")
    with pytest.raises(HierarchyError, match=r"points as an array \(3, 3\) of float32.*this one is \(3, 2\)"):
        Places(host_target.zeros((3, 2), np.float32, "test"))
    with pytest.raises(HierarchyError, match=r"own as an array \(3,\) of int32"):
        Places(asked.points, own=host_target.zeros(3, np.int64, "test"))
    with pytest.raises(HierarchyError, match=r"upper as an array \(3, 3\)"):
        Boxes(asked.points, asked.points[:2])


def test_arrays_that_kernels_would_misread_are_refused(host_target: Target) -> None:
    """Every other row, and an array of a GPU for kernels of the host."""

    class OfGpu(np.ndarray):
        __cuda_array_interface__ = None

    with pytest.raises(HierarchyError, match="contiguous copy"):
        Places(host_target.zeros((6, 3), np.float32, "test")[::2])
    hierarchy = make(host_target, ("lbvh", "bvh2"))
    hierarchy.build(SCENES["two"]().upload(host_target))
    with pytest.raises(HierarchyError, match="memory of the host, and this one is in that of a GPU"):
        Queries(hierarchy).nearest(Places(places(3).view(OfGpu)))


def test_whoever_visits_answers_every_region() -> None:
    """No structure has some of the queries that one device function answers, and lacks others."""
    for structure in structures().values():
        known = set(structure.capabilities.queries)
        assert known - {"leaf"} in (set(), set(REGION_QUERIES))
