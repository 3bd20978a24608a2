"""SAH cost with other constants, end-point overlap, leaf-count variability and levels, against float64 oracles."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy import quality
from raygrove.gpu.hierarchy.base import NodeTable, StatisticsOptions
from raygrove.gpu.stats import HierarchyStatistics
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES, make, scene_of, soup, sphere_scene
from raygrove.testing.tree_walker import half_area
from tests.oracle.tree_quality import clipped_area, end_point_overlap, leaf_variability

from .given_tree import GivenBuilder, random_tree

COSTS = StatisticsOptions(traversal_cost=1.5, intersection_cost=0.25)


def measured(
    target: Target, scene_name: str, costs: StatisticsOptions, **options: object
) -> tuple[HierarchyStatistics, NodeTable]:
    hierarchy = make(target, "lbvh", **options)
    hierarchy.build(SCENES[scene_name]().upload(target))
    assert hierarchy.stats().end_point_overlap is None and hierarchy.stats().levels == ()
    hierarchy.measure(costs)
    hierarchy.measure_quality(costs)
    target.synchronize()
    return hierarchy.stats(), hierarchy.nodes()


def test_the_oracle_clips() -> None:
    triangle = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0]])
    assert clipped_area(triangle, np.array([-1, -1, -1]), np.array([9, 9, 9])) == pytest.approx(8)
    assert clipped_area(triangle, np.array([0, 0, 0]), np.array([1, 1, 0])) == pytest.approx(1)
    assert clipped_area(triangle, np.array([0, 0, 1]), np.array([1, 1, 2])) == 0


@pytest.mark.parametrize("costs", [StatisticsOptions(), COSTS], ids=["1 and 1", "1.5 and 0.25"])
@pytest.mark.parametrize("scene_name", ["one", "two", "soup", "stairs", "coincident"])
def test_sah_cost_takes_both_constants(target: Target, scene_name: str, costs: StatisticsOptions) -> None:
    stats, table = measured(target, scene_name, costs)
    weight = np.where(table.is_leaf, table.reference_count * costs.intersection_cost, costs.traversal_cost)
    area = half_area(table.lower, table.upper)
    assert stats.sah_cost == pytest.approx((area * weight).sum() / area[0], rel=1e-5)


@pytest.mark.parametrize("size", [1e30, 1e-30])
@pytest.mark.parametrize("name", ["lbvh", "sah_events"])
def test_sah_cost_is_a_number_whatever_the_size_of_the_scene(target: Target, name: str, size: float) -> None:
    """Areas of these boxes are no floats."""
    costs = []
    for scale in (1.0, size):
        hierarchy = make(target, name)
        hierarchy.build(scene_of(soup(60, size=0.05).corners() * scale).upload(target))
        hierarchy.measure()
        target.synchronize()
        costs.append(hierarchy.stats().sah_cost)
    table = hierarchy.nodes()
    area = half_area(table.lower, table.upper)
    assert costs[1] == pytest.approx(
        (area * np.where(table.is_leaf, table.reference_count, 1)).sum() / area[0], rel=1e-5
    )
    assert name == "sah_events" or costs[1] == pytest.approx(costs[0], rel=0.05)


@pytest.mark.parametrize(
    ("scene_name", "costs"), [("two", COSTS), ("stairs", StatisticsOptions()), ("coincident", COSTS), ("moving", COSTS)]
)
def test_end_point_overlap(target: Target, scene_name: str, costs: StatisticsOptions) -> None:
    stats, table = measured(target, scene_name, costs)
    expected = end_point_overlap(table, SCENES[scene_name]().corners(), costs.traversal_cost, costs.intersection_cost)
    assert stats.end_point_overlap == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert scene_name in ("two", "stairs") or expected > 0.01


def test_a_tree_of_any_shape_overlaps_as_the_oracle_says(target: Target) -> None:
    scene = soup(120, size=0.2)
    hierarchy = GivenBuilder(target, random_tree(120, 9))
    hierarchy.build(scene.upload(target))
    hierarchy.measure_quality()
    target.synchronize()
    assert hierarchy.stats().end_point_overlap == pytest.approx(
        end_point_overlap(hierarchy.nodes(), scene.corners()), rel=1e-6
    )


def test_samples_stand_for_all(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = []
    for most in (1 << 12, 400):
        monkeypatch.setitem(quality.SAMPLES, "host", most)
        figures.append(measured(host_target, "soup", StatisticsOptions())[0].end_point_overlap)
    assert figures[1] == pytest.approx(figures[0], rel=0.15) and figures[0] != figures[1]


@pytest.mark.parametrize("name", ["lbvh", "sbvh"])
def test_large_surfaces_are_all_among_the_samples(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A few walls in a crowd have most of the area: every twelfth surface alone would meet some of them or none."""
    crowd, walls = soup(3000, size=0.004).corners(), soup(30, seed=3, size=0.6).corners()
    scene = scene_of(np.concatenate([crowd, walls]))
    figures = []
    for most in (1 << 12, 250, 200):
        monkeypatch.setitem(quality.SAMPLES, "host", most)
        hierarchy = make(host_target, name)
        hierarchy.build(scene.upload(host_target))
        hierarchy.measure_quality()
        host_target.synchronize()
        figures.append(hierarchy.stats().end_point_overlap)
    assert figures[1:] == pytest.approx([figures[0]] * 2, rel=0.1)
    assert len(set(figures)) == 3


@pytest.mark.parametrize("scene_name", ["two", "soup", "stairs", "degenerate"])
def test_leaf_variability(target: Target, scene_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(quality.LINES, target.kind, 500)
    stats, table = measured(target, scene_name, StatisticsOptions(), max_leaf_size=1)
    assert stats.leaf_variability == pytest.approx(leaf_variability(table, 500), rel=1e-9, abs=1e-9)
    assert stats.leaf_variability > 0.1


@pytest.mark.parametrize("scene_name", ["one", "soup", "coincident"])
def test_levels_are_a_walkers(target: Target, scene_name: str) -> None:
    stats, table = measured(target, scene_name, StatisticsOptions())
    levels = np.arange(table.depth.max() + 1)
    expected = [
        (int((~table.is_leaf & (table.depth == d)).sum()), int((table.is_leaf & (table.depth == d)).sum()))
        for d in levels
    ]
    assert list(stats.levels) == expected
    assert stats.depth == len(stats.levels) - 1


def test_nothing_and_spheres(target: Target) -> None:
    for primitives, overlap in (
        (scene_of(np.zeros((0, 3, 3))).upload(target), 0.0),
        (sphere_scene(target, 200)[2], None),
    ):
        hierarchy = make(target, "lbvh")
        hierarchy.build(primitives)
        hierarchy.measure_quality()
        target.synchronize()
        stats = hierarchy.stats()
        assert stats.end_point_overlap == overlap and stats.leaf_variability is not None
        assert sum(leaves for _, leaves in stats.levels) == hierarchy.stats().leaf_count or stats.leaf_count == 0
