"""hlbvh_sah binned at every level, as published: each split above the clusters against float64, its bound of the depth,
and the same tree whatever launches it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.bvh.builders.hlbvh_sah import binned_top
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.replayed import replayed
from raygrove.testing.scenes import TriangleScene, make, rays, scene_of, soup, trace
from raygrove.testing.tree_walker import check_tree, tree_statistics

from .test_hlbvh import CROWDS, build, heaps
from .test_lbvh import morton_codes
from .test_median_levels import bytes_of_tree
from .test_sah_lauterbach import area64, references_below

SCENES = {"soup": lambda: soup(400, seed=2, size=0.05), "heaps": lambda: heaps(900), "nested": CROWDS["nested"]}


def built(target: Target, scene: TriangleScene, **options: Any) -> BvhHierarchy:
    return build(target, "hlbvh_sah", scene, top_splits="bins", **options)


def plane_costs(places: np.ndarray, lower: np.ndarray, upper: np.ndarray, cells: int) -> dict[bytes, float]:
    """What each plane between cells costs by the surface area heuristic, in float64, by who is on its left; `places`
    (N, 3) are the cells of what the boxes bound."""
    found = {}
    for axis in range(3):
        for plane in range(cells - 1):
            left = places[:, axis] <= plane
            if left.any() and not left.all():
                found[left.tobytes()] = sum(
                    side.sum() * area64(lower[side].min(axis=0), upper[side].max(axis=0)) for side in (left, ~left)
                )
    return found


def nodes_above(table: NodeTable, cells: np.ndarray) -> list[int]:
    """Inner nodes over primitives of more than one cell."""
    return [
        int(node) for node in np.flatnonzero(~table.is_leaf) if len(np.unique(cells[references_below(table, node)])) > 1
    ]


@pytest.mark.parametrize("scene_name", SCENES)
@pytest.mark.parametrize("cluster_bits", [6, 15])
def test_each_split_is_a_cheapest_plane_between_cells(exact_target: Target, scene_name: str, cluster_bits: int) -> None:
    scene = SCENES[scene_name]()
    table = built(exact_target, scene, cluster_bits=str(cluster_bits)).nodes()
    check_tree(table, *scene.boxes())
    cells = (morton_codes(scene, 30) >> np.uint64(30 - cluster_bits)).astype(np.int64)
    bits = np.arange(cluster_bits // 3)
    places = np.stack([((cells[:, None] >> (3 * bits + 2 - axis) & 1) << bits).sum(axis=1) for axis in range(3)], 1)
    lower, upper = scene.boxes()
    above = nodes_above(table, cells)
    assert len(above) == len(np.unique(cells)) - 1, "a node for every cluster but one"
    for node in above[:80]:
        inside = references_below(table, node)
        costs = plane_costs(places[inside], lower[inside], upper[inside], 1 << cluster_bits // 3)
        first = np.isin(inside, references_below(table, int(np.flatnonzero(table.parent == node)[0])))
        chosen = min(costs.get(first.tobytes(), np.inf), costs.get((~first).tobytes(), np.inf))
        assert chosen <= min(costs.values()) * (1 + 1e-5), node


@pytest.mark.parametrize("sah_levels", [0, 2])
def test_rows_of_bins_are_halved_once_costs_went_deep(
    target: Target, monkeypatch: pytest.MonkeyPatch, sah_levels: int
) -> None:
    monkeypatch.setattr(binned_top, "SAH_LEVELS", sah_levels)
    for scene in (soup(1500, seed=1, size=0.01), CROWDS["nested"]()):
        hierarchy = built(target, scene)
        table = hierarchy.nodes()
        check_tree(table, *scene.boxes())
        cells = morton_codes(scene, 30) >> np.uint64(15)
        above = nodes_above(table, cells) if len(scene.indices) < 1000 else [0]
        assert table.depth[above].max() < sah_levels + 15 and table.depth.max() <= hierarchy.max_depth()


@pytest.mark.parametrize("scene_name", ["soup", "same_place", "degenerate", "coincident", "two", "one"])
@pytest.mark.parametrize("cluster_bits", ["6", "18"])
def test_whatever_launches_it_it_is_one_tree(target: Target, scene_name: str, cluster_bits: str) -> None:
    scene, found = CROWDS[scene_name](), []
    for launches in ("few", "levels"):
        hierarchy = built(target, scene, cluster_bits=cluster_bits, launches=launches)
        check_tree(hierarchy.nodes(), *scene.boxes())
        found.append(bytes_of_tree(hierarchy))
    assert found[0] == found[1]


def test_it_follows_a_scene_that_moves_from_graphs(target: Target) -> None:
    scene = CROWDS["soup"]()
    graph, fresh = replayed(make(target, "hlbvh_sah", "bvh2", top_splits="bins")), None
    for step, later in (("build", False), ("build", True), ("refit", False)):
        getattr(graph, step)(scene.upload(target, later))
        if step == "build":
            fresh = make(target, "hlbvh_sah", "bvh2", top_splits="bins")
        assert isinstance(graph, BvhHierarchy) and isinstance(fresh, BvhHierarchy)
        getattr(fresh, step)(scene.upload(target, later))
        assert bytes_of_tree(graph) == bytes_of_tree(fresh), (step, later)
    assert (trace(graph, *rays(200)).prim_id >= 0).any()


def test_threads_change_nothing_and_it_costs_little_more_than_sweeps(host_target: Target) -> None:
    scene = heaps(6000)
    other = make_target("host", threads=1)
    found = [built(one, scene).nodes() for one in (host_target, other)]
    assert all(np.array_equal(vars(found[0])[column], vars(found[1])[column]) for column in vars(found[0]))
    other.close()
    swept = build(host_target, "hlbvh_sah", scene).nodes()
    assert tree_statistics(found[0]).sah_cost < 1.06 * tree_statistics(swept).sah_cost
    flat = scene_of(heaps(500).corners() * [1.0, 0.0, 1.0])
    check_tree(built(host_target, flat).nodes(), *flat.boxes())
