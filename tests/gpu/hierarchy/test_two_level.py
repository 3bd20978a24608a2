"""One tree per object and a tree above: what is touched when some of the objects move, and that nobody can tell from
what rays hit."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy import primitives as kinds
from raygrove.gpu.hierarchy.base import HierarchyError, NodeTable, ObjectRange, Primitives, StructureChoice
from raygrove.gpu.hierarchy.bvh.builders.incremental import Incremental
from raygrove.gpu.hierarchy.bvh.builders.two_level import TwoLevel, TwoLevelOptions
from raygrove.gpu.hierarchy.bvh.builders.two_level.objects import ranges_of, tiles_of
from raygrove.gpu.hierarchy.primitives import WIDE_REFERENCE_BITS, triangle_primitives
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Channel, Clip, Mesh, Moment, Node, Object, Scene, Track
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from raygrove.testing.closest_hits import mixed_hits, triangle_hits
from raygrove.testing.contract import all_bytes, assert_hits
from raygrove.testing.scenes import TriangleScene, mixed_scene, rays, scene_of
from raygrove.testing.tree_walker import check_tree

SIZES = (1, 12, 0, 3, 300, 5, 12, 12, 600, 2, 12, 40, 0)
"""Triangles of objects: fewer than a leaf, a tile's share, more than a tile, none."""


class Things:
    """Objects of so many triangles each on a target, which can be moved one by one."""

    def __init__(self, target: Target, sizes: tuple[int, ...] = SIZES, seed: int = 5) -> None:
        random = np.random.default_rng(seed)
        corners = [
            random.random((1, 1, 3))
            + 0.1 * random.standard_normal((n, 1, 3))
            + 0.03 * random.standard_normal((n, 3, 3))
            for n in sizes
        ]
        scene = scene_of(np.concatenate(corners))
        self.now = np.array(scene.positions)
        self.indices = scene.indices
        self.target, firsts = target, np.cumsum(sizes) - sizes
        objects = tuple(ObjectRange(int(first), size, 0) for first, size in zip(firsts, sizes, strict=True))
        self.positions = target.upload(self.now, "test")
        self.primitives = triangle_primitives(self.positions, target.upload(self.indices, "test"), objects=objects)

    def move(self, *which: int, by: float = 0.4) -> None:
        """Other vertices for these objects, and their versions grow."""
        objects = list(self.primitives.objects)
        for index in which:
            thing = objects[index]
            self.now[3 * thing.first : 3 * (thing.first + thing.count)] += np.float32(by)
            objects[index] = thing._replace(version=thing.version + 1)
        self.target.write(self.positions, self.now)
        version = self.primitives.shape_version + 1
        self.primitives = dataclasses.replace(self.primitives, objects=tuple(objects), shape_version=version)

    @property
    def scene(self) -> TriangleScene:
        return TriangleScene(self.now, self.indices, self.now)


def build(things: Things, layout: str = "auto", **options: Any) -> TwoLevel:
    made = TwoLevel(things.target, StructureChoice(TwoLevelOptions(**options), layout))
    made.build(things.primitives)
    return made


def assert_right(made: TwoLevel, things: Things) -> None:
    """A sound tree over what there is now, with the hits of brute force, and scratch as it was found."""
    check_tree(made.nodes(), *things.scene.boxes())
    assert_hits(made, triangle_hits(things.scene.corners(), *rays()))
    assert (made.target.download(made.tree.waiting) == -1).all()


def sets_below(table: NodeTable) -> set[frozenset[int]]:
    """The primitives under every node."""
    below: list[set[int]] = [set() for _ in range(len(table))]
    for node in range(len(table) - 1, -1, -1):
        first = int(table.first_reference[node])
        below[node] |= set(table.references[first : first + int(table.reference_count[node])].tolist())
        if table.parent[node] >= 0:
            below[table.parent[node]] |= below[node]
    return {frozenset(primitives) for primitives in below}


@pytest.mark.parametrize("leaf_size", [1, 32])
def test_every_object_is_one_subtree(target: Target, leaf_size: int) -> None:
    things = Things(target)
    made = build(things, max_leaf_size=leaf_size)
    assert_right(made, things)
    found = sets_below(made.nodes())
    for thing in things.primitives.objects:
        assert thing.count == 0 or frozenset(range(thing.first, thing.first + thing.count)) in found


@pytest.mark.parametrize("builder", ["hploc", "binned_sah", "lbvh", "task_pool"])
def test_objects_trees_by_another_builder(target: Target, builder: str) -> None:
    things, plain = Things(target), Things(target)
    made, linear = build(things, builder=builder), build(plain)
    assert_right(made, things)
    for hierarchy in (made, linear):
        hierarchy.measure()
    target.synchronize()
    if builder in ("hploc", "binned_sah"):
        assert made.stats().sah_cost < linear.stats().sah_cost  # type: ignore[operator]
    found = sets_below(made.nodes())
    assert all(
        thing.count == 0 or frozenset(range(thing.first, thing.first + thing.count)) in found
        for thing in things.primitives.objects
    )
    things.move(4, 9)
    made.refit(things.primitives)
    assert_right(made, things)
    alone = Things(target, (400,))
    assert_right(build(alone, builder=builder), alone)


@pytest.mark.covers("cuts", "builder")
@pytest.mark.parametrize("cuts", [(0,), (0, 320), (0, 300, 400, 500)])
@pytest.mark.parametrize("builder", ["linear", "hploc"])
def test_objects_of_triangles_and_of_spheres(target: Target, builder: str, cuts: tuple[int, ...]) -> None:
    """One object of all, or some of triangles, some of spheres, and one of both."""
    triangles, centres, radii, primitives = mixed_scene(target, 400, 350)
    ends = (*cuts[1:], 750)
    objects = tuple(ObjectRange(first, end - first, 0) for first, end in zip(cuts, ends, strict=True))
    made = TwoLevel(target, StructureChoice(TwoLevelOptions(builder=builder)))
    made.build(dataclasses.replace(primitives, objects=objects))
    expected = mixed_hits(triangles.corners(), centres, radii, *rays())
    assert_hits(made, expected)
    found = sets_below(made.nodes())
    assert all(frozenset(range(thing.first, thing.first + thing.count)) in found for thing in objects)
    made.refit(dataclasses.replace(primitives, objects=tuple(one._replace(version=1) for one in objects)))
    assert_hits(made, expected)


@pytest.mark.parametrize("builder", ["hlbvh_median", "binned_sah"])
def test_words_of_objects_may_be_narrower_than_those_of_all(
    target: Target, monkeypatch: pytest.MonkeyPatch, builder: str
) -> None:
    """As from 2^26 triangles on, with two objects of fewer and one of more: the tree of narrow words alone."""
    narrow, wide = Things(target, (600, 800, 300)), Things(target, (600, 800, 300))
    expected = vars(build(narrow, builder=builder).nodes())
    monkeypatch.setattr(kinds, "MAX_PRIMITIVES", 700)
    made = build(wide, builder=builder)
    assert made.tree.reference_bits == WIDE_REFERENCE_BITS
    for name, column in vars(made.nodes()).items():
        np.testing.assert_array_equal(column, expected[name], err_msg=name)
    assert_right(made, wide)
    with pytest.raises(HierarchyError, match="incremental takes at most 699 primitives; the scene has 800"):
        build(wide, builder="incremental")


def test_an_object_that_is_too_large_for_its_builder_is_refused(
    host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Incremental, "most_primitives", {"host": 599})
    things = Things(host_target, (12, 600, 3))
    structure = TwoLevel(host_target, StructureChoice(TwoLevelOptions(builder="incremental")))
    with pytest.raises(HierarchyError, match="incremental takes at most 599 .* the largest object has 600"):
        structure.build(things.primitives)


def test_builders_that_split_references_are_refused(host_target: Target) -> None:
    with pytest.raises(OptionError, match="splits references"):
        TwoLevel(host_target, StructureChoice(TwoLevelOptions(builder="sbvh")))


@pytest.mark.parametrize("layout", TwoLevel.layouts())
def test_moved_objects_are_found_where_they_are(target: Target, layout: str) -> None:
    things = Things(target)
    made = build(things, layout)
    for which in ((4, 10), tuple(range(13))):
        things.move(*which, by=0.3 if 4 in which else -0.2)
        made.refit(things.primitives)
        assert_right(made, things)
    assert all_bytes(made)[3:5] != all_bytes(build(Things(target)))[3:5]


def test_what_stands_still_is_not_touched(target: Target) -> None:
    things = Things(target)
    made = build(things, "bvh2")
    before = target.download(made.tree.records)
    # Everything is elsewhere, but only one object says so: the others' records must be those of the build.
    for index in range(len(SIZES)):
        thing = things.primitives.objects[index]
        things.now[3 * thing.first : 3 * (thing.first + thing.count)] += np.float32(0.0 if index == 8 else 7.0)
    things.move(8)
    made.refit(things.primitives)
    changed = np.flatnonzero((target.download(made.tree.records) != before).any(axis=1))
    moved = things.primitives.objects[8]
    assert (
        changed.min() == moved.first and changed.max() == moved.first + moved.count - 1 and len(changed) == moved.count
    )


def test_several_looks_between_two_refits_lose_nothing(target: Target) -> None:
    things = Things(target)
    made = build(things)
    things.move(4)
    things.move(8)
    things.move(4, by=-0.1)
    made.refit(things.primitives)
    assert_right(made, things)
    things.move(8)
    made.build(things.primitives)
    assert_right(made, things)
    things.move(5)
    made.refit(things.primitives)
    assert_right(made, things)


def test_motion_that_no_version_tells_is_followed(target: Target) -> None:
    things = Things(target)
    made = build(things)
    things.move(4)
    objects = tuple(thing._replace(version=0) for thing in things.primitives.objects)
    things.primitives = dataclasses.replace(things.primitives, objects=objects)
    made.refit(things.primitives)
    assert_right(made, things)


def test_refit_of_a_still_scene_changes_no_byte(target: Target) -> None:
    things = Things(target)
    made = build(things)
    before = all_bytes(made)
    made.refit(things.primitives)
    assert all_bytes(made) == before
    made.build(things.primitives)
    assert all_bytes(made) == before


def test_hidden_objects(target: Target) -> None:
    things = Things(target)
    first = things.primitives.objects[4].first
    things.now[3 * first : 3 * (first + 300)] = np.nan
    things.move()
    made = build(things)
    assert_right(made, things)
    things.move(8)
    made.refit(things.primitives)
    assert_right(made, things)
    made.measure()
    target.synchronize()
    assert made.stats().inactive_count == 300
    things.now[:] = np.nan
    things.move(*range(13))
    made.refit(things.primitives)
    made.build(things.primitives)
    assert (things.target.download(made.tree.waiting) == -1).all()


@pytest.mark.parametrize("sizes", [(600,), (3,), (2, 2), (1, 1, 1), (1,) * 150, (12,) * 90])
def test_few_objects_small_ones_and_many(target: Target, sizes: tuple[int, ...]) -> None:
    things = Things(target, sizes)
    made = build(things)
    assert_right(made, things)
    things.move(len(sizes) // 2)
    made.refit(things.primitives)
    assert_right(made, things)


def test_objects_that_coincide(target: Target) -> None:
    things = Things(target, (30,) * 40)
    things.now[:] = np.tile(things.now[:90], (40, 1))
    things.move()
    made = build(things)
    check_tree(made.nodes(), *things.scene.boxes())
    assert made.nodes().depth.max() <= made.max_depth()


def test_tiles_hold_whole_objects_or_pieces_of_one() -> None:
    things = tuple(
        ObjectRange(int(first), size, 0) for first, size in zip(np.cumsum(SIZES) - SIZES, SIZES, strict=True)
    )
    ranges = ranges_of(Primitives("triangle", "", "", np.zeros(()), sum(SIZES), objects=things))
    assert ranges[:, 1].tolist() == [size for size in SIZES if size]
    tiles = tiles_of(ranges, 512)
    assert tiles[:, 1].sum() == sum(SIZES) and tiles[:, 1].max() <= 512
    np.testing.assert_array_equal(tiles[:, 0], np.cumsum(tiles[:, 1]) - tiles[:, 1])
    for first, count, low, high in tiles.tolist():
        if low != high:
            assert first == ranges[low, 0] and first + count == ranges[high].sum()
    broken = Primitives("triangle", "", "", np.zeros(()), sum(SIZES), objects=things[1:])
    assert ranges_of(broken).tolist() == [[0, sum(SIZES)]]


def orbiting(count: int) -> Scene:
    """Two meshes, `count` objects on a grid; every seventh turns about the y axis."""
    random = np.random.default_rng(1)
    meshes = []
    for size in (20, 600):
        corners = (
            (0.3 * random.standard_normal((size, 1, 3)) + 0.1 * random.standard_normal((size, 3, 3)))
            .reshape(-1, 3)
            .astype(np.float32)
        )
        meshes.append(
            Mesh("soup", corners, np.arange(3 * size, dtype=np.int32).reshape(-1, 3), np.zeros(size, np.int32))
        )
    nodes = tuple(Node(str(i), translation=(i % 5 - 2.0, i // 5 - 2.0, 0.0)) for i in range(count))
    turn = Track(np.array([0.0, 1.0], np.float32), np.array([[0, 0, 0, 1], [0, 1, 0, 0]], np.float32))
    channels = tuple(Channel(i, "rotation", turn) for i in range(0, count, 7))
    return Scene(
        "orbiting",
        nodes,
        tuple(meshes),
        tuple(Object(i, i % 2) for i in range(count)),
        clips=(Clip("turn", 1.0, channels),),
    )


def test_frames_that_are_replayed_draw_what_a_rebuild_draws(target: Target) -> None:
    """More frames than it takes to capture one, a clip that stops, an object that hides: the same hits as with trees
    that are always new."""
    engine, views = Engine(target, orbiting(20)), []
    for name, mode in (("two_level", "refit"), ("two_level", "rebuild"), ("brute_force", "rebuild")):
        settings = ViewSettings(name, update=UpdateOptions(mode))
        views.append(View(settings, Camera(eye=(0.0, 0.5, 8.0)), ArrayPixels(target, 48, 32), name=f"{name} {mode}"))
    updates = []
    for frame, time in enumerate((0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.7, 0.8, 0.9, 0.2)):
        if frame == 8:
            engine.hide([7])
        engine.render_frame(Moment(time, 0, frame), views)
        updates.append(engine.flush().views[0].update)
        refitted, rebuilt, plain = (engine.totals(view) for view in views)
        assert refitted.hits == rebuilt.hits == plain.hits > 50
        assert refitted.sum_t == pytest.approx(plain.sum_t, rel=1e-6)
    assert updates.count("refit") >= 6 and updates[8] == "rebuild"
    engine.close()


def test_what_is_captured_twice_is_prepared_once(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph's capture runs the launches twice, and nothing may be written then; who calls refit without `prepare` is
    prepared each time."""
    things = Things(host_target)
    made, looks = build(things), 0

    def look(primitives: Primitives) -> None:
        nonlocal looks
        looks += 1
        found(primitives)

    found = made._objects.look
    monkeypatch.setattr(made._objects, "look", look)
    things.move(4)
    made.prepare(things.primitives, "refit")
    with monkeypatch.context() as capturing:
        capturing.setattr(type(host_target), "is_capturing", True)
        made.refit(things.primitives)
        made.refit(things.primitives)
    assert looks == 1
    made.refit(things.primitives)
    assert looks == 1
    made.refit(things.primitives)
    assert looks == 2
    assert_right(made, things)
