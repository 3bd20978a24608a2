"""Queries of octrees over points against loops over every node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.octree.cell_queries import DIRECTIONS, Cells
from raygrove.gpu.hierarchy.octree.node_queries import NodeQueries
from raygrove.gpu.hierarchy.octree.point_tree import NODES, PointTree, build_point_tree
from raygrove.gpu.target.base import Array, Target

from .reference import NAMES
from .test_point_tree import points_of

KINDS = ("volume", "clusters", "flat")


class Nodes:
    """A tree on the host, and its cells as boxes of finest cells."""

    def __init__(self, target: Target, tree: PointTree) -> None:
        self.count = int(target.download(tree.counts)[NODES])
        self.of = {name: target.download(getattr(tree, name))[: self.count].tolist() for name in NAMES}
        self.boxes = [self.box(c, n) for c, n in zip(self.of["code"], self.of["level"], strict=True)]

    def box(self, code: int, level: int) -> np.ndarray:
        """Lower and upper corner in finest cells."""
        digits = format(code, "b").zfill(3 * level) if level else ""
        lower = np.array([int(digits[axis::3] or "0", 2) for axis in range(3)]) << (21 - level)
        return np.array([lower, lower + (1 << (21 - level))])

    def children(self, node: int) -> range:
        first = self.of["first_child"][node]
        return range(first, first + self.of["child_count"][node]) if first >= 0 else range(0)

    def walk(self, node: int = 0) -> list[int]:
        """In post order."""
        return [below for child in self.children(node) for below in self.walk(child)] + [node]

    def over(self, box: np.ndarray) -> int:
        """The smallest node whose box holds a box."""
        holding = [i for i, own in enumerate(self.boxes) if (own[0] <= box[0]).all() and (box[1] <= own[1]).all()]
        return max(holding, key=lambda i: self.of["level"][i], default=-1)


def asked_of(target: Target, kind: str, **options: Any) -> tuple[NodeQueries, Nodes, Array]:
    array = target.upload(points_of(6, 120, kind), "test")
    tree = build_point_tree(target, array, **({"leaf_points": 2} | options))
    nodes = Nodes(target, tree)
    return NodeQueries(target, tree), nodes, target.upload(np.arange(-1, nodes.count, dtype=np.int32), "test")


@pytest.mark.parametrize(
    "options", [{}, {"chains": "full"}, {"method": "top_down"}, {"method": "complete", "levels": 2}]
)
@pytest.mark.parametrize("kind", KINDS)
def test_post_order_is_that_of_recursion(target: Target, kind: str, options: dict[str, Any]) -> None:
    asked, nodes, _ = asked_of(target, kind, **options)
    order = target.download(asked.post_order().nodes)
    assert order[: nodes.count].tolist() == nodes.walk() and (order[nodes.count :] == -1).all()
    ranks = target.download(asked.post_order().rank)[: nodes.count]
    np.testing.assert_array_equal(order[ranks], np.arange(nodes.count))


@pytest.mark.parametrize("kind", KINDS)
def test_links_and_leaves(target: Target, kind: str) -> None:
    asked, nodes, every = asked_of(target, kind)
    assert target.download(asked.parents(every)).tolist() == [-1, *nodes.of["parent"]]
    for octant in (*range(8), 8):
        found = target.download(asked.children(every, target.upload(np.full(len(every), octant, np.int32), "test")))
        for node in range(nodes.count):
            own = nodes.boxes[node]
            half = (own[1] - own[0]) // 2
            lower = own[0] + half * np.array([octant >> 2 & 1, octant >> 1 & 1, octant & 1])
            inside = [
                child
                for child in nodes.children(node)
                if octant < 8
                and (nodes.boxes[child][0] >= lower).all()
                and (nodes.boxes[child][1] <= lower + half).all()
            ]
            assert [found[node + 1]] == (inside or [-1])
        assert found[0] == -1
    below = asked.leaves_below(every)
    leaves, first, counts = (target.download(array) for array in (below.leaves, below.first, below.counts))
    for node in range(nodes.count):
        expected = [i for i in nodes.walk(node) if not nodes.children(i)]
        assert leaves[first[node + 1] : first[node + 1] + counts[node + 1]].tolist() == expected
    assert counts[0] == 0


def test_common_ancestors(target: Target) -> None:
    asked, nodes, _ = asked_of(target, "clusters")
    rng = np.random.default_rng(1)
    pairs = rng.integers(-1, nodes.count, (2, 400)).astype(np.int32)
    found = target.download(asked.common_ancestors(*(target.upload(row, "test") for row in pairs)))

    def upwards(node: int) -> list[int]:
        return [node, *upwards(nodes.of["parent"][node])] if node >= 0 else []

    for a, b, node in zip(*pairs.tolist(), found, strict=True):
        assert node == next((i for i in upwards(a) if i in upwards(b)), -1)


@pytest.mark.parametrize("kind", KINDS)
def test_nodes_of_places(target: Target, kind: str) -> None:
    asked, nodes, _ = asked_of(target, kind)
    points = target.download(asked.tree.points)[:, :3]
    places = np.concatenate([points, points_of(9, 60) * 1.5, points[:2] + 9, np.full((1, 3), np.nan)]).astype(
        np.float32
    )
    found = target.download(asked.nodes_of_places(target.upload(places, "test")))
    cells = asked.cells_of_places(target.upload(places, "test"))
    codes, levels = target.download(cells.code).tolist(), target.download(cells.level).tolist()
    for i in range(len(places)):
        assert found[i] == (nodes.over(nodes.box(codes[i], levels[i])) if levels[i] >= 0 else -1)
    assert (np.array(levels[-3:]) == -1).all()
    for i in range(len(points)):  # each point is in a leaf, and among its points
        first, count = nodes.of["first_point"][found[i]], nodes.of["point_count"][found[i]]
        assert nodes.of["first_child"][found[i]] == -1 and first <= i < first + count


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours(target: Target, kind: str) -> None:
    asked, nodes, every = asked_of(target, kind)
    found = target.download(asked.neighbours(every, "all"))
    for direction, step in enumerate(DIRECTIONS["all"]):
        for node in range(0, nodes.count, 3):
            box = nodes.boxes[node] + step * (nodes.boxes[node][1] - nodes.boxes[node][0])
            is_inside = (box >= 0).all() and (box <= 1 << 21).all()
            assert found[direction, node + 1] == (nodes.over(box) if is_inside else -1)
    assert (found[:, 0] == -1).all()


@pytest.mark.parametrize("kind", ["face", "edge", "corner", "all"])
def test_neighbouring_leaves(target: Target, kind: str) -> None:
    asked, nodes, every = asked_of(target, "clusters")
    found = asked.neighbouring_leaves(asked.cells(every), kind)
    listed, first, counts = (target.download(array) for array in (found.nodes, found.first, found.counts))
    dimensions = {"face": (2,), "edge": (1,), "corner": (0,), "all": (0, 1, 2)}[kind]
    leaves = [i for i in nodes.walk() if not nodes.children(i)]
    for node in range(nodes.count):
        expected = []
        for leaf in leaves:
            low = np.maximum(nodes.boxes[node][0], nodes.boxes[leaf][0])
            high = np.minimum(nodes.boxes[node][1], nodes.boxes[leaf][1])
            if (low <= high).all() and (low < high).sum() in dimensions:
                expected.append(leaf)
        assert listed[first[node + 1] : first[node + 1] + counts[node + 1]].tolist() == expected
    assert counts[0] == 0


def test_trees_of_few_points(host_target: Target) -> None:
    for count in (0, 1, 2):
        array = host_target.upload(np.ones((count, 3), np.float32), "test")
        asked = NodeQueries(host_target, build_point_tree(host_target, array))
        nodes = host_target.upload(np.array([0], np.int32), "test")
        below = asked.leaves_below(nodes)
        assert host_target.download(below.counts).tolist() == [1]
        assert host_target.download(asked.nodes_of_places(array)).tolist() == [min(count - 1, 1)] * count


def test_what_cannot_be_asked(host_target: Target) -> None:
    asked, _, every = asked_of(host_target, "volume")
    with pytest.raises(HierarchyError, match=r"\(n, 3\) of float32; \(4, 2\)"):
        asked.nodes_of_places(host_target.zeros((4, 2), np.float32, "test"))
    with pytest.raises(HierarchyError, match=r"\(n,\) of int32; \(3,\) of float32"):
        asked.parents(host_target.zeros(3, np.float32, "test"))
    with pytest.raises(HierarchyError, match="One a node was expected"):
        asked.common_ancestors(every, every[:3])
    with pytest.raises(HierarchyError, match="meet at a corner, edge, face, all; 'side'"):
        asked.neighbouring_leaves(asked.cells(every), "side")
    divided = build_point_tree(host_target, asked.tree.points, method="top_down", split="median")
    other = NodeQueries(host_target, divided)
    for ask in (other.nodes_of_places, other.neighbours, other.neighbouring_leaves):
        with pytest.raises(HierarchyError, match="it was divided by median"):
            ask(every)
    assert int(host_target.download(other.parents(every))[-1]) >= 0
    none = Cells(host_target.zeros(0, np.uint64, "test"), host_target.zeros(0, np.int32, "test"))
    assert len(asked.neighbouring_leaves(none).nodes) == 0
