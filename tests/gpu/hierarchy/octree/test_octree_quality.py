"""End-point overlap, leaf-count variability and levels of octrees, against float64 oracles: what kd-trees are
asked, too (test_kd_quality.py)."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy import quality
from raygrove.gpu.hierarchy.base import StatisticsOptions
from raygrove.gpu.hierarchy.octree.octree import OctreeHierarchy
from raygrove.gpu.stats import HierarchyStatistics
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES, TriangleScene, make, sphere_scene
from tests.oracle.tree_quality import end_point_overlap, leaf_variability

COSTS = StatisticsOptions(traversal_cost=1.5, intersection_cost=0.25)
over_builders = pytest.mark.parametrize("name", ["octree_top_down", "octree_bottom_up"])


def built(target: Target, name: str, scene: TriangleScene, **options: object) -> OctreeHierarchy:
    hierarchy = make(target, name, **options)
    assert isinstance(hierarchy, OctreeHierarchy)
    hierarchy.build(scene.upload(target))
    return hierarchy


def judged(hierarchy: OctreeHierarchy) -> HierarchyStatistics:
    hierarchy.measure(COSTS)
    hierarchy.measure_quality(COSTS)
    hierarchy.target.synchronize()
    return hierarchy.stats()


def forget(hierarchy: OctreeHierarchy) -> None:
    """Make the tree a wrong one: in every other leaf the first reference takes the place of a later one."""
    table, random = hierarchy.nodes(), np.random.default_rng(3)
    references = table.references.copy()
    for row in np.flatnonzero(table.is_leaf & (table.reference_count > 1))[::2]:
        first, count = table.first_reference[row], table.reference_count[row]
        references[first + random.integers(1, count)] = references[first]
    hierarchy.target.write(hierarchy.tree.references[: len(references)], references)


@over_builders
@pytest.mark.parametrize("scene_name", ["soup", "stairs", "moving"])
def test_cells_do_not_overlap_but_where_leaves_lack_something(target: Target, name: str, scene_name: str) -> None:
    scene = SCENES[scene_name]()
    hierarchy = built(target, name, scene)
    overlap = judged(hierarchy).end_point_overlap
    assert overlap is not None and 0.0 <= overlap < 1e-5
    forget(hierarchy)
    expected = end_point_overlap(hierarchy.nodes(), scene.corners(), 1.5, 0.25, by_space=True)
    assert expected > 0.01
    assert judged(hierarchy).end_point_overlap == pytest.approx(expected, rel=1e-6)


@over_builders
@pytest.mark.parametrize("scene_name", ["two", "soup", "stairs", "degenerate"])
def test_leaf_variability_and_levels(
    target: Target, name: str, scene_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(quality.LINES, target.kind, 500)
    hierarchy = built(target, name, SCENES[scene_name](), leaf_primitives=2)
    table, stats = hierarchy.nodes(), judged(hierarchy)
    assert stats.leaf_variability == pytest.approx(leaf_variability(table, 500), rel=1e-9, abs=1e-9)
    expected = [
        (int((~table.is_leaf & (table.depth == d)).sum()), int((table.is_leaf & (table.depth == d)).sum()))
        for d in range(table.depth.max() + 1)
    ]
    assert list(stats.levels) == expected
    assert stats.depth == len(stats.levels) - 1 and sum(leaves for _, leaves in stats.levels) == stats.leaf_count


def test_nothing_and_spheres(target: Target) -> None:
    for primitives, overlap in ((SCENES["empty"]().upload(target), 0.0), (sphere_scene(target, 200)[2], None)):
        hierarchy = make(target, "octree_top_down")
        hierarchy.build(primitives)
        hierarchy.measure()
        hierarchy.measure_quality()
        target.synchronize()
        stats = hierarchy.stats()
        assert stats.end_point_overlap == overlap and stats.leaf_variability is not None
        assert sum(leaves for _, leaves in stats.levels) == stats.leaf_count
