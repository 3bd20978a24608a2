"""The family of kd-trees: three traversals of the reference's trees, what it says of them, and what it does where a
tree does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import CannotRefitError, HierarchyError, Primitives
from raygrove.gpu.hierarchy.grown_tree import NODES_NOW, WORKING_NOW, Capacity
from raygrove.gpu.hierarchy.kdtree import kdtree
from raygrove.gpu.hierarchy.kdtree.options import KdTreeOptions
from raygrove.gpu.hierarchy.kdtree.tree import LEAF_AXIS, MOST_REFERENCES
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.structs import address
from raygrove.gpu.trace.trace import Tracer, upload_rays
from raygrove.testing.closest_hits import triangle_hits
from raygrove.testing.scenes import SCENES, TriangleScene, make, rays, scene_of, soup, trace
from raygrove.testing.tree_walker import check_tree, tree_statistics

from .kd_reference import GivenKdTree, KdArrays, build_reference

TRAVERSALS = ("full_stack", "short_stack", "restart")


def given(target: Target, scene: TriangleScene, traversal: str = "auto", **options: object) -> GivenKdTree:
    chosen = KdTreeOptions(**options)  # type: ignore[arg-type]
    made = GivenKdTree(target, build_reference(*scene.boxes(), chosen), traversal, chosen)
    made.build(scene.upload(target))
    return made


@pytest.mark.covers("scene_name traversal", "scene_name mailboxes", "traversal mailboxes")
@pytest.mark.parametrize("mailboxes", [False, True])
@pytest.mark.parametrize("traversal", TRAVERSALS)
@pytest.mark.parametrize("scene_name", ["one", "coincident", "degenerate", "stairs", "moving"])
def test_traversals_find_what_the_oracle_finds(
    target: Target, scene_name: str, traversal: str, mailboxes: bool
) -> None:
    scene = SCENES[scene_name]()
    made = given(target, scene, traversal, max_leaf_size=2, mailboxes=mailboxes)
    expected, found = triangle_hits(scene.corners(), *rays()), trace(made, *rays())
    sure = expected.is_certain
    np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])
    np.testing.assert_array_equal(trace(made, *rays(), "any").prim_id >= 0, found.prim_id >= 0)


@pytest.mark.each_value
def test_all_traversals_visit_the_same_leaves(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """The short stack, here of three, and the restart lose their way nowhere: they test what the full stack tests, and
    visit more nodes."""
    monkeypatch.setattr(kdtree, "SHORT_STACK", 3)
    scene = SCENES["moving"]()
    steps = {}
    for traversal in TRAVERSALS:
        made = given(target, scene, traversal, max_leaf_size=1)
        found = Tracer(target, made.traversal()).trace(upload_rays(target, *rays()), "steps")
        steps[traversal] = target.download(found.steps)[:300], target.download(found.tests)[:300]
    for traversal in TRAVERSALS[1:]:
        np.testing.assert_array_equal(steps[traversal][1], steps["full_stack"][1])
    assert (steps["restart"][0] >= steps["short_stack"][0]).all() and (
        steps["short_stack"][0] >= steps["full_stack"][0]
    ).all()
    assert steps["short_stack"][0].sum() > steps["full_stack"][0].sum()
    assert steps["restart"][0].sum() > 2 * steps["full_stack"][0].sum() > 0


@pytest.mark.parametrize("traversal", TRAVERSALS)
def test_rays_in_a_plane_find_what_lies_on_either_side(target: Target, traversal: str) -> None:
    """Tiles that meet in planes through the origin and elsewhere, listed on one side of them; rays that run in those
    planes and along their edges."""
    side = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    tiles = [[[x, y, z], [x + 1, y, z], [x, y + 1, z]] for x in side for y in side for z in side]
    tiles += [[[x, y, z], [x, y + 1, z], [x, y, z + 1]] for x in side for y in side for z in side]
    scene = scene_of(np.array(tiles))
    made = given(target, scene, traversal, max_leaf_size=1)
    assert tree_statistics(made.nodes()).node_count > 20
    grid = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    origins, directions = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            place = np.insert(grid + (0.25 if sign > 0 else 0.0), axis, -4.0 * sign, axis=1)
            origins.append(place)
            directions.append(np.broadcast_to(np.eye(3)[axis] * sign, place.shape))
    start, towards = np.concatenate(origins).astype(np.float32), np.concatenate(directions).astype(np.float32)
    flat = trace(made, start, towards)
    other = GivenKdTree(target, one_leaf(scene), traversal)
    other.build(scene.upload(target))
    plain = trace(other, start, towards)
    assert (plain.prim_id >= 0).sum() > 40
    np.testing.assert_array_equal(flat.prim_id, plain.prim_id)
    np.testing.assert_array_equal(flat.t, plain.t)


def one_leaf(scene: TriangleScene) -> KdArrays:
    """Everything in the root."""
    return build_reference(*scene.boxes(), KdTreeOptions(max_leaf_size=1024))


def test_the_table_and_the_statistics_say_the_same(target: Target) -> None:
    scene = SCENES["moving"]()
    made = given(target, scene, max_leaf_size=2)
    table = made.nodes()
    check_tree(table, *scene.boxes(), splits_references=True, splits_space=True)
    made.measure()
    target.synchronize()
    stats, counted = made.stats(), tree_statistics(table)
    assert (stats.node_count, stats.leaf_count, stats.depth) == (counted.node_count, counted.leaf_count, counted.depth)
    assert stats.sah_cost == pytest.approx(counted.sah_cost, rel=1e-5)
    assert stats.reference_count == len(table.references) >= stats.primitive_count == len(scene.indices)
    assert stats.empty_leaf_count == int((table.is_leaf & (table.reference_count == 0)).sum()) > 0


@pytest.mark.parametrize(
    "name", [name for name, kind in structures().items() if issubclass(kind, kdtree.KdTreeHierarchy)]
)
def test_children_lie_in_16_bytes_of_their_own(target: Target, name: str) -> None:
    """Traversals fetch both at once: left ones have odd numbers, and the odd ones lie where 16 bytes begin."""
    scene = SCENES["moving"]()
    made = make(target, name)
    made.build(scene.upload(target))
    assert isinstance(made, kdtree.KdTreeHierarchy)
    words = target.download(made.tree.nodes)[: target.download(made.tree.counts)[NODES_NOW]].view(np.uint32)
    inner = words[:, 1] & 3 != LEAF_AXIS
    assert inner.sum() > 20
    assert (words[inner, 1] >> 2 & 1).all()
    assert address(made.tree.nodes) % 16 == 8


def test_it_cannot_be_refitted_and_says_so(target: Target) -> None:
    scene = SCENES["two"]()
    made = given(target, scene)
    with pytest.raises(CannotRefitError, match="given_kdtree cannot be refitted"):
        made.refit(scene.upload(target))


def test_what_is_not_there_is_refused(target: Target) -> None:
    with pytest.raises(OptionError, match="kd8"):
        GivenKdTree(target, one_leaf(SCENES["two"]()), traversal="kd8_sideways")
    with pytest.raises(HierarchyError, match="has not been built"):
        GivenKdTree(target, one_leaf(SCENES["two"]())).nodes()


def too_many(count: int, times: int) -> KdArrays:
    """One leaf that lists every primitive again and again."""
    references = np.tile(np.arange(count, dtype=np.int32), times)
    return KdArrays(
        np.array([[0, len(references) << 2 | 3]], np.int32),
        np.array([-1], np.int32),
        references,
        np.zeros((2, 3), np.float32),
    )


def learns_that_it_lacks_room(made: kdtree.KdTreeHierarchy, primitives: Primitives) -> bool:
    """What the next frame would be told, once the newest build's status has arrived."""
    made.prepare(primitives, "rebuild")
    made.lacks_room(primitives)
    made.target.synchronize()
    return made.lacks_room(primitives)


def test_room_is_found_at_the_first_build(target: Target) -> None:
    scene = SCENES["soup"]()
    made = GivenKdTree(target, too_many(1500, 7))
    made.build(scene.upload(target))
    assert len(made.nodes().references) == 7 * 1500


def test_past_the_limit_there_is_an_error_with_the_structures_name(target: Target) -> None:
    made = GivenKdTree(target, too_many(1500, MOST_REFERENCES + 1))
    with pytest.raises(
        HierarchyError,
        match=r"given_kdtree would need more than 8 references per primitive for this scene of 1,500 primitives",
    ):
        made.build(SCENES["soup"]().upload(target))


def test_a_later_tree_that_does_not_fit_leaves_the_one_before_until_there_is_room(target: Target) -> None:
    scene = SCENES["soup"]()
    primitives = scene.upload(target)
    made = given(target, scene, max_leaf_size=200)
    made.build(primitives)
    assert not learns_that_it_lacks_room(made, primitives)
    before, generation = made.nodes(), made.generation
    small, large = made.given, too_many(1500, 7)
    made.given = large
    made.build(primitives)
    after = made.nodes()
    np.testing.assert_array_equal(after.references, before.references)
    np.testing.assert_array_equal(after.upper, before.upper)
    assert learns_that_it_lacks_room(made, primitives)
    made.make_room(primitives)
    assert made.generation > generation
    made.build(primitives)
    assert len(made.nodes().references) == 7 * 1500
    made.given = small
    made.build(primitives)
    np.testing.assert_array_equal(made.nodes().references, before.references)


def test_a_later_tree_past_the_limit_is_an_error_and_the_one_before_stays(target: Target) -> None:
    scene = SCENES["soup"]()
    primitives = scene.upload(target)
    made = given(target, scene, max_leaf_size=200)
    made.build(primitives)
    before = made.nodes()
    made.given = too_many(1500, MOST_REFERENCES + 1)
    with pytest.raises(HierarchyError, match="more than 8 references"):
        for _ in range(12):
            if learns_that_it_lacks_room(made, primitives):
                made.make_room(primitives)
            made.build(primitives)
    after = made.nodes()
    for column in vars(before):
        np.testing.assert_array_equal(getattr(after, column), getattr(before, column))
    assert (trace(made, *rays()).prim_id >= 0).sum() > 50


@pytest.mark.parametrize(
    "name", [name for name, kind in structures().items() if issubclass(kind, kdtree.KdTreeHierarchy)]
)
def test_leaves_of_64_take_at_most_8_references_and_400_bytes_a_triangle(host_target: Target, name: str) -> None:
    """A rolling surface and loose triangles."""
    for scene in (rolling(100), soup(20_000, size=0.01)):
        made = make(host_target, name, max_leaf_size=64)
        for _ in range(3):
            made.build(scene.upload(host_target))
        stats, n = made.stats(), len(scene.indices)
        assert stats.bytes + stats.scratch_bytes <= 400 * n + (1 << 18)
        assert len(made.nodes().references) <= 8 * n
        assert stats.scratch_bytes > 8 * n
        made.close()


def test_default_leaves_stay_below_400_bytes_a_triangle_where_they_can(host_target: Target) -> None:
    """A surface, whose levels need 1.7 references a primitive at one time, with less headroom; loose triangles need
    more, and have it."""
    totals = []
    for scene in (turned(ball(100)), soup(3000, size=0.5)):
        made, n = make(host_target, "sah_events"), len(scene.indices)
        assert isinstance(made, kdtree.KdTreeHierarchy)
        made.build(scene.upload(host_target))
        stats = made.stats()
        totals.append((stats.bytes + stats.scratch_bytes) / n)
        working, needed = made.tree.capacity.working, int(host_target.download(made.tree.counts)[WORKING_NOW])
        assert working >= 1.1 * needed
        made.close()
    assert totals[0] <= 400 < totals[1]


def test_room_that_a_later_frame_needed_stays(host_target: Target) -> None:
    """Small triangles that grow: once there is room for them, a frame in which they are small again gives none back."""
    made, sizes, rooms = make(host_target, "sah_events"), (0.02, 0.5, 0.02, 0.5), []
    assert isinstance(made, kdtree.KdTreeHierarchy)
    for size in sizes:
        primitives = soup(2000, size=size).upload(host_target)
        for _ in range(12):
            if learns_that_it_lacks_room(made, primitives):
                made.make_room(primitives)
            made.build(primitives)
        rooms.append(made.tree.capacity.working)
    assert rooms[0] < rooms[1] == rooms[2] == rooms[3]
    made.close()


def turned(scene: TriangleScene) -> TriangleScene:
    """No edge along an axis."""
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    return scene_of(scene.corners() @ turn)


def ball(side: int) -> TriangleScene:
    """A sphere with bumps, of 2 side^2 triangles."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, side + 1), np.linspace(0.01, 3.13, side + 1), indexing="ij")
    radius = 1 + 0.1 * np.sin(7 * u) * np.sin(5 * v)
    x, y, z = np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)
    return sheet(radius[..., None] * np.stack([x, y, z], -1))


def rolling(side: int) -> TriangleScene:
    """Hills of 2 side^2 triangles."""
    x, z = np.meshgrid(np.linspace(-1, 1, side + 1), np.linspace(-1, 1, side + 1), indexing="ij")
    return sheet(np.stack([x, 0.2 * np.sin(9 * x) * np.cos(7 * z), z], -1))


def sheet(points: np.ndarray) -> TriangleScene:
    """Two triangles between each four of a net of points."""
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[:-1, 1:], points[1:, 1:]
    return scene_of(
        np.concatenate([np.stack([a, b, c], 2).reshape(-1, 3, 3), np.stack([b, d, c], 2).reshape(-1, 3, 3)])
    )


class GreedyKdTree(GivenKdTree):
    """One whose building takes 150 bytes per reference, and says so."""

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        return 150 * capacity.references


def test_past_400_bytes_a_triangle_there_is_an_error_and_the_tree_before_stays(target: Target) -> None:
    scene = soup(20_000)
    primitives = scene.upload(target)
    made = GreedyKdTree(target, too_many(20_000, 2), options=KdTreeOptions(max_leaf_size=64))
    made.build(primitives)
    before, first = made.nodes(), trace(made, *rays())
    made.given = too_many(20_000, 3)
    with pytest.raises(
        HierarchyError,
        match="given_kdtree would take more than 400 bytes per primitive for this scene of 20,000 primitives",
    ):
        for _ in range(6):
            if learns_that_it_lacks_room(made, primitives):
                made.make_room(primitives)
            made.build(primitives)
    np.testing.assert_array_equal(made.nodes().references, before.references)
    np.testing.assert_array_equal(trace(made, *rays()).t, first.t)
    small = GreedyKdTree(target, too_many(20_000, 3), options=KdTreeOptions(max_leaf_size=63))
    small.build(primitives)
    assert len(small.nodes().references) == 60_000
