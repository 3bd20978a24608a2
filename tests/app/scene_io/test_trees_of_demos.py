"""What the built-in scenes' trees are known to be: bounds of the depth hold, and spatial splits are kept only where
they are worth it."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import TriangleScene, make
from raygrove.testing.tree_walker import tree_statistics
from tests.gpu.hierarchy.test_depth_bounds import BOUNDED
from tests.gpu.hierarchy.test_median_sah import VARIANTS, assert_same_tree
from tests.oracle.cut_tree import assert_is_cut

TRIANGLES = 3000


@functools.cache
def triangles_of(target: Target, name: str, time: float, count: int = TRIANGLES) -> TriangleScene:
    surface = Animator(target, make_demo(name, count)).at(Moment(time))
    positions = np.asarray(target.download(surface.positions)).reshape(-1, 3)
    return TriangleScene(positions, np.asarray(target.download(surface.triangles)).reshape(-1, 3), positions)


def table_of(target: Target, name: str, scene: TriangleScene, **options: object) -> NodeTable:
    hierarchy = make(target, name, **options)
    hierarchy.build(scene.upload(target))
    return hierarchy.nodes()


@pytest.mark.parametrize(("scene_name", "time"), [("orbit", 0.0), ("walker", 0.0), ("walker", 2.5), ("room", 0.0)])
@pytest.mark.parametrize("name", BOUNDED)
def test_a_bound_cuts_and_does_nothing_else(host_target: Target, name: str, scene_name: str, time: float) -> None:
    scene = triangles_of(host_target, scene_name, time)
    keep = {"keep": "spatial"} if name == "sbvh" else {}
    splits = structures()[name].capabilities.splits_references
    whole = table_of(host_target, name, scene, **keep)
    natural = int(whole.depth.max())
    for bound in (1, 5, natural - 1, natural):
        assert_is_cut(table_of(host_target, name, scene, **keep, max_depth=bound), whole, bound, splits)


@pytest.mark.parametrize("bound", [5, 10, 15])
@pytest.mark.parametrize("scene_name", ["orbit", "walker", "room"])
def test_every_way_of_median_sah_ends_at_the_bound(exact_target: Target, scene_name: str, bound: int) -> None:
    scene = triangles_of(exact_target, scene_name, 0.0)
    expected = table_of(exact_target, "median_sah", scene, max_depth=bound)
    assert expected.depth.max() == bound
    for way in ("primitives", "rounds"):
        assert_same_tree(table_of(exact_target, "median_sah", scene, max_depth=bound, **VARIANTS[way]), expected)


@pytest.mark.parametrize(
    ("scene_name", "count", "gain"),
    [("orbit", 12_000, False), ("orbit", 3000, False), ("room", 12_000, True), ("walker", 6000, True)],
)
def test_sbvh_costs_no_more_than_object_splits(host_target: Target, scene_name: str, count: int, gain: bool) -> None:
    """In orbit spatial splits alone would cost 8 and 10 per cent more."""
    scene = triangles_of(host_target, scene_name, 0.0, count)
    kept, objects, cut = (
        tree_statistics(table_of(host_target, "sbvh", scene, **choice)).sah_cost
        for choice in ({}, {"alpha": 1.0}, {"keep": "spatial"})
    )
    binned = tree_statistics(table_of(host_target, "binned_sah", scene)).sah_cost
    assert kept == min(objects, cut) and (cut < objects) == gain
    assert kept < 1.005 * binned
