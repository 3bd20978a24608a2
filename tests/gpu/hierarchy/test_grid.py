"""The family of grids: what is listed where, against a numpy oracle in float64; how many cells there are; what it does
with scenes that no grid suits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raygrove.gpu.hierarchy.base import Hierarchy, HierarchyError, NodeTable
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays
from raygrove.testing.scenes import SCENES, TriangleScene, make, mixed_scene, rays, scene_of, soup, trace
from raygrove.testing.tree_walker import check_tree
from tests.oracle.regions import sphere_gaps, triangle_gaps

GRIDS = [name for name, kind in structures().items() if kind.family == "grid"]
over_grids = pytest.mark.parametrize("name", GRIDS)


def listed_in(table: NodeTable, count: int) -> np.ndarray:
    """Which primitive each leaf lists (leaves, count), and none twice."""
    leaves = np.flatnonzero(table.is_leaf)
    found = np.zeros((len(leaves), count), int)
    for row, leaf in enumerate(leaves):
        first = table.first_reference[leaf]
        np.add.at(found[row], table.references[first : first + table.reference_count[leaf]], 1)
    assert found.max(initial=0) <= 1
    return found == 1


@pytest.mark.parametrize("scene_name", ["two", "soup", "stairs", "moving", "degenerate"])
@over_grids
def test_cells_list_what_reaches_into_them(target: Target, name: str, scene_name: str) -> None:
    """Triangles where they are, spheres as balls; without `exact` wherever their boxes touch."""
    scene = SCENES[scene_name]()
    lower, upper = scene.boxes()
    size = float(np.abs(np.concatenate([lower, upper])[np.concatenate([lower, upper]) < 1e30]).max())
    for exact in (True, False):
        density = {"cell_density": 0.3} if name == "grid_two_level" else {"density": 0.2}
        hierarchy = make(target, name, exact=exact, **density)
        hierarchy.build(scene.upload(target))
        table = hierarchy.nodes()
        leaves = table.is_leaf
        found = listed_in(table, len(scene.indices))
        gaps = triangle_gaps(scene.corners(), table.lower[leaves], table.upper[leaves])
        assert found[gaps < -1e-5 * size].all()
        if exact:
            boxes = (lower[None] <= table.upper[leaves][:, None]) & (upper[None] >= table.lower[leaves][:, None])
            single = boxes.all(axis=2).sum(axis=0) == 1  # what lies in one cell is not tested
            assert not found[:, ~single][gaps[:, ~single] > 1e-5 * size].any()


@over_grids
def test_balls_are_listed_where_they_are(target: Target, name: str) -> None:
    random = np.random.default_rng(5)
    centres, radii = random.random((60, 3)).astype(np.float32), np.full(60, 0.2, np.float32)
    hierarchy = make(target, name, density=8.0, references_per_primitive=64.0)
    hierarchy.build(sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test")))
    table = hierarchy.nodes()
    gaps = sphere_gaps(centres, radii, table.lower[table.is_leaf], table.upper[table.is_leaf])
    found = listed_in(table, 60)
    assert table.is_leaf.sum() > 60 and found[gaps < -1e-5].all() and not found[gaps > 1e-5].any()


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(1, 40),
    seed=st.integers(0, 10_000),
    scale=st.tuples(*[st.sampled_from([0.0, 1e-4, 1.0, 300.0])] * 3),
    place=st.sampled_from([0.0, -7.0, 5e6]),
    density=st.sampled_from([0.05, 1.0, 5.0, 60.0]),
)
def test_any_scene_has_hits_of_brute_force(
    exact_hits_target: Target, count: int, seed: int, scale: tuple[float, float, float], place: float, density: float
) -> None:
    """Flat, long and far away, as many cells as there may be; rays from far outside, and along the planes of cells."""
    corners = soup(count, seed=seed, size=0.3).corners() * np.array(scale) + place
    scene, random = scene_of(corners), np.random.default_rng(seed)
    origins, directions = rays(96)
    origins = origins * np.maximum(scale, 0.1) * 10.0 ** random.integers(0, 3, (96, 1)) + place
    for name in GRIDS:
        plain, hierarchy = make(exact_hits_target, "brute_force"), make(exact_hits_target, name, density=density)
        for made in (plain, hierarchy):
            made.build(scene.upload(exact_hits_target))
        expected, found = (trace(made, origins.astype(np.float32), directions) for made in (plain, hierarchy))
        for column in ("t", "prim_id", "u", "v"):
            np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
        np.testing.assert_array_equal(one_by_one(hierarchy, origins, directions), expected.prim_id)
        check_tree(hierarchy.nodes(), *scene.boxes(), True, True)


def one_by_one(hierarchy: Hierarchy, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """What is hit by rays that are traced as a GPU does, a thread each."""
    buffer = upload_rays(hierarchy.target, origins.astype(np.float32), directions)
    found = Tracer(hierarchy.target, hierarchy.traversal()).trace(buffer, "steps")
    return hierarchy.target.download(found.prim_id)[: len(origins)]


@over_grids
def test_rays_in_the_planes_of_cells_hit_both_sides(exact_hits_target: Target, name: str) -> None:
    """A wall of squares in planes of cells, each on one side of the plane that a ray runs in: nothing is lost."""
    steps = np.arange(8, dtype=np.float32)
    squares = [[[x, y, z], [x + 1, y, z], [x, y + 1, z]] for x in steps for y in steps for z in (0.0, 4.0, 8.0)] + [
        [[x + 1, y + 1, z], [x + 1, y, z], [x, y + 1, z]] for x in steps for y in steps for z in (0.0, 4.0, 8.0)
    ]
    scene = scene_of(np.array(squares))
    at = np.arange(0, 8.5, 0.5, dtype=np.float32)
    x, y = (side.reshape(-1) for side in np.meshgrid(at, at))
    origins = np.stack([x, y, np.full_like(x, -1.0)], axis=1)
    straight = np.tile(np.array([[0, 0, 1]], np.float32), (len(origins), 1))
    skew = np.tile(np.array([[0.6, 0, 0.8]], np.float32), (len(origins), 1))
    plain, hierarchy = make(exact_hits_target, "brute_force"), make(exact_hits_target, name, density=2.0)
    for made in (plain, hierarchy):
        made.build(scene.upload(exact_hits_target))
    for directions in (straight, skew, straight[:, [2, 0, 1]]):
        expected, found = (trace(made, origins, directions) for made in (plain, hierarchy))
        np.testing.assert_array_equal(found.prim_id, expected.prim_id)
        np.testing.assert_array_equal(found.t, expected.t)
        np.testing.assert_array_equal(one_by_one(hierarchy, origins, directions), expected.prim_id)


@over_grids
def test_mailboxes_test_less_and_find_the_same(exact_hits_target: Target, name: str) -> None:
    scene = SCENES["soup"]()
    found, tests = [], []
    for mailboxes in (False, True):
        hierarchy = make(exact_hits_target, name, mailboxes=mailboxes)
        hierarchy.build(scene.upload(exact_hits_target))
        found.append(trace(hierarchy, *rays()))
        steps = Tracer(exact_hits_target, hierarchy.traversal()).trace(upload_rays(exact_hits_target, *rays()), "steps")
        tests.append(int(exact_hits_target.download(steps.tests).sum()))
    assert 0 < tests[1] < tests[0]
    np.testing.assert_array_equal(found[0].prim_id, found[1].prim_id)
    np.testing.assert_array_equal(found[0].t, found[1].t)


def test_cells_follow_the_density(host_target: Target) -> None:
    """Never more than were asked for, cubes where the scene allows it, and one cell thick where it is flat."""
    flat = soup(900, size=0.01).corners() * (1.0, 1.0, 0.0)
    for density in (0.5, 5.0, 20.0):
        hierarchy = make(host_target, "grid", density=density)
        hierarchy.build(scene_of(flat).upload(host_target))
        table = hierarchy.nodes()
        cells = table.upper[1:] - table.lower[1:]
        assert 0.8 * density * 900 < len(cells) <= density * 900
        assert (cells[:, 2] == 0).all() and np.allclose(cells[:, 0], cells[:, 1], rtol=0.1)


def test_the_cost_model_takes_fewer_cells_where_steps_are_dear(host_target: Target) -> None:
    scene, cells = soup(800, size=0.02), {}
    for step_cost in (0.1, 1.0, 50.0):
        hierarchy = make(host_target, "grid", resolution="cost_model", density=20.0, step_cost=step_cost)
        hierarchy.build(scene.upload(host_target))
        cells[step_cost] = len(hierarchy.nodes())
    assert cells[50.0] < cells[1.0] < cells[0.1] <= 20 * 800 + 1


@over_grids
def test_too_many_cells_are_refused_with_the_figure(host_target: Target, name: str) -> None:
    option = {"grid": {"density": 10_000.0}, "grid_two_level": {"cell_density": 10_000.0, "most_cells": 1_000_000}}
    count, cells = (100_000, "1,000,000,000") if name == "grid" else (1000, "10,000,120")
    corners = np.tile(np.eye(3, dtype=np.float32), (count, 1, 1))
    hierarchy = make(host_target, name, **option[name])
    with pytest.raises(HierarchyError, match=rf"{name} would have {cells} cells .*{count:,}.* lower"):
        hierarchy.build(scene_of(corners).upload(host_target))


BAD = {
    "one triangle spans everything": lambda: np.concatenate(
        [soup(2000, size=0.01).corners(), [[[-1, -1, -1], [2, 2, 2], [-1, 2, 0.5]]]]
    ),
    "all identical": lambda: np.tile(soup(1, size=0.5).corners(), (3000, 1, 1)),
    "one point": lambda: np.full((50, 3, 3), 0.25),
    "flat": lambda: soup(500).corners() * (1.0, 0.0, 1.0),
    "a line": lambda: soup(500).corners() * (1.0, 0.0, 0.0),
    "nothing is finite": lambda: np.full((9, 3, 3), np.nan),
}


@pytest.mark.parametrize("scene_name", BAD)
@over_grids
def test_bad_scenes_are_grids_too(exact_hits_target: Target, name: str, scene_name: str) -> None:
    scene = scene_of(np.asarray(BAD[scene_name](), np.float32))
    plain, hierarchy = make(exact_hits_target, "brute_force"), make(exact_hits_target, name)
    for made in (plain, hierarchy):
        made.build(scene.upload(exact_hits_target))
    expected, found = trace(plain, *rays()), trace(hierarchy, *rays())
    for column in ("t", "prim_id", "u", "v"):
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
    hierarchy.measure()
    exact_hits_target.synchronize()
    stats = hierarchy.stats()
    assert stats.reference_count <= 4 * 16 * len(scene.indices) + 256 and stats.sah_cost is None
    assert hierarchy.lacks_room(scene.upload(exact_hits_target)) is False


@over_grids
def test_a_scene_that_grows_is_still_a_grid(target: Target, name: str) -> None:
    """Cells and references that a later frame needs: the tree before stays until there is room, then it is the new
    one."""
    before, after = soup(2000, size=0.001), soup(2000, size=0.3)
    scene = TriangleScene(before.positions, before.indices, after.positions)
    hierarchy = make(target, name)
    hierarchy.build(scene.upload(target))
    moved = scene.upload(target, later=True)
    for _ in range(6):
        hierarchy.prepare(moved, "rebuild")
        if hierarchy.lacks_room(moved):
            hierarchy.make_room(moved)
        hierarchy.build(moved)
        target.synchronize()
    hierarchy.measure()
    target.synchronize()
    assert not hierarchy.is_stale
    check_tree(hierarchy.nodes(), *scene.boxes(later=True), True, True)


@over_grids
def test_mixed_primitives_are_counted(target: Target, name: str) -> None:
    _, _, _, primitives = mixed_scene(target, 300, 300)
    hierarchy = make(target, name)
    hierarchy.build(primitives)
    hierarchy.measure()
    target.synchronize()
    stats, table = hierarchy.stats(), hierarchy.nodes()
    assert stats.leaf_count == table.is_leaf.sum() and stats.node_count == (~table.is_leaf).sum()
    assert stats.empty_leaf_count == (table.reference_count[table.is_leaf] == 0).sum() > 0
    assert stats.reference_count == table.reference_count.sum() and stats.inactive_count == 15
    assert dataclasses.asdict(stats)["sah_cost"] is None


@over_grids
def test_rays_from_far_away_visit_the_cells_beside_them(exact_hits_target: Target, name: str) -> None:
    """Specks beside the edges of cells, one in each cell, and rays at them from so far that rounding moves the planes
    of cells by hundredths of one: the specks are found all the same."""
    random = np.random.default_rng(3)
    cells = np.stack(np.meshgrid(*[np.arange(16)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    inside, along = random.uniform(0.2, 0.8, (len(cells), 3)), random.integers(0, 3, (len(cells), 1))
    inside = np.where(along == np.arange(3), inside, random.choice([0.01, 0.99], (len(cells), 3)))
    corners = (cells + inside)[:, None, :] + 0.01 * (random.random((len(cells), 3, 3)) - 0.5)
    ends = np.array([np.zeros((3, 3)), np.full((3, 3), 16.0)])
    scene = scene_of(np.concatenate([corners, ends]).astype(np.float32))
    centres = scene.corners()[:-2].mean(axis=1)
    away = random.normal(size=(len(cells), 3))
    away *= 10.0 ** random.uniform(2.5, 4.0, (len(cells), 1)) / np.linalg.norm(away, axis=1, keepdims=True)
    origins = (centres + away).astype(np.float32)
    directions = centres - origins
    directions = (directions / np.linalg.norm(directions, axis=1, keepdims=True)).astype(np.float32)
    plain, hierarchy = make(exact_hits_target, "brute_force"), make(exact_hits_target, name, density=1.0)
    for made in (plain, hierarchy):
        made.build(scene.upload(exact_hits_target))
    expected = trace(plain, origins, directions)
    assert (expected.prim_id == np.arange(len(cells))).mean() > 0.3
    np.testing.assert_array_equal(trace(hierarchy, origins, directions).prim_id, expected.prim_id)
    np.testing.assert_array_equal(one_by_one(hierarchy, origins, directions), expected.prim_id)
