"""The cells beside a cell, against grids written by hand and, in trees that were built, against looking places up among
all leaves."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames import cell_neighbours
from raygrove.app.frames.cell_neighbours import CONTACTS, neighbours_of
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import fit
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.scene import Moment
from tests.app.frames.whole_pictures import whole_picture


def cells(across: tuple[int, int, int], size: tuple[float, float, float] = (0.1, 0.7, 1.3)) -> NodeTable:
    """A root over cells of one size, in the order of `itertools.product`."""
    places = np.array([(0, 0, 0), *itertools.product(*map(range, across))])
    lower, upper = (places * size).astype(np.float32), ((places + 1) * size).astype(np.float32)
    upper[0] = np.multiply(across, size)
    count = len(places)
    parent, none = np.where(np.arange(count) == 0, -1, 0), np.zeros(count, np.int32)
    is_leaf = np.arange(count) > 0
    return NodeTable(parent, is_leaf.astype(np.int32), lower, upper, is_leaf, none, none, none[:0])


@pytest.mark.parametrize(
    ("place", "counts"),
    [((1, 1, 1), (6, 12, 8)), ((0, 0, 0), (3, 3, 1)), ((0, 1, 1), (5, 8, 4)), ((0, 2, 1), (4, 5, 2))],
)
def test_cells_of_one_size(place: tuple[int, int, int], counts: tuple[int, int, int]) -> None:
    row = 1 + int(np.ravel_multi_index(place, (3, 3, 3)))
    found = neighbours_of(cells((3, 3, 3)), row)
    assert found.counts == counts == tuple(len(found.of(contact)) for contact in CONTACTS)
    for steps, contact in enumerate(CONTACTS, start=1):
        for node in found.of(contact):
            other = np.unravel_index(node.node_id - 1, (3, 3, 3))
            step = np.abs(np.subtract(other, place))
            assert step.max() == 1 and step.sum() == steps


def test_cells_of_a_flat_scene_share_its_plane() -> None:
    found = neighbours_of(cells((3, 3, 1), (1.0, 1.0, 0.0)), 5)
    assert found.counts == (4, 4, 0)


def test_cells_outside_of_the_scene_are_left_out() -> None:
    """An octree's cell beyond the scene's end has no width there."""
    table = cells((3, 1, 1))
    table.lower[3, 0] = table.upper[3, 0] = table.upper[2, 0]
    table.upper[0, 0] = table.upper[2, 0]
    found = neighbours_of(table, 2)
    assert found.counts == (1, 0, 0) and found.face[0].node_id == 1


def test_of_too_many_the_nearest_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_neighbours, "MOST", 2)
    found = neighbours_of(cells((3, 3, 3)), 14)
    assert found.counts == (6, 12, 8) and len(found.edge) == 2
    assert {node.node_id for node in found.face} == {14 - 9, 14 + 9}, "0.1 apart in x, farther in y and z"


@pytest.mark.parametrize("hierarchy", ["octree_top_down", "octree_bottom_up", "grid", "grid_two_level", "median_sah"])
def test_what_is_beside_a_picked_cell_is_found_by_looking_places_up(hierarchy: str) -> None:
    """Places just outside of faces, edges and corners lie in leaves that are listed; and each that is listed across a
    face holds such a place."""
    scene = make_demo("walker", 600)
    state = State(settings=set_option(set_option(Settings(), "render.device", "cpu"), "render.hierarchy", hierarchy))
    state = replaced(state, "cameras", (fit(scene.lower, scene.upper),))
    with contextlib.closing(FrameMaker()) as maker:
        whole_picture(maker, scene, state, Moment(0.4), [HostSlot(64, 48)])
        picks = [maker.pick(x / 9, y / 9, with_path=True) for x in range(2, 9) for y in range(2, 9)]
        table = maker._engine.nodes(maker._views[0])
    picked = {one.path[-1].node_id: one for one in picks if one is not None and one.path}
    assert len(picked) > 2 and all(not one.path for one in picks if one is not None and one.hit is None)
    for row, one in list(picked.items())[:12]:
        assert one.neighbours is not None and one.hit is not None
        np.testing.assert_array_less(np.array(one.path[-1].lower) - 1e-5, one.hit.position)
        listed = [{node.node_id for node in one.neighbours.of(contact)} for contact in CONTACTS]
        seen = _looked_up(table, row)
        for steps in range(3):
            assert seen[steps] <= set.union(*listed[: steps + 1]), CONTACTS[steps]
        for node in one.neighbours.face:
            assert node.node_id in seen[0] | _looked_up(table, row, node.node_id)[0]
        assert not (listed[0] & listed[1] or listed[1] & listed[2] or listed[0] & listed[2]) and listed[0]


def _looked_up(table: NodeTable, row: int, towards: int = -1) -> list[set[int]]:
    """The leaves that hold places just outside of a cell, by how many axes they are outside along; `towards` a leaf:
    only beside what they have in common."""
    lower, upper = table.lower.astype(float), table.upper.astype(float)
    sizes = upper - lower
    is_cell = table.is_leaf & (sizes > 0).all(axis=1)
    far = 1e-3 * sizes[is_cell].min(axis=0)
    is_near = is_cell & ((lower < upper[row] + 2 * far) & (upper > lower[row] - 2 * far)).all(axis=1)
    near = np.flatnonzero(is_near)  # no other one can hold a place that is asked for
    inner_lower, inner_upper = lower[row], upper[row]
    if towards >= 0:
        inner_lower, inner_upper = np.maximum(inner_lower, lower[towards]), np.minimum(inner_upper, upper[towards])
    found: list[set[int]] = [set(), set(), set()]
    for side in itertools.product((-1, 0, 1), repeat=3):
        steps = np.count_nonzero(side)
        if steps == 0:
            continue
        shares = np.random.default_rng(7).random((40, 3))
        if towards >= 0:
            shares[0] = 0.5
        places = inner_lower + shares * (inner_upper - inner_lower)
        for axis in np.flatnonzero(side):
            places[:, axis] = upper[row, axis] + far[axis] if side[axis] > 0 else lower[row, axis] - far[axis]
        holds = ((lower[near] < places[:, None]) & (places[:, None] < upper[near])).all(axis=2)
        found[steps - 1] |= set(near[holds.any(axis=0)].tolist())
    return found


def test_a_tree_of_boxes_that_overlap_has_no_cells() -> None:
    scene = make_demo("walker", 600)
    state = State(settings=set_option(set_option(Settings(), "render.device", "cpu"), "render.hierarchy", "lbvh"))
    state = replaced(state, "cameras", (fit(scene.lower, scene.upper),))
    with contextlib.closing(FrameMaker()) as maker:
        whole_picture(maker, scene, state, Moment(0.4), [HostSlot(64, 48)])
        picks = [maker.pick(x / 9, y / 9, with_path=True) for x in range(2, 9) for y in range(2, 9)]
    found = [one for one in picks if one is not None and one.path]
    assert found and all(one.neighbours is None for one in found)
