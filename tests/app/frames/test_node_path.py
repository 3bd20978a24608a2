"""The way from the root to a primitive's leaf, against a small tree written by hand and trees that were built."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.node_path import path_to
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import fit
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.traversed_nodes import traversed_nodes
from raygrove.gpu.scene import Moment
from raygrove.testing import make_target
from tests.app.frames.whole_pictures import whole_picture
from tests.gpu.trace.scenes import built, soup


def table() -> NodeTable:
    """A root over a leaf with references 0 and 1 and an inner node over two leaves, both of which hold primitive 7."""
    lower = np.array([[0, 0, 0], [0, 0, 0], [2, 0, 0], [2, 0, 0], [3, 0, 0]], np.float32)
    upper = np.array([[4, 1, 1], [1, 1, 1], [4, 1, 1], [3, 1, 1], [4, 1, 1]], np.float32)
    counts = np.array([0, 2, 0, 1, 2], np.int32)
    first = np.array([0, 3, 0, 0, 1], np.int32)
    references = np.array([7, 7, 5, 2, 9], np.int32)
    return NodeTable(
        np.array([-1, 0, 0, 2, 2]), np.array([0, 1, 1, 2, 2]), lower, upper, counts > 0, first, counts, references
    )


def test_the_way_leads_from_the_root_to_the_leaf() -> None:
    path = path_to(table(), 9, (0.5, 0.5, 0.5))
    assert [(node.node_id, node.depth, node.is_leaf, node.reference_count) for node in path] == [
        (0, 0, False, 0),
        (1, 1, True, 2),
    ]
    assert path[0].share == 1.0 and path[1].share == pytest.approx(6.0 / 18.0)


@pytest.mark.parametrize(("x", "leaf"), [(2.5, 3), (3.5, 4), (9.0, 4)])
def test_of_split_references_the_leaf_at_the_point_counts(x: float, leaf: int) -> None:
    assert [node.node_id for node in path_to(table(), 7, (x, 0.5, 0.5))] == [0, 2, leaf]


def test_a_primitive_that_no_leaf_holds_has_no_way() -> None:
    assert path_to(table(), 3, (0.0, 0.0, 0.0)) == ()


@pytest.mark.parametrize("hierarchy", ["lbvh", "brute_force"])
def test_a_picked_pixel_lies_in_every_box_of_its_way(hierarchy: str) -> None:
    scene = make_demo("walker", 600)
    state = State(settings=set_option(set_option(Settings(), "render.device", "cpu"), "render.hierarchy", hierarchy))
    state = replaced(state, "cameras", (fit(scene.lower, scene.upper),))
    with contextlib.closing(FrameMaker()) as maker:
        assert maker.pick(0.5, 0.5) is None, "nothing has been drawn yet"
        whole_picture(maker, scene, state, Moment(0.4), [HostSlot(64, 48)])
        found = [maker.pick(x / 32, y / 24, with_path=True) for x in range(32) for y in range(24)]
        assert maker.pick(0.5, 0.5, 1) is None, "there is no second view"
    hits = [one for one in found if one is not None and one.hit is not None]
    assert 20 < len(hits) < len(found)
    for one in hits:
        assert one.hit is not None and one.path[0].node_id == 0 and one.path[-1].is_leaf
        assert [node.depth for node in one.path] == list(range(len(one.path)))
        for node in one.path:
            assert np.all(np.array(node.lower) <= np.array(one.hit.position) + 1e-3)
            assert np.all(np.array(one.hit.position) <= np.array(node.upper) + 1e-3)


@pytest.mark.parametrize("layout", ["bvh2", "bvh4", "bvh8", "cwbvh"])
def test_nodes_are_called_what_the_traversal_calls_them(layout: str) -> None:
    """Those that a wide layout has joined with the one above have no name."""
    with make_target("host") as target:
        made = built(target, soup(4, 120), "lbvh", layout)
        rows, nodes = made.nodes(), traversed_nodes(made)
        for prim_id in (0, 60, 119):
            path = path_to(rows, prim_id, (0.0, 0.0, 0.0))
            told = [node.told for node in path if node.told is not None]
            assert told == [node.id for node in nodes.paths_to_primitive(prim_id)[0]]
            assert len(told) < len(path) or layout == "bvh2"
