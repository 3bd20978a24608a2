"""End-point overlap, leaf-count variability and levels of kd-trees: cells instead of boxes, references that repeat,
empty leaves; against float64 oracles."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy import quality
from raygrove.gpu.hierarchy.base import StatisticsOptions
from raygrove.gpu.hierarchy.kdtree.kdtree import KdTreeHierarchy
from raygrove.gpu.stats import HierarchyStatistics
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES, TriangleScene, make, scene_of, soup, sphere_scene
from tests.oracle.tree_quality import end_point_overlap, leaf_variability

BUILDERS = ("sah_events", "median_sah")
COSTS = StatisticsOptions(traversal_cost=1.5, intersection_cost=0.25)
over_builders = pytest.mark.parametrize("name", BUILDERS)


def built(target: Target, name: str, scene: TriangleScene, **options: object) -> KdTreeHierarchy:
    hierarchy = make(target, name, **options)
    assert isinstance(hierarchy, KdTreeHierarchy)
    hierarchy.build(scene.upload(target))
    return hierarchy


def judged(hierarchy: KdTreeHierarchy) -> HierarchyStatistics:
    hierarchy.measure(COSTS)
    hierarchy.measure_quality(COSTS)
    hierarchy.target.synchronize()
    return hierarchy.stats()


def walls(count: int = 12) -> TriangleScene:
    """Squares of two triangles that stand across the axes, on a grid: planes go through them."""
    random, corners = np.random.default_rng(5), []
    for _ in range(count):
        axis, low = int(random.integers(3)), random.integers(0, 4, 3) / 4
        square = np.repeat(low[None], 4, axis=0)
        square[1:3, (axis + 1) % 3] += 0.25
        square[2:4, (axis + 2) % 3] += 0.25
        corners += [square[[0, 1, 2]], square[[0, 2, 3]]]
    return scene_of(np.array(corners))


def forget(hierarchy: KdTreeHierarchy, seed: int = 3) -> None:
    """Make the tree a wrong one: in every other leaf the first reference takes the place of a later one, which the leaf
    then lacks."""
    table, random = hierarchy.nodes(), np.random.default_rng(seed)
    references = table.references.copy()
    for row in np.flatnonzero(table.is_leaf & (table.reference_count > 1)):
        first, count = table.first_reference[row], table.reference_count[row]
        if random.integers(2):
            references[first + random.integers(1, count)] = references[first]
    hierarchy.target.write(hierarchy.tree.references[: len(references)], references)


@over_builders
@pytest.mark.parametrize("scene_name", ["soup", "stairs", "coincident", "moving"])
def test_cells_do_not_overlap(target: Target, name: str, scene_name: str) -> None:
    """A tree refers to every surface from wherever it reaches: what is left is rounding at the planes."""
    scene = SCENES[scene_name]()
    hierarchy = built(target, name, scene)
    assert end_point_overlap(hierarchy.nodes(), scene.corners(), 1.5, 0.25, by_space=True) < 1e-5
    overlap = judged(hierarchy).end_point_overlap
    assert overlap is not None and 0.0 <= overlap < 1e-5


@over_builders
def test_surfaces_in_a_plane_lie_in_no_cell_that_ends_there(target: Target, name: str) -> None:
    """They are listed on one side of it. Counted in both, like surfaces on the faces of boxes, they would be
    overlap."""
    scene = walls()
    hierarchy = built(target, name, scene, max_leaf_size=1)
    assert end_point_overlap(hierarchy.nodes(), scene.corners(), 1.5, 0.25) > 0.01
    assert judged(hierarchy).end_point_overlap == pytest.approx(0.0, abs=1e-6)


@over_builders
@pytest.mark.parametrize("scene_name", ["soup", "stairs", "coincident", "walls"])
def test_what_leaves_lack_is_overlap(target: Target, name: str, scene_name: str) -> None:
    """A surface that only some of the leaves below a node refer to belongs to the node, and to no leaf without it."""
    scene = walls() if scene_name == "walls" else SCENES[scene_name]()
    hierarchy = built(target, name, scene, max_leaf_size=8)
    forget(hierarchy)
    expected = end_point_overlap(hierarchy.nodes(), scene.corners(), 1.5, 0.25, by_space=True)
    assert expected > 0.01
    assert judged(hierarchy).end_point_overlap == pytest.approx(expected, rel=1e-6)


@over_builders
def test_samples_stand_for_all(host_target: Target, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A few walls in a crowd have most of the area, and are all among the samples."""
    scene = scene_of(np.concatenate([soup(3000, size=0.004).corners(), soup(30, seed=3, size=0.6).corners()]))
    hierarchy, figures = built(host_target, name, scene, max_leaf_size=8), []
    forget(hierarchy)
    for most in (1 << 12, 400, 300):
        monkeypatch.setitem(quality.SAMPLES, "host", most)
        figures.append(judged(hierarchy).end_point_overlap)
    assert figures[1:] == pytest.approx([figures[0]] * 2, rel=0.1)
    assert len(set(figures)) == 3


@over_builders
@pytest.mark.parametrize("scene_name", ["two", "soup", "stairs", "degenerate"])
def test_leaf_variability(target: Target, name: str, scene_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(quality.LINES, target.kind, 500)
    hierarchy = built(target, name, SCENES[scene_name](), max_leaf_size=1)
    table, stats = hierarchy.nodes(), judged(hierarchy)
    assert stats.leaf_variability == pytest.approx(leaf_variability(table, 500), rel=1e-9, abs=1e-9)
    if scene_name == "soup":
        assert stats.empty_leaf_count > 0 and stats.leaf_variability is not None and stats.leaf_variability > 0.1


@over_builders
@pytest.mark.parametrize("scene_name", ["one", "soup", "coincident"])
def test_levels_are_a_walkers(target: Target, name: str, scene_name: str) -> None:
    """Empty leaves among them."""
    hierarchy = built(target, name, SCENES[scene_name]())
    table, stats = hierarchy.nodes(), judged(hierarchy)
    levels = np.arange(table.depth.max() + 1)
    expected = [
        (int((~table.is_leaf & (table.depth == d)).sum()), int((table.is_leaf & (table.depth == d)).sum()))
        for d in levels
    ]
    assert list(stats.levels) == expected
    assert stats.depth == len(stats.levels) - 1 and sum(leaves for _, leaves in stats.levels) == stats.leaf_count


@over_builders
def test_nothing_and_spheres(target: Target, name: str) -> None:
    for primitives, overlap in (
        (scene_of(np.zeros((0, 3, 3))).upload(target), 0.0),
        (sphere_scene(target, 200)[2], None),
    ):
        hierarchy = make(target, name)
        hierarchy.build(primitives)
        assert hierarchy.stats().leaf_variability is None and hierarchy.stats().levels == ()
        hierarchy.measure()
        hierarchy.measure_quality()
        target.synchronize()
        stats = hierarchy.stats()
        assert stats.end_point_overlap == overlap and stats.leaf_variability is not None
        assert sum(leaves for _, leaves in stats.levels) == stats.leaf_count
