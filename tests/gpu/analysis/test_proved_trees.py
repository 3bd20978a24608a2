"""Trees that kernels prove: what they count is what validation.py finds, of sound trees and of trees with faults, and
no tree is proved that has one."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis import proved_trees
from raygrove.gpu.analysis.proved_trees import AGAINST, proved, tallied, uploaded, validate_on
from raygrove.gpu.analysis.validation import boxes_of, validate
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.target.base import Target

from .test_validation import COLUMNS, FAULTS, INNER, LEAF, TRIANGLES, VERTICES

BOXES = boxes_of(VERTICES, TRIANGLES)
OF_FAULTS = {
    "cycle": "bad_links", "child_out_of_range": "bad_links", "shared_child": "bad_links", "negative_count": "bad_links",
    "empty_leaf": "bad_links", "leaf_out_of_range": "long_leaves", "primitive_out_of_range": "bad_primitives",
    "lost_primitive": "lost", "box_not_finite": "bad_boxes", "box_inverted": "bad_boxes",
    "child_outside": "children_outside", "primitive_outside": "primitives_outside",
    "duplicate_primitive": "duplicates",
}  # fmt: skip
"""What kernels count of each kind of fault."""


def tree_of(columns: dict[str, Any], kind: type = np.int32, **options: Any) -> rg.Tree:
    """A tree whose numbers have one type, as files have them."""
    given = {name: np.asarray(values) for name, values in columns.items()}
    return rg.Tree(
        **{name: one.astype(np.float32 if name == "bounds" else kind) for name, one in given.items()}, **options
    )


def there_of(target: Target, tree: rg.Tree | NodeTable, boxes: np.ndarray = BOXES) -> proved_trees.Uploaded:
    there = uploaded(target, tree, boxes)
    assert there is not None
    return there


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("with_bounds", [True, False])
def test_a_sound_tree_is_proved(target: Target, kind: type, with_bounds: bool) -> None:
    columns = {name: values for name, values in COLUMNS.items() if with_bounds or name != "bounds"}
    tree = tree_of(columns, kind)
    assert proved(target, there_of(target, tree), ulps=0) == validate(tree, BOXES, ulps=0)
    turned = {**COLUMNS, "children": COLUMNS["children"][:, ::-1]}
    assert proved(target, there_of(target, tree_of(turned))) == validate(tree_of(turned), BOXES)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_counted_and_named(target: Target, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, node, change = FAULTS[name]
    columns = {key: values.copy() for key, values in COLUMNS.items()}
    change(columns)
    tree = tree_of(columns)
    there = there_of(target, tree)
    assert proved(target, there) is None
    counted, said = tallied(target, there, False, 1), validate(tree, BOXES)
    assert counted[OF_FAULTS[code]] > 0
    if code not in ("cycle", "shared_child", "negative_count", "child_out_of_range", "empty_leaf", "leaf_out_of_range"):
        expected = {OF_FAULTS[fault.code]: fault.count for fault in said.faults}
        assert {of: counted[of] for of in expected} == expected
        assert {of for of in AGAINST if counted[of]} == set(expected)
    monkeypatch.setattr(proved_trees, "LEAST_NODES", 1)
    found = validate_on(target, tree, BOXES)
    assert found == said and next(fault for fault in found.faults if fault.code == code).node == node


@pytest.mark.parametrize("side", [0, 5])
def test_boxes_hold_to_the_last_bit(target: Target, side: int) -> None:
    way = np.float32(np.inf if side < 3 else -np.inf)
    small = COLUMNS["bounds"].copy()
    small[LEAF, side] = np.nextafter(small[LEAF, side], way)
    there = there_of(target, tree_of({**COLUMNS, "bounds": small}))
    assert tallied(target, there, False, 0)["primitives_outside"] == 1
    assert proved(target, there, ulps=1) is not None
    small[LEAF, side] += np.copysign(3 * np.spacing(np.abs(BOXES).max()), way)
    assert tallied(target, there_of(target, tree_of({**COLUMNS, "bounds": small})), False, 1)["primitives_outside"] == 1


def test_split_primitives_lie_in_their_leaves_together(target: Target) -> None:
    boxes = np.array([[0, 0, 0, 2, 1, 1]], np.float32)
    bounds = np.array([[0, 0, 0, 2, 1, 1], [0, 0, 0, 1, 1, 1], [1, 0, 0, 2, 1, 1]], np.float32)
    columns = {"children": [[1, 2], [0, 0], [0, 0]], "first": [0, 0, 1], "count": [0, 1, 1], "primitives": [0, 0]}
    tree = tree_of({**columns, "bounds": bounds})
    found = proved(target, there_of(target, tree, boxes), splits_references=True)
    assert found == validate(tree, boxes, splits_references=True) and found is not None and found.references == 2
    assert tallied(target, there_of(target, tree, boxes), False, 1)["duplicates"] == 1
    bounds[2, 3] = 1.5
    again = there_of(target, tree_of({**columns, "bounds": bounds}), boxes)
    assert tallied(target, again, True, 1)["primitives_outside"] == 1


def test_what_is_not_reached_is_not_looked_at(target: Target) -> None:
    """A row that nobody leads to may hold anything, but for links into the tree: those are left to the host."""
    rows = {"children": [[-7, 10**9]], "first": [-3], "count": [0], "bounds": [[np.nan] * 6]}
    columns = {
        name: np.concatenate([values, rows[name]]) if name in rows else values for name, values in COLUMNS.items()
    }
    tree = tree_of(columns)
    found = proved(target, there_of(target, tree))
    assert found == validate(tree, BOXES) and found is not None and found.unreached == 1
    columns["children"][-1] = [0, INNER]
    tree = tree_of(columns)
    assert proved(target, there_of(target, tree)) is None and validate(tree, BOXES)


@pytest.mark.parametrize("name", ["lbvh", "sbvh", "median_sah", "octree_top_down", "grid_two_level", "brute_force"])
def test_structures_are_proved_from_their_tables(target: Target, name: str) -> None:
    vertices = VERTICES.copy()
    vertices[30] = np.nan
    with rg.build(vertices, TRIANGLES, name, target=target) as structure:
        table, boxes, splits = structure.nodes(), structure.primitive_boxes(), structure.splits_references
    there = there_of(target, table, boxes)
    assert proved(target, there, splits_references=splits) == validate(table, boxes, splits_references=splits)
    assert proved(target, there_of(target, table, boxes + np.float32(0.1)), splits_references=splits) is None
    if len(table) > 5:
        for row, above in ((5, 5), (5, -1), (5, -2), (3, 10**9), (0, 0)):
            parent = table.parent.copy()
            parent[row] = above
            wrong = dataclasses.replace(table, parent=parent)
            assert tallied(target, there_of(target, wrong, boxes), splits, 1)["bad_links"] == 1


def test_no_tree_with_a_fault_is_proved(target: Target) -> None:
    """Numbers of sound trees, changed at random: what is proved is what validation.py finds sound."""
    rng, outcomes = np.random.default_rng(7), []
    for _ in range(150):
        columns: dict[str, np.ndarray] = {name: values.copy() for name, values in COLUMNS.items()}
        name = rng.choice([*columns])
        at = tuple(int(rng.integers(0, size)) for size in columns[name].shape)
        same = columns[name].reshape(-1)[rng.integers(0, columns[name].size)]
        columns[name][at] = rng.choice([same, same, -1, 0, len(columns["count"]), 1 << 30])
        tree = tree_of(columns)
        found, said = proved(target, there_of(target, tree)), validate(tree, BOXES)
        assert found == (said if said else None), (name, at)
        outcomes.append(found is not None)
    assert 10 < sum(outcomes) < 120


def test_leaves_that_list_too_much_are_left_to_the_host(target: Target) -> None:
    count = proved_trees.LONG_LEAF + 1
    boxes = np.tile(np.array([[0, 0, 0, 1, 1, 1]], np.float32), (count, 1))
    tree = tree_of({"children": [[0, 0]], "first": [0], "count": [count], "primitives": np.arange(count)})
    assert proved(target, there_of(target, tree, boxes)) is None and validate(tree, boxes)
    many = 300  # ranges that overlap
    inner = np.arange(many - 1)
    children = np.concatenate([np.column_stack([2 * inner + 1, 2 * inner + 2]), np.zeros((many, 2), int)])
    counts = np.concatenate([np.zeros(many - 1, int), np.full(many, 40)])
    overlapping = tree_of({"children": children, "first": 0 * counts, "count": counts, "primitives": np.arange(40)})
    counted = tallied(target, there_of(target, overlapping), False, 1)
    assert counted["listed"] == many * 40 and counted["reached"] == 0, "leaves are not looked at"
    assert proved(target, there_of(target, overlapping)) is None


def test_other_types_are_left_to_the_host(target: Target) -> None:
    tree = tree_of(COLUMNS)
    assert uploaded(target, tree, BOXES.astype(np.float64)) is None
    assert uploaded(target, dataclasses.replace(tree, first=tree.first.astype(np.uint32)), BOXES) is None
    assert uploaded(target, rg.Tree(children=[[0, 0]], first=[0], count=[1], primitives=[0]), BOXES) is None
    assert uploaded(target, dataclasses.replace(tree, bounds=tree.bounds[1:]), BOXES) is None
    assert validate_on(target, dataclasses.replace(tree, first=[0.5]), BOXES).faults[0].code == "malformed"
