"""Divergence: warps take what their lanes' ways say, in both kinds of traversal; pixels that paid are those whose rays
came by."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.divergence import LANES, Divergence, divergence_of_rays
from raygrove.gpu.analysis.hot_findings import CUT, MOVE, NOTHING, SPLIT, HotFinding, findings_of, helps, remedy
from raygrove.gpu.analysis.hot_frames import corners_of, divergence_of, hot_spots_of, nodes_of_pixel, paid_of
from raygrove.gpu.analysis.ray_log import Event, record_ray
from raygrove.gpu.camera import fit
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays
from raygrove.testing import make_target
from tests.gpu.trace.scenes import built, random_rays, soup


def runs(kinds: np.ndarray) -> list[tuple[int, int]]:
    """Of one ray's events the nodes and then the primitives, leaf after leaf."""
    found, nodes, primitives, is_in_leaf = [], 0, 0, False
    for kind in kinds.tolist():
        if kind in (Event.NODE_ENTERED, Event.LEAF_ENTERED) and is_in_leaf:
            found.append((nodes, primitives))
            nodes, primitives, is_in_leaf = 0, 0, False
        nodes += kind == Event.NODE_ENTERED
        is_in_leaf |= kind == Event.LEAF_ENTERED
        primitives += kind == Event.PRIMITIVE_TESTED
    return [*found, (nodes, primitives)]


TRAVERSALS = [
    ("lbvh", "bvh2", "bvh2_stack"),
    ("lbvh", "bvh4", "bvh4_stack"),
    ("median_sah", "kd8", "full_stack"),
    ("grid", "cells8", "dda"),
]


@pytest.mark.parametrize("traversal", TRAVERSALS, ids="-".join)
def test_warps_take_what_their_lanes_say(target: Target, traversal: tuple[str, str, str]) -> None:
    made, (origins, directions) = built(target, soup(4, 200), *traversal), random_rays(5, 64)
    found = divergence_of_rays(target, made, upload_rays(target, origins, directions))
    tracer = Tracer(target, made.traversal())
    logs = [
        record_ray(tracer, upload_rays(target, *(rows[i : i + 1] for rows in (origins, directions)))) for i in range(64)
    ]
    for warp in range(2):
        lanes = [log.kinds for log in logs[LANES * warp : LANES * (warp + 1)]]
        told = [
            lane[np.isin(lane, (Event.NODE_ENTERED, Event.PRIMITIVE_TESTED))] == Event.NODE_ENTERED for lane in lanes
        ]
        assert found.nodes[warp] == sum(int(one.sum()) for one in told)
        assert found.primitives[warp] == sum(int((~one).sum()) for one in told)
        if traversal[1] == "bvh2":
            steps = range(max(map(len, told)))
            assert found.steps[warp] == len(steps)
            assert found.node_steps[warp] == sum(any(len(one) > k and one[k] for one in told) for k in steps)
            assert found.primitive_steps[warp] == sum(any(len(one) > k and not one[k] for one in told) for k in steps)
        else:
            ways = [runs(lane) for lane in lanes]
            rounds = [[way[k] for way in ways if len(way) > k] for k in range(max(map(len, ways)))]
            assert found.node_steps[warp] == sum(max(nodes for nodes, _ in one) for one in rounds)
            assert found.primitive_steps[warp] == sum(max(tests for _, tests in one) for one in rounds)
            assert found.steps[warp] == found.node_steps[warp] + found.primitive_steps[warp]
    assert 0.0 < found.idle < 1.0


def test_figures_of_warps() -> None:
    steps = np.array([0, *[10] * 98, 20, 110])
    found = Divergence(steps, steps, np.zeros(101, int), np.full(101, 100), np.zeros(101, int))
    assert found.mean == pytest.approx((980 + 130) / 100) and found.longest == 110
    assert (found.last(), found.last(0.5)) == (0, 100) and found.order(2).tolist() == [100, 99]
    assert found.idle == pytest.approx(1 - 10100 / (32 * steps.sum())) and found.idle_at_primitives == 0.0
    nothing = Divergence(*(np.zeros(2, int) for _ in range(5)))
    assert (nothing.mean, nothing.longest, nothing.last(), nothing.idle) == (0.0, 0, 0, 0.0)


def test_tiles_lie_where_their_pixels_are() -> None:
    """Columns of tiles of 8 pixels; rows of 4, of which the last may be missing."""
    nothing = np.zeros(12, int)
    found = Divergence(np.arange(12), nothing, nothing, nothing, nothing, "primary", (3, 3))
    np.testing.assert_array_equal(found.map(), [[0, 2, 4], [1, 3, 5], [6, 8, 10]])
    assert [found.place(warp) for warp in (0, 1, 2, 7)] == [(0, 0), (0, 1), (1, 0), (0, 3)]


@pytest.fixture(scope="module")
def drawn() -> Iterator[tuple[rg.Engine, rg.View]]:
    target = make_target("host")
    scene = rg.open("walker").to_plain()
    view = rg.View(rg.ViewSettings(layout="bvh4"), fit(scene.lower, scene.upper), rg.ArrayPixels(target, 64, 48))
    with rg.Engine(target, scene) as engine:
        engine.render_frame(rg.Moment(), [view])
        engine.flush()
        yield engine, view
    target.close()


def test_pixels_that_paid_are_those_whose_rays_came_by(drawn: tuple[rg.Engine, rg.View]) -> None:
    engine, view = drawn
    found = hot_spots_of(engine, view, "primary")
    everything = paid_of(engine, view, found, range(len(found.table)))
    assert everything.sum() == found.visits.sum() + found.tests.sum() and everything.min() >= 1
    row = next(one.number for one in found.top(50) if 0 < one.visits < 1000)
    paid = paid_of(engine, view, found, [row])
    assert (paid > 0).sum() == found.visits[row] and paid.sum() == found.visits[row] + found.tests[row]
    y, x = np.argwhere(paid > 0)[0]
    assert row in nodes_of_pixel(engine, view, x + 0.5, y + 0.5)
    y, x = np.argwhere(paid == 0)[0]
    assert row not in nodes_of_pixel(engine, view, x + 0.5, y + 0.5)
    triangle = found.top(1, "triangle")[0]
    assert paid_of(engine, view, found, primitives=[triangle.number]).sum() == triangle.tests


def test_paths_pay_at_the_pixels_that_they_began_at(drawn: tuple[rg.Engine, rg.View]) -> None:
    engine, view = drawn
    found = hot_spots_of(engine, view)
    everything = paid_of(engine, view, found, range(len(found.table)))
    assert everything.sum() == found.visits.sum() + found.tests.sum() > 64 * 48


def test_a_picture_has_tiles(drawn: tuple[rg.Engine, rg.View]) -> None:
    found = divergence_of(*drawn)
    assert found.map().shape == (12, 8) and found.map().sum() == found.steps.sum()
    assert str(found).startswith("96 warps") and found.rays == "primary"


def test_long_triangles_are_found_and_the_remedy_is_measured() -> None:
    """Small triangles, and needles through all of them."""
    small, rng = soup(3, 600, 0.03), np.random.default_rng(1)
    needles = rng.uniform(-1, 1, (20, 3, 3)) * [[[1], [-1], [1]]]
    needles[:, 2] = needles[:, 0] + 0.02
    vertices = np.concatenate([small, needles]).astype(np.float32)
    clip = rg.Clip(vertices.reshape(1, -1, 3), np.arange(vertices.size // 3).reshape(-1, 3))
    found = rg.hot_spots(clip, "lbvh/bvh2", rays="primary", size=(64, 48), remedies=True, device="cpu")
    codes = {one.code: one for one in found.findings}
    long = codes["long_triangles"]
    assert isinstance(long, HotFinding) and set(long.primitives) <= set(range(600, 620)) and len(long.primitives) == 18
    assert long.sentence.startswith("18 long triangles of 620 cause") and long.configuration == "sbvh/bvh2"
    assert long.gain is not None and long.gain > 1.05
    better = rg.hot_spots(clip, "sbvh/bvh2", rays="primary", size=(64, 48), device="cpu")
    assert long.gain == pytest.approx(found.total_cost / better.total_cost)
    assert "sbvh/bvh2 saves" in str(found)


def test_an_even_scene_has_no_long_triangles(drawn: tuple[rg.Engine, rg.View]) -> None:
    engine, view = drawn
    found = hot_spots_of(engine, view, "primary")
    even = np.tile(np.eye(3, dtype=np.float32), (len(found.counts.primitive_tests), 1, 1))
    assert "long_triangles" not in {one.code for one in findings_of(found, even)}
    corners = corners_of(engine, view)
    assert corners is not None and corners.shape == (engine.scene.triangle_count, 3, 3)


def test_nobody_is_told_to_use_what_he_has() -> None:
    """The country kitchen by binned_sah was told to choose binned_sah."""
    assert helps("lbvh/bvh4", SPLIT, CUT, MOVE) == (SPLIT[0], "binned_sah/bvh4")
    for name in ("binned_sah", "sweep_sah", "hploc_sah"):
        assert helps(f"{name}/bvh4", SPLIT, CUT, MOVE) == (CUT[0], "sbvh/bvh4")
    assert helps("sbvh/bvh4", SPLIT, CUT, MOVE) == (MOVE[0], "sbvh+reinsertion/bvh4")
    assert helps("sbvh+reinsertion/bvh4", SPLIT, CUT, MOVE) == (NOTHING, "")
    assert helps("", SPLIT) == (SPLIT[0], "binned_sah"), "a tree of another program"
    small, rng = soup(3, 600, 0.03), np.random.default_rng(1)
    needles = rng.uniform(-1, 1, (20, 3, 3)) * [[[1], [-1], [1]]]
    vertices = np.concatenate([small, needles]).astype(np.float32)
    clip = rg.Clip(vertices.reshape(1, -1, 3), np.arange(vertices.size // 3).reshape(-1, 3))
    for spelt in ("sbvh/bvh2", "binned_sah/bvh2"):
        found = rg.hot_spots(clip, spelt, rays="primary", size=(64, 48), device="cpu")
        findings = [one for one in found.findings if isinstance(one, HotFinding)]
        assert findings and all(spelt.split("/")[0] not in one.remedy for one in findings)
        assert all("layout bvh2" not in one.remedy for one in findings)


def test_remedies_are_configurations_that_there_are() -> None:
    assert remedy("lbvh:code_bits=60/bvh4@refit", "sbvh") == "sbvh/bvh4"
    assert remedy("hploc/bvh8", optimiser="reinsertion") == "hploc+reinsertion/bvh8"
    assert remedy("median_sah/kd8", "sbvh") == "sbvh" and remedy("median_sah", layout="bvh2") == ""
    assert remedy("sbvh/bvh2", "sbvh") == "" and remedy("median_sah", optimiser="reinsertion") == ""
    assert remedy("", "sbvh") == "sbvh" and remedy("", optimiser="reinsertion") == ""
    spelt = "lbvh:code_bits=60+rotations:passes=2/bvh4@refit"
    assert remedy(spelt, layout="bvh2") == "lbvh:code_bits=60+rotations:passes=2/bvh2"
    assert remedy(spelt, layout="bvh4") == remedy(spelt, optimiser="rotations") == ""
