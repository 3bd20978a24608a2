"""Trees that are sound, and the same with one fault each: the fault is named, with the node that has it."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis import validation
from raygrove.gpu.analysis.validation import boxes_of
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target


def soup(count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    places = np.random.default_rng(seed).uniform(-5, 5, (count, 1, 3))
    corners = places + np.random.default_rng(seed + 1).uniform(-0.3, 0.3, (count, 3, 3))
    return corners.reshape(-1, 3).astype(np.float32), np.arange(3 * count, dtype=np.int32).reshape(-1, 3)


def halved(boxes: np.ndarray, leaf: int = 2) -> dict[str, np.ndarray]:
    """A tree by halving along the longest side, its boxes found by plain loops."""
    rows: list[tuple[list[int], int, int, list[int]]] = []
    primitives: list[int] = []

    def made(ids: list[int]) -> int:
        node = len(rows)
        rows.append(([0, 0], 0, 0, ids))
        if len(ids) <= leaf:
            rows[node] = ([0, 0], len(primitives), len(ids), ids)
            primitives.extend(ids)
            return node
        sides = np.ptp(boxes[ids, :3], axis=0)
        ids = sorted(ids, key=lambda one: float(boxes[one, sides.argmax()]))
        rows[node] = ([made(ids[: len(ids) // 2]), made(ids[len(ids) // 2 :])], 0, 0, ids)
        return node

    made(list(range(len(boxes))))
    bounds = [[*boxes[ids, :3].min(axis=0), *boxes[ids, 3:].max(axis=0)] for *_, ids in rows]
    return {
        "children": np.array([row[0] for row in rows]), "first": np.array([row[1] for row in rows]),
        "count": np.array([row[2] for row in rows]), "primitives": np.array(primitives),
        "bounds": np.array(bounds, np.float32),
    }  # fmt: skip


VERTICES, TRIANGLES = soup(40)
COLUMNS = halved(boxes_of(VERTICES, TRIANGLES))
INNER = int(np.flatnonzero(COLUMNS["count"] == 0)[3])
LEAF = int(np.flatnonzero(COLUMNS["count"] > 1)[2])


def test_a_sound_tree_is_proved() -> None:
    found = rg.validate(rg.Tree(**COLUMNS), VERTICES, TRIANGLES, ulps=0)
    assert found and found.faults == ()
    assert (found.nodes, found.references, found.primitives) == (len(COLUMNS["count"]), 40, 40)
    assert found.leaves == int((COLUMNS["count"] > 0).sum()) and found.unreached == 0
    assert json.loads(found.to_json())["is_valid"] is True
    found.raise_if_bad()


def test_faults_raise_with_their_sentences() -> None:
    columns = {name: np.array(values) for name, values in COLUMNS.items()}
    columns["primitives"][0] = columns["primitives"][1]
    found = rg.validate(rg.Tree(**columns), VERTICES, TRIANGLES)
    with pytest.raises(rg.Error) as raised:
        found.raise_if_bad()
    assert len(found.faults) > 1 and all(fault.sentence.rstrip(".") in str(raised.value) for fault in found.faults)


Change = Callable[[dict[str, np.ndarray]], object]
FAULTS: dict[str, tuple[str, int | None, Change]] = {
    "cycle": ("cycle", INNER, lambda c: c["children"].__setitem__(INNER, [0, 1])),
    "itself": ("cycle", INNER, lambda c: c["children"].__setitem__((INNER, 1), INNER)),
    "out of range": ("child_out_of_range", INNER, lambda c: c["children"].__setitem__((INNER, 0), 10**9)),
    "twice": ("shared_child", INNER, lambda c: c["children"].__setitem__((INNER, 1), c["children"][INNER, 0])),
    "negative": ("negative_count", LEAF, lambda c: c["count"].__setitem__(LEAF, -4)),
    "empty": ("empty_leaf", LEAF, lambda c: (c["count"].__setitem__(LEAF, 0), c["children"].__setitem__(LEAF, -1))),
    "1e9": ("leaf_out_of_range", LEAF, lambda c: c["count"].__setitem__(LEAF, 10**9)),
    "no such": ("primitive_out_of_range", LEAF, lambda c: c["primitives"].__setitem__(c["first"][LEAF], 40)),
    "lost": ("lost_primitive", None, lambda c: c["count"].__setitem__(LEAF, 1)),
    "NaN": ("box_not_finite", LEAF, lambda c: c["bounds"].__setitem__((LEAF, 1), np.nan)),
    "infinite": ("box_not_finite", LEAF, lambda c: c["bounds"].__setitem__((LEAF, 4), np.inf)),
    "inverted": ("box_inverted", LEAF, lambda c: c["bounds"].__setitem__(LEAF, np.roll(c["bounds"][LEAF], 3))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_node(name: str) -> None:
    code, node, change = FAULTS[name]
    columns = {key: values.copy() for key, values in COLUMNS.items()}
    change(columns)
    found = rg.validate(rg.Tree(**columns), VERTICES, TRIANGLES)
    assert not found
    fault = next(fault for fault in found.faults if fault.code == code)
    assert fault.node == node
    if node is not None:
        assert f" {node} " in fault.sentence


def test_what_is_listed_again_is_a_duplicate_unless_references_are_split() -> None:
    columns = {key: values.copy() for key, values in COLUMNS.items()}
    other = next(int(leaf) for leaf in np.flatnonzero(columns["count"] > 0) if leaf != LEAF)
    again = int(columns["primitives"][columns["first"][other]])
    columns["primitives"] = np.append(
        columns["primitives"], [again, *columns["primitives"][columns["first"][LEAF] :][:2]]
    )
    columns["first"][LEAF], columns["count"][LEAF] = 40, 3
    found = rg.validate(rg.Tree(**columns), VERTICES, TRIANGLES)
    assert [fault.code for fault in found.faults] == ["duplicate_primitive", "primitive_outside"]
    split = rg.validate(rg.Tree(**columns), VERTICES, TRIANGLES, splits_references=True)
    assert [fault.code for fault in split.faults] == ["primitive_outside"]


@pytest.mark.parametrize("side", [0, 5])
def test_boxes_hold_to_the_last_bit(side: int) -> None:
    """A box that is one rounding too small is found with ulps=0, one of three with ulps=1."""
    way = np.float32(np.inf if side < 3 else -np.inf)
    small = COLUMNS["bounds"].copy()
    small[LEAF, side] = np.nextafter(small[LEAF, side], way)
    tree = rg.Tree(**{**COLUMNS, "bounds": small})
    assert [fault.code for fault in rg.validate(tree, VERTICES, TRIANGLES, ulps=0).faults] == ["primitive_outside"]
    assert rg.validate(tree, VERTICES, TRIANGLES)
    largest = np.abs(boxes_of(VERTICES, TRIANGLES)).max()
    small[LEAF, side] += np.copysign(3 * np.spacing(largest), way)
    (fault,) = rg.validate(tree, VERTICES, TRIANGLES).faults
    assert (fault.code, fault.node) == ("primitive_outside", LEAF)


def test_a_child_that_stands_out_is_named_with_its_parent() -> None:
    bounds = COLUMNS["bounds"].copy()
    child = int(COLUMNS["children"][INNER, 1])
    bounds[child, 3:] += 3.0
    found = rg.validate(rg.Tree(**{**COLUMNS, "bounds": bounds}), VERTICES, TRIANGLES)
    assert (found.faults[0].code, found.faults[0].node) == ("child_outside", INNER)
    assert f"its child {child}" in found.faults[0].sentence


def test_geometry_of_another_instant_is_seen() -> None:
    (fault,) = rg.validate(rg.Tree(**COLUMNS), VERTICES + np.float32(0.1), TRIANGLES).faults
    assert fault.code == "primitive_outside" and "another instant" in fault.sentence and fault.count > 20


def test_split_primitives_lie_in_their_leaves_together() -> None:
    boxes = np.array([[0, 0, 0, 2, 1, 1]], np.float32)
    tree: dict[str, Any] = {"children": [[1, 2], [0, 0], [0, 0]], "first": [0, 0, 1], "count": [0, 1, 1]}
    bounds = np.array([[0, 0, 0, 2, 1, 1], [0, 0, 0, 1, 1, 1], [1, 0, 0, 2, 1, 1]], np.float32)
    assert rg.validate(rg.Tree(**tree, primitives=[0, 0], bounds=bounds), boxes, splits_references=True)
    bounds[2, 3] = 1.5
    found = rg.validate(rg.Tree(**tree, primitives=[0, 0], bounds=bounds), boxes, splits_references=True)
    assert [fault.code for fault in found.faults] == ["primitive_outside"]


def test_what_is_not_finite_need_not_be_listed() -> None:
    vertices = np.vstack([VERTICES, [[np.nan, 0, 0], [1, 0, 0], [0, 1, 0]]]).astype(np.float32)
    assert rg.validate(rg.Tree(**COLUMNS), vertices, np.vstack([TRIANGLES, [[120, 121, 122]]]))


def test_a_chain_of_a_million_is_refused_at_once() -> None:
    count = 1_000_001
    inner = np.arange(count) < count // 2
    children = np.where(inner[:, None], np.column_stack([np.arange(count) + 1, count - 1 - np.arange(count)]), 0)
    tree = rg.Tree(children=children, first=np.zeros(count, int), count=np.where(inner, 0, 1), primitives=[0])
    (fault,) = rg.validate(tree, np.zeros((1, 6), np.float32)).faults
    assert fault.code in ("too_deep", "shared_child")


@pytest.mark.parametrize("name", sorted(structures()))
def test_every_structure_of_the_project_is_sound(name: str, host_target: Target) -> None:
    """Where triangles are needles, coincident, flat or not finite, too."""
    vertices, triangles = soup(60)
    vertices[:9] = vertices[0]
    vertices[30] = np.nan
    with rg.build(vertices, triangles, name, target=host_target) as structure:
        found = structure.validate()
        assert found, found.sentence


def test_a_structure_that_was_not_updated_is_stale(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    vertices = VERTICES.copy()
    mesh = scene.add_mesh(vertices, TRIANGLES)
    with rg.build(scene, "hploc@refit") as structure:
        assert structure.validate()
        vertices += np.float32(0.2)
        mesh.touch()
        assert [fault.code for fault in structure.validate().faults] == ["primitive_outside"]
        structure.update()
        assert structure.validate()


def test_what_is_no_tree_or_no_geometry_is_said() -> None:
    with pytest.raises(rg.Error, match="a tree is a"):
        rg.validate(object(), VERTICES, TRIANGLES)
    with pytest.raises(rg.Error, match="no geometry"):
        rg.validate(rg.Tree(**COLUMNS))
    with pytest.raises(rg.Error, match="boxes have the shape"):
        rg.validate(rg.Tree(**COLUMNS), VERTICES)
    (fault,) = rg.validate(rg.Tree(**{**COLUMNS, "first": [0.5]}), VERTICES, TRIANGLES).faults
    assert fault.code == "malformed"


def test_primitives_without_a_box_need_not_be_listed() -> None:
    """Inverted along one axis alone is a box of nothing, too."""
    boxes = np.array([[0, 0, 0, 1, 1, 1], [3, 1, 0, 2, 2, 1], [2, 0, 0, 3, 1, 1]], np.float32)
    columns = {"children": np.array([[1, 2], [0, 0], [0, 0]]), "first": np.array([0, 0, 1]),
               "count": np.array([0, 1, 1]), "primitives": np.array([0, 2]),
               "bounds": np.array([[0, 0, 0, 3, 1, 1], boxes[0], boxes[2]], np.float32)}  # fmt: skip
    assert rg.validate(rg.Tree(**columns), boxes).faults == ()
    boxes[1, 0] = 1.0
    assert [fault.code for fault in rg.validate(rg.Tree(**columns), boxes).faults] == ["lost_primitive"]


def test_a_row_above_itself_is_a_circle(host_target: Target) -> None:
    with rg.build(VERTICES, TRIANGLES, "lbvh", device="cpu") as structure:
        table, boxes = structure.nodes(), structure.primitive_boxes()
    parent = table.parent.copy()
    parent[5] = 5
    found = rg.validate(dataclasses.replace(table, parent=parent), boxes)
    assert [(fault.code, fault.node) for fault in found.faults] == [("cycle", 5)]


@pytest.mark.parametrize("block", [3, 7, 1 << 17])
def test_the_first_bad_row_is_named_whatever_block_it_is_in(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "BLOCK", block)
    columns = {name: np.array(values) for name, values in COLUMNS.items()}
    leaves = np.flatnonzero(columns["count"])[5:7]
    columns["bounds"][leaves, 3:] = columns["bounds"][leaves, :3] - 1.0
    (fault,) = [
        one for one in rg.validate(rg.Tree(**columns), VERTICES, TRIANGLES).faults if one.code == "box_inverted"
    ]
    nodes = validation.tree_walked(rg.Tree(**columns))[1].nodes
    assert fault.count == 2 and fault.node == next(int(node) for node in nodes if node in set(leaves.tolist()))
