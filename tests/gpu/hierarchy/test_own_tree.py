"""What is wrong with a function, or with the tree that it gives, is a sentence before anything follows it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Hierarchy, HierarchyError
from raygrove.gpu.hierarchy.bvh.own.tree import MOST_DEPTH, Tree, TreeError, checked_tree
from raygrove.gpu.target.base import Target
from raygrove.testing.closest_hits import triangle_hits
from raygrove.testing.scenes import TriangleScene, make, rays, soup, trace

from .own_builders import any_tree, builder

LAYOUTS = ("bvh2", "bvh2_compact", "bvh2_soa", "bvh4", "bvh8", "cwbvh")


pytestmark = pytest.mark.usefixtures("registry_as_before")


def assert_hits(made: Hierarchy, scene: TriangleScene, later: bool = False) -> None:
    expected = triangle_hits(scene.corners(later), *rays())
    sure = expected.is_certain
    np.testing.assert_array_equal(trace(made, *rays()).prim_id[sure], expected.prim_id[sure])


def nodes(**changes: Any) -> Tree:
    """Four boxes in two leaves, nodes 1 and 2, with something else."""
    sound: dict[str, Any] = {"children": [[1, 2], [0, 0], [0, 0]], "first": [0, 0, 2], "count": [0, 2, 2]}
    return Tree(**{**sound, "primitives": [0, 1, 2, 3], **changes})


def line_of_boxes(**changes: Any) -> Tree:
    """The same with bounds of boxes from (i, 0, 0) to (i + 1, 1, 1)."""
    bounds = [[0, 0, 0, 4, 1, 1], [0, 0, 0, 2, 1, 1], [2, 0, 0, 4, 1, 1]]
    for node, row in changes.pop("rows", {}).items():
        bounds[node] = row
    return nodes(**{"bounds": bounds, **changes})


CHAIN = [[row + 1, row + 2] for row in range(800)] + [[0, 0]]
WRONG: dict[str, tuple[Any, str]] = {
    "no tree": ({"children": []}, "it gave a dict; a raygrove.Tree is asked for"),
    "no node": (nodes(children=[], first=[], count=[]), "it has no node"),
    "rows": (nodes(first=[0, 0]), "first has 2 rows, and count has 3"),
    "floats": (nodes(count=[0.0, 2.0, 2.0]), r"count are whole numbers, \(M,\); these are \(3,\) of float64"),
    "three children": (nodes(children=[[1, 2, 3]] * 3), r"children are whole numbers, \(M, 2\)"),
    "ragged": (nodes(children=[[1, 2], [0]]), "children is no array on the host"),
    "below": (nodes(count=[0, -1, 2]), "node 1 has a count of -1"),
    "no child": (nodes(children=[[1, -1]] * 3), "node 0 has a count of 0, .* its right child is -1"),
    "far child": (nodes(children=[[3, 1]] * 3), "node 0 .* its left child is 3: children are rows from 0 to 2"),
    "own child": (nodes(children=[[1, 0]] * 3), "node 0 has the child 0, which is itself or lies above it: a cycle"),
    "cycle": (
        nodes(children=[[1, 2], [3, 4], [0, 0], [1, 2], [0, 0]], first=[0] * 5, count=[0, 0, 4, 0, 1]),
        "node 3 has the child 1, which is itself or lies above it: a cycle",
    ),
    "twin": (nodes(children=[[2, 2]] * 3), "node 0 has the child 2, which is a child of node 0 already"),
    "shared": (
        nodes(children=[[1, 2], [3, 4], [4, 5]] + [[0, 0]] * 3, first=[0] * 6, count=[0, 0, 0, 2, 1, 1]),
        "node 2 has the child 4, which is a child of node 1 already",
    ),
    "deep": (
        nodes(children=CHAIN, first=[0] * 801, count=[0, 1] * 400 + [1]),
        "a tree has at most 255 inner nodes",
    ),
    "leaf": (nodes(first=[0, 0, 3]), r"node 2 is a leaf of primitives\[3:5\], and primitives has 4 entries"),
    "huge": (nodes(count=[0, 2, 2**62]), r"node 2 is a leaf of primitives\[2:46"),
    "negative": (nodes(first=[0, -1, 2]), r"node 1 is a leaf of primitives\[-1:1\]"),
    "far": (nodes(primitives=[0, 1, 4, 3]), "node 2 lists primitive 4, and there are 4 boxes"),
    "twice": (nodes(first=[0, 0, 1]), "node 2 lists primitive 1, and node 1 lists it already"),
    "again": (nodes(primitives=[0, 1, 3, 3]), "node 2 lists primitive 3, and the same node lists it twice"),
    "missing": (nodes(count=[0, 2, 1]), "primitive 3 is in no leaf that the root leads to"),
    "more missing": (nodes(count=[0, 1, 1]), "primitive 1 is in no leaf that the root leads to, nor are 1 others"),
    "bounds": (nodes(bounds=np.zeros((3, 4))), r"bounds are rows of six numbers, \(M, 6\)"),
    "NaN": (line_of_boxes(rows={2: [2, np.nan, 0, 4, 1, 1]}), "node 2 has a box that is not finite"),
    "overflow": (line_of_boxes(rows={1: [0, 0, 0, 1e300, 1, 1]}), "node 1 has a box that is not finite"),
    "inverted": (line_of_boxes(rows={1: [0, 0, 0, 2, -1, 1]}), "node 1 has a box whose lower corner lies above"),
    "outside": (
        line_of_boxes(rows={0: [0, 0, 0, 3, 1, 1]}),
        re.escape("node 0 has the box (0, 0, 0) to (3, 1, 1), which does not hold that of its child 2, (2, 0, 0) to"),
    ),
    "too small": (
        line_of_boxes(rows={2: [2, 0, 0, 4, 1, 0.5]}),
        r"node 2 has the box \(2, 0, 0\) to \(4, 1, 0.5\), which does not hold that of primitive 2",
    ),
}


def boxes_in_a_row() -> TriangleScene:
    corners = np.array([[[i, 0, 0], [i + 1, 1, 0], [i, 0, 1]] for i in range(4)], np.float32)
    return TriangleScene(corners.reshape(-1, 3), np.arange(12, dtype=np.int32).reshape(-1, 3), corners.reshape(-1, 3))


@pytest.mark.parametrize("fault", WRONG)
def test_a_tree_that_is_none_is_named(host_target: Target, fault: str) -> None:
    """And the tree before stays."""
    given, sentence = WRONG[fault]
    trees = [line_of_boxes(), given]
    builder("mine")(lambda bounds: trees.pop(0))
    made, scene = make(host_target, "mine"), boxes_in_a_row()
    primitives = scene.upload(host_target)
    made.build(primitives)
    before = made.nodes()
    with pytest.raises(
        HierarchyError, match=f"The function .*lambda.* of the structure mine gave no tree: .*{sentence}"
    ):
        made.build(primitives)
    np.testing.assert_array_equal(made.nodes().references, before.references)
    made.refit(primitives)
    assert trace(made, [[2.5, 0.2, 0.2]], [[0.0, 1.0, 0.0]]).prim_id.tolist() == [2]


def test_rounding_is_no_fault(host_target: Target) -> None:
    near = np.nextafter(np.float32(2), np.float32(0))
    builder("mine")(lambda bounds: line_of_boxes(rows={1: [0, 0, 0, near, 1, 1]}))
    made = make(host_target, "mine")
    made.build(boxes_in_a_row().upload(host_target))
    assert made.nodes().upper[:, 0].max() == 4.0


def test_parts_lie_where_their_primitives_are(host_target: Target) -> None:
    builder("without", splits_references=True)(lambda bounds: nodes())
    builder("apart", splits_references=True)(
        lambda bounds: line_of_boxes(primitives=[0, 1, 0, 3], rows={2: [2, 0, 0, 4, 1, 1]})
    )
    for name, sentence in (("without", "it has no bounds"), ("apart", "does not meet that of primitive 0")):
        with pytest.raises(HierarchyError, match=f"{sentence}|primitive 2 is in no leaf"):
            make(host_target, name).build(boxes_in_a_row().upload(host_target))


def test_what_the_function_raises_has_its_line(host_target: Target) -> None:
    def fails(bounds: np.ndarray, *, at: int = 3) -> Tree:
        return len(bounds[at:].reshape(-1, 7))  # type: ignore[return-value]

    builder("mine")(fails)
    line = fails.__code__.co_firstlineno + 1
    sentence = rf"The function .*fails of the structure mine failed in line {line} of test_own_tree.py: ValueError: .*7"
    with pytest.raises(HierarchyError, match=sentence) as caught:
        make(host_target, "mine").build(boxes_in_a_row().upload(host_target))
    assert isinstance(caught.value.__cause__, ValueError)


def test_the_deepest_tree_is_traced(host_target: Target) -> None:
    """As deep as may be: no stack is too short for it."""
    count = MOST_DEPTH + 1
    scene = soup(count)

    def chain(bounds: np.ndarray) -> Tree:
        counts = [0] + [1, 0] * (count - 2) + [1, 1]
        children = [(row + 1, row + 2) if size == 0 else (0, 0) for row, size in enumerate(counts)]
        first = np.cumsum(counts) - counts
        return Tree(children=children, first=first, count=counts, primitives=np.arange(count))

    builder("mine")(chain)
    for layout in LAYOUTS:
        made = make(host_target, "mine", layout)
        made.build(scene.upload(host_target))
        assert made.nodes().depth.max() == MOST_DEPTH
        assert_hits(made, scene)


def is_tree(given: Tree, boxes: np.ndarray) -> bool:
    """By another way than the checks': going down, and counting what was met."""
    met, listed, waiting = set(), [], [0]
    node_count = len(given.count)
    while waiting:
        node = waiting.pop()
        if not 0 <= node < node_count or node in met or given.count[node] < 0:
            return False
        met.add(node)
        first, count, box = int(given.first[node]), int(given.count[node]), given.bounds[node]
        if not np.isfinite(box).all() or (box[:3] > box[3:]).any():
            return False
        if count > 0:
            if first < 0 or first + count > len(given.primitives):
                return False
            held = given.primitives[first : first + count]
            if not ((held >= 0) & (held < len(boxes))).all():
                return False
            listed += held.tolist()
            below = boxes[held]
        else:
            waiting += given.children[node].tolist()
            below = given.bounds[[child for child in given.children[node] if 0 <= child < node_count]]
        if not ((below[:, :3] >= box[:3] - 1e-5) & (below[:, 3:] <= box[3:] + 1e-5)).all():
            return False
    return sorted(listed) == list(range(len(boxes)))


def test_every_spoiled_tree_is_told_from_sound_ones() -> None:
    """A thousand trees with a number or two that are others."""
    random, outcomes = np.random.default_rng(8), []
    for round_number in range(1000):
        count = int(random.integers(1, 12))
        corners = random.random((count, 6)).astype(np.float32)
        boxes = np.hstack([np.minimum(corners[:, :3], corners[:, 3:]), np.maximum(corners[:, :3], corners[:, 3:])])
        given = any_tree(boxes, seed=round_number)
        for _ in range(random.integers(0, 3)):
            column = getattr(given, str(random.choice(["children", "first", "count", "primitives", "bounds"])))
            place = tuple(int(random.integers(size)) for size in column.shape)
            column[place] = random.choice([np.nan, 0.5, 9.0]) if column.dtype.kind == "f" else random.integers(-2, 15)
        try:
            checked_tree(given, boxes, splits_references=False)
            outcomes.append(True)
        except TreeError:
            outcomes.append(False)
        assert outcomes[-1] == is_tree(given, boxes), (round_number, given)
    assert 300 < sum(outcomes) < 700
