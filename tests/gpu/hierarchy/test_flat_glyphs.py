"""Discs and splats in a structure of every family: rays find the nearest one of all, as float64 says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.glyph_shapes import FLAT_SHAPES, GLYPH_SHAPES
from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.primitives import glyph_primitives
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import make_with, rays, trace
from tests.oracle.glyphs import flat_hits, rotation

COUNT = 400
FAMILIES: dict[str, dict[str, Any]] = {
    "brute_force": {},
    "lbvh": {},
    "sbvh": {},
    "median_sah": {},
    "octree_top_down": {},
    "grid": {},
    "grid_two_level": {},
}


def rows_of(shape: str, seed: int) -> np.ndarray:
    """(COUNT, 12) float32 in the unit cube; an eighth of them lie across an axis, so that their boxes are flat, one of
    which is at the border of the scene."""
    random = np.random.default_rng(seed)
    turns = random.normal(size=(COUNT, 4))
    turns[::8] = [0, 0, 0, 1]
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    centres = random.random((COUNT, 3))
    centres[0, 2] = 0.0
    sizes = 10.0 ** random.uniform(-1.7, -0.9, (COUNT, 3))
    mark = np.full((COUNT, 1), -2.0 - GLYPH_SHAPES.index(shape))
    return np.concatenate([centres, np.zeros_like(mark), turns, sizes, mark], axis=1).astype(np.float32)


@pytest.mark.covers("name", "shape")
@pytest.mark.parametrize("shape", FLAT_SHAPES)
@pytest.mark.parametrize("name", FAMILIES)
def test_rays_find_the_nearest_one(exact_hits_target: Target, name: str, shape: str) -> None:
    rows, target = rows_of(shape, 3), exact_hits_target
    hierarchy = make_with(target, name, StructureChoice(), **FAMILIES[name])
    hierarchy.build(glyph_primitives(None, target.upload(rows, "test"), COUNT))
    origins, directions = rays()
    found = trace(hierarchy, origins, directions)
    t, margin = flat_hits(shape, rows[:, :3], rotation(rows[:, 4:8]), rows[:, 8:11], origins, directions)
    sure, hit = margin > 1e-4, np.isfinite(t)
    assert sure.mean() > 0.5 and (hit & sure).sum() > 100 and (~hit & sure).sum() > 20
    np.testing.assert_array_equal((found.prim_id >= 0)[sure], hit[sure])
    error = np.abs(found.t - t)[sure & hit]
    assert np.quantile(error, 0.98) < 1e-5 and error.max() < 1e-3, "grazing ones meet a plane where rounding lets them"
