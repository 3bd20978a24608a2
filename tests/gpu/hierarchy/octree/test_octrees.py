"""Octrees that rays are traced through: what leaves list against an oracle in float64, rays in the planes of cells,
scenes that no plane parts, and what there is no room for."""

from __future__ import annotations

import contextlib
import dataclasses

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy.base import HierarchyError, NodeTable, StructureChoice
from raygrove.gpu.hierarchy.grown_tree import NODES_NOW, REFERENCES_NOW
from raygrove.gpu.hierarchy.octree import octree
from raygrove.gpu.hierarchy.octree.builders import octree_bottom_up
from raygrove.gpu.hierarchy.octree.octree import OctreeHierarchy
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.scenes import SCENES, TriangleScene, make, rays, scene_of, sphere_scene, trace
from raygrove.testing.tree_walker import check_tree

from ..test_kd_builders import sheet_that_tears

BUILDERS = [name for name, kind in structures().items() if issubclass(kind, OctreeHierarchy)]
over_builders = pytest.mark.parametrize("builder", BUILDERS)
FAR = np.array([4.5e5, 5.1e6, 300.0])
"""Somewhere in coordinates like those of UTM."""


def soup_of(count: int) -> np.ndarray:
    return np.asarray(SCENES["soup"]().corners()[:count])


NEEDLE = 9.0 * np.array([[[-1, -1, -1], [1, 1, -1], [1, 1, 1]]])
NASTY = {
    "some": lambda: soup_of(400),
    "flat": lambda: soup_of(200) * [1.0, 1.0, 0.0],
    "line": lambda: soup_of(200) * [1.0, 0.0, 0.0],
    "points": lambda: np.repeat(soup_of(100)[:, :1], 3, axis=1),
    "one point": lambda: np.zeros((50, 3, 3)) + 0.25,
    "two points": lambda: np.repeat([[[0.5, 0.5, 0.5]], [[0.5, 0.5, 0.5 + 1e-7]]], 3, axis=1),
    "needle": lambda: np.concatenate([soup_of(60) * 0.02 + 0.4, NEEDLE]),
    "nothing": lambda: np.full((9, 3, 3), np.nan),
    "huge": lambda: soup_of(200) * 1e17,
    "tiny": lambda: soup_of(200) * 1e-18,
    "utm": lambda: soup_of(400) * 100.0 + FAR,
}


def built(target: Target, builder: str, scene: TriangleScene, **options: object) -> OctreeHierarchy:
    kind = structures()[builder]
    made = kind(target, StructureChoice(kind.Options(**options)))
    assert isinstance(made, OctreeHierarchy)
    made.build(scene.upload(target))
    return made


def of_three_levels(builder: str) -> dict[str, int]:
    """Options for small leaves, and where all are of one level for one that is deep enough."""
    names = {field.name for field in dataclasses.fields(structures()[builder].Options)}
    return {"leaf_primitives": 2, **({"level": 3} if "level" in names else {})}


@pytest.mark.parametrize("name", NASTY)
@over_builders
def test_nasty_scenes_end_in_an_octree(exact_hits_target: Target, builder: str, name: str) -> None:
    scene = scene_of(NASTY[name]())
    made, plain = built(exact_hits_target, builder, scene, leaf_primitives=2), make(exact_hits_target, "brute_force")
    check_tree(made.nodes(), *scene.boxes(), splits_references=True, splits_space=True)
    plain.build(scene.upload(exact_hits_target))
    origins, directions = rays()
    if name == "utm":
        origins = (origins * 100.0 + FAR).astype(np.float32)
    expected, found = trace(plain, origins, directions), trace(made, origins, directions)
    assert (expected.prim_id >= 0).sum() > 20 or name not in ("some", "utm")
    for column in ("t", "prim_id"):
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))


def listed(table: NodeTable, count: int) -> np.ndarray:
    """Which primitives each row lists (rows, count)."""
    found = np.zeros((len(table), count), bool)
    for row in np.flatnonzero(table.reference_count):
        first = table.first_reference[row]
        found[row, table.references[first : first + table.reference_count[row]]] = True
    return found


def parted_by(corners: np.ndarray, middle: np.ndarray, half: np.ndarray) -> np.ndarray:
    """How far triangles (N, 3, 3) are from boxes about `middle` (3,), along the direction that parts them most, as a
    share of what each reaches: above 0 they have no point in common (Akenine-Moeller 2001)."""
    about = corners.astype(np.float64) - middle
    edges = np.roll(about, -1, axis=1) - about
    directions = [np.broadcast_to(row, (len(about), 3)) for row in np.eye(3)] + [np.cross(edges[:, 0], edges[:, 1])]
    directions += [np.cross(edges[:, i], row) for i in range(3) for row in np.eye(3)]
    most = np.full(len(about), -np.inf)
    for direction in directions:
        at, reach = np.einsum("nij,nj->ni", about, direction), np.abs(direction) @ half
        length = np.maximum(np.linalg.norm(direction, axis=1), 1e-300)
        most = np.maximum(most, np.maximum(at.min(axis=1) - reach, -at.max(axis=1) - reach) / length)
    return most


@over_builders
def test_a_leaf_lists_the_triangles_that_meet_its_cell(target: Target, builder: str) -> None:
    """All of them, in float64, and none that is farther off than rounding."""
    scene = scene_of(soup_of(300))
    table = built(target, builder, scene, **of_three_levels(builder), references_per_primitive=16.0).nodes()
    assert table.is_leaf.sum() > 200
    is_listed, leaves = listed(table, 300), np.flatnonzero(table.is_leaf)
    for row in leaves[:: 1 + len(leaves) // 200]:
        lower, upper = table.lower[row].astype(np.float64), table.upper[row].astype(np.float64)
        away = parted_by(scene.corners(), (lower + upper) / 2, (upper - lower) / 2)
        assert is_listed[row][away < -1e-6].all()
        assert (away[is_listed[row]] < 1e-5).all()


@over_builders
def test_rays_in_the_planes_of_cells_find_what_lies_on_either_side(exact_hits_target: Target, builder: str) -> None:
    """Tiles that end in planes of cells and lie in them; rays along those planes, their edges and diagonals."""
    side = np.arange(-4.0, 4.0)
    tiles = [[[x, y, z], [x + 1, y, z], [x, y + 1, z]] for x in side for y in side for z in side[::2]]
    tiles += [[[x, y, z], [x, y + 1, z], [x, y, z + 1]] for x in side[::2] for y in side for z in side]
    tiles += [[[4, 4, 4], [4, 3.5, 4], [4, 4, 3.5]]]
    scene = scene_of(np.array(tiles))
    made, plain = (
        built(exact_hits_target, builder, scene, **of_three_levels(builder)),
        make(exact_hits_target, "brute_force"),
    )
    plain.build(scene.upload(exact_hits_target))
    assert np.isin(made.nodes().lower[:, 0], side).sum() > 100, "cells end where tiles do"
    grid = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    origins, directions = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            place = np.insert(grid + (0.25 if sign > 0 else 0.0), axis, -9.0 * sign, axis=1)
            origins += [place, place]
            towards = np.eye(3)[axis] * sign
            directions += [np.broadcast_to(towards + turn, place.shape) for turn in (np.zeros(3), 0.125 * np.ones(3))]
    start, towards = np.concatenate(origins).astype(np.float32), np.concatenate(directions).astype(np.float32)
    expected, found = trace(plain, start, towards), trace(made, start, towards)
    assert (expected.prim_id >= 0).sum() > 100
    for column in ("t", "prim_id"):
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))


@hypothesis.given(strategies.integers(0, 2**31), strategies.integers(1, 40), strategies.sampled_from([1, 2, 8]))
@hypothesis.settings(max_examples=10, deadline=None)
@over_builders
def test_of_whole_numbers_hits_are_those_of_brute_force(
    host_target: Target, builder: str, seed: int, count: int, leaf_primitives: int
) -> None:
    """Corners and rays on a coarse grid: everything lies in planes of cells."""
    random = np.random.default_rng(seed)
    scene = scene_of(random.integers(0, 9, (count, 3, 3)).astype(np.float32))
    origins = random.integers(-2, 11, (64, 3)).astype(np.float32)
    directions = random.integers(-2, 3, (64, 3)).astype(np.float32)
    directions[~directions.any(axis=1)] = (1.0, 0.0, 0.0)
    made, plain = built(host_target, builder, scene, leaf_primitives=leaf_primitives), make(host_target, "brute_force")
    plain.build(scene.upload(host_target))
    expected, found = trace(plain, origins, directions), trace(made, origins, directions)
    np.testing.assert_array_equal(found.prim_id, expected.prim_id)


@over_builders
def test_mailboxes_change_no_hit(target: Target, builder: str) -> None:
    scene = SCENES["soup"]()
    plain, with_boxes = (built(target, builder, scene, mailboxes=mailboxes) for mailboxes in (False, True))
    np.testing.assert_array_equal(trace(plain, *rays()).prim_id, trace(with_boxes, *rays()).prim_id)


@over_builders
def test_the_octree_is_the_same_bytes_whatever_the_number_of_blocks(builder: str) -> None:
    trees = []
    for threads in (1, 2, 5):
        with contextlib.closing(make_target("host", threads=threads)) as target:
            made = built(target, builder, SCENES["soup"](), leaf_primitives=4)
            counts = target.download(made.tree.counts)
            arrays = (
                made.tree.nodes[: counts[NODES_NOW]],
                made.tree.parent[: counts[NODES_NOW]],
                made.tree.references[: counts[REFERENCES_NOW]],
            )
            trees.append([target.download(array).tobytes() for array in arrays])
    assert trees[0] == trees[1] == trees[2] and len(trees[0][0]) > 500


@over_builders
def test_a_hundred_thousand_equal_triangles_end_in_a_leaf(target: Target, builder: str) -> None:
    table = built(target, builder, scene_of(np.tile(SCENES["one"]().corners(), (100_000, 1, 1)))).nodes()
    assert len(table) == 1
    np.testing.assert_array_equal(table.references, np.arange(100_000))


@over_builders
def test_spheres_are_listed_where_they_reach(target: Target, builder: str) -> None:
    """A ball is in each leaf whose cell holds a point of it, and in no other."""
    kind = structures()[builder]
    made = kind(target, StructureChoice(kind.Options(leaf_primitives=4)))
    centres, radii, primitives = sphere_scene(target, 300)
    made.build(primitives)
    table = made.nodes()
    is_listed, leaves = listed(table, 300), np.flatnonzero(table.is_leaf)
    for row in leaves[:: 1 + len(leaves) // 200]:
        nearest = np.clip(centres.astype(np.float64), table.lower[row], table.upper[row])
        away = np.linalg.norm(centres - nearest, axis=1) - radii
        assert is_listed[row][(away < -1e-6) & (radii >= 0)].all()
        assert (away[is_listed[row]] < 1e-5).all()


@over_builders
def test_where_a_frame_does_not_fit_its_error_says_so_and_the_picture_before_stays(
    host_target: Target, builder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(octree, "MOST_REFERENCES", 2)
    camera = Camera(eye=(12.0, 40.0, 30.0), look_at=(12.0, 0.0, 12.0))
    view = View(ViewSettings(hierarchy=builder, ray_type="ids"), camera, ArrayPixels(host_target, 48, 36))
    assert isinstance(view.pixels, ArrayPixels)
    with contextlib.closing(Engine(host_target, sheet_that_tears())) as engine:
        engine.render_frame(Moment(1.0), [view])
        before = view.pixels.download().copy()
        with pytest.raises(HierarchyError, match=f"{builder} would need more than 2 references per primitive"):
            for _ in range(4):
                engine.render_frame(Moment(0.0), [view])
                assert engine.flush().views[0].structure.is_stale
        assert len(np.unique(before.reshape(-1, 4), axis=0)) > 20
        np.testing.assert_array_equal(view.pixels.download(), before)


@over_builders
def test_moving_scenes_are_rebuilt_frame_by_frame(host_target: Target, builder: str) -> None:
    """Replayed frames of a sheet that tears: the picture is that of brute force."""
    camera = Camera(eye=(12.0, 40.0, 30.0), look_at=(12.0, 0.0, 12.0))
    views = [
        View(ViewSettings(hierarchy=name, ray_type="ids"), camera, ArrayPixels(host_target, 48, 36), name)
        for name in (builder, "brute_force")
    ]
    with contextlib.closing(Engine(host_target, sheet_that_tears())) as engine:
        for time in (0.0, 0.1, 0.2, 0.9, 1.0, 0.5):
            for _ in range(3):  # where the newest octree had no room, the next frame has
                engine.render_frame(Moment(time), views)
                is_stale = engine.flush().views[0].structure.is_stale
            assert not is_stale
            np.testing.assert_array_equal(*(v.pixels.download() for v in views if isinstance(v.pixels, ArrayPixels)))


@pytest.mark.parametrize("builder", ["octree_bottom_up", "octree_complete"])
def test_levels_that_need_too_much_are_refused_with_the_figure(host_target: Target, builder: str) -> None:
    """Large triangles meet a million cells each, and more cells than there may be are not even counted."""
    scene = SCENES["soup"]()
    made = {"octree_bottom_up": (10, "16 references per primitive"), "octree_complete": (10, "1,227,133,513 nodes")}
    level, figure = made[builder]
    with pytest.raises(HierarchyError, match=f"{figure}.*ower level"):
        built(host_target, builder, scene, level=level)
    with pytest.raises(HierarchyError, match="16 references per primitive.*ower level"):
        built(host_target, builder, scene, level=5)


def test_more_beginnings_than_are_counted_are_refused(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octree_bottom_up, "MOST_ITEMS", 2000)
    with pytest.raises(HierarchyError, match="would number .* and 2,000 are counted at once: .*octree_top_down"):
        built(host_target, "octree_bottom_up", SCENES["soup"]())


def test_an_octree_from_the_bottom_is_the_one_from_the_top_cell_by_cell(target: Target) -> None:
    """Where no leaf is collapsed: cells of the deepest level, and what they list."""
    scene = scene_of(soup_of(200) * 0.2 + np.random.default_rng(3).random((200, 1, 3)))
    tables = [
        built(target, "octree_bottom_up", scene, level=4, leaf_primitives=1).nodes(),
        built(target, "octree_top_down", scene, max_depth=4, leaf_primitives=1, stop="size").nodes(),
        built(target, "octree_complete", scene, level=4).nodes(),
    ]
    found = []
    for table in tables:
        deepest = np.flatnonzero((table.depth == 4) & (table.reference_count > 1))
        first, count = table.first_reference[deepest], table.reference_count[deepest]
        ends = zip(table.lower[deepest], first, count, strict=True)
        found.append({tuple(low): set(table.references[f : f + c]) for low, f, c in ends})
    assert len(found[0]) > 50
    assert found[0] == found[1] == found[2]


def test_leaves_of_the_target_where_no_size_is_said(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU's rays gain by smaller ones; a CPU's builds lose more than its rays gain."""
    unsaid, said = make(host_target, "octree_top_down"), make(host_target, "octree_top_down", leaf_primitives=3)
    scene = SCENES["soup"]().upload(host_target)
    unsaid.build(scene)
    counts = unsaid.nodes().reference_count
    assert isinstance(unsaid, OctreeHierarchy) and isinstance(said, OctreeHierarchy)
    assert (unsaid.leaf_primitives, said.leaf_primitives) == (8, 3) and counts.max() > 6
    monkeypatch.setattr(host_target, "kind", "cuda")
    assert (unsaid.leaf_primitives, said.leaf_primitives) == (6, 3)
