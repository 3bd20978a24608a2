"""Which way a refit goes: by groups in shared memory where few nodes are left open by their chunks, else by climbs in
global memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.bvh import refit
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.optimisers import optimiser_classes
from raygrove.gpu.hierarchy.bvh.tree import NODE_DTYPE
from raygrove.gpu.hierarchy.primitives import triangle_primitives
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import TriangleScene, make, soup
from raygrove.testing.tree_walker import check_tree

COUNT = 12_000
GROUP = 12


REFITTED = [
    name
    for name, kind in structures().items()
    if issubclass(kind, BvhHierarchy) and kind.capabilities.refit and not kind.links_anew
]
"""Every builder whose refit is the family's."""


def open_counts(hierarchy: BvhHierarchy, span: int) -> np.ndarray:
    """How many nodes each chunk of `span` ids leaves open: those with a node elsewhere below them."""
    tree, target = hierarchy.tree, hierarchy.target
    ids = tree.node_capacity
    links = target.download(tree.nodes)[:ids].reshape(-1, 8).copy().view(NODE_DTYPE).reshape(-1)
    exists = target.download(tree.flags)[:ids] & 1 == 1
    levels, is_done = [np.array([0])], np.ones(ids, bool)
    while len(levels[-1]):
        children = np.concatenate([links["left"][levels[-1]], links["right"][levels[-1]]])
        levels.append(children[children >= 0])
    for level in reversed(levels):
        for child in (links["left"][level], links["right"][level]):
            inner = np.maximum(child, 0)
            is_done[level] &= (child < 0) | (is_done[inner] & (inner // span == level // span))
    return np.bincount(np.flatnonzero(exists & ~is_done) // span, minlength=-(-ids // span))


def built(target: Target, name: str, optimiser: str = "none") -> BvhHierarchy:
    """Over small triangles on a sphere, in no order."""
    random = np.random.default_rng(4)
    centres = random.normal(size=(COUNT, 1, 3))
    centres /= np.linalg.norm(centres, axis=2, keepdims=True)
    corners = (centres + random.uniform(-0.01, 0.01, (COUNT, 3, 3))).astype(np.float32).reshape(-1, 3)
    indices = np.arange(3 * COUNT, dtype=np.int32).reshape(-1, 3)
    kind = structures()[name]
    made = kind(target, StructureChoice(layout="bvh2", optimiser=optimiser))
    assert isinstance(made, BvhHierarchy)
    made.build(triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test")))
    return made


def following() -> Sequence[tuple[str, str]]:
    """Builders whose ids follow, and one of them with each optimiser that leaves that as it is."""
    names = [
        name for name, kind in structures().items() if issubclass(kind, BvhHierarchy) and kind.ids_follow_references
    ]
    near = [
        name
        for name, kind in optimiser_classes().items()
        if not (kind.moves_far or kind(None, kind.Options()).after_refit)
    ]  # type: ignore[arg-type]
    return [*((name, "none") for name in names), *(("lbvh", name) for name in near)]


@pytest.mark.parametrize(("name", "optimiser"), following())
def test_trees_that_are_refitted_by_groups_leave_few_nodes_open(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, name: str, optimiser: str
) -> None:
    """So few that the lists of a group have room; one list more or less may be longer."""
    monkeypatch.setitem(refit.USES_GROUPS, "host", True)
    made = built(host_target, name, optimiser)
    assert made.bounds.goes_by_groups
    chunk = refit.CHUNKS["host"]
    for span in (chunk, chunk * GROUP):
        assert 0 < open_counts(made, span).mean() <= made.bounds.numbering.left_open


def test_other_trees_climb(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the top is split by SAH, nodes above the clusters lie anywhere; and reinsertion carries subtrees as far as
    it likes."""
    monkeypatch.setitem(refit.USES_GROUPS, "host", True)
    for name, optimiser in (("hlbvh_sah", "none"), ("lbvh", "reinsertion"), ("lbvh", "rotations")):
        assert not built(host_target, name, optimiser).bounds.goes_by_groups


@pytest.mark.covers("name", "chunk by_groups")
@pytest.mark.parametrize(("chunk", "by_groups"), [(16, False), (16, True), (512, False)])
@pytest.mark.parametrize("name", REFITTED)
def test_refits_write_the_boxes_of_what_moved(
    target: Target, monkeypatch: pytest.MonkeyPatch, name: str, chunk: int, by_groups: bool
) -> None:
    """After a deformation at random: the layout's nodes as they are written from the canonical tree, whose boxes, made
    when they are asked for, are the oracle's."""
    monkeypatch.setitem(refit.CHUNKS, target.kind, chunk)
    monkeypatch.setattr(refit.TreeBounds, "goes_by_groups", by_groups)
    scene = soup(1500)
    hierarchy, moved = make(target, name, "bvh2"), scene.upload(target, later=True)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene.upload(target))
    hierarchy.refit(moved)
    check_tree(hierarchy.nodes(), *scene.boxes(later=True))
    exists = target.download(hierarchy.tree.flags)[: hierarchy.tree.node_capacity] & 1 == 1
    written = target.download(hierarchy.layout.nodes)[: len(exists)][exists]
    hierarchy.layout.write(hierarchy.tree, moved)
    np.testing.assert_array_equal(written, target.download(hierarchy.layout.nodes)[: len(exists)][exists])


def test_split_references_are_fitted_by_groups_too(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room for more references than there are."""
    monkeypatch.setitem(refit.CHUNKS, target.kind, 16)
    monkeypatch.setitem(refit.USES_GROUPS, target.kind, True)
    scene, hierarchy = soup(1500), make(target, "sbvh", "bvh2")
    hierarchy.build(scene.upload(target))
    check_tree(hierarchy.nodes(), *scene.boxes(), splits_references=True)


def test_a_refit_of_bvh2_leaves_canonical_boxes_until_they_are_asked_for(host_target: Target) -> None:
    def words(made: BvhHierarchy) -> np.ndarray:
        """Where there is no node may be anything, no numbers too."""
        return host_target.download(made.tree.nodes).view(np.int32)

    scene, hierarchy = soup(1500), make(host_target, "lbvh", "bvh2")
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene.upload(host_target))
    before = words(hierarchy)
    hierarchy.measure()
    np.testing.assert_array_equal(words(hierarchy), before)
    hierarchy.refit(scene.upload(host_target, later=True))
    left = (words(hierarchy) == before).all(axis=1)
    assert left.mean() > 0.9
    hierarchy.measure()
    exists = host_target.download(hierarchy.tree.flags)[: hierarchy.tree.node_capacity] & 1 == 1
    assert not (words(hierarchy) == before).all(axis=1)[: len(exists)][exists].any()


def rotated(made: BvhHierarchy) -> list[np.ndarray]:
    """Nodes, parents, flags and layout of those that exist."""
    made.complete_boxes()
    tree, target = made.tree, made.target
    ids = tree.node_capacity
    flags = target.download(tree.flags)[:ids]
    arrays = (tree.nodes, tree.parent, made.layout.nodes)
    exists = flags & 1 == 1
    return [flags[exists], *(target.download(array)[:ids][exists].view(np.int32) for array in arrays)]


@pytest.mark.covers("chunk", "name size")
@pytest.mark.parametrize("chunk", [16, 128, 512])
@pytest.mark.parametrize(("name", "size"), [("lbvh", 1), ("lbvh", 4), ("hlbvh_sah", 3)])
def test_rotations_on_the_way_up_are_those_of_a_pass_behind_the_refit(
    target: Target, monkeypatch: pytest.MonkeyPatch, name: str, size: int, chunk: int
) -> None:
    """Bit for bit, frame after frame, whichever part of a tree chunks finish in shared memory; and a build's passes."""
    monkeypatch.setitem(refit.CHUNKS, target.kind, chunk)
    scene, kind = soup(1500), structures()[name]
    trees = []
    for is_apart in (False, True):
        made = kind(target, StructureChoice(kind.Options(max_leaf_size=size), layout="bvh2", optimiser="rotations"))
        assert isinstance(made, BvhHierarchy)
        if is_apart:
            monkeypatch.setattr(made, "_rotates", lambda optimiser: False)
            assert made.optimiser is not None
            monkeypatch.setattr(made.optimiser, "rotation_passes", 1)
        trees.append(made)
    trees[0].optimiser.rotation_passes = 1  # type: ignore[union-attr]
    for step in range(4):
        part = np.float32(step / 3)
        between = TriangleScene(scene.positions * (1 - part) + scene.later * part, scene.indices, scene.later)
        for made in trees:
            (made.build if step == 0 else made.refit)(between.upload(target))
            check_tree(made.nodes(), *between.boxes())
        for together, apart in zip(*map(rotated, trees), strict=True):
            np.testing.assert_array_equal(together, apart)
