"""Octrees over points against one built by recursion."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.octree import direct, point_tree
from raygrove.gpu.hierarchy.octree.point_tree import (
    CHAINS,
    DEPTHS,
    DROPPED,
    LEAVES,
    NEEDED,
    NODES,
    POINTS,
    STATUS,
    PointTree,
    PointTreeBuilder,
    PointTreeOptions,
    build_point_tree,
)
from raygrove.gpu.target.base import Array, OutOfMemoryError, Target

from .reference import NAMES, arrays_of, build, z_codes

FLOATS = st.floats(-8.0, 8.0, width=32)
CELLS = st.integers(-3, 3).map(float)


def points_of(seed: int, count: int, kind: str = "volume") -> np.ndarray:
    """Places in a box, on a sphere, on a grid's corners, or in few clusters."""
    rng = np.random.default_rng(seed)
    made = rng.uniform(-1, 1, (count, 3))
    if kind == "surface":
        made /= np.linalg.norm(made, axis=1, keepdims=True)
    elif kind == "borders":
        made = rng.integers(0, 9, (count, 3)) / 8.0
    elif kind == "clusters":
        made = made * 10.0 ** -rng.integers(0, 7, (count, 1)) + rng.integers(0, 2, (count, 1))
    elif kind == "flat":
        made[:, 1] = 0.25
    return made.astype(np.float32)


def assert_is_tree(
    tree: PointTree, target: Target, positions: np.ndarray, leaf_points: int, is_full: bool, root: np.ndarray | None
) -> None:
    """Every array of the tree is what recursion finds."""
    ids = np.flatnonzero(np.isfinite(positions[:, :3]).all(axis=1))
    codes, cube = z_codes(positions[ids], tree.bits, root)
    order = np.argsort(codes, kind="stable")
    counts = target.download(tree.counts)
    assert (counts[POINTS], counts[DROPPED], counts[STATUS]) == (len(ids), len(positions) - len(ids), 0)
    np.testing.assert_array_equal(target.download(tree.order)[: len(ids)], ids[order])
    np.testing.assert_array_equal(target.download(tree.codes)[: len(ids)], codes[order])
    np.testing.assert_array_equal(target.download(tree.points)[: len(ids), :3], positions[ids[order], :3])
    np.testing.assert_array_equal(target.download(tree.root), cube)
    known = [int(code) for code in codes[order]]
    expected = arrays_of(build(known, tree.bits, leaf_points, is_full), known, tree.bits)
    assert (counts[NODES], counts[NEEDED]) == (len(expected["code"]),) * 2
    assert (counts[DEPTHS], counts[LEAVES]) == (expected["depths"], expected["leaves"])
    for name in NAMES:
        found = target.download(getattr(tree, name))[: counts[NODES]]
        np.testing.assert_array_equal(found, np.array(expected[name], found.dtype), err_msg=name)
    np.testing.assert_array_equal(target.download(tree.depth_first), expected["depth_first"])
    if is_full:
        compressed = build(known, tree.bits, leaf_points, False)
        assert counts[CHAINS] == counts[NODES] - len(arrays_of(compressed, known, tree.bits)["code"])
    else:
        assert counts[CHAINS] == 0


def check(
    target: Target,
    positions: np.ndarray,
    bits: int = 21,
    leaf_points: int = 1,
    chains: str = "none",
    root: tuple[float, float, float, float] | None = None,
    method: str = "direct",
) -> PointTree:
    """Build a tree and compare it."""
    options = {"bits": bits, "leaf_points": leaf_points, "chains": chains, "method": method}
    tree = build_point_tree(target, target.upload(positions, "test"), root=root, **options)
    assert_is_tree(
        tree, target, positions, leaf_points, chains == "full", None if root is None else np.array(root, np.float32)
    )
    return tree


@pytest.mark.parametrize("chains", ["none", "full"])
@pytest.mark.parametrize("bits", [10, 21])
@pytest.mark.parametrize("kind", ["volume", "surface", "borders", "clusters", "flat"])
def test_trees_are_those_of_recursion(exact_target: Target, kind: str, bits: int, chains: str) -> None:
    for leaf_points in (1, 4):
        check(exact_target, points_of(3, 300, kind), bits, leaf_points, chains)
    check(exact_target, points_of(3, 300, kind), bits, 1, chains, method="paper")


@hypothesis.given(
    st.lists(st.tuples(*[st.one_of(CELLS, FLOATS, st.just(float("nan")))] * 3), max_size=40),
    st.sampled_from([10, 21]),
    st.integers(1, 6),
    st.sampled_from(["none", "full"]),
    st.sampled_from([None, (-10.0, -9.0, -8.5, 32.0)]),
)
def test_any_points(
    host_target: Target,
    rows: list[tuple[float, ...]],
    bits: int,
    leaf_points: int,
    chains: str,
    root: tuple[float, float, float, float] | None,
) -> None:
    positions = np.array(rows, np.float32).reshape(-1, 3)
    check(host_target, positions, bits, leaf_points, chains, root)
    check(host_target, positions, bits, 1, chains, root, "paper")


BAD = {
    "none": np.zeros((0, 3)),
    "one": np.array([[1.0, 2.0, 3.0]]),
    "two": np.array([[1.0, 2.0, 3.0], [0.0, 5.0, 1.0]]),
    "two of one place": np.ones((2, 3)),
    "identical": np.full((500, 3), 0.1),
    "1e-30 apart": np.array([[0.0, 0.0, 0.0], [1e-30, 0.0, 0.0]]),
    "1e-30 apart beside another": np.array([[0.0, 0.0, 0.0], [1e-30, 0.0, 0.0], [1.0, 1.0, 1.0]]),
    "of every scale": np.array([[x, 0.0, 0.0] for x in (-3e38, -1.0, 0.0, 1e-38, 1.0, 3e38)]),
    "nothing finite": np.full((3, 3), np.nan),
    "some not finite": np.where(np.arange(60).reshape(20, 3) % 7 == 0, np.inf, points_of(1, 20)),
    "UTM": points_of(2, 200) * [200.0, 300.0, 30.0] + [5e5, 5.2e6, 400.0],
}


@pytest.mark.parametrize("chains", ["none", "full"])
@pytest.mark.parametrize("name", BAD)
def test_bad_input(exact_target: Target, name: str, chains: str) -> None:
    for bits, leaf_points in ((21, 1), (10, 3)):
        check(exact_target, BAD[name].astype(np.float32), bits, leaf_points, chains)
        check(exact_target, BAD[name].astype(np.float32), bits, 1, chains, method="paper")


def test_values_go_along_with_points(target: Target) -> None:
    positions, values = points_of(5, 64), np.arange(64, dtype=np.float32)
    array = target.upload(positions, "test")
    apart = build_point_tree(target, array, target.upload(values, "test"))
    together = build_point_tree(target, target.upload(np.column_stack([positions, values]), "test"))
    order = target.download(apart.order)
    np.testing.assert_array_equal(target.download(apart.points), np.column_stack([positions, values])[order])
    np.testing.assert_array_equal(target.download(together.points), target.download(apart.points))
    assert not target.download(build_point_tree(target, array).points)[:, 3].any()


def test_points_that_look_to_one_of_six_sides_have_a_tree_of_their_own(target: Target) -> None:
    """Each is the tree over those points alone, in the same cube, one bit less deep."""
    rng = np.random.default_rng(9)
    positions, directions = points_of(9, 600), rng.normal(size=(600, 4)).astype(np.float32)
    builder = PointTreeBuilder(target, 600, PointTreeOptions(leaf_points=4))
    both = target.upload(positions, "test"), target.upload(directions, "test")
    tree = builder.build(both[0], directions=both[1])
    found = {name: target.download(getattr(tree, name))[: int(target.download(tree.counts)[NODES])] for name in NAMES}
    order, points = target.download(builder.tree.order), target.download(builder.tree.points)
    np.testing.assert_array_equal(points[:, :3], positions[order])
    turned = directions[order, :3] * np.array([1.0, 0.97, 0.94], np.float32)
    axis = np.abs(turned).argmax(axis=1)
    sides = 2 * axis + (turned[np.arange(600), axis] < 0.0)
    children = np.flatnonzero(found["parent"] == 0)
    assert found["child_count"][0] == len(children) == 6
    codes, _ = z_codes(positions, 20)
    for side, child in enumerate(children):
        own = slice(found["first_point"][child], found["first_point"][child] + found["point_count"][child])
        members = np.sort(order[sides == side])
        np.testing.assert_array_equal(order[own], members[np.argsort(codes[members], kind="stable")])
        assert found["code"][child] >> np.uint64(3 * (found["level"][child] - 1)) == side
    builder.build(both[0])
    assert target.download(builder.build(both[0]).child_count)[0] == 8, "without directions, eighths"


def test_a_search_for_each_gap_finds_what_a_walk_does(exact_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each target takes the one that is faster there; here, the other one."""
    for kind, bits, leaf_points, chains in itertools.product(
        ("clusters", "borders"), (10, 21), (1, 3), ("none", "full")
    ):
        monkeypatch.setitem(direct.WALKS, exact_target.kind, exact_target.kind == "cuda")
        monkeypatch.setitem(direct.SPANS, exact_target.kind, 64)
        check(exact_target, points_of(8, 250, kind), bits, leaf_points, chains)
    for name in BAD:
        check(exact_target, BAD[name].astype(np.float32), 21, 2, "full")


def build_once(builder: PointTreeBuilder, positions: Array) -> None:
    builder.build(positions)


def test_moved_points_are_built_anew_by_replay(target: Target) -> None:
    """Nothing is read back: the launches of one build are those of the next, whatever the points."""
    rng = np.random.default_rng(2)
    for method, leaf_points, chains in itertools.product(("direct", "paper"), (1, 2), ("none", "full")):
        if method == "paper" and leaf_points > 1:
            continue
        options = PointTreeOptions(method=method, leaf_points=leaf_points, chains=chains)
        builder = PointTreeBuilder(target, 150, options, capacity=4000)
        positions = target.upload(points_of(1, 150), "test")
        builder.build(positions)
        replay = target.capture(functools.partial(build_once, builder, positions))
        for kind in ("clusters", "borders", "volume"):
            moved = points_of(int(rng.integers(99)), 150, kind)
            moved[5] = np.nan
            target.write(positions, moved)
            replay()
            assert_is_tree(builder.tree, target, moved, leaf_points, chains == "full", None)


@pytest.mark.parametrize(
    "options", [{"leaf_points": 3}, {"method": "paper"}, {"method": "top_down", "split": "median"}]
)
def test_bytes_do_not_depend_on_blocks(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    positions = host_target.upload(points_of(4, 900, "clusters"), "test")
    launch, found = host_target.launch, []
    for blocks in (1, 3, 13):

        def launch_in(*what: Any, blocks: int = blocks, **how: Any) -> None:
            launch(*what, **({"blocks": blocks} | how))

        monkeypatch.setattr(host_target, "launch", launch_in)
        tree = build_point_tree(host_target, positions, **options)
        nodes = int(host_target.download(tree.counts)[NODES])
        arrays = [host_target.download(getattr(tree, name))[:nodes] for name in NAMES]
        arrays += [host_target.download(getattr(tree, name)) for name in ("order", "codes", "root", "depth_first")]
        found.append([array.tobytes() for array in (*arrays, host_target.download(tree.counts))])
    assert found[0] == found[1] == found[2]


def test_nodes_that_do_not_fit_are_counted_and_none_written(target: Target) -> None:
    positions = points_of(7, 100)
    array = target.upload(positions, "test")
    needed = int(target.download(build_point_tree(target, array, chains="full").counts)[NODES])
    builder = PointTreeBuilder(target, 100, PointTreeOptions(chains="full"), capacity=needed - 1)
    counts = target.download(builder.build(array).counts)
    assert (counts[NODES], counts[STATUS], counts[NEEDED]) == (0, point_tree.TREE_FULL, needed)
    assert not target.download(builder.tree.depth_first).any()
    assert builder.make_room(array) == needed == builder.tree.capacity
    builder.build(array)
    assert_is_tree(builder.tree, target, positions, 1, True, None)


def test_chains_beyond_memory_are_refused_with_the_figure(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = host_target.upload(points_of(7, 400), "test")
    builder = PointTreeBuilder(host_target, 400, PointTreeOptions(chains="full"))
    monkeypatch.setattr(host_target, "free_bytes", lambda: 200_000)
    with pytest.raises(OutOfMemoryError, match=r"an octree of 7,\d\d\d nodes over 400 points"):
        builder.make_room(positions)
    assert builder.tree.capacity == 800


def test_what_is_no_position_is_refused(host_target: Target) -> None:
    builder = PointTreeBuilder(host_target, 4)
    with pytest.raises(HierarchyError, match=r"\(4, 3\) or \(4, 4\) of float32; \(5, 3\) of float32 was given"):
        builder.build(host_target.zeros((5, 3), np.float32, "test"))
    with pytest.raises(HierarchyError, match="float64 was given"):
        builder.build(host_target.zeros((4, 3), np.float64, "test"))
    with pytest.raises(HierarchyError, match=r"Values go along with points, \(4,\) of float32"):
        builder.build(host_target.zeros((4, 3), np.float32, "test"), host_target.zeros(3, np.float32, "test"))
    with pytest.raises(HierarchyError, match="leaves of 3 points were asked for: take the method direct"):
        PointTreeBuilder(host_target, 4, PointTreeOptions(method="paper", leaf_points=3))
    with pytest.raises(HierarchyError, match="up to 268,435,456 points, as its nodes are counted in 32 bits"):
        PointTreeBuilder(host_target, 1 << 30)
    with pytest.raises(HierarchyError, match="up to 96,850,292 points"):
        PointTreeBuilder(host_target, 1 << 28, PointTreeOptions(chains="full"))
