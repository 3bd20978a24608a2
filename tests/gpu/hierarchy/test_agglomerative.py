"""What is special to exact clustering and to insertion: numpy's tree, a bounded height, limits that are said."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.bvh.builders import agglomerative, incremental
from raygrove.gpu.hierarchy.bvh.limited import LimitedBuilder
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import TriangleScene, rays, scene_of, soup, trace
from raygrove.testing.tree_walker import check_tree, half_area, tree_statistics
from tests.oracle.tree_quality import members

from .test_hlbvh import build
from .test_sah_lauterbach import nested_scales

NAMES = ("agglomerative", "incremental")


def sets_of_nearest_pairs(scene: TriangleScene) -> set[frozenset[int]]:
    """Of all pairs of clusters the one with the smallest common box, again and again: the primitives below each
    node."""
    boxes = [(low, high) for low, high in zip(*(side.astype(np.float64) for side in scene.boxes()), strict=True)]
    clusters = {i: frozenset([i]) for i in range(len(boxes))}
    found = set()
    while len(clusters) > 1:
        ids = np.array(sorted(clusters))
        low, high = np.array([boxes[i][0] for i in ids]), np.array([boxes[i][1] for i in ids])
        areas = half_area(
            np.minimum(low[:, None], low).reshape(-1, 3), np.maximum(high[:, None], high).reshape(-1, 3)
        ).reshape(len(ids), len(ids))
        areas[np.diag_indices(len(ids))] = np.inf
        a, b = (int(ids[k]) for k in np.unravel_index(areas.argmin(), areas.shape))
        boxes.append((np.minimum(boxes[a][0], boxes[b][0]), np.maximum(boxes[a][1], boxes[b][1])))
        clusters[len(boxes) - 1] = clusters.pop(a) | clusters.pop(b)
        found.add(clusters[len(boxes) - 1])
    return found


@pytest.mark.parametrize("count", [2, 3, 40, 200])
def test_the_nearest_pair_of_all_is_joined(target: Target, count: int) -> None:
    scene = soup(count, seed=count, size=0.03)
    table = build(target, "agglomerative", scene, max_leaf_size=1).nodes()
    below = members(table)
    assert {below[node] for node in np.flatnonzero(~table.is_leaf)} == sets_of_nearest_pairs(scene)


@pytest.mark.parametrize("name", NAMES)
def test_the_depth_is_bounded(target: Target, name: str) -> None:
    """Each a hundredth smaller than the one before, in the order of their sizes."""
    scene = nested_scales(1500)
    for options in ({"order": "scene"}, {"order": "shuffled"}) if name == "incremental" else ({},):
        hierarchy = build(target, name, scene, max_leaf_size=1, **options)
        check_tree(hierarchy.nodes(), *scene.boxes())
        assert 11 <= int(hierarchy.nodes().depth.max()) <= hierarchy.max_depth() == 62
        assert len(hierarchy.nodes()) == 2999


@pytest.mark.parametrize("name", NAMES)
def test_what_is_in_one_place_is_a_tree(target: Target, name: str) -> None:
    """All in one place, all inactive, and both among others; more than one group and more than one launch of
    insertions."""
    same, none = np.tile(soup(1).corners(), (5000, 1, 1)), np.full((300, 3, 3), np.nan)
    for corners in (same, none, np.concatenate([none[:200], same[:200], soup(200).corners()])):
        scene = scene_of(corners)
        hierarchy = build(target, name, scene, max_leaf_size=1)
        check_tree(hierarchy.nodes(), *scene.boxes())
        assert len(hierarchy.nodes()) == 2 * len(corners) - 1
        assert (trace(hierarchy, *rays(50)).prim_id < len(corners)).all()


@pytest.mark.parametrize("name", NAMES)
def test_more_than_it_takes_is_refused_in_a_sentence(
    host_target: Target, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = structures()[name]
    assert issubclass(kind, LimitedBuilder) and set(kind.most_primitives) == set(kind.capabilities.targets)
    monkeypatch.setattr(kind, "most_primitives", {"host": 20})
    build(host_target, name, soup(20))
    with pytest.raises(HierarchyError, match=rf"{name} takes at most 20 primitives .* has 21\. Choose .*bvh|ploc"):
        build(host_target, name, soup(21))


def test_steps_in_smaller_launches_make_the_same_tree(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = soup(700, seed=4)
    for name, module, step in (("agglomerative", agglomerative, "STEPS"), ("incremental", incremental, "INSERTIONS")):
        expected = vars(build(target, name, scene).nodes())
        with monkeypatch.context() as patch:
            patch.setattr(module, step, 100)
            found = vars(build(target, name, scene).nodes())
        assert all(found[column].tobytes() == expected[column].tobytes() for column in expected)


def test_leaves_of_insertion_are_those_that_pay(target: Target) -> None:
    scene = soup(800, seed=6)
    single, by_cost, by_size = (
        tree_statistics(build(target, "incremental", scene, **o).nodes())
        for o in ({"max_leaf_size": 1}, {}, {"stop": "size"})
    )
    assert by_cost.sah_cost < min(single.sah_cost, by_size.sah_cost)
    assert single.leaf_count == 800 > by_cost.leaf_count > by_size.leaf_count
    costly = tree_statistics(build(target, "incremental", scene, traversal_cost=8.0).nodes())
    assert costly.leaf_count < by_cost.leaf_count


def test_insertion_is_better_shuffled_than_in_rows(target: Target) -> None:
    row = scene_of(np.arange(400)[:, None, None] + 0.1 * np.random.default_rng(1).random((400, 3, 3)))
    in_order, shuffled = (
        tree_statistics(build(target, "incremental", row, order=order).nodes()) for order in ("scene", "shuffled")
    )
    assert shuffled.sah_cost < in_order.sah_cost and shuffled.depth < in_order.depth
