"""Every glyph against float64: its box against support functions, its hits against marching, its surface against the
gradient of what is inside."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.glyph_shapes import FLAT_SHAPES, GLYPH_SHAPES
from raygrove.gpu.target.base import Target
from tests.oracle.glyphs import extents, marched, outside, rotation

from .units import run_kernel

SOLID = [shape for shape in GLYPH_SHAPES if shape not in FLAT_SHAPES]
"""What is flat has no inside to march to: test_flat_glyphs.py."""
INFINITY = np.finfo(np.float32).max


@dataclasses.dataclass(frozen=True, eq=False)
class Looked:
    """What the kernel says of n glyphs and rays."""

    lower: np.ndarray
    upper: np.ndarray
    is_hit: np.ndarray
    t: np.ndarray
    offset: np.ndarray
    normal: np.ndarray


def rows_of(shape: str, centres: np.ndarray, turns: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """(N, 12) float32 as gpu/device/glyph.cuh has them."""
    mark = np.full((len(centres), 1), -2.0 - GLYPH_SHAPES.index(shape))
    return np.concatenate([centres, np.zeros_like(mark), turns, sizes, mark], axis=1).astype(np.float32)


def look(target: Target, rows: np.ndarray, rays: np.ndarray) -> Looked:
    n = len(rows)
    out = np.zeros((n, 6), np.float32), np.zeros((4, n), np.float32), np.zeros((3, n, 3), np.float32)
    _, _, boxes, hits, points = run_kernel(target, "glyphs", "look_at_glyphs", n, rows, rays, n, *out)
    return Looked(boxes[:, :3], boxes[:, 3:], hits[0] > 0, hits[1], points[0], points[1])


def random_glyphs(n: int, seed: int, thinnest: float = 0.05) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres, turns, sizes, float32: sizes of a glyph from `thinnest` to 1 of its own scale, 1e-6 to 1e3."""
    random = np.random.default_rng(seed)
    scales = 10.0 ** random.uniform(-6, 3, (n, 1))
    turns = random.normal(size=(n, 4))
    turns[::7] = [0, 0, 0, 1]
    turns[3::7] = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    centres = scales * random.normal(size=(n, 3)) * 10.0 ** random.uniform(-1, 2, (n, 1))
    sizes = scales * 10.0 ** random.uniform(np.log10(thinnest), 0, (n, 3))
    return centres.astype(np.float32), turns.astype(np.float32), sizes.astype(np.float32)


def rays_at(
    centres: np.ndarray, sizes: np.ndarray, seed: int, away: float = 6.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rays (8, N) towards places around glyphs, from as far as `away` sizes, a third from within the sizes; origins and
    directions in float64 as the kernel has them."""
    random = np.random.default_rng(seed)
    n, largest = len(centres), sizes.max(axis=1, keepdims=True).astype(np.float64)
    reach = np.where(np.arange(n)[:, None] % 3 == 0, 0.3, away)
    way = random.normal(size=(n, 3))
    origins = centres + largest * reach * way / np.linalg.norm(way, axis=1, keepdims=True)
    aims = centres + largest * random.uniform(-0.6, 0.6, (n, 3))
    directions = (aims - origins) / np.linalg.norm(aims - origins, axis=1, keepdims=True)
    ends = np.stack([np.zeros(n), np.full(n, INFINITY)], axis=1)
    rays = np.concatenate([origins, directions, ends], axis=1).astype(np.float32)
    return np.ascontiguousarray(rays.T), rays[:, :3].astype(np.float64), rays[:, 3:6].astype(np.float64)


def into_frames(axes: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("nij,ni->nj", axes, vectors)


@pytest.mark.parametrize("shape", GLYPH_SHAPES)
def test_boxes_are_the_smallest(target: Target, shape: str) -> None:
    centres, turns, sizes = random_glyphs(2000, 1, 1e-3)
    found = look(target, rows_of(shape, centres, turns, sizes), np.zeros((8, 2000), np.float32))
    below, above = extents(shape, sizes, rotation(turns))
    slack = 4e-6 * sizes.max(axis=1, keepdims=True).astype(np.float64) + 4e-7 * np.abs(centres)
    for end, exact in ((-found.lower, below - centres), (found.upper, above + centres)):
        assert (end >= exact).all(), "what is outside would be missed"
        assert (end <= exact + slack).all(), "no larger than rounding asks for"


@pytest.mark.parametrize("shape", SOLID)
def test_hits_are_those_of_marching(target: Target, shape: str) -> None:
    n = 600
    centres, turns, sizes = random_glyphs(n, 2)
    rays, origins, directions = rays_at(centres, sizes, 3)
    found = look(target, rows_of(shape, centres, turns, sizes), rays)
    axes, largest = rotation(turns), sizes.max(axis=1).astype(np.float64)
    local = into_frames(axes, origins - centres) / largest[:, None], into_frames(axes, directions)
    scaled = sizes / largest[:, None]
    t, margin = marched(shape, scaled, *local, np.full(n, 9.5))
    sure = margin > 0.08
    assert sure.sum() > 0.7 * n and np.isfinite(t[sure]).sum() > 0.3 * n and (~np.isfinite(t[sure])).sum() > 10
    np.testing.assert_array_equal(found.is_hit[sure], np.isfinite(t[sure]))
    hit = found.is_hit & sure
    # As far from the surface as rounding at the origin's distance, over the glyph's least size, allows.
    places = local[0] + (found.t.astype(np.float64) / largest)[:, None] * local[1]
    off = np.abs(outside(shape, scaled, places)) * scaled.min(axis=1)
    coarse = 1e-6 + 1e-6 * np.abs(np.concatenate([origins, centres], axis=1)).max(axis=1) / largest
    assert (off < coarse)[hit].all()
    error = np.abs(found.t / largest - t)[hit]
    assert np.median(error) < 1e-5 and (error < 2e-3).mean() > 0.99
    assert_surface(shape, found, hit, scaled, places, axes, largest)


def assert_surface(
    shape: str,
    found: Looked,
    hit: np.ndarray,
    scaled: np.ndarray,
    places: np.ndarray,
    axes: np.ndarray,
    largest: np.ndarray,
) -> None:
    """The point told by u and v is the hit, and the normal is the gradient's, but within 1e-3 of an edge."""
    told = into_frames(axes, found.offset / largest[:, None])
    on_surface = np.abs(outside(shape, scaled, told)) * scaled.min(axis=1)
    assert (on_surface[hit] < 5e-6).all()
    step = 1e-4 * scaled.min(axis=1)
    gradient = np.stack(
        [
            outside(shape, scaled, places + step[:, None] * way) - outside(shape, scaled, places - step[:, None] * way)
            for way in np.eye(3)
        ],
        axis=1,
    )
    gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
    cosine = np.einsum("ij,ij->i", gradient, into_frames(axes, found.normal))[hit]
    assert (cosine > 0.999).mean() > 0.99
    np.testing.assert_allclose(np.linalg.norm(found.normal[hit], axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("shape", SOLID)
def test_small_and_far_ones_keep_their_digits(target: Target, shape: str) -> None:
    """A thousandth wide, a thousand away: hit or missed as in float64, and where."""
    n = 900
    random = np.random.default_rng(4)
    centres, turns, sizes = random_glyphs(n, 5, 0.3)
    sizes = (1e-3 * sizes / sizes.max(axis=1, keepdims=True)).astype(np.float32)
    way = random.normal(size=(n, 3))
    origins = (1e3 * way / np.linalg.norm(way, axis=1, keepdims=True)).astype(np.float32)
    centres = random.uniform(-1, 1, (n, 3)).astype(np.float32)
    aims = centres + 1e-3 * random.uniform(-1, 1, (n, 3))
    directions = (aims - origins).astype(np.float32)  # not of unit length
    ends = np.stack([np.zeros(n), np.full(n, INFINITY)], axis=1)
    rays = np.ascontiguousarray(np.concatenate([origins, directions, ends], axis=1).astype(np.float32).T)
    found = look(target, rows_of(shape, centres, turns, sizes), rays)
    o, d, axes = origins.astype(np.float64) - centres, directions.astype(np.float64), rotation(turns)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    near = o - np.sum(o * d, axis=1, keepdims=True) * d - 3e-3 * d
    scaled = sizes * 1e3
    local = into_frames(axes, near) * 1e3, into_frames(axes, d)
    t, margin = marched(shape, scaled, *local, np.full(n, 6.0))
    sure = margin > 0.02
    assert np.isfinite(t[sure]).sum() > 200 and (~np.isfinite(t[sure])).sum() > 50
    np.testing.assert_array_equal(found.is_hit[sure], np.isfinite(t[sure]))
    hit = sure & found.is_hit
    places = local[0] + t[:, None] * local[1]
    told = into_frames(axes, found.offset) * 1e3
    error = np.linalg.norm(told - places, axis=1)[hit]
    assert np.quantile(error, 0.98) < 1e-4, "of its size: the distance to it is not in it"


def test_intervals_are_kept_and_what_is_not_there_is_never_hit(target: Target) -> None:
    """From outside the first wall, from within or past it the next one; an arrow has four."""
    turn, z = np.array([[0, 0, 0, 1.0]]), np.zeros((1, 3))
    arrow = rows_of("arrow", z, turn, np.array([[0.2, 0.6, 2.0]]))  # the head from z 0.5 on
    # Past the shaft's side at x 0.1, through the rim of the head: down along -z at x = 0.4.
    rays = np.array([[0.4, 0, 5, 0, 0, -1, 0, INFINITY]] * 4 + [[-1.0, 0, 0.6, 0.9, 0, -0.3, 0, INFINITY]], np.float64)
    t_of_cone = 5 - (2 - 0.4 / 0.6 * 1.5)
    rays[1, 6], rays[2, 6], rays[3, 7] = t_of_cone + 0.01, 4.6, t_of_cone - 0.01
    found = look(target, np.repeat(arrow, 5, axis=0), np.ascontiguousarray(rays.T.astype(np.float32)))
    assert found.is_hit.tolist() == [True, True, False, False, True]
    np.testing.assert_allclose(found.t[:2], [t_of_cone, 4.5], rtol=1e-6)
    np.testing.assert_allclose(found.normal[1], [0, 0, -1], atol=1e-6)
    bad = np.repeat(rows_of("box", z, turn, np.ones((1, 3))), 6, axis=0)
    bad[0, 8], bad[1, 9], bad[2, 0], bad[3, 10], bad[4, 11], bad[5, 5] = 0, -1, np.nan, np.inf, -0.0, np.nan
    towards = np.repeat(np.array([[0, 0, 5, 0, 0, -1, 0, INFINITY]], np.float32), 6, axis=0)
    found = look(target, bad, np.ascontiguousarray(towards.T))
    assert (found.lower > found.upper).all(), "their boxes are empty"
