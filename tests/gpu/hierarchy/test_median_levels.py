"""The thesis' loop, a launch a level: the trees of the other form node for node, as scenes move and from graphs, with a
launch for each level there may be and no look at the target in between."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Primitives
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.target.base import Target
from raygrove.testing.replayed import replayed
from raygrove.testing.scenes import make, rays, trace
from raygrove.testing.tree_walker import check_tree

from .test_hlbvh import BUILDERS, CROWDS, heaps


def made(target: Target, name: str, launches: str, **options: Any) -> BvhHierarchy:
    hierarchy = make(target, name, "bvh2", launches=launches, **options)
    assert isinstance(hierarchy, BvhHierarchy)
    return hierarchy


def bytes_of_tree(hierarchy: BvhHierarchy) -> dict[str, bytes]:
    """All that a tree is, of the nodes that exist."""
    tree, target = hierarchy.tree, hierarchy.target
    flags = target.download(tree.flags)[: tree.node_capacity]
    bvh2 = hierarchy.layout.bvh2_nodes
    assert bvh2 is not None
    nodes = {"nodes": tree.nodes, "parent": tree.parent, "bvh2": bvh2.reshape(len(tree.nodes), -1)}
    exist = np.flatnonzero(flags & 1)
    return {
        "root": target.download(tree.root).tobytes(),
        "flags": flags.tobytes(),
        "order": target.download(tree.order)[: tree.count].tobytes(),
        "records": target.download(tree.records)[: tree.count].tobytes(),
        **{name: target.download(array)[exist].tobytes() for name, array in nodes.items()},
    }


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("scene_name", ["soup", "nested", "same_place", "degenerate", "coincident", "two", "one"])
@pytest.mark.parametrize(("code_bits", "max_leaf_size"), [("30", 1), ("60", 8)])
def test_it_is_the_same_tree(
    exact_target: Target, name: str, scene_name: str, code_bits: str, max_leaf_size: int
) -> None:
    scene = CROWDS[scene_name]()
    found = {}
    for launches in ("few", "levels"):
        hierarchy = made(exact_target, name, launches, code_bits=code_bits, max_leaf_size=max_leaf_size)
        hierarchy.build(scene.upload(exact_target))
        found[launches] = bytes_of_tree(hierarchy)
    assert found["levels"] == found["few"]
    check_tree(hierarchy.nodes(), *scene.boxes())


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("way", ["launched", "replayed"])
def test_it_follows_a_scene_that_moves(target: Target, name: str, way: str) -> None:
    """Builds and refits, of later vertices and of the first ones again; or graphs captured over other ones."""
    scene = CROWDS["soup"]()
    pair = [made(target, name, launches) for launches in ("few", "levels")]
    for one in pair if way == "replayed" else ():
        replayed(one)
    for step, later in (("build", False), ("build", True), ("refit", False), ("build", False), ("refit", True)):
        for one in pair:
            getattr(one, step)(scene.upload(target, later))
        assert bytes_of_tree(pair[1]) == bytes_of_tree(pair[0]), (step, later)
        hits = [trace(one, *rays(200)) for one in pair]
        np.testing.assert_array_equal(hits[0].prim_id, hits[1].prim_id)
    check_tree(pair[1].nodes(), *scene.boxes(later=True))


@pytest.mark.parametrize("name", BUILDERS)
def test_its_leaves_suit_spheres(target: Target, name: str) -> None:
    random = np.random.default_rng(3)
    centres, radii = random.random((900, 3)).astype(np.float32), np.full(900, 0.01, np.float32)
    balls: Primitives = sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test"))
    found = []
    for launches in ("few", "levels"):
        one = made(target, name, launches)
        one.build(balls)
        found.append(bytes_of_tree(one))
    assert found[0] == found[1]
    assert one.nodes().reference_count.max() == 1


@pytest.mark.parametrize("name", BUILDERS)
def test_a_level_is_a_launch(host_target: Target, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits from level 0 on and boxes from the last level back, and nothing is read in between."""
    scene = heaps(3000)
    hierarchy = made(host_target, name, "levels", max_leaf_size=4)
    primitives = scene.upload(host_target)
    launched: dict[str, list[int]] = collections.defaultdict(list)
    launch = host_target.launch

    def noted(unit: Any, kernel: str, n: Any, /, **arguments: Any) -> None:
        launched[kernel].append(arguments.get("level", -1))
        launch(unit, kernel, n, **arguments)

    def unread(array: Any) -> Any:
        raise AssertionError("a build reads nothing back")

    with monkeypatch.context() as patched:
        patched.setattr(host_target, "launch", noted)
        patched.setattr(host_target, "download", unread)
        hierarchy.build(primitives)
    bits = 30 if name == "hlbvh_median" else 15
    levels = bits + int(np.ceil(np.log2(3000 / 4)))
    assert launched["split_level"] == list(range(levels))
    assert launched["refit_level"] == list(reversed(range(levels)))
    assert not set(launched) & {"split_wide_tasks", "finish_small_tasks", "compute_tree_bounds", "climb_above"}
    if name == "hlbvh_sah":
        above = launched["refit_listed"]
        assert above == list(reversed(range(len(above)))) and len(above) > 20
    check_tree(hierarchy.nodes(), *scene.boxes())
