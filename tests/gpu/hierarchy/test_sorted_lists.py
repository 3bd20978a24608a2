"""The builders over sorted lists: sweeps that find what numpy finds, medians where they belong, depth, independence of
blocks."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.bvh import sorted_lists
from raygrove.gpu.hierarchy.bvh.sorted_lists import SortedListsBuilder
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import scene_of, soup
from raygrove.testing.tree_walker import check_tree, half_area, tree_statistics
from tests.oracle.tree_quality import members

from .test_hlbvh import build, heaps
from .test_sah_lauterbach import nested_scales

NAMES = ("sweep_sah", "object_median", "spatial_median")


def cheapest(lower: np.ndarray, upper: np.ndarray) -> float:
    """Area times count of both sides, over all planes between two centroids."""
    best, counts = np.inf, np.arange(1, len(lower))
    for axis in range(3):
        order = np.argsort((lower + upper)[:, axis], kind="stable")
        low, high = lower[order], upper[order]
        left = half_area(np.minimum.accumulate(low), np.maximum.accumulate(high))[:-1]
        right = half_area(np.minimum.accumulate(low[::-1]), np.maximum.accumulate(high[::-1]))[::-1][1:]
        best = min(best, float((left * counts + right * counts[::-1]).min()))
    return best


def inner_nodes(table: NodeTable) -> list[tuple[int, list[list[int]]]]:
    """Every inner node, and the references below its two children."""
    below = members(table)
    return [
        (int(node), [sorted(below[child]) for child in np.flatnonzero(table.parent == node)])
        for node in np.flatnonzero(~table.is_leaf)
    ]


def test_every_node_of_a_sweep_is_split_at_the_cheapest_place(target: Target) -> None:
    scene = heaps(1200)
    lower, upper = scene.boxes()
    table = build(target, "sweep_sah", scene, stop="size", max_leaf_size=1).nodes()
    found = inner_nodes(table)
    assert len(found) == 1199
    for _, (left, right) in found:
        both = left + right
        cost = sum(
            float(half_area(lower[s].min(axis=0)[None], upper[s].max(axis=0)[None])[0]) * len(s) for s in (left, right)
        )
        assert cost == pytest.approx(cheapest(lower[both], upper[both]), rel=1e-5)


@pytest.mark.parametrize("axis", ["greatest_extent", "round_robin"])
@pytest.mark.parametrize("name", ["object_median", "spatial_median"])
def test_medians_lie_in_the_middle(target: Target, name: str, axis: str) -> None:
    scene = heaps(900)
    centres = np.mean(scene.boxes(), axis=0, dtype=np.float64)
    table = build(target, name, scene, axis=axis, max_leaf_size=2, stop="size").nodes()
    check_tree(table, *scene.boxes())
    for node, (one, other) in inner_nodes(table):
        here = centres[one + other]
        along = np.ptp(here, axis=0).argmax() if axis == "greatest_extent" else int(table.depth[node]) % 3
        left, right = (one, other) if centres[one, along].mean() < centres[other, along].mean() else (other, one)
        middle = (
            (here[:, along].min() + here[:, along].max()) / 2 if name == "spatial_median" else np.median(here[:, along])
        )
        assert centres[left, along].max() <= middle + 1e-6 and centres[right, along].min() >= middle - 1e-6
        if name == "object_median":
            assert abs(len(left) - len(right)) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_what_would_be_too_deep_is_halved(target: Target, name: str) -> None:
    """Forty levels are launched, or as many as the bound says where that is more: each primitive has its leaf by
    then."""
    scene = nested_scales(600, 0.15)
    depths = []
    for max_depth in (40, 55):
        hierarchy = build(target, name, scene, max_depth=max_depth, stop="size", max_leaf_size=1)
        check_tree(hierarchy.nodes(), *scene.boxes())
        assert len(hierarchy.nodes()) == 2 * 600 - 1
        depths.append(int(hierarchy.nodes().depth.max()))
        assert hierarchy.max_depth() == max_depth
    assert depths == ([10, 10] if name == "object_median" else [40, 55])


@pytest.mark.parametrize("name", NAMES)
def test_what_no_plane_splits_is_halved(target: Target, name: str) -> None:
    """All in one place, and all inactive: no leaf is too large, and the tree is balanced."""
    for corners in (np.tile(soup(1).corners(), (700, 1, 1)), np.full((700, 3, 3), np.nan)):
        scene = scene_of(corners)
        table = build(target, name, scene, max_leaf_size=1, stop="size").nodes()
        check_tree(table, *scene.boxes())
        assert 10 <= int(table.depth.max()) <= 40 and len(table) == 1399


def test_fewer_blocks_give_the_same_bytes(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = soup(3000, seed=4)
    for name in NAMES:
        monkeypatch.setattr(sorted_lists, "MOST_BLOCKS", 4096)
        expected = vars(build(target, name, scene).nodes())
        for blocks in (1, 3):
            monkeypatch.setattr(sorted_lists, "MOST_BLOCKS", blocks)
            found = vars(build(target, name, scene).nodes())
            assert all(found[column].tobytes() == expected[column].tobytes() for column in expected)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_memory_holds_where_sets_lose_few_at_a_time(target: Target, share: float) -> None:
    """A hundred places of fifty decades, 12 in each: by its cost a plane takes few of them away, until nodes are
    scarce."""
    at = 2.0 ** -(np.arange(1200) % 100)
    scene = scene_of(at[:, None, None] * np.array([[1, 1, 1], [1.01, 1, 1], [1, 1.01, 1.02]]))
    for name in (*NAMES, "binned_sah", "sbvh"):
        extra = {"extra_references": 0.0} if name == "sbvh" else {}
        table = build(target, name, scene, stop="size", max_leaf_size=1, nodes_per_primitive=share, **extra).nodes()
        check_tree(table, *scene.boxes(), splits_references=name == "sbvh")
        assert (~table.is_leaf).sum() <= max(1.1 * share, 1 / 16) * 1200, name
        assert table.reference_count.max() > 8


def test_stopping_rules_hold(target: Target) -> None:
    scene = heaps(1500)
    for name in NAMES:
        by_cost, by_size = (
            tree_statistics(build(target, name, scene, stop=stop, max_leaf_size=8).nodes()) for stop in ("sah", "size")
        )
        assert by_cost.sah_cost < by_size.sah_cost and by_cost.leaf_count > by_size.leaf_count
        few = build(target, name, scene, stop="size", max_leaf_size=1, nodes_per_primitive=0.25).nodes()
        assert 200 < (~few.is_leaf).sum() <= 375 and few.reference_count.max() <= 32
        assert isinstance(build(target, name, scene), SortedListsBuilder)
