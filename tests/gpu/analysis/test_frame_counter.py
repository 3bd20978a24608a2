"""Counting picture after picture: a kept counter says of each what one made for it says, repeats itself bit by bit, and
traces and counts at once where packs are single rays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis import node_counts
from raygrove.gpu.analysis.divergence import FIRST_ROOM, WarpCounter, divergence_of_rays
from raygrove.gpu.analysis.frame_counter import FrameCounter
from raygrove.gpu.analysis.hot_frames import hot_spots_counted, hot_spots_of
from raygrove.gpu.analysis.hot_spots import HotSpots
from raygrove.gpu.analysis.node_counts import FIELDS, Counts, NodeCounter, Slots
from raygrove.gpu.camera import fit
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.registry import telling_layouts
from raygrove.gpu.hierarchy.traversed_nodes import EventSpace, event_space
from raygrove.gpu.settings import checked
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays
from raygrove.testing import make_target
from tests.gpu.trace.scenes import built, random_rays, soup

SIZE = (64, 48)


def settings_of(ray_type: str = "smooth", **options: object) -> rg.ViewSettings:
    """A picture whose tree is rebuilt for each."""
    given: Any = checked(ray_types()[ray_type].Options, options)
    settings = rg.ViewSettings(ray_type=ray_type, ray_type_options=given, layout="bvh4")
    return dataclasses.replace(settings, update=dataclasses.replace(settings.update, mode="rebuild"))


@pytest.fixture(scope="module")
def engine() -> Iterator[rg.Engine]:
    target = make_target("host")
    with rg.Engine(target, rg.open("walker").to_plain()) as made:
        yield made
    target.close()


def drawn(engine: rg.Engine, settings: rg.ViewSettings, time: float = 0.0) -> rg.View:
    """A picture of the walker."""
    scene = engine.scene
    view = rg.View(settings, fit(scene.lower, scene.upper), rg.ArrayPixels(engine.target, *SIZE), settings.ray_type)
    engine.render_frame(rg.Moment(time), [view])
    engine.flush()
    return view


def assert_equal(one: HotSpots, other: HotSpots) -> None:
    assert (one.counts.rays, one.counts.width) == (other.counts.rays, other.counts.width)
    for name in FIELDS:
        np.testing.assert_array_equal(one.counts.nodes[name], other.counts.nodes[name], name)
    np.testing.assert_array_equal(one.counts.primitive_tests, other.counts.primitive_tests)
    np.testing.assert_array_equal(one.counts.primitive_hits, other.counts.primitive_hits)


@pytest.mark.parametrize(
    ("ray_type", "options", "rays"),
    [
        ("smooth", {}, "all"),
        ("smooth", {}, "primary"),
        ("diffuse", {"rays": 2}, "all"),
        ("path", {"bounces": 2}, "all"),
    ],
)
def test_each_picture_is_counted_as_by_a_counter_of_its_own(
    engine: rg.Engine, ray_type: str, options: dict[str, object], rays: str
) -> None:
    """Of which some draw all of the sample, some as far as rays are heard, and some are replayed."""
    settings, ways = settings_of(ray_type, **options), []
    counters: list[FrameCounter] = []
    for number in range(6):
        view = drawn(engine, settings, 0.1 * number)
        counters = counters or [FrameCounter(engine, view, rays)]
        found, alone = hot_spots_counted(engine, view, counters[0]), hot_spots_of(engine, view, rays)
        assert_equal(found, alone)
        assert found.counts.rays >= SIZE[0] * SIZE[1] and found.counts.nodes["found"].sum() > 100
        np.testing.assert_array_equal(found.table.lower, alone.table.lower)
        ways.append(found.visits.sum())
    assert len(set(ways)) > 3, "the walker walks"


def test_nothing_is_read_until_somebody_asks(engine: rg.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    view = drawn(engine, settings_of(), 0.3)
    counter = FrameCounter(engine, view)
    counter.count()
    read: list[int] = []
    download = engine.target.download

    def heard(array: np.ndarray) -> np.ndarray:
        read.append(array.nbytes)
        return download(array)

    monkeypatch.setattr(engine.target, "download", heard)
    for _ in range(4):
        counter.count()
    assert read == []
    counter.read()
    assert sum(read) > 0
    tables = len(read)
    counter.count()
    counter.read()
    assert len(read) == tables + 2, "the tree is the same: counts and totals are read, no node"


def test_counts_of_another_tree_are_not_read(engine: rg.Engine) -> None:
    view = drawn(engine, settings_of(), 0.4)
    counter = FrameCounter(engine, view)
    with pytest.raises(rg.Error, match="count once more"):
        counter.read()
    counter.count()
    drawn(engine, settings_of(), 0.5)
    with pytest.raises(rg.Error, match="the tree is another than the one that was counted: count once more"):
        counter.read()


def test_rays_that_a_picture_does_not_cast_are_an_error_each_time(engine: rg.Engine) -> None:
    view = drawn(engine, settings_of(), 0.6)
    counter = FrameCounter(engine, view, "bounce 1")
    for _ in range(5):
        with pytest.raises(rg.Error, match="no rays are called 'bounce 1'"):
            counter.count()


def test_rays_are_traced_and_counted_at_once() -> None:
    """As on a GPU: packs of one ray."""
    with make_target("host") as wide, make_target("host") as single:
        single.lane_count = 1
        found = []
        for target in (wide, single):
            with rg.Engine(target, rg.open("walker").to_plain()) as made:
                view = drawn(made, settings_of(), 0.2)
                counter = FrameCounter(made, view)
                assert_equal(hot_spots_counted(made, view, counter), again := hot_spots_counted(made, view, counter))
                found.append(again)
        assert_equal(*found)


@pytest.mark.parametrize("kind", ["closest", "any"])
@pytest.mark.parametrize("parts", [("lbvh", "bvh2", "bvh2_stack"), ("lbvh", "bvh4", "bvh4_stack"),
                                   ("median_sah", "kd8", "full_stack")])  # fmt: skip
def test_what_is_counted_is_what_is_hit(target: Target, parts: tuple[str, str, str], kind: str) -> None:
    made, rays = built(target, soup(4, 120), *parts), upload_rays(target, *random_rays(5, 128))
    tracer = Tracer(target, made.traversal())
    kept, written = tracer.trace(rays, kind, "kept"), tracer.trace(rays, kind, "written")
    for array in (written.t, written.prim_id):
        target.fill(array, -7)
    NodeCounter(target, event_space(made), 120).count(tracer, rays, kind, written)
    hit = target.download(kept.prim_id) >= 0
    np.testing.assert_array_equal(target.download(written.prim_id) >= 0, hit)
    if kind == "closest":
        np.testing.assert_array_equal(target.download(written.prim_id), target.download(kept.prim_id))
        found, wanted = target.download(written.t)[hit], target.download(kept.t)[hit]
        if tracer.traversal.lanes_go_alone and target.kind == "host":  # bounces begin there, bit by bit
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert 20 < hit.sum() < 128


def check_same_counts(some: Counts, same: Counts) -> None:
    """To the last number, of each kind more than a few."""
    assert (some.rays, some.width) == (same.rays, same.width)
    for name in FIELDS:
        np.testing.assert_array_equal(some.nodes[name], same.nodes[name], name)
    np.testing.assert_array_equal(some.primitive_tests, same.primitive_tests)
    np.testing.assert_array_equal(some.primitive_hits, same.primitive_hits)
    assert all(same.nodes[name].sum() > 20 for name in ("visits", "culled", "tests", "hits", "found"))


@pytest.mark.parametrize("kind", ["closest", "any"])
def test_two_counts_in_a_word_are_those_of_a_word_each(target: Target, kind: str) -> None:
    made, rays = built(target, soup(4, 300), "hploc", "bvh2", "bvh2_stack"), upload_rays(target, *random_rays(5, 256))
    space, table, found = event_space(made), made.nodes(), []
    assert space.most_tests > 0
    for one in (space, space._replace(most_tests=0)):
        counter = NodeCounter(target, one, 300)
        assert counter.is_packed == (one is space)
        for _ in range(2):
            counter.count(Tracer(target, made.traversal()), rays, kind)
        found.append(counter.read(table))
    packed, whole = found
    assert (whole.rays, whole.width) == (512, 2)
    check_same_counts(packed, whole)


@pytest.mark.parametrize(("kind", "is_packed"), [("closest", True), ("any", True), ("closest", False)])
def test_packs_count_what_each_of_their_rays_does_alone(target: Target, kind: str, is_packed: bool) -> None:
    """Rays in all directions, which part at nearly every node; and each pack of the last ones has idle lanes."""
    made, rays = built(target, soup(4, 3000), "hploc", "bvh4", "bvh4_stack"), upload_rays(target, *random_rays(5, 1000))
    space, table, found = event_space(made), made.nodes(), []
    alone = made.traversal()
    assert alone.lanes_go_alone
    for traversal in (alone, dataclasses.replace(alone, lanes_go_alone=False)):
        counter = NodeCounter(target, space if is_packed else space._replace(most_tests=0), 3000)
        assert counter.is_packed == is_packed
        counter.count(Tracer(target, traversal), rays, kind)
        found.append(counter.read(table))
    packs, single = found
    assert (single.rays, single.width) == (1000, 4)
    check_same_counts(packs, single)


@pytest.mark.parametrize("kind", ["closest", "any"])
@pytest.mark.parametrize("mailboxes", [True, False])
def test_packs_count_in_kd_trees_what_each_of_their_rays_does_alone(target: Target, kind: str, mailboxes: bool) -> None:
    """Rays of all octants, also from within; a primitive of several cells is tested once by each ray that has it."""
    rays = upload_rays(target, *random_rays(5, 1000))
    made, found = built(target, soup(4, 2000), "median_sah", "kd8", "full_stack"), []
    made.options = dataclasses.replace(made.options, mailboxes=mailboxes)
    alone, table = made.traversal(), made.nodes()
    assert alone.lanes_go_alone
    for traversal in (alone, dataclasses.replace(alone, lanes_go_alone=False)):
        counter = NodeCounter(target, event_space(made), 2000)
        counter.count(Tracer(target, traversal), rays, kind)
        found.append(counter.read(table))
    packs, single = found
    assert single.rays == 1000
    check_same_counts(packs, single)


def test_a_host_has_a_copy_a_thread() -> None:
    """Each is cleared for every picture."""
    for threads, copies in ((1, 1), (3, 3), (9, 8)):
        with make_target("host", threads=threads) as one:
            assert NodeCounter(one, EventSpace(100, 100), 50)._copies == copies


def test_more_rays_than_words_have_room_for_are_refused(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    made, rays = built(target, soup(4, 60), "hploc", "bvh2", "bvh2_stack"), upload_rays(target, *random_rays(5, 64))
    monkeypatch.setattr(node_counts, "MOST_PACKED", 150)
    counter = NodeCounter(target, event_space(made), 60)
    for _ in range(2):
        counter.count(Tracer(target, made.traversal()), rays, "closest")
    with pytest.raises(HierarchyError, match="At most 150 rays"):
        counter.count(Tracer(target, made.traversal()), rays, "closest")
    counter.clear()
    counter.count(Tracer(target, made.traversal()), rays, "closest")


@pytest.mark.parametrize("name", ["lbvh", "sbvh", "median_sah", "octree_top_down", "grid", "grid_two_level"])
def test_every_tree_lies_within_its_space(target: Target, name: str) -> None:
    for layout in telling_layouts(name):
        made = built(target, soup(4, 60), name, layout)
        Slots(made.nodes(), event_space(made))
    with pytest.raises(HierarchyError, match="was counted in EventSpace"):
        Slots(made.nodes(), EventSpace(0, 0))


def test_warps_are_counted_again_and_again(target: Target) -> None:
    """With room for their longest rays, which the first ones did not need."""
    rays = upload_rays(target, *random_rays(5, 64))
    counter, longest = WarpCounter(target), []
    for size in (20, 20, 20, 20, 400, 400, 20):
        made = built(target, soup(4, size), "grid")
        counter.count(made, rays)
        found, alone = counter.read(), divergence_of_rays(target, made, rays)
        for name in ("steps", "node_steps", "primitive_steps", "nodes", "primitives"):
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name), name)
        longest.append(found.longest)
    assert longest[0] < longest[4] and FIRST_ROOM > 0
