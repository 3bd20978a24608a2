"""Lists that are added up where they were counted: their lines are those of the whole tables."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.frame_counter import FrameCounter
from raygrove.gpu.analysis.hot_frames import spots_read
from raygrove.gpu.analysis.hot_lists import HotList, HotLists
from raygrove.gpu.analysis.hot_spots import HotSpots, Spot
from raygrove.gpu.analysis.hot_words import BY
from raygrove.gpu.camera import fit
from raygrove.gpu.hierarchy.registry import structures, telling_layouts
from raygrove.gpu.hierarchy.traversed_nodes import traversed_nodes
from raygrove.gpu.target.base import Target

SIZE = (64, 48)
ALWAYS = ("bvh2", "cwbvh", "kd8", "octree8", "blocks8")
TOLD = [
    pytest.param(name, layout, id=f"{name}-{layout}", marks=() if layout in ALWAYS else pytest.mark.full)
    for name in ("lbvh", "median_sah", "octree_top_down", "grid_two_level")
    for layout in telling_layouts(name)
]
"""A structure of each kind in its narrowest and its widest nodes. Layouts differ in who counts (test_hot_spots.py), and
lists are made of what was counted: the others are full."""
COUNTED = operator.attrgetter("visits", "box_tests", "box_hits", "tests", "hits", "depth", "size")
ALL = 10**6


@pytest.fixture
def engine(target: Target) -> Iterator[rg.Engine]:
    with rg.Engine(target, rg.open("walker").to_plain()) as made:
        yield made


def counted(engine: rg.Engine, name: str, layout: str = "", time: float = 0.0) -> tuple[rg.View, FrameCounter]:
    """A picture of the walker through a structure that is rebuilt for each, and its counts."""
    settings = rg.ViewSettings(
        hierarchy=name,
        layout=layout or structures()[name].layouts()[0],
        ray_type="smooth" if layout in ("", "bvh2") else "flat",  # shadows once: each structure compiles them anew
    )
    settings = dataclasses.replace(settings, update=dataclasses.replace(settings.update, mode="rebuild"))
    scene = engine.scene
    view = rg.View(settings, fit(scene.lower, scene.upper), rg.ArrayPixels(engine.target, *SIZE), name)
    engine.render_frame(rg.Moment(time), [view])
    engine.flush()
    counter = FrameCounter(engine, view)
    counter.count()
    return view, counter


def by_number(spots: tuple[Spot, ...]) -> dict[int, Spot]:
    found = {spot.number: spot for spot in spots}
    assert len(found) == len(spots)
    return found


def assert_lines_equal(found: HotList, whole: HotSpots) -> None:
    """The same lines with the same numbers, up to the order of those that cost the same."""
    told: Any = whole.table.event_ids
    spots = whole.top(ALL, found.by)
    expected = {int(told[spot.number]): spot for spot in spots} if found.by == "node" else by_number(spots)
    lines = by_number(found.spots)
    assert set(lines) == set(expected)
    pairs = [(line, expected[number]) for number, line in lines.items()]
    assert [COUNTED(line) for line, _ in pairs] == [COUNTED(other) for _, other in pairs]
    shares, others = np.array([(line.share, other.share) for line, other in pairs]).T
    np.testing.assert_allclose(shares, others, rtol=1e-9, atol=1e-12)
    assert [line.missed is None for line, _ in pairs] == [other.missed is None for _, other in pairs]
    missed = np.array([(line.missed, other.missed) for line, other in pairs], float)
    np.testing.assert_allclose(missed[:, 0], missed[:, 1], rtol=1e-6, atol=1e-12)
    for line, other in pairs:
        called = line.number if line.number >= 0 else f"~{~line.number}"
        assert line.name == (other.name if found.by != "node" else f"{other.name.split()[0]} {called}")
    costs = [line.share for line in found.spots]
    assert found.by == "depth" or costs == sorted(costs, reverse=True)


@pytest.mark.parametrize(("name", "layout"), TOLD)
def test_lines_are_those_of_the_whole_tables(engine: rg.Engine, name: str, layout: str) -> None:
    view, counter = counted(engine, name, layout)
    whole, lists = spots_read(engine, view, counter), HotLists(engine, view, counter)
    for by in BY if name == "lbvh" else ("node", "triangle"):  # objects and materials do not depend on a tree
        found = lists.read(by, ALL)
        assert_lines_equal(found, whole)
        sums = (whole.counts.rays, whole.visits.sum(), whole.tests.sum())
        assert (found.ray_count, found.visits, found.tests) == sums
        assert found.cost == pytest.approx(whole.total_cost) and found.by == by
        assert (found.rays, found.kind, found.configuration) == (whole.rays, whole.kind, whole.configuration)
        assert sum(line.share for line in found.spots) == pytest.approx(1.0)


def test_where_nothing_costs_anything_no_line_does(engine: rg.Engine) -> None:
    view, counter = counted(engine, "lbvh")
    costs = dataclasses.replace(view.settings.statistics, traversal_cost=0.0, intersection_cost=0.0)
    view.settings = dataclasses.replace(view.settings, statistics=costs)
    for by in ("node", "depth"):
        assert not any(one.share for one in HotLists(engine, view, counter).read(by, ALL).spots)


def test_the_dearest_are_taken(engine: rg.Engine) -> None:
    view, counter = counted(engine, "hploc", time=0.3)
    lists = HotLists(engine, view, counter)
    for by in ("node", "triangle", "object", "material"):
        every, few = lists.read(by, ALL).spots, lists.read(by, 7).spots
        assert few == every[: len(few)] and len(few) == min(7, len(every)) > 0
        assert sum(one.share for one in few) > 0.0


def test_lists_follow_the_pictures(engine: rg.Engine) -> None:
    """A kept one says of each picture what one made for it says."""
    view, counter = counted(engine, "lbvh")
    lists, shares = HotLists(engine, view, counter), []
    for time in (0.1, 0.3, 0.5):
        engine.render_frame(rg.Moment(time), [view])
        engine.flush()
        with pytest.raises(rg.Error, match="count once more"):
            lists.read()
        counter.count()
        for by in ("node", "object"):
            assert_lines_equal(lists.read(by, ALL), spots_read(engine, view, counter))
        shares.append(lists.read("object").spots[0].share)
    assert len(set(shares)) == 3, "the walker walks"


def test_lists_of_what_there_is_not(engine: rg.Engine) -> None:
    view, counter = counted(engine, "lbvh")
    with pytest.raises(rg.Error, match="by node, depth, object, material, triangle, not by 'pixel'"):
        HotLists(engine, view, counter).read("pixel")


def test_nodes_are_called_what_the_trees_browser_calls_them(engine: rg.Engine) -> None:
    view, counter = counted(engine, "lbvh")
    found = HotLists(engine, view, counter).read("node", 5)
    told = traversed_nodes(engine.drawn_slot(view).hierarchy)
    for line in found.spots:
        path = told.path_to(line.number)
        assert path and path[-1].id == line.number and len(path) - 1 == line.depth
    assert np.ptp([line.share for line in found.spots]) > 0.0
