"""Optimisers over the trees of several builders: the cost never rises, the hits stay, the depth keeps its bound, same
input same bytes."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import NodeTable, StructureChoice
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.optimisers import optimiser_classes
from raygrove.gpu.hierarchy.bvh.optimisers.rotations import RotationsOptions
from raygrove.gpu.hierarchy.bvh.tree import leaf_words
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.closest_hits import OracleHits, triangle_hits
from raygrove.testing.scenes import SCENES, TriangleScene, make_with, rays, scene_of, soup, trace
from raygrove.testing.tree_walker import TreeStatistics, check_tree, tree_statistics

from .given_tree import GivenBuilder, GivenTree

OPTIMISERS = list(optimiser_classes())
over_optimisers = pytest.mark.parametrize("name", OPTIMISERS)


@functools.cache
def scene_and_hits(scene_name: str, later: bool = False) -> tuple[TriangleScene, OracleHits]:
    scene = SCENES[scene_name]()
    return scene, triangle_hits(scene.corners(later), *rays())


def optimised(
    target: Target, name: str, scene: TriangleScene, builder: str = "lbvh", layout: str = "bvh2", **options: object
) -> BvhHierarchy:
    """A tree that was improved; `name` none leaves it as it was built."""
    hierarchy = make_with(target, builder, StructureChoice(layout=layout, optimiser=name), **options)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene.upload(target))
    return hierarchy


def counted(hierarchy: BvhHierarchy) -> TreeStatistics:
    return tree_statistics(hierarchy.nodes())


def columns(table: NodeTable) -> tuple[bytes, ...]:
    return tuple(np.ascontiguousarray(column).tobytes() for column in vars(table).values())


@over_optimisers
@pytest.mark.covers("name scene_name", "name max_leaf_size", "scene_name max_leaf_size")
@pytest.mark.parametrize("max_leaf_size", [1, 4])
@pytest.mark.parametrize("scene_name", SCENES)
def test_the_cost_never_rises_and_the_hits_stay(target: Target, name: str, scene_name: str, max_leaf_size: int) -> None:
    scene, expected = scene_and_hits(scene_name)
    plain = optimised(target, "none", scene, max_leaf_size=max_leaf_size)
    better = optimised(target, name, scene, "lbvh", ["bvh2", "bvh4"][max_leaf_size == 1], max_leaf_size=max_leaf_size)
    before, after = counted(plain), counted(better)
    assert after.sah_cost <= before.sah_cost * (1 + 1e-6)
    assert (after.node_count, after.leaf_count) == (before.node_count, before.leaf_count)
    check_tree(better.nodes(), *scene.boxes())
    found, sure = trace(better, *rays()), expected.is_certain
    np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])


@over_optimisers
@pytest.mark.parametrize("builder", ["lbvh", "hploc"])
def test_trees_get_better(target: Target, name: str, builder: str) -> None:
    least = {"rotations": (0.98, 0.999), "treelet_restructure": (0.97, 0.99), "reinsertion": (0.97, 0.985)}[name][
        builder == "hploc"
    ]
    scene = soup(4000, size=0.05)
    before, after = (counted(optimised(target, choice, scene, builder)).sah_cost for choice in ("none", name))
    assert after < least * before


@over_optimisers
def test_refits_follow_what_moves(target: Target, name: str) -> None:
    scene, expected = scene_and_hits("moving", later=True)
    hierarchy = optimised(target, name, scene)
    hierarchy.refit(scene.upload(target, later=True))
    check_tree(hierarchy.nodes(), *scene.boxes(later=True))
    found, sure = trace(hierarchy, *rays()), expected.is_certain
    np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])


@over_optimisers
def test_threads_do_not_show(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("RAYGROVE_HOST_FORCE_SPLIT", "1")
    scene, outcomes = soup(2500), []
    for threads in (1, 2):
        target = make_target("host", threads=threads)
        outcomes.append(columns(optimised(target, name, scene, "lbvh", "bvh4").nodes()))
        target.close()
    assert outcomes[0] == outcomes[1]


@over_optimisers
def test_the_depth_keeps_its_bound(target: Target, name: str) -> None:
    """Boxes nested in each other make lists the cheapest trees."""
    corners = np.zeros((700, 3, 3))
    corners[:, 1, 0] = corners[:, 2, 1] = np.exp2(np.linspace(-40, 20, 700))
    scene = scene_of(corners)
    plain, better = (optimised(target, choice, scene, max_leaf_size=1) for choice in ("none", name))
    optimiser = better.optimiser
    assert optimiser is not None
    assert counted(better).depth <= optimiser.max_depth(counted(plain).depth)
    check_tree(better.nodes(), *scene.boxes())


def test_rotations_in_refits_keep_a_tree_from_wearing_out(target: Target) -> None:
    """Triangles that fly apart, in steps: refitted alone the tree gets far worse than with rotations, whose depth never
    grows."""
    scene = SCENES["soup"]()
    plain, rotating = optimised(target, "none", scene), optimised(target, "rotations", scene)
    depth = counted(plain).depth
    for step in range(1, 9):
        part = np.float32(step / 8)
        between = TriangleScene(scene.positions * (1 - part) + scene.later * part, scene.indices, scene.later)
        for hierarchy in (plain, rotating):
            hierarchy.refit(between.upload(target))
        assert counted(rotating).depth <= depth
    assert counted(rotating).sah_cost < 0.97 * counted(plain).sah_cost
    check_tree(rotating.nodes(), *scene.boxes(later=True))


def test_a_round_that_goes_too_deep_is_taken_back(monkeypatch: pytest.MonkeyPatch, target: Target) -> None:
    """With no room for a deeper tree the last good one stays: as deep as before at most, whole, and none the dearer."""
    monkeypatch.setattr("raygrove.gpu.hierarchy.bvh.optimisers.reinsertion.SLACK", 0)
    stopped = []
    for scene in (SCENES["degenerate"](), soup(600, seed=9, size=0.3)):
        plain, better = (
            optimised(target, choice, scene, "hploc", max_leaf_size=1) for choice in ("none", "reinsertion")
        )
        before, after = counted(plain), counted(better)
        assert after.depth <= before.depth and after.sah_cost <= before.sah_cost * (1 + 1e-6)
        check_tree(better.nodes(), *scene.boxes())
        stopped.append(target.download(target.scratch("optimise.progress", 3, np.float64)).view(np.int32)[3] == 0)
    assert any(stopped), "one of the scenes would have got deeper"


def test_rounds_are_not_taken_back_otherwise(target: Target) -> None:
    """Moves that touch no common node gain what each of them found: no round makes the tree dearer."""
    optimised(target, "reinsertion", soup(4000, size=0.05))
    assert target.download(target.scratch("optimise.progress", 3, np.float64)).view(np.int32)[3] == 1


class Rotated(GivenBuilder):
    """A tree of the test's, with one pass of rotations."""

    def __init__(self, target: Target, tree: GivenTree) -> None:
        choice = StructureChoice(layout="bvh2", optimiser="rotations", optimiser_options=RotationsOptions(passes=1))
        BvhHierarchy.__init__(self, target, choice)
        self.given = tree


def pairs_of_leaves(table: NodeTable) -> set[frozenset[int]]:
    """The primitives of leaves that are siblings."""
    found = set()
    for row in np.flatnonzero(~table.is_leaf):
        below = np.flatnonzero(table.parent == row)
        if len(below) == 2 and table.is_leaf[below].all():
            found.add(frozenset(int(table.references[table.first_reference[leaf]]) for leaf in below))
    return found


LEAF = [int(leaf_words(place, 1)) for place in range(4)]


@pytest.mark.parametrize(
    ("children", "places", "pairs"),
    [
        ([(LEAF[0], 1), (LEAF[1], LEAF[2])], (0.0, 9.0, 1.0), [{0, 2}]),
        ([(LEAF[0], 1), (LEAF[1], LEAF[2])], (0.0, 1.0, 9.0), [{0, 1}]),
        ([(1, LEAF[2]), (LEAF[0], LEAF[1])], (9.0, 1.0, 0.0), [{1, 2}]),
        ([(1, LEAF[2]), (LEAF[0], LEAF[1])], (1.0, 9.0, 0.0), [{0, 2}]),
        ([(1, 2), (LEAF[0], LEAF[1]), (LEAF[2], LEAF[3])], (0.0, 9.0, 8.0, 1.0), [{0, 3}, {1, 2}]),
        ([(1, 2), (LEAF[0], LEAF[1]), (LEAF[2], LEAF[3])], (0.0, 9.0, 1.0, 8.0), [{0, 2}, {1, 3}]),
    ],
    ids=["first right", "second right", "first left", "second left", "crossed", "alike"],
)
def test_each_of_the_six_rotations_is_made_where_it_pays(
    target: Target, children: list[tuple[int, int]], places: tuple[float, ...], pairs: list[set[int]]
) -> None:
    """Small triangles in a row, in a tree whose pairs lie far from one another: one exchange mends it."""
    corners = np.array(places)[:, None, None] * [1.0, 0.0, 0.0] + np.eye(3) * 0.1
    scene, links = scene_of(corners), np.full((len(places) - 1, 2), 99, np.int32)
    links[:] = children
    tree = GivenTree(np.arange(len(places), dtype=np.int32), links, np.ones(len(links), bool))
    hierarchy = Rotated(target, tree)
    hierarchy.build(scene.upload(target))
    check_tree(hierarchy.nodes(), *scene.boxes())
    assert pairs_of_leaves(hierarchy.nodes()) == {frozenset(pair) for pair in pairs}
