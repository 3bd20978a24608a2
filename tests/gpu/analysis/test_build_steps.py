"""How trees came to be: every step that is worked out again is held to the nodes that were really built."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.analysis.build_steps import (
    MOST_DRAWN,
    CurveReplay,
    LevelReplay,
    PairReplay,
    SplitReplay,
    binned_costs,
    largest,
    replay_of,
    swept_costs,
)
from raygrove.gpu.hierarchy.base import NOT_TOLD
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import TriangleScene, soup
from tests.gpu.hierarchy.test_hlbvh import build, heaps

SCENES = {"heaps": lambda: heaps(3000), "soup": lambda: soup(900, seed=8)}
over_scenes = pytest.mark.parametrize("scene", SCENES)


def boxes_of(scene: TriangleScene) -> np.ndarray:
    return np.hstack(scene.boxes()).astype(np.float32)


def half_area(boxes: np.ndarray) -> float:
    """Of the box around some, in float64."""
    x, y, z = (boxes[:, 3:].max(axis=0).astype(np.float64) - boxes[:, :3].min(axis=0)).tolist()
    return float(x * y + y * z + z * x)


@over_scenes
@pytest.mark.parametrize("bits", ["30", "60"])
def test_nodes_of_an_lbvh_are_runs_of_equal_prefixes(host_target: Target, scene: str, bits: str) -> None:
    """Codes rise along the references, and each node splits where the highest bit differs of all in it."""
    made = SCENES[scene]()
    hierarchy = build(host_target, "lbvh", made, code_bits=bits)
    replay = replay_of(hierarchy, boxes_of(made))
    assert isinstance(replay, CurveReplay) and len(replay) == int(bits) + 1
    codes, table = replay.codes, replay.table
    assert (codes[1:] >= codes[:-1]).all()
    split = SplitReplay(table, replay.boxes, 32, 32)
    checked = 0
    for row in np.flatnonzero(~table.is_leaf):
        first, end = int(split.first[row]), int(split.first[row] + split.count[row])
        differing = int(codes[first] ^ codes[end - 1])
        if not differing:
            continue
        bit = differing.bit_length()
        assert replay.step_of(int(row)) == int(bits) - bit, "it was made where its prefix is as long as that"
        below = sorted(int(split.first[child]) for child in np.flatnonzero(table.parent == row))
        runs = replay.runs(int(bits) - bit + 1)
        assert below[1] in runs, "it splits where the next bit of the prefix changes"
        whole = replay.runs(int(bits) - bit)
        assert {first, end} <= {*whole.tolist()}, "and is a whole run of the prefix before"
        checked += 1
    assert checked > 0.5 * (~table.is_leaf).sum()
    for n in (0, 3, 9):
        step, ends = replay[n], replay.runs(n)
        assert len(step.made) == len(ends) - 1 and f"{len(ends) - 1:,} run{'s' * (n > 0)} " in step.sentence
        inside = replay.boxes[table.references[ends[0] : ends[1]]]
        assert step.made[0].tolist() == [*inside[:, :3].min(axis=0), *inside[:, 3:].max(axis=0)]
    assert len(replay[2].lines) == len(codes) - 1


@over_scenes
@pytest.mark.parametrize("bins", [32, 16])
def test_binned_splits_are_the_cheapest_planes_and_those_that_were_taken(
    host_target: Target, scene: str, bins: int
) -> None:
    made = SCENES[scene]()
    hierarchy = build(host_target, "binned_sah", made, bins=bins)
    replay = replay_of(hierarchy, boxes_of(made))
    assert isinstance(replay, SplitReplay) and len(replay) == (~replay.table.is_leaf).sum()
    table, same = replay.table, 0
    large = [n for n in range(len(replay)) if replay.count[replay.nodes[n]] > replay.sweep]
    assert len(large) > 20
    for n in large:
        row, step = int(replay.nodes[n]), replay[n]
        assert step.costs is not None and step.costs.chosen is not None and step.costs.is_binned
        axis, plane = step.costs.chosen
        inside = replay.inside(row)
        centres = 0.5 * replay.boxes[inside, axis] + 0.5 * replay.boxes[inside, axis + 3]
        lower, upper = float(centres.min()), float(centres.max())
        places = np.clip((centres - np.float32(lower)) * (np.float32(bins) / np.float32(upper - lower)), 0, bins - 1)
        is_left = places.astype(int) <= plane
        cost = sum(half_area(replay.boxes[inside[side]]) * side.sum() for side in (is_left, ~is_left))
        assert step.costs.costs[axis, plane] == pytest.approx(cost, rel=1e-9)
        children = np.flatnonzero(table.parent == row)
        taken = [{*replay.inside(int(child)).tolist()} for child in children]
        same += {*inside[is_left].tolist()} in taken
        real = sum(half_area(replay.boxes[[*one]]) * len(one) for one in taken)
        assert real == pytest.approx(cost, rel=1e-4), "the tree's own split costs the least, too"
    assert same >= 0.98 * len(large), "float64 may tell equal costs apart in another way"


def test_small_sets_try_every_plane(host_target: Target) -> None:
    made = SCENES["soup"]()
    replay = replay_of(build(host_target, "binned_sah", made), boxes_of(made))
    assert isinstance(replay, SplitReplay)
    small = [n for n in range(len(replay)) if 3 <= replay.count[replay.nodes[n]] <= replay.sweep]
    for n in small[:150]:
        row, step = int(replay.nodes[n]), replay[n]
        assert step.costs is not None and not step.costs.is_binned
        children = np.flatnonzero(replay.table.parent == row)
        inside = [replay.boxes[replay.inside(int(child))] for child in children]
        real = sum(half_area(one) * len(one) for one in inside)
        assert step.costs.costs.min() == pytest.approx(real, rel=1e-5)


@over_scenes
@pytest.mark.parametrize("name", ["hploc", "ploc"])
def test_clusters_are_joined_until_one_is_left(host_target: Target, scene: str, name: str) -> None:
    made = SCENES[scene]()
    replay = replay_of(build(host_target, name, made), boxes_of(made))
    assert isinstance(replay, PairReplay)
    table, before = replay.table, set[int]()
    root_of = np.arange(len(table))
    for n in range(len(replay)):
        clusters = replay.clusters(n)
        root_of[:] = np.where(np.isin(np.arange(len(table)), clusters), np.arange(len(table)), -1)
        for depth in range(1, int(table.depth.max()) + 1):
            rows = np.flatnonzero(table.depth == depth)
            inherited = root_of[table.parent[rows]]
            assert ((inherited < 0) | (root_of[rows] < 0)).all(), "no cluster lies in another"
            root_of[rows] = np.maximum(root_of[rows], inherited)
        assert (root_of[table.is_leaf] >= 0).all(), "each leaf is in one"
        now = {*clusters.tolist()}
        joined = now - before
        if n:
            parts = {*np.flatnonzero(np.isin(replay.table.parent, [*joined])).tolist()}
            assert parts <= before and now == before - parts | joined and len(parts) == 2 * len(joined)
            assert len(replay[n].lines) == len(joined) and f"{len(joined):,} pairs" in replay[n].sentence
        before = now
    assert before == {0}


def test_other_structures_are_replayed_by_level(host_target: Target) -> None:
    made = SCENES["soup"]()
    for hierarchy in (
        build(host_target, "sah_lauterbach", made),
        build(host_target, "spatial_median", made),
    ):
        replay = replay_of(hierarchy, boxes_of(made))
        assert isinstance(replay, LevelReplay)
        counts = np.bincount(replay.table.depth)
        assert [len(replay[n].made) for n in range(len(replay))] == counts.tolist()
        assert replay[0].sentence == "Level 0: 1 node and 0 leaves."


@pytest.mark.parametrize("name", ["lbvh", "binned_sah", "hploc", "sah_lauterbach"])
def test_nodes_are_found_by_the_step_that_made_them(host_target: Target, name: str) -> None:
    made = SCENES["soup"]()
    hierarchy = build(host_target, name, made)
    replay = replay_of(hierarchy, boxes_of(made))
    ids = np.where(replay.table.depth % 2 == 1, NOT_TOLD, replay.table.event_ids)  # as of a layout with wide nodes
    table = replay.table = dataclasses.replace(replay.table, event_ids=ids)
    assert table.event_ids is not None
    found = [replay.nodes_of(n) for n in range(len(replay))]
    rows_with_step = [row for row in range(len(table)) if replay.step_of(row) is not None]
    assert sorted(np.concatenate(found)) == rows_with_step and len(rows_with_step) > 0.9 * len(table)
    joined = 0
    for n, rows in enumerate(found):
        assert all(replay.step_of(int(row)) == n for row in rows)
        areas = [half_area(np.hstack([table.lower[[row]], table.upper[[row]]])) for row in rows]
        told = replay.largest_of(n)
        assert (told is None) == (not areas)
        if areas:
            row = int(rows[int(np.argmax(areas))])
            joined += table.event_ids[row] == NOT_TOLD
            while table.event_ids[row] == NOT_TOLD:
                row = int(table.parent[row])
            assert table.event_ids[row] == told
    assert joined, "a wide layout has joined some of them with nodes above"


@pytest.mark.parametrize("name", ["lbvh", "binned_sah", "hploc"])
def test_a_tree_over_nothing_or_one_triangle_is_no_error(host_target: Target, name: str) -> None:
    for count in (0, 1):
        made = soup(count, seed=8)
        replay = replay_of(build(host_target, name, made), boxes_of(made))
        assert all(replay[n].sentence for n in range(len(replay)))
        assert count or isinstance(replay, LevelReplay)


def test_what_no_plane_splits_is_said_and_many_boxes_are_the_largest() -> None:
    alike = np.tile(np.array([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]], np.float32), (40, 1))
    assert binned_costs(alike, 32).chosen is None and swept_costs(alike[:4]).chosen == (0, 0)
    sizes = np.random.default_rng(2).permutation(MOST_DRAWN + 500).astype(np.float32)
    boxes = np.hstack([np.zeros((len(sizes), 3), np.float32), np.repeat(sizes[:, None], 3, axis=1)])
    kept = largest(boxes)
    assert len(kept) == MOST_DRAWN and kept[:, 3].min() == 500.0
    assert np.array_equal(kept, boxes[sizes >= 500.0])
