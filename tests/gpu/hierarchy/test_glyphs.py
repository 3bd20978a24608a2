"""Glyphs beside triangles and spheres as a primitive kind: every structure finds what brute force finds, bit by bit,
with every test of triangles; what is alone stays what it was."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.glyph_shapes import GLYPH_SHAPES
from raygrove.gpu.hierarchy.base import ObjectRange, Primitives, StructureChoice
from raygrove.gpu.hierarchy.primitives import TRIANGLE_TESTS, counts_of, glyph_primitives
from raygrove.gpu.target.base import Target
from raygrove.testing.closest_hits import mixed_hits
from raygrove.testing.scenes import TriangleScene, make_with, mixed_scene, rays, sphere_scene, trace

GLYPHS = 300
STRUCTURES: dict[str, dict[str, Any]] = {
    "lbvh": {},
    "sbvh": {},
    "two_level": {"builder": "lbvh"},
    "median_sah": {},
    "octree_top_down": {},
    "grid": {},
}


@functools.lru_cache
def glyph_rows(seed: int = 1) -> np.ndarray:
    """(GLYPHS, 12) float32 of all shapes in turn, in the unit cube; of every 20 one is not there."""
    random = np.random.default_rng(seed)
    turns = random.normal(size=(GLYPHS, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    marks = -2.0 - np.arange(GLYPHS) % len(GLYPH_SHAPES)
    sizes = 10.0 ** random.uniform(-2.0, -0.9, (GLYPHS, 3))
    sizes[7::20] = 0.0
    columns = [random.random((GLYPHS, 3)), np.zeros((GLYPHS, 1)), turns, sizes, marks[:, None]]
    return np.concatenate(columns, axis=1).astype(np.float32)


def all_kinds(target: Target, triangles: int = 300, spheres: int = 300) -> tuple[TriangleScene, Any, Any, Primitives]:
    scene, centres, radii, others = mixed_scene(target, triangles, spheres)
    return scene, centres, radii, glyph_primitives(others, target.upload(glyph_rows(), "test"), GLYPHS)


def test_glyphs_come_after_the_others_and_hide_what_is_behind(target: Target) -> None:
    """What others are hit is what the oracle says where no glyph stands before it; glyphs of each shape are hit."""
    scene, centres, radii, primitives = all_kinds(target)
    assert counts_of(primitives) == (300, 300, GLYPHS)
    hierarchy = make_with(target, "brute_force", StructureChoice())
    hierarchy.build(primitives)
    found, expected = trace(hierarchy, *rays()), mixed_hits(scene.corners(), centres, radii, *rays())
    is_glyph = found.prim_id >= 600
    shapes = np.bincount((found.prim_id[is_glyph] - 600) % len(GLYPH_SHAPES), minlength=len(GLYPH_SHAPES))
    assert (shapes > 4).all() and (found.t[is_glyph] <= expected.t[is_glyph] * (1 + 1e-5)).all()
    assert not ((found.prim_id[is_glyph] - 600) % 20 == 7).any(), "those are not there"
    sure = ~is_glyph & expected.is_certain
    np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_find_what_brute_force_finds(exact_hits_target: Target, name: str) -> None:
    *_, primitives = all_kinds(exact_hits_target)
    ranges = ObjectRange(0, 300, 0), ObjectRange(300, 300, 0), ObjectRange(600, GLYPHS, 0)
    primitives = dataclasses.replace(primitives, objects=ranges)
    plain = make_with(exact_hits_target, "brute_force", StructureChoice())
    hierarchy = make_with(exact_hits_target, name, StructureChoice(), **STRUCTURES[name])
    plain.build(primitives)
    hierarchy.build(primitives)
    first, second = trace(plain, *rays()), trace(hierarchy, *rays())
    for column in ("t", "prim_id", "u", "v"):
        np.testing.assert_array_equal(getattr(second, column), getattr(first, column))
    hierarchy.measure()
    exact_hits_target.synchronize()
    absent = sum(len(range(start, GLYPHS, 20)) for start in (5, 7))  # spheres and glyphs that are not there
    assert hierarchy.stats().inactive_count == absent


@pytest.mark.parametrize("test", TRIANGLE_TESTS[1:])
def test_every_test_of_triangles_leaves_glyphs_as_they_are(target: Target, test: str) -> None:
    *_, primitives = all_kinds(target)
    plain, other = (
        make_with(target, "brute_force", StructureChoice(triangle_test=one)) for one in ("moeller_trumbore", test)
    )
    plain.build(primitives)
    other.build(primitives)
    first, second = trace(plain, *rays()), trace(other, *rays())
    is_glyph = (first.prim_id >= 600) & (second.prim_id >= 600)
    assert is_glyph.sum() > 100 and ((first.prim_id >= 600) != (second.prim_id >= 600)).mean() < 0.01
    for column in ("t", "prim_id", "u", "v"):
        np.testing.assert_array_equal(getattr(first, column)[is_glyph], getattr(second, column)[is_glyph])


def test_glyphs_need_no_others(target: Target) -> None:
    """Alone, or after spheres alone: the same hits, by other numbers."""
    rows = target.upload(glyph_rows(), "test")
    _, _, spheres = sphere_scene(target, 40)
    found = []
    for others, first_id in ((None, -1), (None, 1000), (spheres, -1)):
        hierarchy = make_with(target, "brute_force", StructureChoice())
        hierarchy.build(glyph_primitives(others, rows, GLYPHS, first_id))
        found.append(trace(hierarchy, *rays()))
    hit = found[0].prim_id >= 0
    assert hit.sum() > 100
    np.testing.assert_array_equal(found[1].prim_id[hit], found[0].prim_id[hit] + 1000)
    after = found[2].prim_id >= 40
    np.testing.assert_array_equal(found[2].prim_id[after] - 40, found[0].prim_id[after])
