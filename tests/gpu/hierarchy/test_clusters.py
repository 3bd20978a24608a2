"""What is special to builders from clusters (hploc, hploc_sah, ploc): better trees, ids without a counter, leaves by
cost, a bounded depth."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.primitives import MAX_WIDE_PRIMITIVES
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.scenes import SCENES, TriangleScene, make, rays, scene_of, smooth, soup, trace
from raygrove.testing.tree_walker import check_tree, half_area, tree_statistics

BUILDERS = [name for name in ("hploc", "hploc_sah", "ploc") if name in structures()]
over_builders = pytest.mark.parametrize("name", BUILDERS)


def only(one: str) -> pytest.MarkDecorator:
    """One builder always, the others under -m full: for what is an option of all three, compiled anew for each
    value."""
    others = [pytest.param(name, marks=pytest.mark.full) for name in BUILDERS if name != one]
    return pytest.mark.parametrize("name", [one, *others])


def built(target: Target, name: str, scene: TriangleScene, layout: str = "bvh2", **options: object) -> BvhHierarchy:
    hierarchy = make(target, name, layout, **options)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene.upload(target))
    return hierarchy


def cost_of(hierarchy: BvhHierarchy) -> float:
    return tree_statistics(hierarchy.nodes()).sah_cost


def columns(table: NodeTable) -> tuple[bytes, ...]:
    return tuple(np.ascontiguousarray(column).tobytes() for column in vars(table).values())


@over_builders
@pytest.mark.parametrize(("scene_name", "gain"), [("soup", 0.97), ("stairs", 1.0), ("degenerate", 0.97)])
def test_trees_are_better_than_the_linear_bvhs(target: Target, name: str, scene_name: str, gain: float) -> None:
    scene = SCENES[scene_name]()
    for max_leaf_size in (1, 4):
        linear = cost_of(built(target, "lbvh", scene, max_leaf_size=max_leaf_size))
        assert cost_of(built(target, name, scene, max_leaf_size=max_leaf_size)) < gain * linear


def test_a_large_cluster_need_not_wait_for_small_ones(target: Target) -> None:
    """Two large triangles that lie nearly over one another, and a small one beside them: its box with the second has
    less area than that of both large ones (102 to 110), but less of that is theirs already."""
    large, small = np.array([[0, 0, 0], [10, 0, 0], [0, 10, 0]], np.float32), np.array([11, 5, 0], np.float32)
    corners = np.stack([large, large + np.float32([1, 0, 0]), large * np.float32(0.02) + small])
    table = built(target, "hploc", scene_of(corners), max_leaf_size=1).nodes()
    leaves = np.flatnonzero(table.is_leaf)
    depths = dict(
        zip(table.references[table.first_reference[leaves]].tolist(), table.depth[leaves].tolist(), strict=True)
    )
    assert depths == {0: 2, 1: 2, 2: 1}


def test_groups_split_from_above_cost_less_and_find_the_same_hits(target: Target) -> None:
    """As many triangles as make groups of groups; a few that cannot be told apart, so that sets are halved."""
    scene = scene_of(np.concatenate([smooth(30_000).corners(), np.tile(soup(1).corners(), (700, 1, 1))]))
    climbed, swept = built(target, "hploc", scene), built(target, "hploc_sah", scene)
    check_tree(swept.nodes(), *scene.boxes())
    assert cost_of(swept) < 0.995 * cost_of(climbed)
    assert swept.nodes().depth.max() <= swept.max_depth()
    hits = [trace(hierarchy, *rays()) for hierarchy in (climbed, swept)]
    np.testing.assert_array_equal(hits[0].t, hits[1].t)


def test_the_most_references_take_no_more_groupings_than_the_depth_allows_for() -> None:
    module = importlib.import_module("raygrove.gpu.hierarchy.bvh.builders.hploc_sah")
    for window in (module.WINDOW, module.LARGE_WINDOW):
        steps = module.groupings(-(-MAX_WIDE_PRIMITIVES // window))
        assert 2 < len(steps) <= module._MOST_GROUPINGS
        assert steps[-1][2] == 1 and all(step[2] > 1 for step in steps[:-1])


@only("ploc")
def test_a_wider_search_makes_better_trees(target: Target, name: str) -> None:
    scene = soup(4000, seed=4, size=0.03)
    costs = [cost_of(built(target, name, scene, radius=radius)) for radius in (1, 4)]
    assert costs[1] < 0.98 * costs[0]


@over_builders
@pytest.mark.parametrize("scene_name", ["two", "soup", "coincident", "degenerate", "stairs"])
def test_every_id_is_given_once(target: Target, name: str, scene_name: str) -> None:
    """With leaves of one reference every id below n - 1 is a node's, the root's is 0, and links and parents agree."""
    hierarchy = built(target, name, SCENES[scene_name](), max_leaf_size=1)
    tree, count = hierarchy.tree, hierarchy.tree.count
    flags, parent = target.download(tree.flags)[: count - 1], target.download(tree.parent)[: count - 1]
    words = target.download(tree.nodes)[: count - 1].view(np.int32)[:, [3, 7]]
    assert (flags & 1 == 1).all()
    assert target.download(tree.root)[0] == 0 and parent[0] == -1
    children, above = words[words >= 0], np.repeat(np.arange(count - 1), 2)[words.reshape(-1) >= 0]
    np.testing.assert_array_equal(np.sort(children), np.arange(1, count - 1))
    np.testing.assert_array_equal(parent[children], above)
    np.testing.assert_array_equal(np.sort(~words[words < 0]), np.arange(count))


@over_builders
def test_leaves_are_joined_where_that_costs_less(target: Target, name: str) -> None:
    """No two sibling leaves would cost less as one; hploc joins neighbours in the order of references alone, which
    costs next to nothing."""
    scene = SCENES["moving"]()
    table = built(target, name, scene, max_leaf_size=4).nodes()
    assert set(table.reference_count[table.is_leaf]) >= {1, 2}
    assert table.reference_count.max() <= 4
    area = half_area(table.lower, table.upper)
    cost = area * table.reference_count
    for row in np.flatnonzero(~table.is_leaf):
        children = np.flatnonzero(table.parent == row)
        count = table.reference_count[children].sum()
        first = table.first_reference[children]
        may_join = name == "ploc" or first[0] + table.reference_count[children[0]] == first[1]
        if table.is_leaf[children].all() and count <= 4 and may_join:
            assert area[row] * count > (area[row] + cost[children].sum()) * (1 - 1e-5)
    assert cost_of(built(target, name, scene, max_leaf_size=4)) < cost_of(built(target, name, scene, max_leaf_size=1))


@only("hploc_sah")
def test_dearer_visits_make_larger_leaves(target: Target, name: str) -> None:
    tables = [built(target, name, SCENES["moving"](), traversal_cost=cost).nodes() for cost in (0.0, 1.0, 100.0)]
    leaves = [int(table.is_leaf.sum()) for table in tables]
    assert leaves[0] > leaves[1] > leaves[2]
    assert all(table.reference_count.max() <= 4 for table in tables)


@pytest.mark.covers("name", "code_bits")
@over_builders
@pytest.mark.parametrize("code_bits", ["30", "60"])
def test_the_depth_keeps_its_bound(target: Target, name: str, code_bits: str) -> None:
    """Boxes that grow twofold from one to the next: each one's nearest neighbour is the tree so far, and only the bound
    keeps that from a list."""
    count = 1000
    sizes = np.exp2(np.linspace(-60, 30, count))
    corners = np.zeros((count, 3, 3))
    corners[:, 1, 0] = corners[:, 2, 1] = sizes
    scene = scene_of(corners)
    hierarchy = built(target, name, scene, code_bits=code_bits, max_leaf_size=1)
    table = hierarchy.nodes()
    check_tree(table, *scene.boxes())
    assert table.depth.max() <= hierarchy.max_depth()
    # Nested boxes alone make no balanced tree: without a bound this would be a list.
    assert table.depth.max() > 15


@over_builders
def test_coincident_primitives_are_paired_at_once(target: Target, name: str) -> None:
    scene = scene_of(np.tile(soup(1, size=0.5).corners(), (6000, 1, 1)))
    hierarchy = built(target, name, scene, max_leaf_size=1)
    assert hierarchy.nodes().depth.max() <= (18 if name == "hploc_sah" else 16)  # chunks of no power of two
    assert (trace(hierarchy, *rays()).prim_id <= 0).all()


@over_builders
def test_threads_and_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("RAYGROVE_HOST_FORCE_SPLIT", "1")
    module = importlib.import_module(f"raygrove.gpu.hierarchy.bvh.builders.{name}")
    scene, outcomes = soup(3000), []
    for threads, chunk in ((1, 1024), (2, 1024), (2, 64)):
        if name != "hploc_sah":  # where its chunks end decides what it builds
            monkeypatch.setitem(module.CHUNKS, "host", chunk)
        target = make_target("host", threads=threads)
        hierarchy = built(target, name, scene, "bvh4")
        exists = np.flatnonzero(target.download(hierarchy.tree.flags)[: hierarchy.tree.count - 1] & 1)
        outcomes.append((*columns(hierarchy.nodes()), target.download(hierarchy.tree.nodes)[exists].tobytes()))
        target.close()
    assert outcomes[0] == outcomes[1] == outcomes[2]


@over_builders
def test_nodes_written_on_the_way_equal_nodes_written_afterwards(target: Target, name: str) -> None:
    scene = SCENES["degenerate"]()
    hierarchy = built(target, name, scene)
    exists = np.flatnonzero(target.download(hierarchy.tree.flags)[: hierarchy.tree.count - 1] & 1)
    direct = target.download(hierarchy.layout.nodes)[exists]
    hierarchy.layout.write(hierarchy.tree, scene.upload(target))
    np.testing.assert_array_equal(target.download(hierarchy.layout.nodes)[exists].view(np.int32), direct.view(np.int32))
    flags = target.download(hierarchy.tree.flags)
    hierarchy.compute_bounds(scene.upload(target))
    np.testing.assert_array_equal(target.download(hierarchy.tree.flags)[exists], flags[exists])


def test_rounds_of_ploc_keep_to_their_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes that grow from one to the next have few pairs a round by themselves: every round must still end at or below
    its bound."""
    module = importlib.import_module("raygrove.gpu.hierarchy.bvh.builders.ploc")
    monkeypatch.setitem(module.CHUNKS, "host", 64)
    monkeypatch.setitem(module.FINAL, "host", 256)
    target = make_target("host", threads=2)
    count = 3000
    corners = np.zeros((count, 3, 3))
    corners[:, 1, 0] = corners[:, 2, 1] = np.exp2(np.linspace(-60, 30, count))
    counts: list[int] = []
    launch = target.launch

    def counting(unit: object, kernel: str, *arguments: object, **options: Any) -> None:
        launch(unit, kernel, *arguments, **options)
        if kernel == "scan_segments":
            counts.append(int(vars(hierarchy)["_rounds"][0]))

    monkeypatch.setattr(target, "launch", counting)
    hierarchy = make(target, "ploc", "bvh2", max_leaf_size=1)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene_of(corners).upload(target))
    bounds = module.schedule(count, 256)[1:]
    assert len(counts) == len(bounds) > 8
    assert (np.array(counts) <= np.maximum(bounds, 256)).all()
    assert counts[0] > 0.78 * count, "nearest neighbours alone would fall behind"
    check_tree(hierarchy.nodes(), *scene_of(corners).boxes())
    assert hierarchy.nodes().depth.max() <= hierarchy.max_depth()
    target.close()
