"""Octrees top down, and complete ones, against recursion."""

from __future__ import annotations

import functools
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from raygrove.gpu.hierarchy.octree.point_tree import (
    DEPTHS,
    DROPPED,
    LEAVES,
    NEEDED,
    NODES,
    POINTS,
    STATUS,
    TREE_FULL,
    PointTree,
    PointTreeBuilder,
    PointTreeOptions,
    build_point_tree,
)
from raygrove.gpu.target.base import OutOfMemoryError, Target

from .reference import NAMES, arrays_of, divide, levels_of, z_codes
from .test_point_tree import BAD, CELLS, FLOATS, build_once, points_of

SPLITS = ("cell_middle", "bounds_middle", "median")


def assert_is_divided(
    tree: PointTree, target: Target, positions: np.ndarray, leaf_points: int, split: str, is_ordered: bool
) -> None:
    """The nodes are those of recursion; and the order of points, where it is (a thread alone keeps none in a leaf)."""
    ids = np.flatnonzero(np.isfinite(positions).all(axis=1))
    codes, cube = z_codes(positions[ids], tree.bits)
    root, order = divide(positions[ids], [int(c) for c in codes], tree.bits, leaf_points, split)
    paths = [0] * len(ids)
    for row in levels_of(root):
        for node in row:
            paths[node.first : node.first + node.count] = [node.path << 3 * (tree.bits - node.level)] * node.count
    expected = arrays_of(root, paths, tree.bits)
    counts = target.download(tree.counts)
    assert (counts[POINTS], counts[DROPPED], counts[STATUS]) == (len(ids), len(positions) - len(ids), 0)
    assert counts[NODES] == counts[NEEDED] == len(expected["code"])
    assert (counts[DEPTHS], counts[LEAVES]) == (expected["depths"], expected["leaves"])
    for name in NAMES:
        found = target.download(getattr(tree, name))[: counts[NODES]]
        np.testing.assert_array_equal(found, np.array(expected[name], found.dtype), err_msg=name)
    np.testing.assert_array_equal(target.download(tree.depth_first), expected["depth_first"])
    np.testing.assert_array_equal(target.download(tree.codes)[: len(ids)], np.array(paths, np.uint64))
    np.testing.assert_array_equal(target.download(tree.root), cube)
    found_order = target.download(tree.order)[: len(ids)]
    np.testing.assert_array_equal(target.download(tree.points)[: len(ids), :3], positions[found_order])
    if is_ordered:
        np.testing.assert_array_equal(found_order, ids[order])
    for row in levels_of(root):
        for node in row:
            if not node.children:
                inside = slice(node.first, node.first + node.count)
                assert sorted(found_order[inside]) == sorted(ids[order[inside]])


def check(target: Target, positions: np.ndarray, leaf_points: int, split: str, work: str, bits: int = 21) -> None:
    """Build a tree and compare it. A thread alone breaks ties of medians in its own way."""
    options: dict[str, Any] = {"leaf_points": leaf_points, "split": split, "work": work, "bits": bits}
    tree = build_point_tree(target, target.upload(positions, "test"), method="top_down", **options)
    assert_is_divided(tree, target, positions, leaf_points, split, work == "parallel")


@pytest.mark.parametrize("work", ["parallel", "thread"])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", ["volume", "borders", "clusters", "flat"])
def test_trees_are_those_of_recursion(exact_target: Target, kind: str, split: str, work: str) -> None:
    if split == "median" and work == "thread" and kind != "volume":
        pytest.skip("equal coordinates go to either side of a median, as they come")
    check(exact_target, points_of(3, 200, kind), 3, split, work)
    check(exact_target, points_of(4, 70, kind), 1, split, work, 10)


@hypothesis.settings(max_examples=12)
@hypothesis.given(
    st.lists(st.tuples(*[st.one_of(CELLS, FLOATS, st.just(float("nan")))] * 3), max_size=30),
    st.integers(1, 4),
    st.sampled_from(SPLITS),
)
def test_any_points(host_target: Target, rows: list[tuple[float, ...]], leaf_points: int, split: str) -> None:
    check(host_target, np.array(rows, np.float32).reshape(-1, 3), leaf_points, split, "parallel")


@pytest.mark.parametrize("name", BAD)
def test_bad_input(exact_target: Target, name: str) -> None:
    for split in SPLITS:
        check(exact_target, BAD[name].astype(np.float32), 2, split, "parallel")
        if split != "median":
            check(exact_target, BAD[name].astype(np.float32), 2, split, "thread")


def test_a_thread_alone_halves_points_whatever_their_ties(target: Target) -> None:
    positions = points_of(3, 300, "borders")
    array = target.upload(positions, "test")
    tree = build_point_tree(target, array, method="top_down", split="median", work="thread")
    counts, first, points = (target.download(made) for made in (tree.counts, tree.first_child, tree.point_count))
    inner = np.flatnonzero(first[: counts[NODES]] >= 0)
    children = target.download(tree.child_count)
    for node in inner[points[inner] >= 8]:
        sizes = points[first[node] : first[node] + children[node]]
        assert len(sizes) == 8 and sizes.max() - sizes.min() <= 1
    assert sorted(target.download(tree.order)) == list(range(300))


def test_moved_points_are_divided_anew_by_replay(target: Target) -> None:
    for split in SPLITS:
        options = PointTreeOptions(method="top_down", leaf_points=4, split=split, bits="10")
        builder = PointTreeBuilder(target, 90, options, capacity=700)
        positions = target.upload(points_of(1, 90), "test")
        builder.build(positions)
        replay = target.capture(functools.partial(build_once, builder, positions))
        for kind in ("borders", "volume"):
            moved = points_of(8, 90, kind)
            moved[3] = np.nan
            target.write(positions, moved)
            replay()
            assert_is_divided(builder.tree, target, moved, 4, split, True)


def test_levels_that_do_not_fit(target: Target) -> None:
    positions = target.upload(points_of(7, 100, "clusters"), "test")
    builder = PointTreeBuilder(target, 100, PointTreeOptions(method="top_down"), capacity=60)
    counts = target.download(builder.build(positions).counts)
    assert (counts[NODES], counts[STATUS]) == (0, TREE_FULL) and counts[NEEDED] > 60
    assert not target.download(builder.tree.depth_first).any()
    needed = builder.make_room(positions)
    assert builder.tree.capacity >= needed > 60
    assert_is_divided(builder.build(positions), target, points_of(7, 100, "clusters"), 1, "cell_middle", True)


@pytest.mark.parametrize("levels", [0, 1, 3])
def test_complete_octrees(exact_target: Target, levels: int) -> None:
    for count in (0, 1, 150):
        positions = points_of(2, count)
        array = exact_target.upload(positions, "test")
        tree = build_point_tree(exact_target, array, method="complete", levels=levels)
        codes = np.sort(z_codes(positions, 21)[0])
        counts = exact_target.download(tree.counts)
        nodes = sum(8**level for level in range(levels + 1))
        assert counts[[NODES, NEEDED, DEPTHS, LEAVES]].tolist() == [nodes, nodes, levels + 1, 8**levels]
        made = {name: exact_target.download(getattr(tree, name)) for name in NAMES}
        starts = np.cumsum([0, *(8**level for level in range(levels + 1))])
        np.testing.assert_array_equal(exact_target.download(tree.depth_first), [*starts, *[nodes] * (23 - len(starts))])
        for i in range(nodes):
            level = int(np.searchsorted(starts, i, "right")) - 1
            code = i - starts[level]
            inside = np.flatnonzero(codes >> np.uint64(3 * (21 - level)) == code)
            first = inside[0] if len(inside) else made["first_point"][i]
            child = starts[level + 1] + 8 * code if level < levels else -1
            parent = starts[level - 1] + code // 8 if level else -1
            expected = (code, level, parent, child, 8 * (level < levels), first, len(inside))
            assert tuple(made[name][i] for name in NAMES) == expected


def test_what_cannot_be_complete(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_target, "free_bytes", lambda: 1 << 30)
    options = PointTreeOptions(method="complete", levels=10)
    with pytest.raises(OutOfMemoryError, match="an octree of 1,227,133,513 nodes over 5 points"):
        PointTreeBuilder(host_target, 5, options)
    assert PointTreeBuilder(host_target, 5, PointTreeOptions(method="complete", levels=3)).tree.capacity == 585


def test_memory_is_told_beside_the_bound_of_the_paper(target: Target) -> None:
    positions = target.upload(points_of(7, 200), "test")
    told = {}
    for method in ("direct", "top_down", "complete"):
        builder = PointTreeBuilder(target, 200, PointTreeOptions(method=method, levels=4), capacity=None)
        builder.make_room(positions)
        told[method] = builder.memory()
        assert told[method].tree_bytes == builder.tree.bytes and told[method].scratch_bytes == builder.scratch_bytes
    assert told["direct"].nodes == told["direct"].non_empty < told["direct"].bound == 798
    assert told["top_down"].nodes == told["top_down"].non_empty < told["top_down"].bound
    assert told["complete"].nodes == told["complete"].bound == 4681 > told["complete"].non_empty
