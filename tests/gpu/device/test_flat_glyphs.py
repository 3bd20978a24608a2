"""Discs and splats against float64: where rays meet them, where on them that is, from outside, within and far away."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.glyph_shapes import FLAT_SHAPES, SPLAT_NEAR
from raygrove.gpu.target.base import Target
from tests.oracle.glyphs import rotation

from .test_glyphs import INFINITY, into_frames, look, random_glyphs, rays_at, rows_of


def expected(
    shape: str, sizes: np.ndarray, origins: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """In the glyphs' frames, a ray of unit length each: where it meets its own one, inf for nowhere, and how near that
    is to being otherwise."""
    if shape == "disc":
        t = -origins[:, 2] / directions[:, 2]
        at = origins + t[:, None] * directions
        margin = 1.0 - np.hypot(at[:, 0] / sizes[:, 0], at[:, 1] / sizes[:, 1])
        near = np.minimum(np.abs(margin), np.abs(origins[:, 2]))
        return np.where((margin >= 0.0) & (t > 0.0), t, np.inf), near
    t = -np.sum(origins * directions, axis=1)
    at = origins + t[:, None] * directions
    margin = 1.0 - np.linalg.norm(at, axis=1) / sizes[:, 0]
    height = np.abs(origins[:, 2]) / sizes[:, 0] - 1.0
    reach = np.linalg.norm(origins, axis=1) / (SPLAT_NEAR * sizes[:, 0]) - 1.0
    near = np.min(np.abs([margin, height, reach]), axis=0)
    return np.where((margin >= 0.0) & ((height > 0.0) | (reach > 0.0)) & (t > 0.0), t, np.inf), near


@pytest.mark.parametrize("shape", FLAT_SHAPES)
def test_hits_are_those_of_float64(target: Target, shape: str) -> None:
    """A third of the rays begin beside the centre, where splats let them go."""
    n = 4000
    centres, turns, sizes = random_glyphs(n, 5)
    rays, origins, directions = rays_at(centres, sizes, 6)
    found = look(target, rows_of(shape, centres, turns, sizes), rays)
    axes, largest = rotation(turns), sizes.max(axis=1).astype(np.float64)
    scaled = sizes / largest[:, None]
    lengths = np.linalg.norm(directions, axis=1)
    local = into_frames(axes, origins - centres) / largest[:, None], into_frames(axes, directions / lengths[:, None])
    t, near = expected(shape, scaled, *local)
    coarse = 2e-6 + 2e-6 * np.abs(np.concatenate([origins, centres], axis=1)).max(axis=1) / largest
    slope = np.abs(local[1][:, 2]) if shape == "disc" else np.ones(n)
    sure = near * scaled.min(axis=1) > 10 * coarse / np.maximum(slope, 1e-6)
    hits = np.isfinite(t)
    assert sure.sum() > 0.7 * n and hits[sure].sum() > 0.1 * n and (~hits[sure]).sum() > 0.1 * n
    np.testing.assert_array_equal(found.is_hit[sure], hits[sure])
    hit = sure & hits
    error = np.abs(found.t * lengths / largest - t) * slope
    assert (error < coarse)[hit].all()
    told = into_frames(axes, found.offset / largest[:, None])
    place = local[0] + t[:, None] * local[1] if shape == "disc" else np.zeros((n, 3))
    off = np.linalg.norm(told[hit] - place[hit], axis=1) * slope[hit]
    assert (off < coarse[hit]).all(), "the point of a disc is the ray's, that of a splat its centre"
    assert (np.abs(told[hit, 2]) < 1e-6).all(), "in the plane, whatever the ray was"
    np.testing.assert_allclose(into_frames(axes, found.normal)[hit], np.tile([0, 0, 1.0], (hit.sum(), 1)), atol=1e-5)


@pytest.mark.parametrize("shape", FLAT_SHAPES)
def test_small_and_far_ones_keep_their_digits(target: Target, shape: str) -> None:
    """A radius of 1e-3 a thousand away: met or missed to 1e-3 of it, on the plane to 1e-6."""
    n, random = 2000, np.random.default_rng(8)
    turns = random.normal(size=(n, 4)).astype(np.float32)
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    sizes = np.full((n, 3), 1e-3, np.float32)
    way = random.normal(size=(n, 3))
    origins = (1e3 * way / np.linalg.norm(way, axis=1, keepdims=True)).astype(np.float32)
    centres = random.uniform(-1, 1, (n, 3)).astype(np.float32)
    directions = (centres + 1e-3 * random.uniform(-1, 1, (n, 3)) - origins).astype(np.float32)
    ends = np.stack([np.zeros(n), np.full(n, INFINITY)], axis=1)
    rays = np.ascontiguousarray(np.concatenate([origins, directions, ends], axis=1).astype(np.float32).T)
    found = look(target, rows_of(shape, centres, turns, sizes), rays)
    axes, o, d = rotation(turns), origins.astype(np.float64) - centres, directions.astype(np.float64)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    local = into_frames(axes, o) * 1e3, into_frames(axes, d)
    t, near = expected(shape, sizes * 1e3, *local)
    slope = np.abs(local[1][:, 2]) if shape == "disc" else np.ones(n)
    sure = (near > 1e-3) & (slope > 0.05)
    hit = sure & np.isfinite(t)
    assert hit.sum() > 300 and (sure & ~hit).sum() > 200
    np.testing.assert_array_equal(found.is_hit[sure], hit[sure])
    told = into_frames(axes, found.offset) * 1e3
    place = local[0] + t[:, None] * local[1] if shape == "disc" else np.zeros((n, 3))
    assert (np.linalg.norm(told[hit] - place[hit], axis=1) < 1e-4 / slope[hit]).all()


def test_intervals_rims_and_what_is_not_there(target: Target) -> None:
    """A disc is met from both sides, an ellipse within its own axes, neither edge-on; none outside of the interval."""
    turn, zero, size = np.array([[0, 0, 0, 1.0]]), np.zeros((1, 3)), np.array([[2.0, 0.5, 1.0]])
    disc, splat = rows_of("disc", zero, turn, size), rows_of("splat", zero, turn, size)
    down = [0.0, 0.0, 5.0, 0.0, 0.0, -1.0, 0.0, INFINITY]
    rays = np.array([down] * 7, np.float64)
    rays[1, 2], rays[1, 5] = -5.0, 1.0  # from below
    rays[2, 0], rays[3, 1] = 1.9, 0.6  # within x, beyond y
    rays[4, 6], rays[5, 7] = 5.1, 4.9  # the interval begins behind it, ends before it
    rays[6, :6] = [17.0, 0.0, 0.1, -1.0, 0.0, 0.0]  # above it, along its plane
    towards = np.ascontiguousarray(rays.T.astype(np.float32))
    found = look(target, np.repeat(disc, 7, axis=0), towards)
    assert found.is_hit.tolist() == [True, True, True, False, False, False, False]
    np.testing.assert_allclose(found.t[:3], 5.0, rtol=1e-6)
    np.testing.assert_allclose(found.offset[2], [1.9, 0.0, 0.0], atol=1e-5)
    found = look(target, np.repeat(splat, 7, axis=0), towards)
    assert found.is_hit.tolist() == [True, True, True, True, False, False, True], "round, and it faces every ray"
    rays[:, :6] = [0.0, 0.0, 1.9, 0.0, 0.0, -1.0]
    rays[1:, :6] = [15.0, 0.0, 0.1, -1.0, 0.0, 0.0]
    rays[2, 2] = 2.1  # higher than its radius, so that it is no neighbour on its surface; but too high to be met
    rays[3, :6] = [15.0, 0.0, 2.1, -1.0, 0.0, -0.1]
    from_near = np.ascontiguousarray(rays.T.astype(np.float32))
    found = look(target, np.repeat(splat, 7, axis=0), from_near)
    assert found.is_hit.tolist() == [False, False, False, True, False, False, False]
    for rows in (disc, splat):
        bad = np.repeat(rows, 4, axis=0)
        bad[0, 8], bad[1, 10], bad[2, 1], bad[3, 11] = 0.0, -1.0, np.nan, -0.0
        boxes = look(target, bad, np.ascontiguousarray(np.array([down] * 4, np.float32).T))
        assert (boxes.lower > boxes.upper).all(), "their boxes are empty"
