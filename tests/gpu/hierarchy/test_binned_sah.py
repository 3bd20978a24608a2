"""What is special to the reference of quality: its cost, each of its stopping rules, its depth; and what other
builders' trees cost beside it."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.bvh.builders import binned_sah
from raygrove.gpu.hierarchy.bvh.builders.binned_sah import BinnedSah
from raygrove.gpu.hierarchy.bvh.sah_queue import SMALL_LEVELS
from raygrove.gpu.hierarchy.bvh.stopping import StoppingOptions
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import TriangleScene, scene_of, smooth, soup
from raygrove.testing.tree_walker import check_tree, half_area, tree_statistics
from tests.oracle.binned_sah import binned_sah_cost

from .test_hlbvh import build, heaps
from .test_sah_lauterbach import nested_scales


def cost_of(target: Target, scene: TriangleScene, name: str = "binned_sah", **options: object) -> float:
    return tree_statistics(build(target, name, scene, **options).nodes()).sah_cost


@pytest.mark.parametrize("bins", [32, 16])
@pytest.mark.each_value
def test_it_costs_no_more_than_a_plain_binned_tree(host_target: Target, bins: int) -> None:
    """Its sweeps of small sets leave it a little below the oracle, which bins them too; the rule sah leaves it further
    below."""
    scene = heaps(4000)
    by_size = cost_of(host_target, scene, bins=bins, stop="size", max_leaf_size=4)
    assert by_size == pytest.approx(binned_sah_cost(*scene.boxes(), bins=bins, max_leaf_size=4), rel=0.02)
    assert cost_of(host_target, scene, bins=bins, max_leaf_size=4) < 0.98 * by_size


def sibling_areas(table: NodeTable, node: int) -> float:
    children = np.flatnonzero(table.parent == node)
    return float((half_area(table.lower[children], table.upper[children]) * table.reference_count[children]).sum())


@pytest.mark.parametrize(("k_t", "k_i"), [(1.0, 1.0), (3.0, 1.0), (0.0, 1.0), (1.0, 4.0)])
def test_a_leaf_is_made_where_its_best_split_costs_more(target: Target, k_t: float, k_i: float) -> None:
    """No node over two leaves that would be cheaper as one; no leaf of two that would be cheaper apart."""
    scene = soup(900, seed=8)
    options = {"traversal_cost": k_t, "intersection_cost": k_i, "max_leaf_size": 12}
    table = build(target, "binned_sah", scene, **options).nodes()
    check_tree(table, *scene.boxes())
    area, lower, upper = half_area(table.lower, table.upper), *scene.boxes()
    for node in np.flatnonzero(~table.is_leaf):
        children = np.flatnonzero(table.parent == node)
        count = int(table.reference_count[children].sum())
        if table.is_leaf[children].all() and count <= 12:
            assert k_t * area[node] + k_i * sibling_areas(table, int(node)) <= k_i * area[node] * count * (1 + 1e-5)
    for leaf in np.flatnonzero(table.is_leaf & (table.reference_count == 2)):
        inside = table.references[table.first_reference[leaf] : table.first_reference[leaf] + 2]
        apart = float(half_area(lower[inside], upper[inside]).sum())
        assert k_t * area[leaf] + k_i * apart >= k_i * area[leaf] * 2 * (1 - 1e-5)
    sizes = table.reference_count[table.is_leaf]
    assert sizes.max() <= 12
    assert (sizes.max() > 4) == (k_t > 1)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_memory_is_a_number_of_nodes(target: Target, share: float) -> None:
    """At most so many nodes per primitive, or what leaves of 32 need at least."""
    scene = soup(1000, seed=9)
    table = build(target, "binned_sah", scene, stop="size", max_leaf_size=1, nodes_per_primitive=share).nodes()
    check_tree(table, *scene.boxes())
    inner, sizes = int((~table.is_leaf).sum()), table.reference_count[table.is_leaf]
    if share == 1.0:
        assert inner == 999
    elif share >= 0.1:
        assert 0.6 * share * 1000 < inner <= share * 1000 + 8
    else:
        assert sizes.max() <= 32 and sizes.mean() > 16


def test_what_would_be_too_deep_is_halved(target: Target) -> None:
    scene = nested_scales(3000)
    hierarchy = build(target, "binned_sah", scene, stop="size", max_leaf_size=1)
    assert isinstance(hierarchy, BinnedSah)
    table = hierarchy.nodes()
    check_tree(table, *scene.boxes())
    assert len(table) == 2 * 3000 - 1
    assert (
        20
        < int(table.depth.max())
        <= hierarchy.levels_of_queue(3000) + SMALL_LEVELS
        <= hierarchy.max_depth()
        == 19 + 10 + 20
    )


def test_what_nothing_splits_becomes_leaves(target: Target) -> None:
    """1,200 in one place: halved while they must be, then leaves of as many as are allowed, for no split of them costs
    less."""
    scene = scene_of(np.tile(soup(1).corners(), (1200, 1, 1)))
    table = build(target, "binned_sah", scene, max_leaf_size=32).nodes()
    check_tree(table, *scene.boxes())
    assert int(table.depth.max()) == 6 and table.reference_count[table.is_leaf].min() > 16


def test_one_leaf_can_be_the_tree(target: Target) -> None:
    """The root itself is closed by cost, and by memory."""
    scene = scene_of(np.tile(soup(1).corners(), (7, 1, 1)))
    assert len(build(target, "binned_sah", scene).nodes()) == 1
    apart = soup(20, seed=2, size=0.01)
    assert len(build(target, "binned_sah", apart, nodes_per_primitive=0.0).nodes()) == 1
    assert len(build(target, "binned_sah", apart).nodes()) > 20


def test_options_are_spelled_alike() -> None:
    assert issubclass(binned_sah.BinnedSahOptions, StoppingOptions)
    assert (
        StoppingOptions(stop="size", max_leaf_size=6).leaf_at_once == 6
        and StoppingOptions(max_leaf_size=6).leaf_at_once == 1
    )
    assert [StoppingOptions(nodes_per_primitive=share).budget(101) for share in (0.0, 0.5, 1.0)] == [0, 50, 100]


@pytest.mark.parametrize(
    ("name", "most"), [("hlbvh_sah", 1.12), ("hploc", 1.06), ("hploc_sah", 1.06), ("sah_lauterbach", 1.02)]
)
def test_others_cost_little_more(host_target: Target, name: str, most: float) -> None:
    """With leaves of at most four by size, as the goals have it (the case `goals` of bench measures larger scenes)."""
    scene = smooth(20_000)
    reference = cost_of(host_target, scene, stop="size", max_leaf_size=4)
    assert reference < cost_of(host_target, scene, name) < most * reference
