"""What is special to spatial splits: cut references cover their triangles, their number keeps to the budget, and they
are worth it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.bvh.builders import sbvh
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.target.base import Target
from raygrove.testing.closest_hits import sphere_hits, triangle_hits
from raygrove.testing.scenes import SCENES, TriangleScene, make, rays, scene_of, smooth, soup, trace
from raygrove.testing.tree_walker import check_tree, half_area, tree_statistics

from .test_hlbvh import build
from .test_sah_lauterbach import nested_scales


def needles(count: int, seed: int = 5) -> TriangleScene:
    """Of ten triangles nine are small, and one is a long slanted strip, whose box is that of many others."""
    random = np.random.default_rng(seed)
    few = count // 10
    way = np.array([1.0, 1.0, 0.0]) * random.choice([-1, 1], (few, 1, 1)) * np.array([-0.5, 0.5, 0.5])[None, :, None]
    strips = random.random((few, 1, 3)) + way + np.array([0.0, 0.0, 0.05])[None, :, None] * [0.0, 0.0, 1.0]
    return scene_of(
        np.concatenate(
            [strips, random.random((count - few, 1, 3)) + 0.01 * random.standard_normal((count - few, 3, 3))]
        )
    )


def pieces(table: NodeTable) -> dict[int, np.ndarray]:
    """The rows of the leaves that refer to each primitive."""
    leaves = np.repeat(np.flatnonzero(table.is_leaf), table.reference_count[table.is_leaf])
    spans = zip(table.first_reference[table.is_leaf], table.reference_count[table.is_leaf], strict=True)
    references = np.concatenate([table.references[first : first + count] for first, count in spans])
    return {int(prim_id): leaves[references == prim_id] for prim_id in np.unique(references)}


@pytest.mark.parametrize("make_scene", [lambda: needles(300), lambda: soup(300, size=0.3)], ids=["needles", "soup"])
def test_pieces_cover_their_triangle(target: Target, make_scene: Callable[[], TriangleScene]) -> None:
    """Points all over a triangle, each in the box of a leaf that refers to it."""
    scene = make_scene()
    table = build(target, "sbvh", scene, extra_references=2.0, alpha=0.0, max_leaf_size=1, keep="spatial").nodes()
    check_tree(table, *scene.boxes(), splits_references=True)
    weights = np.random.default_rng(1).dirichlet((0.5, 0.5, 0.5), 400)
    found = pieces(table)
    assert sum(len(rows) for rows in found.values()) > 1.01 * len(scene.indices)
    for prim_id, corners in enumerate(scene.corners().astype(np.float64)):
        points, rows = weights @ corners, found[prim_id]
        slack = 2e-7 * np.abs(corners).max()  # the points' own rounding
        inside = (points[:, None] >= table.lower[rows] - slack) & (points[:, None] <= table.upper[rows] + slack)
        assert inside.all(axis=2).any(axis=1).all(), prim_id


@pytest.mark.parametrize("max_leaf_size", [2, 3, 8])
@pytest.mark.parametrize("extra", [0.0, 0.5])
def test_leaves_by_size_lose_no_reference(target: Target, max_leaf_size: int, extra: float) -> None:
    """Where leaves end by size, a set small enough is one at once; its references are all there, and every triangle is
    found."""
    scene = needles(600)
    hierarchy = build(
        target, "sbvh", scene, extra_references=extra, alpha=0.0, max_leaf_size=max_leaf_size, stop="size"
    )
    table = hierarchy.nodes()
    check_tree(table, *scene.boxes(), splits_references=True)
    assert sorted(pieces(table)) == list(range(600))
    assert 2 <= table.reference_count[table.is_leaf].max() <= max_leaf_size
    found, expected = trace(hierarchy, *rays(500)), triangle_hits(scene.corners(), *rays(500))
    np.testing.assert_array_equal(found.prim_id[expected.is_certain], expected.prim_id[expected.is_certain])


@pytest.mark.parametrize("extra", [0.0, 0.05, 0.3, 1.5])
def test_references_keep_to_the_budget(target: Target, extra: float) -> None:
    scene = needles(500)
    hierarchy = build(target, "sbvh", scene, extra_references=extra)
    hierarchy.measure()
    target.synchronize()
    table, count = hierarchy.nodes(), hierarchy.stats().reference_count
    check_tree(table, *scene.boxes(), splits_references=True)
    assert count == len(table.references) == int(table.reference_count.sum())
    assert count <= 500 + int(extra * 500) and (count > 500) == (extra > 0)


@pytest.mark.parametrize("extra", [0.0, 0.5])
def test_memory_is_a_number_of_nodes(target: Target, extra: float) -> None:
    """At most so many nodes per reference that there may be, or what leaves of 32 need at least; all that are asked for
    by default."""
    scene = needles(1000)
    inner, largest = {}, {}
    for share in (0.0, 0.25, 1.0):
        table = build(
            target, "sbvh", scene, extra_references=extra, max_leaf_size=1, stop="size", nodes_per_primitive=share
        ).nodes()
        check_tree(table, *scene.boxes(), splits_references=True)
        inner[share], largest[share] = int((~table.is_leaf).sum()), table.reference_count.max()
    assert inner[1.0] >= 999 and largest[1.0] == 1
    assert 0.5 * 250 < inner[0.25] <= 0.25 * 1000 * (1 + extra) and largest[0.25] > 1
    assert inner[0.0] < 120 and largest[0.0] > 16


def test_spatial_splits_are_worth_it(host_target: Target) -> None:
    """Each addition to the budget lowers the cost of needles; without one the tree costs what binned SAH's does."""
    scene = needles(1500)
    costs = [
        tree_statistics(build(host_target, "sbvh", scene, extra_references=extra).nodes()).sah_cost
        for extra in (0.0, 0.3, 1.5)
    ]
    whole = tree_statistics(build(host_target, "binned_sah", scene).nodes()).sah_cost
    assert costs[0] == pytest.approx(whole, rel=0.04)
    assert costs[1] < 0.7 * whole and costs[2] < 0.9 * costs[1]
    spared = tree_statistics(build(host_target, "sbvh", scene, alpha=1.0).nodes())
    assert spared.sah_cost == pytest.approx(costs[0], rel=1e-6)


def hall() -> TriangleScene:
    """A ring of bodies within six walls: what cutting the walls saves above is lost below."""
    walls = []
    for axis, at in itertools.product(range(3), (-3.0, 3.0)):
        corners = np.array([[-3, -3], [3, -3], [3, 3], [-3, 3]])
        wall = np.insert(corners, axis, at, axis=1)
        walls += [wall[[0, 1, 2]], wall[[0, 2, 3]]]
    bodies = []
    for i in range(9):
        turn = 2 * np.pi * i / 9
        place = np.array([2 * np.cos(turn), 0.4 * np.sin(3 * i), 2 * np.sin(turn)])
        bodies.append(smooth(300).corners() * (0.175 + 0.035 * i) + place)
    return scene_of(np.concatenate([np.array(walls), *bodies]))


CUT_SCENES: dict[str, Callable[[], TriangleScene]] = {
    "hall": hall,
    "needles": lambda: needles(1500),
    "soup": lambda: soup(1500),
    "small soup": lambda: soup(3000, size=0.05),
    "moving": SCENES["moving"],
    "same place": lambda: scene_of(np.tile(soup(1).corners(), (300, 1, 1))),
    "inactive": lambda: scene_of(np.full((90, 3, 3), np.nan)),
    "huge": lambda: scene_of(soup(200).corners() * np.float32(1e38)),
}


@pytest.mark.parametrize(
    "rules",
    [{}, {"stop": "size", "max_leaf_size": 4}, {"max_depth": 4}, {"traversal_cost": 3.0, "alpha": 0.0}],
    ids=str,
)
@pytest.mark.covers("scene_name", "rules")
@pytest.mark.parametrize("scene_name", CUT_SCENES)
def test_it_is_never_worse_than_its_own_object_splits(target: Target, scene_name: str, rules: dict[str, Any]) -> None:
    """And it is one of both trees, the one that costs less."""
    scene = CUT_SCENES[scene_name]()
    choices: tuple[dict[str, Any], ...] = ({"alpha": 1.0}, {"keep": "spatial"}, {})
    objects, cut, kept = (build(target, "sbvh", scene, **rules | choice).nodes() for choice in choices)
    check_tree(kept, *scene.boxes(), splits_references=True)

    def cost(table: NodeTable) -> float:
        area = half_area(table.lower, table.upper)
        weights = np.where(table.is_leaf, table.reference_count, rules.get("traversal_cost", 1.0))
        return float((area * weights).sum() / area[0]) if 0 < area[0] < np.inf else 0.0

    assert cost(kept) <= min(cost(objects), cost(cut)) * (1 + 1e-5)
    expected = cut if cost(cut) <= cost(objects) else objects
    if abs(cost(cut) - cost(objects)) > 1e-5 * cost(objects):
        assert all(getattr(kept, column).tobytes() == getattr(expected, column).tobytes() for column in vars(kept))


def test_walls_are_why_it_must_choose(host_target: Target) -> None:
    """Both ways are taken by the scenes above; without the choice walls would cost more than whole."""
    costs = {
        (name, keep): tree_statistics(build(host_target, "sbvh", CUT_SCENES[name](), keep=keep).nodes()).sah_cost
        for name in ("hall", "needles")
        for keep in ("spatial", "cheaper")
    }
    assert costs["hall", "spatial"] > 1.03 * costs["hall", "cheaper"]
    assert costs["needles", "spatial"] == costs["needles", "cheaper"]


def test_hits_are_those_of_whole_triangles(target: Target) -> None:
    scene = needles(800)
    for max_leaf_size in (1, 8):
        hierarchy = build(target, "sbvh", scene, extra_references=2.0, alpha=0.0, max_leaf_size=max_leaf_size)
        found, expected = trace(hierarchy, *rays(1000)), triangle_hits(scene.corners(), *rays(1000))
        sure = expected.is_certain
        assert (expected.prim_id[sure] >= 0).sum() > 150
        np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])


def test_edges_past_all_floats_are_bounded_whole(target: Target) -> None:
    """Where an edge cannot be cut in floats nothing is cut off."""
    random = np.random.default_rng(3)
    corners = random.choice(np.array([-1e38, 1.1e38, 1e30, 0.0, 1e-38, 1e-44]), (60, 3, 3)).astype(np.float32)
    scene = scene_of(corners)
    table = build(target, "sbvh", scene, extra_references=2.0, alpha=0.0).nodes()
    check_tree(table, *scene.boxes(), splits_references=True)
    for prim_id, rows in pieces(table).items():
        assert (table.lower[rows].min(axis=0) <= scene.boxes()[0][prim_id]).all()
        assert (table.upper[rows].max(axis=0) >= scene.boxes()[1][prim_id]).all()


def test_what_would_be_too_deep_is_halved(target: Target) -> None:
    for scene in (nested_scales(1200), needles(700)):
        hierarchy = build(target, "sbvh", scene, max_leaf_size=1, stop="size", extra_references=1.0, keep="spatial")
        check_tree(hierarchy.nodes(), *scene.boxes(), splits_references=True)
        assert int(np.ceil(np.log2(len(scene.indices)))) <= hierarchy.nodes().depth.max() <= 40 == hierarchy.max_depth()
        assert hierarchy.nodes().reference_count.max() == 1


def test_spheres_are_cut_as_boxes(target: Target) -> None:
    """A few large ones among many small ones: hits as the oracle's, whatever was cut."""
    random = np.random.default_rng(8)
    centres, radii = (
        random.random((300, 3)).astype(np.float32),
        np.where(np.arange(300) < 8, 0.4, 0.01).astype(np.float32),
    )
    hierarchy = make(target, "sbvh", alpha=0.0, extra_references=1.0, keep="spatial")
    hierarchy.build(sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test")))
    assert 300 < len(hierarchy.nodes().references) <= 600
    found, expected = trace(hierarchy, *rays()), sphere_hits(centres, radii, *rays())
    np.testing.assert_array_equal(found.prim_id[expected.is_certain], expected.prim_id[expected.is_certain])


def test_fewer_blocks_give_the_same_bytes(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = needles(900)
    expected = vars(build(target, "sbvh", scene).nodes())
    for blocks in (1, 3):
        monkeypatch.setattr(sbvh, "MOST_BLOCKS", blocks)
        found = vars(build(target, "sbvh", scene).nodes())
        assert all(found[column].tobytes() == expected[column].tobytes() for column in expected)


@pytest.mark.parametrize(
    "rules", [{}, {"max_depth": 3}, {"alpha": 0.0, "extra_references": 1.5, "keep": "spatial"}], ids=str
)
@pytest.mark.parametrize("scene_name", CUT_SCENES)
def test_many_blocks_split_a_set_as_one_does(
    target: Target, monkeypatch: pytest.MonkeyPatch, scene_name: str, rules: dict[str, Any]
) -> None:
    """Whichever sets count as large, and on however many levels: the same tree to the last bit."""
    scene = CUT_SCENES[scene_name]()
    trees = []
    for large, chunk, extra_levels in ((1 << 20, 512, 6), (64, 32, 6), (40, 96, -1)):
        monkeypatch.setattr(sbvh, "LARGE", large)
        monkeypatch.setattr(sbvh, "CHUNK", chunk)
        monkeypatch.setattr(sbvh, "EXTRA_LARGE_LEVELS", extra_levels)
        trees.append(build(target, "sbvh", scene, **rules).nodes())
    check_tree(trees[0], *scene.boxes(), splits_references=True)
    for column, values in vars(trees[0]).items():
        assert all(getattr(tree, column).tobytes() == values.tobytes() for tree in trees[1:]), column


def test_a_spatial_split_lies_in_the_plane_of_its_bins(target: Target) -> None:
    """A row of small triangles, the same from both ends, under long strips: its cheapest plane is the one at half of
    its length, where strips are cut and every small triangle is on one side."""
    steps = np.linspace(0.25, 15.25, 61)
    small = [[[x, 0, 0], [x + 0.5, 0, 0], [x + 0.25, 0.1, 0.1]] for x in steps]
    mirrored = [[[32 - x, y, z] for x, y, z in corners] for corners in small]
    strips = [[[0, 0, z], [32, 0, z], [16, 0.1, z]] for z in np.linspace(0, 0.1, 8)]
    scene = scene_of(np.array([*small, *mirrored, *strips], np.float32))
    table = build(target, "sbvh", scene, alpha=0.0, extra_references=1.0, keep="spatial").nodes()
    check_tree(table, *scene.boxes(), splits_references=True)
    left, right = np.flatnonzero(table.parent == 0)
    assert len(table.references) >= len(scene.indices) + len(strips)
    ends = sorted([(table.lower[left, 0], table.upper[left, 0]), (table.lower[right, 0], table.upper[right, 0])])
    np.testing.assert_allclose(ends, [(0.0, 16.0), (16.0, 32.0)], atol=1e-4)
