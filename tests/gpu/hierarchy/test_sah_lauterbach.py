"""What is special to the task-queue builder: splits as numpy finds them, by bins and by uniform planes, a bounded
depth, results that no grid can change, cheaper trees."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.bvh.builders.sah_lauterbach import BINS, SMALL, SahLauterbach
from raygrove.gpu.hierarchy.bvh.sah_queue import SMALL_LEVELS, SahQueueBuilder
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import TriangleScene, make, rays, scene_of, soup, trace
from raygrove.testing.tree_walker import check_tree, tree_statistics
from tests.oracle.cut_tree import assert_is_cut

F = np.float32


def built(target: Target, scene: TriangleScene, **options: object) -> SahLauterbach:
    hierarchy = make(target, "sah_lauterbach", **options)
    assert isinstance(hierarchy, SahLauterbach)
    hierarchy.build(scene.upload(target))
    return hierarchy


def half_area(lower: np.ndarray, upper: np.ndarray) -> float:
    x, y, z = upper - lower
    return float(F(F(F(x * y) + F(y * z)) + F(z * x)))


def best_left(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Which of the boxes the best plane puts on the left side; ties go to the lower axis and plane."""
    centroids = (lower + upper) * F(0.5)
    low, high = centroids.min(axis=0), centroids.max(axis=0)
    bins = np.clip((centroids - low) * (F(BINS) / (high - low)), 0, BINS - 1).astype(np.int32)
    best, found = float(np.inf), np.zeros(len(lower), bool)
    for axis in range(3):
        for plane in range(BINS - 1):
            left = bins[:, axis] <= plane
            if not left.any() or left.all():
                continue
            sides = [F(F(half_area(lower[s].min(axis=0), upper[s].max(axis=0))) * F(s.sum())) for s in (left, ~left)]
            cost = float(F(sides[0] + sides[1]))
            if cost < best:
                best, found = cost, left
    return found


def references_below(table: NodeTable, node: int) -> np.ndarray:
    inside = np.zeros(len(table), bool)
    inside[node] = True
    for i in range(node + 1, len(table)):
        inside[i] = inside[table.parent[i]]
    spans = zip(table.first_reference[inside], table.reference_count[inside], strict=True)
    return np.sort(np.concatenate([table.references[first : first + count] for first, count in spans]))


@pytest.mark.parametrize("count", [SMALL // 4, SMALL, SMALL + 1, 3500])
def test_nodes_are_split_where_numpy_splits_them(exact_target: Target, count: int) -> None:
    """The root and its children, in small tasks, and in large ones of one chunk and of several."""
    scene = soup(count, seed=count, size=0.05)
    lower, upper = (np.asarray(side, F) for side in scene.boxes())
    table = built(exact_target, scene).nodes()
    for node in (0, *np.flatnonzero(table.parent == 0)):
        references = references_below(table, node)
        left, right = (references_below(table, child) for child in np.flatnonzero(table.parent == node))
        is_left = best_left(lower[references], upper[references])
        sides = {left.tobytes(), right.tobytes()}
        assert sides == {references[is_left].tobytes(), references[~is_left].tobytes()}, node


def nested_scales(count: int, step: float = 0.01) -> TriangleScene:
    """Each triangle a hundredth smaller and nearer to the origin than the one before: every plane cuts off a few of
    many."""
    sizes = F(1e6) * np.exp(-np.arange(count) * step)[:, None, None]
    return scene_of((np.array([[1, 0.1, 0.2], [1.001, 0.1, 0.2], [1, 0.101, 0.21]]) * sizes).astype(F))


def plane_costs(lower: np.ndarray, upper: np.ndarray, planes: int) -> tuple[np.ndarray, np.ndarray]:
    """What each of the uniform planes of a node's box has on its left, (3 * planes, N), and its SAH cost in float64,
    infinite where a side is empty."""
    low, high = lower.min(axis=0), upper.max(axis=0)
    parts = F(np.arange(1, planes + 1)) / F(planes + 1)
    centres = lower * F(0.5) + upper * F(0.5)
    left = np.concatenate(
        [centres[:, axis] < (low[axis] + (high[axis] - low[axis]) * parts)[:, None] for axis in range(3)]
    )
    costs = np.full(len(left), np.inf)
    for plane, on_left in enumerate(left):
        if on_left.any() and not on_left.all():
            costs[plane] = sum(
                side.sum() * area64(lower[side].min(axis=0), upper[side].max(axis=0)) for side in (on_left, ~on_left)
            )
    return left, costs


def area64(lower: np.ndarray, upper: np.ndarray) -> float:
    x, y, z = upper.astype(np.float64) - lower
    return float(x * y + y * z + z * x)


UNIFORM_SCENES = {
    "soup": lambda: soup(500, seed=5, size=0.05),
    "heaps": lambda: scene_of(soup(400, seed=3).corners() ** 3),
    "small": lambda: soup(9, seed=2, size=0.3),
    "wall": lambda: scene_of(soup(250, seed=8, size=0.02).corners() * [1.0, 0.0, 3.0]),
}


@pytest.mark.parametrize("scene_name", UNIFORM_SCENES)
@pytest.mark.parametrize("planes", [4, 32])
def test_a_uniform_plane_of_least_cost_splits_each_node(exact_target: Target, scene_name: str, planes: int) -> None:
    """Every node of the tree, down to the leaves; what no plane splits is halved."""
    scene = UNIFORM_SCENES[scene_name]()
    lower, upper = (np.asarray(side, F) for side in scene.boxes())
    hierarchy = built(exact_target, scene, planes="uniform", planes_per_axis=planes, max_leaf_size=3)
    table = hierarchy.nodes()
    check_tree(table, *scene.boxes())
    inner = np.flatnonzero(~table.is_leaf)
    halved = 0
    for node in inner:
        references = references_below(table, node)
        sides = [references_below(table, child) for child in np.flatnonzero(table.parent == node)]
        left, costs = plane_costs(lower[references], upper[references], planes)
        if not np.isfinite(costs).any():
            assert sorted(map(len, sides)) == sorted((len(references) // 2, -(-len(references) // 2)))
            halved += 1
            continue
        first = np.isin(references, sides[0])
        found = (left == first).all(axis=1) | (left == ~first).all(axis=1)
        assert costs[found].min(initial=np.inf) <= costs.min() * (1 + 1e-5), (node, len(references))
    assert halved < len(inner) / 2 and len(inner) >= 3


@pytest.mark.parametrize("scene_name", ["soup", "nested", "same place", "inactive"])
def test_uniform_planes_obey_depth_and_memory(target: Target, scene_name: str) -> None:
    scenes = {
        "soup": lambda: soup(1200),
        "nested": lambda: nested_scales(400, 0.1),
        "same place": lambda: scene_of(np.tile(soup(1).corners(), (500, 1, 1))),
        "inactive": lambda: scene_of(np.full((300, 3, 3), np.nan)),
    }
    scene = scenes[scene_name]()
    for more in ({}, {"max_leaf_size": 1, "nodes_per_primitive": 0.2}, {"max_leaf_size": 1, "extra_levels": 1}):
        whole = built(target, scene, planes="uniform", **more)
        table = whole.nodes()
        check_tree(table, *scene.boxes())
        natural = int(table.depth.max())
        count = len(scene.indices)
        assert natural <= whole.uniform.levels(count) <= whole.max_depth()
        if "nodes_per_primitive" in more:
            assert int((~table.is_leaf).sum()) <= 0.2 * count + 8 and 1 < int(table.reference_count.max()) <= 32
        for bound in (1, 4, natural):
            cut = built(target, scene, planes="uniform", **more, max_depth=bound)
            check_tree(cut.nodes(), *scene.boxes())
            assert_is_cut(cut.nodes(), table, bound, False)


def test_uniform_planes_keep_the_count_of_a_long_root(target: Target) -> None:
    """A root that is a leaf of 32, where leaves may be longer than words say."""
    for planes in ("bins", "uniform"):
        hierarchy = built(target, soup(32), max_leaf_size=32, max_depth=3, planes=planes)
        check_tree(hierarchy.nodes(), *soup(32).boxes())
        assert len(trace(hierarchy, *rays(20)).prim_id) == 20 and hierarchy.nodes().reference_count.tolist() == [32]


@pytest.mark.parametrize("extra_levels", [0, 10])
@pytest.mark.parametrize("count", [200, 3000])
def test_what_would_be_too_deep_is_halved(target: Target, count: int, extra_levels: int) -> None:
    scene = nested_scales(count)
    hierarchy = built(target, scene, max_leaf_size=1, extra_levels=extra_levels)
    table = hierarchy.nodes()
    check_tree(table, *scene.boxes())
    depth, levels = int(table.depth.max()), hierarchy.levels_of_queue(count)
    assert levels == (0 if count <= SMALL else 4 + extra_levels)
    assert int(np.ceil(np.log2(count))) < depth <= levels + SMALL_LEVELS <= hierarchy.max_depth()
    assert len(table) == 2 * count - 1


def test_what_no_plane_splits_is_halved(target: Target) -> None:
    """All in one place, and all inactive: medians down to the leaves."""
    for corners in (np.tile(soup(1).corners(), (1200, 1, 1)), np.full((1200, 3, 3), np.nan)):
        scene = scene_of(corners)
        hierarchy = built(target, scene, max_leaf_size=1)
        table = hierarchy.nodes()
        check_tree(table, *scene.boxes())
        assert int(table.depth.max()) == 11
        assert set(trace(hierarchy, *rays(50)).prim_id.tolist()) <= {-1, 0}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25])
def test_memory_is_a_number_of_nodes(target: Target, share: float) -> None:
    """At most so many nodes per primitive, or what leaves of 32 need at least."""
    scene = soup(2000, seed=9)
    table = built(target, scene, max_leaf_size=1, nodes_per_primitive=share).nodes()
    check_tree(table, *scene.boxes())
    inner, largest = int((~table.is_leaf).sum()), int(table.reference_count.max())
    assert inner <= max(share, 1 / 16) * 2000 + 8 and 1 < largest <= 32
    assert share == 0.0 or inner > 0.6 * share * 2000


@pytest.mark.parametrize("planes", ["bins", "uniform"])
def test_fewer_blocks_give_the_same_bytes(target: Target, monkeypatch: pytest.MonkeyPatch, planes: str) -> None:
    scene = soup(6000, seed=4)
    expected = vars(built(target, scene, planes=planes).nodes())
    for blocks in (1, 3):
        monkeypatch.setattr(SahQueueBuilder, "most_blocks", blocks)
        found = vars(built(target, scene, planes=planes).nodes())
        assert all(found[column].tobytes() == expected[column].tobytes() for column in expected)


def test_its_trees_are_cheaper_than_linear_ones(target: Target) -> None:
    """Of clusters of different sizes: where a fixed grid is at its worst."""
    random = np.random.default_rng(6)
    centres, sizes = random.random((40, 1, 1, 3)), random.uniform(0.001, 0.2, (40, 1, 1, 1))
    corners = centres + sizes * (random.random((40, 60, 1, 3)) + 0.2 * random.standard_normal((40, 60, 3, 3)))
    scene = scene_of(corners.reshape(-1, 3, 3))
    linear = make(target, "lbvh")
    linear.build(scene.upload(target))
    assert tree_statistics(built(target, scene).nodes()).sah_cost < 0.9 * tree_statistics(linear.nodes()).sah_cost
