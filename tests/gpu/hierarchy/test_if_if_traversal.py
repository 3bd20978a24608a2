"""Single rays take a node or one primitive a step (if_if_traversal.cuh): the hits are those of packs, and the nodes,
primitives and boxes are those of the traversal that goes down to a leaf and through it (binary_traversal.cuh)."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Hierarchy, Primitives, StructureChoice
from raygrove.gpu.hierarchy.primitives import TRIANGLE_TESTS
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays
from raygrove.testing.scenes import SCENES, make_with, rays, soup, sphere_scene, trace
from tests.gpu.target.recording import RecordingTarget

LEAVES = {"max_leaf_size": 15, "traversal_cost": 3.0}
"""Leaves of many sizes."""


@pytest.fixture(scope="module")
def single() -> Target:
    """The host, a ray at a time, as a GPU's threads take them."""
    return RecordingTarget()


def built(target: Target, primitives: Primitives, test: str = TRIANGLE_TESTS[0], layout: str = "bvh2") -> Hierarchy:
    hierarchy = make_with(target, "ploc", StructureChoice(layout=layout, triangle_test=test), **LEAVES)
    hierarchy.build(primitives)
    return hierarchy


@pytest.mark.parametrize("test", TRIANGLE_TESTS)
def test_hits_are_those_of_packs(host_target: Target, single: Target, test: str) -> None:
    scene = soup(700, size=0.4)
    trees = [built(target, scene.upload(target), test) for target in (host_target, single)]
    assert len(np.unique(trees[1].nodes().reference_count)) > 6
    packs, alone = (trace(tree, *rays()) for tree in trees)
    assert (packs.prim_id >= 0).sum() > 100
    np.testing.assert_array_equal(alone.prim_id, packs.prim_id)
    np.testing.assert_allclose(alone.t, packs.t, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(alone.u, packs.u, atol=1e-4)


def test_any_hit_ends_a_ray_and_finds_one_wherever_there_is_one(single: Target) -> None:
    tree = built(single, soup(700, size=0.4).upload(single))
    nearest, first = trace(tree, *rays()), trace(tree, *rays(), "any")
    np.testing.assert_array_equal(first.prim_id >= 0, nearest.prim_id >= 0)
    assert (first.prim_id != nearest.prim_id).any()


def test_spheres_have_a_shorter_record(host_target: Target, single: Target) -> None:
    found = [trace(built(target, sphere_scene(target, 400)[2]), *rays()) for target in (host_target, single)]
    assert (found[0].prim_id >= 0).sum() > 100
    np.testing.assert_array_equal(found[1].prim_id, found[0].prim_id)


@pytest.mark.parametrize("scene_name", ["empty", "coincident", "degenerate", "soup", "stairs"])
def test_nodes_primitives_and_boxes_are_those_of_the_traversal_down_to_leaves(
    host_target: Target, scene_name: str
) -> None:
    counts = []
    for layout in ("bvh2", "bvh2_soa"):
        tree = built(host_target, SCENES[scene_name]().upload(host_target), layout=layout)
        hits = Tracer(host_target, tree.traversal()).trace(upload_rays(host_target, *rays()), "steps")
        arrays = (hits.prim_id, hits.steps, hits.tests, hits.boxes)
        counts.append([host_target.download(array)[:300].copy() for array in arrays if array is not None])
    for by_steps, by_leaves in zip(*counts, strict=True):
        np.testing.assert_array_equal(by_steps, by_leaves)
    assert (counts[0][1].max() > 3) == (scene_name != "empty")
