"""What the family makes of a topology alone, of split references, and of an optimiser's work."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import HierarchyError, Primitives, StructureChoice
from raygrove.gpu.hierarchy.bvh import refit
from raygrove.gpu.hierarchy.bvh.optimisers import Optimiser
from raygrove.gpu.hierarchy.bvh.tree import (
    EMPTY_CHILD,
    MAX_LEAF_SIZE,
    NODE_DTYPE,
    CanonicalTree,
    first_references,
    leaf_words,
    reference_counts,
)
from raygrove.gpu.hierarchy.primitives import MAX_PRIMITIVES, MAX_WIDE_PRIMITIVES
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import Target
from raygrove.testing.closest_hits import triangle_hits
from raygrove.testing.scenes import SCENES, make, make_with, rays, soup, trace
from raygrove.testing.tree_walker import check_tree, tree_statistics

from .given_tree import GivenBuilder, NoOptions, SplitBuilder, random_tree

EXISTS, COLLAPSED, BOTTOM = 1, 2, 4


def test_leaf_words_keep_first_and_count() -> None:
    first, count = (
        np.array([0, 5, MAX_PRIMITIVES - 34], np.int32),
        np.array([1, MAX_LEAF_SIZE, MAX_LEAF_SIZE], np.int32),
    )
    words = leaf_words(first, count)
    assert (words < 0).all() and (words != EMPTY_CHILD).all()
    np.testing.assert_array_equal(first_references(words), first)
    np.testing.assert_array_equal(reference_counts(words), count)


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
@pytest.mark.parametrize("scene_name", ["one", "two", "soup", "degenerate"])
def test_a_topology_alone_is_enough(target: Target, scene_name: str, layout: str) -> None:
    scene = SCENES[scene_name]()
    hierarchy = GivenBuilder(target, random_tree(len(scene.indices), 3), layout)
    hierarchy.build(scene.upload(target))
    check_tree(hierarchy.nodes(), *scene.boxes())
    expected = triangle_hits(scene.corners(), *rays())
    sure = expected.is_certain
    np.testing.assert_array_equal(trace(hierarchy, *rays()).prim_id[sure], expected.prim_id[sure])
    hierarchy.refit(scene.upload(target, later=True))
    check_tree(hierarchy.nodes(), *scene.boxes(later=True))


def test_computing_bounds_decides_the_flags(target: Target) -> None:
    scene, given = soup(2500), random_tree(2500, 8)
    hierarchy = GivenBuilder(target, given)
    hierarchy.build(scene.upload(target))
    flags = target.download(hierarchy.tree.flags)[: len(given.exists)]
    np.testing.assert_array_equal(flags & EXISTS != 0, given.exists)
    for node_id in np.flatnonzero(given.exists):
        inner = [child for child in given.children[node_id] if child >= 0]
        assert bool(flags[node_id] & BOTTOM) == (not inner)
        assert bool(flags[node_id] & COLLAPSED) == (
            node_id != 0 and not any(flags[child] & COLLAPSED for child in inner)
        )


def test_threads_and_chunks_do_not_show_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    from raygrove.testing import make_target

    monkeypatch.setenv("RAYGROVE_HOST_FORCE_SPLIT", "1")
    scene, given, outcomes = soup(2500), random_tree(2500, 4), []
    for threads, chunk in ((1, 1024), (2, 64)):
        monkeypatch.setitem(refit.CHUNKS, "host", chunk)
        made = make_target("host", threads=threads)
        hierarchy = GivenBuilder(made, given)
        hierarchy.build(scene.upload(made))
        table = hierarchy.nodes()
        flags = made.download(hierarchy.tree.flags)[: len(given.exists)]
        outcomes.append(
            [np.ascontiguousarray(column).tobytes() for column in (*vars(table).values(), flags[given.exists])]
        )
        made.close()
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
def test_references_that_are_parts_of_primitives(target: Target, layout: str) -> None:
    """Every triangle cut in two at the middle of its box: twice the references, smaller boxes, the same hits."""
    scene = soup(400, size=0.3)
    lower, upper = scene.boxes()
    axis = (upper - lower).argmax(axis=1)
    middle = ((lower + upper) / 2)[np.arange(400), axis]
    left, right = upper.copy(), lower.copy()
    left[np.arange(400), axis] = right[np.arange(400), axis] = middle
    given = random_tree(800, 5)
    prim_ids, is_right = given.order % 400, given.order >= 400
    given.boxes = np.where(
        is_right[:, None, None], np.stack([right, upper], 1)[prim_ids], np.stack([lower, left], 1)[prim_ids]
    )
    given.order = prim_ids.astype(np.int32)
    hierarchy = SplitBuilder(target, given, layout)
    hierarchy.build(scene.upload(target))
    table = hierarchy.nodes()
    check_tree(table, lower, upper, splits_references=True)
    for row in np.flatnonzero(table.is_leaf):
        part = given.boxes[table.first_reference[row] : table.first_reference[row] + table.reference_count[row]]
        np.testing.assert_array_equal(table.lower[row], part[:, 0].min(axis=0))
        np.testing.assert_array_equal(table.upper[row], part[:, 1].max(axis=0))
    expected = triangle_hits(scene.corners(), *rays())
    sure = expected.is_certain
    np.testing.assert_array_equal(trace(hierarchy, *rays()).prim_id[sure], expected.prim_id[sure])
    hierarchy.measure()
    target.synchronize()
    stats = hierarchy.stats()
    assert (stats.reference_count, stats.primitive_count) == (800, 400) and len(table.references) == 800
    assert stats.sah_cost == pytest.approx(tree_statistics(table).sah_cost, rel=1e-5)


def test_too_many_references_are_refused(host_target: Target) -> None:
    with pytest.raises(HierarchyError, match="at most 134,217,727 references"):
        CanonicalTree(host_target).reserve(MAX_WIDE_PRIMITIVES, 12, splits_references=True)


class Mirror(Optimiser):
    """Swaps the children of every node: another tree, no better."""

    name = "mirror"
    title = "Mirror"
    Options = NoOptions
    calls = 0

    def improve(self, tree: CanonicalTree, primitives: Primitives, after_refit: bool = False) -> None:
        Mirror.calls += 1
        nodes = self.target.download(tree.nodes)
        links = nodes.view(NODE_DTYPE).reshape(-1)
        links["left"], links["right"] = links["right"].copy(), links["left"].copy()
        links["lower"] = 7.0
        self.target.write(tree.nodes, nodes)

    def max_depth(self, depth: int) -> int:
        return depth + 3


class MirrorAgain(Mirror):
    """After refits too."""

    name = "mirror_again"
    after_refit = True


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
@pytest.mark.parametrize("kind", [Mirror, MirrorAgain])
def test_an_optimiser_works_between_builder_and_layout(
    target: Target, monkeypatch: pytest.MonkeyPatch, kind: type[Mirror], layout: str
) -> None:
    monkeypatch.setattr(
        "raygrove.gpu.hierarchy.bvh.bvh.optimiser_classes", lambda: {"mirror": Mirror, "mirror_again": MirrorAgain}
    )
    scene = soup(1500)
    plain = make(target, "lbvh", layout)
    improved = make_with(target, "lbvh", StructureChoice(layout=layout, optimiser=kind.name))
    Mirror.calls = 0
    for made in (plain, improved):
        made.build(scene.upload(target))
    assert Mirror.calls == 1
    before, after = plain.nodes(), improved.nodes()
    check_tree(after, *scene.boxes())
    assert len(before) == len(after) and (before.is_leaf != after.is_leaf).any()
    np.testing.assert_array_equal(trace(improved, *rays()).prim_id, trace(plain, *rays()).prim_id)
    for made in (plain, improved):
        made.refit(scene.upload(target, later=True))
    assert Mirror.calls == (2 if kind.after_refit else 1)
    check_tree(improved.nodes(), *scene.boxes(later=True))
    np.testing.assert_array_equal(trace(improved, *rays()).prim_id, trace(plain, *rays()).prim_id)


def test_an_unknown_optimiser_is_named(host_target: Target) -> None:
    with pytest.raises(OptionError, match="gardener"):
        make_with(host_target, "lbvh", StructureChoice(optimiser="gardener"))
    with pytest.raises(OptionError, match="brute_force has none"):
        make_with(host_target, "brute_force", StructureChoice(optimiser="gardener"))
    assert make_with(host_target, "lbvh", StructureChoice(optimiser="none")).stats().node_count == 0
