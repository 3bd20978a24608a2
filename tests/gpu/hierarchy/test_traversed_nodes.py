"""Nodes one by one are those of the whole table: the same boxes, leaves and references, by the numbers that events
use."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.analysis.followed_ray import told_nodes
from raygrove.gpu.analysis.ray_log import Event, record_ray
from raygrove.gpu.hierarchy.base import Hierarchy, HierarchyError
from raygrove.gpu.hierarchy.traversed_nodes import TraversedNodes, TreeNode, traversed_nodes
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays
from tests.gpu.hierarchy.test_depth_bounds import built as bounded
from tests.gpu.hierarchy.test_depth_bounds import long_scene
from tests.gpu.trace.scenes import built, random_rays, soup

STRUCTURES = [
    *(("lbvh", layout) for layout in ("bvh2", "bvh2_soa", "bvh2_compact", "bvh4", "bvh8", "cwbvh")),
    *(("sbvh", "bvh2"), ("median_sah", "kd8"), ("octree_top_down", "octree8"), ("octree_complete", "octree8")),
    *(("grid", "cells8"), ("grid_two_level", "blocks8"), ("brute_force", "records")),
]
over_structures = pytest.mark.parametrize(("name", "layout"), STRUCTURES)
LOOSE = {"cwbvh": 0.05} | dict.fromkeys(("bvh2", "bvh2_soa", "bvh2_compact"), 0.011)
"""How much larger than what they hold boxes may be, in parts of the scene; others are rounded alone."""


def everything(nodes: TraversedNodes) -> dict[int, TreeNode]:
    """All nodes from the root on, in pages of three."""
    root, found, waiting = nodes.root(), {}, []
    if root is not None:
        waiting.append(root)
    while waiting:
        node = waiting.pop()
        assert node.id not in found
        found[node.id] = node
        first = 0
        while page := nodes.children(node, first, 3):
            assert all((one.parent, one.depth) == (node.id, node.depth + 1) for one in page)
            waiting += page
            first += len(page)
    return found


def leaves(made: Hierarchy) -> list[tuple[np.ndarray, np.ndarray, list[int]]]:
    """Box and primitives of each leaf of the table that holds any, in the order of the references."""
    table = made.nodes()
    rows = np.flatnonzero(table.is_leaf & (table.reference_count > 0))
    rows = rows[np.argsort(table.first_reference[rows], kind="stable")]
    first, count = table.first_reference, table.reference_count
    return [
        (table.lower[row], table.upper[row], table.references[first[row] : first[row] + count[row]].tolist())
        for row in rows
    ]


@over_structures
def test_leaves_are_those_of_the_table(target: Target, name: str, layout: str) -> None:
    made = built(target, soup(4, 150), name, layout)
    nodes = traversed_nodes(made)
    found = everything(nodes)
    ends = [node for node in found.values() if node.is_leaf and node.reference_count > 0]
    ends.sort(key=lambda node: node.first_reference)
    expected = leaves(made)
    assert len(ends) == len(expected) > 0
    slack = LOOSE.get(layout, 1e-4)
    for node, (lower, upper, references) in zip(ends, expected, strict=True):
        assert list(nodes.references(node)) == references[:100]
        np.testing.assert_allclose(node.lower, lower, atol=slack)
        np.testing.assert_allclose(node.upper, upper, atol=slack)
    for node in found.values():
        if node.parent is not None and layout != "cwbvh":
            above = found[node.parent]
            assert (np.array(node.lower) >= np.array(above.lower) - slack).all()
            assert (np.array(node.upper) <= np.array(above.upper) + slack).all()


@over_structures
def test_every_node_is_found_by_its_number_and_every_primitive_by_its_leaves(
    target: Target, name: str, layout: str
) -> None:
    made = built(target, soup(4, 150), name, layout)
    nodes = traversed_nodes(made)
    found = everything(nodes)
    for node_id in list(found)[:: max(1, len(found) // 40)]:
        path = nodes.path_to(node_id)
        assert path[-1] == found[node_id] and path[0] == nodes.root()
        assert all(below.parent == above.id for above, below in zip(path, path[1:], strict=False))
    assert nodes.path_to(10**6) == () and nodes.path_to(-(10**6)) == ()
    for prim_id in (0, 71, 149):
        paths = nodes.paths_to_primitive(prim_id)
        assert paths and all(prim_id in nodes.references(path[-1], 10**6) for path in paths)
        holders = [node.id for node in found.values() if node.is_leaf and prim_id in nodes.references(node, 10**6)]
        assert sorted(path[-1].id for path in paths) == sorted(holders)
    assert nodes.paths_to_primitive(150) == ()


@over_structures
def test_the_smallest_node_that_holds_a_box_is_found(target: Target, name: str, layout: str) -> None:
    """Beside all nodes whose ways down lead through nodes that hold it, looked at one by one."""
    made = built(target, soup(4, 150), name, layout)
    nodes = traversed_nodes(made)
    found = everything(nodes)

    def holds(node: TreeNode | None, lower: np.ndarray, upper: np.ndarray) -> bool:
        while node is not None:
            if (np.array(node.lower) > lower).any() or (np.array(node.upper) < upper).any():
                return False
            node = None if node.parent is None else found[node.parent]
        return True

    some = list(found.values())[:: max(1, len(found) // 12)]
    for node in some:
        middle = 0.5 * (np.array(node.lower, np.float64) + node.upper)
        for reach in (0.0, 0.4):
            lower, upper = (middle + sign * reach * (np.array(node.upper) - node.lower) for sign in (-1.0, 1.0))
            path = nodes.path_holding(tuple(lower), tuple(upper))
            least = min(one.area for one in found.values() if holds(one, lower, upper))
            assert path[-1].area == least and path[0] == nodes.root()
            assert all(below.parent == above.id for above, below in zip(path, path[1:], strict=False))
    assert nodes.path_holding((-1e6, 0.0, 0.0), (1e6, 0.0, 0.0)) == ()


@over_structures
def test_what_a_ray_tells_of_is_in_the_tree(target: Target, name: str, layout: str) -> None:
    """Each node that events name is known, with the box that the ray enters where it is said to."""
    made = built(target, soup(4, 150), name, layout)
    nodes = traversed_nodes(made)
    known = everything(nodes)
    origins, directions = random_rays(5, 8)
    for origin, direction in zip(origins, directions, strict=True):
        log = record_ray(Tracer(target, made.traversal()), upload_rays(target, origin[None], direction[None]))
        told = told_nodes(nodes, log)
        for step in (log[n] for n in range(len(log))):
            if step.event >= Event.PRIMITIVE_TESTED:
                continue
            assert told[step.id] == known[step.id]
            if step.event in (Event.NODE_ENTERED, Event.LEAF_ENTERED) and step.entry > log.t_min:
                at = origin.astype(np.float64) + step.entry * direction.astype(np.float64)
                assert (at >= np.array(told[step.id].lower) - 1e-3).all()
                assert (at <= np.array(told[step.id].upper) + 1e-3).all()


@pytest.mark.parametrize(("name", "layout"), STRUCTURES)
def test_trees_over_nothing_and_over_one(target: Target, name: str, layout: str) -> None:
    nothing = traversed_nodes(built(target, np.zeros((0, 3, 3), np.float32), name, layout))
    assert nothing.root() is None and nothing.path_to(0) == () and nothing.paths_to_primitive(0) == ()
    nodes = traversed_nodes(built(target, soup(1, 1), name, layout))
    assert len(nodes.paths_to_primitive(0)) >= 1 and nodes.root() is not None


def test_long_leaves_are_counted_in_whole(target: Target) -> None:
    made = bounded(target, "binned_sah", long_scene(), "bvh4", "bvh4_stack", max_depth=1)
    found = [node.reference_count for node in everything(traversed_nodes(made)).values() if node.is_leaf]
    assert max(found) > 64 and sum(found) == len(made.nodes().references)


def test_a_family_that_does_not_tell_is_an_error(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    made = built(target, soup(1, 2))
    monkeypatch.setattr(type(made), "family", "primitives")
    with pytest.raises(HierarchyError, match="does not tell its nodes one by one"):
        traversed_nodes(made)
