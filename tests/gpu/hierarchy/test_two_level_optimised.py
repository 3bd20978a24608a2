"""Optimisers over the two-level structure: each object's tree gets better by itself, what stands still stays, and
refits are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy.base import NodeTable, StructureChoice
from raygrove.gpu.hierarchy.bvh.builders.two_level import TwoLevel, TwoLevelOptions
from raygrove.gpu.hierarchy.bvh.optimisers import optimiser_classes
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from raygrove.testing import make_target
from raygrove.testing.contract import all_bytes
from raygrove.testing.tree_walker import half_area

from .test_two_level import SIZES, Things, assert_right, orbiting

OPTIMISERS = list(optimiser_classes())
over_optimisers = pytest.mark.parametrize("name", OPTIMISERS)


def optimised(
    things: Things, name: str, layout: str = "bvh2", optimiser_options: Any = None, **options: Any
) -> TwoLevel:
    """A structure whose parts were improved; `name` none leaves them as they were built."""
    choice = StructureChoice(TwoLevelOptions(**options), layout, optimiser=name, optimiser_options=optimiser_options)
    made = TwoLevel(things.target, choice)
    made.build(things.primitives)
    return made


def sets_by_row(table: NodeTable) -> list[frozenset[int]]:
    """The primitives under each node."""
    below: list[set[int]] = [set() for _ in range(len(table))]
    for node in range(len(table) - 1, -1, -1):
        first = int(table.first_reference[node])
        below[node] |= set(table.references[first : first + int(table.reference_count[node])].tolist())
        if table.parent[node] >= 0:
            below[table.parent[node]] |= below[node]
    return [frozenset(primitives) for primitives in below]


def costs_of_parts(made: TwoLevel, things: Things) -> dict[int, float]:
    """The SAH cost of each object's tree, areas not divided, by the object's index. Every object has to be one
    subtree."""
    table = made.nodes()
    below, cost = (
        sets_by_row(table),
        half_area(table.lower, table.upper) * np.where(table.is_leaf, table.reference_count, 1),
    )
    found = {}
    for index, thing in enumerate(things.primitives.objects):
        own = frozenset(range(thing.first, thing.first + thing.count))
        if own:
            assert own in below
            found[index] = float(cost[[row for row, primitives in enumerate(below) if primitives <= own]].sum())
    return found


@over_optimisers
@pytest.mark.parametrize("builder", ["linear", "hploc"])
def test_no_part_gets_dearer_and_the_large_ones_get_better(target: Target, name: str, builder: str) -> None:
    things = Things(target)
    plain, better = (optimised(things, choice, builder=builder, max_leaf_size=1) for choice in ("none", name))
    assert_right(better, things)
    before, after = (costs_of_parts(made, things) for made in (plain, better))
    assert all(after[index] <= cost * (1 + 1e-5) for index, cost in before.items())
    assert after[8] < (0.995 if builder == "hploc" else 0.98) * before[8] and after[4] < before[4]
    assert better.nodes().depth.max() <= better._deepest()


@over_optimisers
@pytest.mark.parametrize("sizes", [(600,), (3,), (2, 2), (1, 1, 1), (12,) * 90, (0, 5, 900)])
@pytest.mark.parametrize("layout", ["bvh2", "bvh8"])
def test_few_objects_small_ones_and_many(target: Target, name: str, sizes: tuple[int, ...], layout: str) -> None:
    things = Things(target, sizes)
    made = optimised(things, name, layout)
    assert_right(made, things)
    for which in ((len(sizes) // 2,), tuple(range(len(sizes)))):
        things.move(*which)
        made.refit(things.primitives)
        assert_right(made, things)


@over_optimisers
def test_what_stands_still_is_not_touched(target: Target, name: str) -> None:
    """Neither its records nor its links: an optimiser after a refit works on what moved."""
    things = Things(target)
    made = optimised(things, name)
    before = [target.download(array) for array in (made.tree.records, made.tree.nodes)]
    own, random = things.primitives.objects[8], np.random.default_rng(2)
    bent = slice(3 * own.first, 3 * (own.first + own.count))
    things.now[bent] += 0.2 * random.standard_normal(things.now[bent].shape).astype(np.float32)
    for index in set(range(len(SIZES))) - {8}:  # everything is elsewhere, but only one object says so
        thing = things.primitives.objects[index]
        things.now[3 * thing.first : 3 * (thing.first + thing.count)] += np.float32(7.0)
    things.move(8, by=0.0)
    made.refit(things.primitives)
    after = [target.download(array) for array in (made.tree.records, made.tree.nodes)]
    changed = np.flatnonzero((after[0] != before[0]).any(axis=1))
    assert changed.min() == own.first and changed.max() == own.first + own.count - 1
    links = [nodes.view(np.int32)[:, [3, 7]] for nodes in (before[1], after[1])]
    firsts = {
        thing.first for thing in things.primitives.objects if thing.count
    }  # ids of the tree above, which is made anew
    relinked = {int(row) for row in np.flatnonzero((links[0] != links[1]).any(axis=1))} - firsts
    assert all(own.first <= row < own.first + own.count for row in relinked)
    assert bool(relinked) == (name == "rotations")


def test_rotations_after_refits_keep_what_bends_from_wearing_out(target: Target) -> None:
    things, kind = Things(target), optimiser_classes()["rotations"]
    rotating, still = (
        optimised(things, "rotations", optimiser_options=kind.Options(in_refits=after)) for after in (True, False)
    )
    own = things.primitives.objects[8]
    bent = slice(3 * own.first, 3 * (own.first + own.count))
    way = np.repeat(np.random.default_rng(4).standard_normal((own.count, 3)), 3, axis=0)
    for _ in range(4):
        things.now[bent] += (0.05 * way).astype(np.float32)
        things.move(8, by=0.0)
        for made in (rotating, still):
            made.refit(things.primitives)
            assert_right(made, things)
    costs = [costs_of_parts(made, things) for made in (rotating, still)]
    assert costs[0][8] < 0.97 * costs[1][8]
    assert costs[0][4] == pytest.approx(costs[1][4])


@over_optimisers
def test_the_same_input_makes_the_same_bytes(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("RAYGROVE_HOST_FORCE_SPLIT", "1")
    outcomes = []
    for threads in (1, 2, 2):
        target = make_target("host", threads=threads)
        things = Things(target)
        made = optimised(things, name, "bvh4")
        things.move(4)
        made.refit(things.primitives)
        outcomes.append(all_bytes(made))
        target.close()
    assert outcomes[0] == outcomes[1] == outcomes[2]


@over_optimisers
def test_frames_that_are_replayed_draw_what_a_rebuild_draws(target: Target, name: str) -> None:
    engine, views = Engine(target, orbiting(20)), []
    for hierarchy, mode, optimiser in (
        ("two_level", "refit", name),
        ("two_level", "rebuild", name),
        ("brute_force", "rebuild", "none"),
    ):
        settings = ViewSettings(hierarchy, optimiser=optimiser, update=UpdateOptions(mode))
        views.append(
            View(settings, Camera(eye=(0.0, 0.5, 8.0)), ArrayPixels(target, 48, 32), name=f"{hierarchy} {mode}")
        )
    for frame, time in enumerate((0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.7, 0.8, 0.9, 0.2)):
        engine.render_frame(Moment(time, 0, frame), views)
        engine.flush()
        refitted, rebuilt, plain = (engine.totals(view) for view in views)
        assert refitted.hits == rebuilt.hits == plain.hits > 50
        assert refitted.sum_t == pytest.approx(plain.sum_t, rel=1e-6)
    engine.close()
