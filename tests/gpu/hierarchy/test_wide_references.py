"""Trees of 2^26 references and more: their words, and the builders that make them. Scenes so large have no room in a
test, so the number from which references are wide is lowered to what a test scene has; that ids of 27 bits fit in is
shown word by word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy import primitives as kinds
from raygrove.gpu.hierarchy.base import HierarchyError, Primitives, StructureChoice
from raygrove.gpu.hierarchy.bvh import collapse
from raygrove.gpu.hierarchy.bvh.builders.sbvh import Sbvh
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.clusters import MOST_WIDE_LEAF
from raygrove.gpu.hierarchy.bvh.optimisers import optimiser_classes
from raygrove.gpu.hierarchy.bvh.sorted_lists import SortedListsBuilder
from raygrove.gpu.hierarchy.bvh.tree import MAX_WIDE_LEAF_SIZE, first_references, leaf_words, reference_counts
from raygrove.gpu.hierarchy.primitives import (
    MAX_PRIMITIVES,
    MAX_WIDE_PRIMITIVES,
    REFERENCE_BITS,
    WIDE_REFERENCE_BITS,
    check_primitives,
    reference_bits,
    sphere_primitives,
)
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.testing.closest_hits import triangle_hits
from raygrove.testing.scenes import SCENES, make_with, rays, trace
from raygrove.testing.tree_walker import check_tree, tree_statistics

LAST = MAX_WIDE_PRIMITIVES - 1
WIDE = [name for name, kind in structures().items() if issubclass(kind, BvhHierarchy) and kind.most_wide_leaf > 0]
CHOICES: list[tuple[str, str, dict[str, object]]] = [("lbvh", layout, {}) for layout in structures()["lbvh"].layouts()]
CHOICES += [("lbvh", "bvh2", {"construction": way, "max_leaf_size": 16}) for way in ("search", "climb")]
CHOICES += [(name, "bvh2", {"launches": "levels"}) for name in ("hlbvh_median", "hlbvh_sah")]
CHOICES += [("sah_lauterbach", "bvh2", {"planes": "uniform"})]
LIKE_OTHERS = {"sbvh", "object_median", "spatial_median", "sah_lauterbach"}
"""sbvh has a test of its own; the others share the kernels of sweep_sah and binned_sah."""
CHOICES += [(name, "bvh2", {"max_leaf_size": MOST_WIDE_LEAF}) for name in WIDE if name not in LIKE_OTHERS]
ALWAYS = len(structures()["lbvh"].layouts())
"""So many of the choices are made always, lbvh in each layout, and every third of the others."""
GROUPED = [("cwbvh", "cwbvh_stack"), ("bvh8", "bvh8_single"), ("bvh8", "bvh8_stack")]
SPREAD = [name for name in WIDE if not issubclass(structures()[name], SortedListsBuilder | Sbvh)]
"""Without builders of which one block splits a set, however large."""


def _full_but_for_two(name: str) -> Any:
    """Scenes of 70 million take minutes on a device that other processes share: two builders by default."""
    return name if name in ("lbvh", "hploc") else pytest.param(name, marks=pytest.mark.full)


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """References are wide from a thousand primitives on."""
    monkeypatch.setattr(kinds, "MAX_PRIMITIVES", 1000)


def columns(hierarchy: BvhHierarchy) -> tuple[bytes, ...]:
    return tuple(np.ascontiguousarray(column).tobytes() for column in vars(hierarchy.nodes()).values())


@pytest.mark.parametrize(
    ("name", "layout", "options"),
    [
        pytest.param(*choice, marks=[] if place < ALWAYS or place % 3 == 0 else pytest.mark.full)
        for place, choice in enumerate(CHOICES)
    ],
)
def test_wide_trees_are_those_of_narrow_words(
    target: Target, monkeypatch: pytest.MonkeyPatch, name: str, layout: str, options: dict[str, object]
) -> None:
    scene, choice = SCENES["soup"](), StructureChoice(layout=layout)
    narrow = make_with(target, name, choice, **options)
    narrow.build(scene.upload(target))
    assert isinstance(narrow, BvhHierarchy) and narrow.tree.reference_bits == REFERENCE_BITS
    expected_columns = columns(narrow)
    monkeypatch.setattr(kinds, "MAX_PRIMITIVES", 1000)
    wide = make_with(target, name, choice, **options)
    wide.build(scene.upload(target))
    assert isinstance(wide, BvhHierarchy) and wide.tree.reference_bits == WIDE_REFERENCE_BITS
    assert columns(wide) == expected_columns
    wide.measure()
    target.synchronize()
    assert wide.stats().sah_cost == pytest.approx(tree_statistics(wide.nodes()).sah_cost, rel=1e-5)
    for later in (False, True):
        if later:
            wide.refit(scene.upload(target, later=True))
        check_tree(wide.nodes(), *scene.boxes(later))
        expected, found = triangle_hits(scene.corners(later), *rays()), trace(wide, *rays())
        sure = expected.is_certain
        np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])


@pytest.mark.parametrize("layout", ["bvh2", "bvh8", "cwbvh"])
@pytest.mark.parametrize("first_wide", [1000, 1700])
def test_split_references_may_be_wide_where_primitives_are_few(
    target: Target, monkeypatch: pytest.MonkeyPatch, layout: str, first_wide: int
) -> None:
    """1,500 triangles that may become 1,950 references; long leaves at the end of the depth too."""
    scene, choice = SCENES["soup"](), StructureChoice(layout=layout)
    for options in ({}, {"max_depth": 5, "alpha": 0.0}):
        narrow, wide = (make_with(target, "sbvh", choice, **options) for _ in range(2))
        narrow.build(scene.upload(target))
        with monkeypatch.context() as patch:
            patch.setattr(kinds, "MAX_PRIMITIVES", first_wide)
            wide.build(scene.upload(target))
            assert isinstance(narrow, BvhHierarchy) and isinstance(wide, BvhHierarchy)
            assert (narrow.tree.reference_bits, wide.tree.reference_bits) == (REFERENCE_BITS, WIDE_REFERENCE_BITS)
            assert columns(wide) == columns(narrow)
            np.testing.assert_array_equal(trace(wide, *rays()).prim_id, trace(narrow, *rays()).prim_id)


@pytest.mark.parametrize("optimiser", list(optimiser_classes()))
def test_optimisers_take_wide_trees(target: Target, early: None, optimiser: str) -> None:
    scene = SCENES["soup"]()
    made = make_with(target, "lbvh", StructureChoice(layout="bvh4", optimiser=optimiser))
    made.build(scene.upload(target))
    check_tree(made.nodes(), *scene.boxes())
    expected, found = triangle_hits(scene.corners(), *rays()), trace(made, *rays())
    np.testing.assert_array_equal(found.prim_id[expected.is_certain], expected.prim_id[expected.is_certain])


def test_the_words_hold_the_last_reference(target: Target) -> None:
    constants = {"MAX_LEAF_SIZE": MOST_WIDE_LEAF, "LEAVES_IN_ORDER": False, "TRAVERSAL_COST": 1, "WRITES_BVH2": False}
    constants["REFERENCE_BITS"] = WIDE_REFERENCE_BITS
    unit = target.unit(UnitSource("tests/gpu/hierarchy/wide_words.cu", constants=tuple(constants.items())))
    firsts = np.array([0, 5, MAX_PRIMITIVES - 1, MAX_PRIMITIVES, 100_000_000, LAST - 15, LAST], np.int32)
    counts = np.array([1, 16, 2, 16, 7, 16, 1], np.int32)
    words = leaf_words(firsts, counts, WIDE_REFERENCE_BITS)
    assert (words < 0).all()
    np.testing.assert_array_equal(first_references(words, WIDE_REFERENCE_BITS), firsts)
    np.testing.assert_array_equal(reference_counts(words, None, WIDE_REFERENCE_BITS), counts)
    read_again = target.zeros((len(firsts), 2), np.int32, "test")
    target.launch(
        unit,
        "round_trip_words",
        len(firsts),
        n=len(firsts),
        firsts=target.upload(firsts, "test"),
        counts=target.upload(counts, "test"),
        read_again=read_again,
    )
    np.testing.assert_array_equal(target.download(read_again), np.stack([firsts, counts], axis=1))
    clusters = np.array(
        [[LAST - 1, LAST, 0, 104, 1], [LAST, LAST, 1, 0, 0], [7, 3, 6, 5, 0], [LAST, 0, 0, 127, 0]], np.int32
    )
    packed = target.zeros(clusters.shape, np.int32, "test")
    arguments = {"n": len(clusters), "clusters": target.upload(clusters, "test"), "read_again": packed}
    target.launch(unit, "round_trip_clusters", len(clusters), **arguments)
    np.testing.assert_array_equal(target.download(packed), clusters)


def test_only_scenes_that_need_them_have_wide_references() -> None:
    assert reference_bits(MAX_PRIMITIVES - 1) == REFERENCE_BITS == 26
    assert reference_bits(MAX_PRIMITIVES) == reference_bits(100_000_000) == WIDE_REFERENCE_BITS
    assert {"binned_sah", "hlbvh_sah", "hploc_sah", "lbvh", "ploc", "sbvh", "sweep_sah", "task_pool", "two_level"} <= {
        *WIDE
    }


def test_a_hundred_million_spheres_are_taken_where_there_are_words_for_them(host_target: Target) -> None:
    def spheres(count: int) -> Primitives:
        return Primitives("sphere", "", "", np.zeros(()), count)

    for count in (100_000_000, LAST):
        check_primitives("lbvh", ("sphere",), spheres(count), is_wide=True)
    with pytest.raises(HierarchyError, match="lbvh takes at most 134,217,727 primitives"):
        check_primitives("lbvh", ("sphere",), spheres(MAX_WIDE_PRIMITIVES), is_wide=True)
    for name in ("median_sah", "sah_events"):
        with pytest.raises(HierarchyError, match=f"{name} takes at most 67,108,863 primitives.*Choose lbvh"):
            make_with(host_target, name, StructureChoice()).build(spheres(100_000_000))


@pytest.mark.parametrize(("layout", "traversal"), GROUPED)
def test_traversals_number_more_nodes_than_words_have_room_for(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, layout: str, traversal: str
) -> None:
    """Beyond 2^24 nodes groups of children have 64 bits: the same hits, here from a lower number on."""
    scene = SCENES["soup"]()
    made = make_with(host_target, "lbvh", StructureChoice(layout=layout, traversal=traversal))
    made.build(scene.upload(host_target))
    narrow = trace(made, *rays())
    assert ("HAS_WIDE_GROUPS", 0) in made.traversal().tree.constants
    monkeypatch.setattr(collapse, "MOST_NARROW_NODES", 100)
    assert ("HAS_WIDE_GROUPS", 1) in made.traversal().tree.constants
    wide = trace(made, *rays())
    np.testing.assert_array_equal(wide.prim_id, narrow.prim_id)
    np.testing.assert_array_equal(wide.t, narrow.t)


def test_groups_hold_the_last_node(target: Target) -> None:
    """Narrow ones 2^24 nodes, which trees may have more of; wide ones every node that there can be."""
    nodes = np.array([0, 1, (1 << 24) - 1, 1 << 24, LAST // 2, LAST], np.int32)
    slots = np.array([255, 1, 128, 1, 170, 255], np.int32)
    for is_wide in (0, 1):
        constants = (("REFERENCE_BITS", WIDE_REFERENCE_BITS), ("HAS_WIDE_GROUPS", is_wide))
        unit = target.unit(UnitSource("tests/gpu/hierarchy/wide_groups.cu", constants=constants))
        read = target.zeros((len(nodes), 2), np.int32, "test")
        uploaded = {"nodes": target.upload(nodes, "test"), "slots": target.upload(slots, "test")}
        target.launch(unit, "round_trip_groups", len(nodes), n=len(nodes), **uploaded, read_again=read)
        fits = (nodes < 1 << 24) | bool(is_wide)
        held = (target.download(read) == np.stack([nodes, slots], axis=1)).all(axis=1)
        np.testing.assert_array_equal(held, fits)


@pytest.mark.parametrize(("name", "most"), [("lbvh", MAX_WIDE_LEAF_SIZE), ("hploc", MOST_WIDE_LEAF)])
def test_leaves_too_large_for_their_words_are_refused(host_target: Target, early: None, name: str, most: int) -> None:
    made = make_with(host_target, name, StructureChoice(), max_leaf_size=most + 1)
    with pytest.raises(HierarchyError, match=f"leaves of at most {most} alone: lower max_leaf_size"):
        made.build(SCENES["soup"]().upload(host_target))


@pytest.mark.cuda
@pytest.mark.parametrize("name", [_full_but_for_two(name) for name in SPREAD])
def test_seventy_million_spheres(cuda_target: Target, name: str) -> None:
    """A scene that has wide references without help: hits equal to brute force."""
    count = MAX_PRIMITIVES + 3_000_000
    if cuda_target.free_bytes() < 300 * count:
        pytest.skip("the device has too little memory for so large a scene")
    random = np.random.default_rng(5)
    centres = cuda_target.upload(random.random((count, 3), np.float32), "test")
    radii = cuda_target.upload(np.full(count, 2e-4, np.float32), "test")
    spheres, found = sphere_primitives(centres, radii), {}
    for chosen in ("brute_force", name):
        made = make_with(cuda_target, chosen, StructureChoice())
        made.build(spheres)
        found[chosen] = trace(made, *rays())
        made.close()
    assert (found["brute_force"].prim_id >= MAX_PRIMITIVES).any()
    np.testing.assert_array_equal(found[name].prim_id, found["brute_force"].prim_id)
    np.testing.assert_allclose(found[name].t, found["brute_force"].t, rtol=1e-5)
