"""The short way in finds what brute force in float64 finds, in arrays that stay, and refuses what is no mesh and no
ray by sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raygrove
from raygrove.gpu.target.base import Target
from raygrove.testing.closest_hits import triangle_hits

RANDOM = np.random.default_rng(5)
VERTICES = RANDOM.random((300, 3))
TRIANGLES = RANDOM.integers(0, 300, (400, 3))
ORIGINS = RANDOM.random((500, 3)) * 3 - 1
DIRECTIONS = (RANDOM.random((500, 3)) - ORIGINS) * RANDOM.uniform(0.2, 5.0, (500, 1))
ONE = ([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]])


@pytest.mark.parametrize("name", ["hploc", "median_sah", "brute_force"])
def test_hits_are_the_oracles(target: Target, name: str) -> None:
    corners = VERTICES.astype(np.float32)[TRIANGLES]
    rays = ORIGINS.astype(np.float32), DIRECTIONS.astype(np.float32)
    expected = triangle_hits(corners, *rays)
    with raygrove.build(VERTICES, TRIANGLES, name, target=target) as built:
        hits, is_occluded = built.trace(ORIGINS, DIRECTIONS), built.occluded(ORIGINS, DIRECTIONS)
    sure, is_miss = expected.is_certain, hits.prim_id == -1
    assert sure.mean() > 0.9 and 20 < is_miss.sum() < 480 and len(hits) == 500
    np.testing.assert_array_equal(hits.prim_id[sure], expected.prim_id[sure])
    np.testing.assert_allclose(hits.t[sure], expected.t[sure], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(is_occluded, ~is_miss)
    assert np.isinf(hits.t[is_miss]).all() and not hits.u[is_miss].any() and not hits.v[is_miss].any()
    assert [column.dtype for column in (hits.t, hits.prim_id, hits.u, hits.v)] == ["f4", "i4", "f4", "f4"]
    at, (a, b, c) = ~is_miss, np.moveaxis(corners[hits.prim_id], 1, 0)
    weighed = a * (1 - hits.u - hits.v)[:, None] + b * hits.u[:, None] + c * hits.v[:, None]
    np.testing.assert_allclose(weighed[at], (rays[0] + hits.t[:, None] * rays[1])[at], atol=1e-3)


def test_hits_stay_when_others_are_traced(host_target: Target) -> None:
    with raygrove.build(*ONE, target=host_target) as built:
        first = built.trace([0.2, 0.2, 1.0], [0.0, 0.0, -1.0])
        built.trace([[2.0, 2.0, 1.0]], [0.0, 0.0, -1.0])
        assert (first.t.tolist(), first.prim_id.tolist()) == ([1.0], [0]) and first.t.flags.owndata


def test_rays_end_where_they_are_told(host_target: Target) -> None:
    with raygrove.build(*ONE, target=host_target) as built:
        origins = [[0.2, 0.2, 1.0]] * 3
        hits = built.trace(origins, [0.0, 0.0, -2.0], t_min=[0.0, 0.6, 0.0], t_max=[0.6, 2.0, 0.4])
        assert hits.prim_id.tolist() == [0, -1, -1] and hits.t.tolist() == [0.5, np.inf, np.inf]
        assert built.statistics().leaf_count == len(built.nodes()) == 1


def test_no_triangle_and_no_ray(host_target: Target) -> None:
    with raygrove.build(np.zeros((0, 3)), np.zeros((0, 3), int), target=host_target) as built:
        assert built.trace([0, 0, 1], [0, 0, -1]).prim_id.tolist() == [-1]
        assert len(built.trace(np.zeros((0, 3)), np.zeros((0, 3)))) == 0


@pytest.mark.parametrize(
    ("mesh", "sentence"),
    [
        (([[0.0, 0.0]], [[0, 0, 0]]), r"vertices have the shape \(N, 3\); these are \(1, 2\)"),
        ((ONE[0], [[0.0, 1.0, 2.0]]), r"triangles are whole numbers; these are \(1, 3\) of float64"),
        ((ONE[0], [[0, 1, 2], [0, 1, 3]]), r"Triangle 1 is \[0, 1, 3\], but there are 3 vertices"),
        ((ONE[0], [[0, 1, -1]]), r"Triangle 0 is \[0, 1, -1\]"),
    ],
)
def test_what_is_no_mesh_is_refused(host_target: Target, mesh: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        raygrove.build(*mesh, target=host_target)


def test_what_is_no_ray_is_refused(host_target: Target) -> None:
    with pytest.raises(raygrove.OptionError, match="octopus"):
        raygrove.build(*ONE, "octopus", target=host_target)
    with raygrove.build(*ONE, target=host_target) as built:
        for origins, directions, sentence in (
            ([0.0, 0.0], [0.0, 0.0, 1.0], "origins are rows"),
            ([[0.0, 0.0, 0.0]] * 2, [[0.0, 0.0, 1.0]] * 3, "2 origins and 3 directions"),
            ([[0.0, 0.0, 0.0]] * 2, [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], "Ray 1 is not finite or has no direction"),
            ([0.0, np.nan, 0.0], [0.0, 0.0, 1.0], "Ray 0 is not finite"),
        ):
            with pytest.raises(ValueError, match=sentence):
                built.trace(origins, directions)
        with pytest.raises(ValueError, match="one for each of the 1 rays"):
            built.trace([0, 0, 1], [0, 0, -1], t_max=[1.0, 2.0])
    built.close()
    with pytest.raises(ValueError, match="closed"):
        built.trace([0, 0, 1], [0, 0, -1])


def test_targets_and_engines_are_context_managers() -> None:
    with raygrove.choose("host") as target, raygrove.Engine(target, raygrove.Scene("empty")) as engine:
        pixels = raygrove.ArrayPixels(target, 8, 8)
        view = raygrove.View(raygrove.ViewSettings(hierarchy="brute_force"), raygrove.Camera(), pixels)
        engine.render_frame(raygrove.Moment(), [view])
        assert engine.flush().views
    target.close()
