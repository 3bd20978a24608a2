"""Bounds of the depth: leaves there and nothing else, however long they get, in every layout, traversal, refit,
optimiser and statistic."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Hierarchy, StructureChoice
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.optimisers import optimiser_classes
from raygrove.gpu.hierarchy.bvh.tree import reference_counts
from raygrove.gpu.hierarchy.primitives import TRIANGLE_TESTS
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.settings import fields_of
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.closest_hits import sphere_hits, triangle_hits
from raygrove.testing.scenes import (
    SCENES,
    TriangleScene,
    make,
    make_with,
    rays,
    scene_of,
    smooth,
    soup,
    sphere_scene,
    trace,
)
from raygrove.testing.tree_walker import check_tree, tree_statistics
from tests.covering import by_turns
from tests.oracle.cut_tree import assert_is_cut
from tests.oracle.tree_quality import end_point_overlap

from .test_hlbvh import heaps
from .test_sah_lauterbach import nested_scales

BOUNDED = tuple(
    name
    for name, found in structures().items()
    if issubclass(found, BvhHierarchy) and "max_depth" in {field.name for field in fields_of(found.Options)}
)
LAYOUTS = [
    (layout, traversal)
    for layout in structures()["binned_sah"].layouts()
    for traversal in structures()["binned_sah"].traversals(layout)
]


def room() -> TriangleScene:
    """A few large walls about many bodies of small triangles: leaves at every depth, roots of subtrees at most of
    them."""
    walls = np.array([[[x, y, 0], [x + 4, y, 0], [x, y + 4, 0]] for x in (-4, 0) for y in (-4, 0)], float)
    bodies = [
        smooth(120).corners() * scale + np.array(at)
        for scale, at in ((0.2, (1, 1, 1)), (0.7, (-2, 0, 1)), (0.05, (0, -2, 1)))
    ]
    return scene_of(np.concatenate([walls, walls + [0, 0, 3], *bodies]))


BOUNDED_SCENES = {
    "soup": lambda: soup(1500),
    "heaps": lambda: heaps(2500),
    "room": room,
    "nested": lambda: nested_scales(500, 0.1),
    "same place": lambda: scene_of(np.tile(soup(1).corners(), (700, 1, 1))),
    "inactive": lambda: SCENES["degenerate"](),
    "two": lambda: soup(2, size=0.5),
}

STATES = [
    pytest.param(name, later, marks=pytest.mark.full if later and name not in ("soup", "same place") else [])
    for name in BOUNDED_SCENES
    for later in (False, True)
]
"""Scenes, and as what they are later; of most the latter only under -m full. Builders take turns in them."""


def built(
    target: Target, name: str, scene: TriangleScene, layout: str = "auto", traversal: str = "auto", **options: Any
) -> BvhHierarchy:
    if name == "sbvh" and "keep" not in options:
        options["keep"] = "spatial"  # else which of two trees is cut depends on the bound
    hierarchy = make(target, name, layout, traversal, **options)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene.upload(target))
    return hierarchy


def test_every_builder_from_the_top_has_a_bound() -> None:
    assert {"binned_sah", "sah_lauterbach", "sweep_sah", "object_median", "spatial_median", "sbvh", "task_pool"} == set(
        BOUNDED
    )


@pytest.mark.parametrize(("name", "scene_name", "later"), by_turns(BOUNDED, STATES, 3))
def test_a_bound_makes_leaves_there_and_nothing_else(target: Target, name: str, scene_name: str, later: bool) -> None:
    scene = BOUNDED_SCENES[scene_name]()
    if later:
        scene = TriangleScene(scene.later, scene.indices, scene.later)
    whole = built(target, name, scene).nodes()
    splits = structures()[name].capabilities.splits_references
    natural = int(whole.depth.max())
    most = next(field.default for field in fields_of(structures()[name].Options) if field.name == "max_depth")
    assert natural <= most
    for bound in sorted({1, 2, 5, 9, natural - 1, natural, natural + 1} & set(range(1, int(most) + 1))):
        bounded = built(target, name, scene, max_depth=bound)
        table = bounded.nodes()
        check_tree(table, *scene.boxes(), splits_references=splits)
        assert_is_cut(table, whole, bound, splits)
        assert table.depth.max() == min(bound, natural) <= bounded.max_depth()
        if bound >= natural:
            assert all(
                ours.tobytes() == theirs.tobytes()
                for ours, theirs in zip(vars(table).values(), vars(whole).values(), strict=True)
            )


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize(
    "rule", [{"max_leaf_size": 3}, {"nodes_per_primitive": 0.2}, {"stop": "size", "max_leaf_size": 32}]
)
def test_other_rules_hold_beside_it(target: Target, name: str, rule: dict[str, Any]) -> None:
    known = {field.name for field in fields_of(structures()[name].Options)}
    if not set(rule) <= known:
        pytest.skip("this builder has no such rule")
    scene = heaps(1500)
    splits = structures()[name].capabilities.splits_references
    whole = built(target, name, scene, **rule).nodes()
    for bound in (3, 7):
        assert_is_cut(built(target, name, scene, **rule, max_depth=bound).nodes(), whole, bound, splits)


@functools.cache
@functools.cache
def long_scene() -> TriangleScene:
    return soup(1200, seed=3)


def assert_hits(hierarchy: Hierarchy, scene: TriangleScene, later: bool = False) -> None:
    expected = triangle_hits(scene.corners(later), *rays())
    sure = expected.is_certain
    np.testing.assert_array_equal(trace(hierarchy, *rays()).prim_id[sure], expected.prim_id[sure])
    found = trace(hierarchy, *rays(), "any").prim_id >= 0
    np.testing.assert_array_equal(found[sure], expected.prim_id[sure] >= 0)


@pytest.mark.parametrize("bound", [1, 4])
@pytest.mark.parametrize("choice", LAYOUTS, ids="-".join)
def test_long_leaves_in_every_layout_and_traversal(target: Target, choice: tuple[str, str], bound: int) -> None:
    """Build and refit. Whatever the word of a leaf cannot count is found in whole."""
    scene = long_scene()
    hierarchy = built(target, "binned_sah", scene, *choice, max_depth=bound)
    assert hierarchy.nodes().reference_count.max() > 64
    assert_hits(hierarchy, scene)
    hierarchy.refit(scene.upload(target, later=True))
    check_tree(hierarchy.nodes(), *scene.boxes(later=True))
    assert_hits(hierarchy, scene, later=True)


@pytest.mark.parametrize("name", BOUNDED)
def test_every_builder_writes_the_counts_of_long_leaves(target: Target, name: str) -> None:
    scene = long_scene()
    for bound in (1, 3):
        hierarchy = built(target, name, scene, max_depth=bound)
        assert hierarchy.nodes().reference_count.max() > 32
        assert_hits(hierarchy, scene)


@pytest.mark.covers("test", "lanes", "layout")
@pytest.mark.parametrize("layout", ["bvh2", "bvh4", "bvh8"])
@pytest.mark.parametrize("lanes", [1, 8, 16])
@pytest.mark.parametrize("test", TRIANGLE_TESTS)
def test_long_leaves_by_every_test_of_a_triangle(test: str, lanes: int, layout: str) -> None:
    """Each test, each width of packs and each layout once; what else there is under -m full."""
    target = make_target("host")
    target.lane_count = lanes
    hierarchy = make_with(target, "sweep_sah", StructureChoice(layout=layout, triangle_test=test), max_depth=2)
    hierarchy.build(long_scene().upload(target))
    assert hierarchy.traversal().records.type_name.startswith("InLongLeaves<")
    assert_hits(hierarchy, long_scene())
    target.close()


def test_long_leaves_of_spheres(target: Target) -> None:
    centres, radii, primitives = sphere_scene(target, 400)
    hierarchy = make(target, "binned_sah", max_depth=2)
    hierarchy.build(primitives)
    expected = sphere_hits(centres, radii, *rays())
    found = trace(hierarchy, *rays())
    np.testing.assert_array_equal(found.prim_id[expected.is_certain], expected.prim_id[expected.is_certain])


@pytest.mark.parametrize("optimiser", ["none", *optimiser_classes()])
def test_statistics_and_optimisers_know_long_leaves(target: Target, optimiser: str) -> None:
    scene = long_scene()
    hierarchy = make_with(target, "binned_sah", StructureChoice(layout="bvh2", optimiser=optimiser), max_depth=4)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene.upload(target))
    check_tree(hierarchy.nodes(), *scene.boxes())
    hierarchy.measure()
    hierarchy.measure_quality()
    target.synchronize()
    stats, counted = hierarchy.stats(), tree_statistics(hierarchy.nodes())
    assert (stats.node_count, stats.leaf_count, stats.depth) == (counted.node_count, counted.leaf_count, counted.depth)
    assert stats.sah_cost == pytest.approx(counted.sah_cost, rel=1e-5)
    assert stats.end_point_overlap == pytest.approx(end_point_overlap(hierarchy.nodes(), scene.corners()), rel=1e-4)
    assert stats.levels[1:] and sum(leaves for _, leaves in stats.levels) == counted.leaf_count
    assert_hits(hierarchy, scene)


def test_a_scene_that_shrinks_and_grows_keeps_the_counts(target: Target) -> None:
    """Counts of an earlier tree lie where those of another one's leaves come to lie."""
    hierarchy = make(target, "spatial_median", max_depth=3)
    for count in (1200, 90, 2, 0, 700, 2600):
        scene = soup(count, seed=count)
        hierarchy.build(scene.upload(target))
        check_tree(hierarchy.nodes(), *scene.boxes())
        if count > 2:
            assert_hits(hierarchy, scene)


def test_who_has_no_bound_pays_nothing_for_it(host_target: Target) -> None:
    """The traversal is the one of words alone, and nothing is reserved."""
    for name in BOUNDED:
        hierarchy = built(host_target, name, long_scene())
        assert hierarchy.tree.long_leaves is None and "InLongLeaves" not in hierarchy.traversal().records.type_name


def test_words_and_counts() -> None:
    words, counts = (
        np.array([~(5 | 30 << 26), ~(64 | 31 << 26), ~(200 | 31 << 26), 7]),
        np.array([0, 0, 900, 0, 0, 0, 32]),
    )
    assert reference_counts(words[:3]).tolist() == [31, 32, 32]
    assert reference_counts(words[:3], counts).tolist() == [31, 900, 32]
