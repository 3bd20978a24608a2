"""Regions of space asked about among glyphs: the nearest point of each lies in it and is no farther than any of many
points of its surface; boxes list what has points in them. In float64, by points strewn on the shapes."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from raygrove.gpu.glyph_shapes import GLYPH_SHAPES
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.primitives import glyph_primitives
from raygrove.gpu.query.query import Queries
from raygrove.gpu.query.questions import upload_boxes, upload_places
from raygrove.gpu.query.touching import Touching
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import mixed_scene
from tests.oracle.glyphs import head_of, outside, rotation

from .test_neighbours import lists_of, make, places

COUNT, POINTS = 42, 4000
CHOICES = [("lbvh", "bvh2"), ("median_sah", "auto")]
over_choices = pytest.mark.parametrize("choice", CHOICES, ids="-".join)
"""A tree, and one that lists a primitive several times."""


@functools.lru_cache
def rows() -> np.ndarray:
    """(COUNT, 12) float32, of all shapes in turn, long and flat ones among them; the last is not there."""
    random = np.random.default_rng(3)
    turns = random.normal(size=(COUNT, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    sizes = 10.0 ** random.uniform(-2.0, -0.4, (COUNT, 3))
    sizes[-1] = 0.0
    marks = -2.0 - np.arange(COUNT) % len(GLYPH_SHAPES)
    columns = [random.random((COUNT, 3)), np.zeros((COUNT, 1)), turns, sizes, marks[:, None]]
    return np.concatenate(columns, axis=1).astype(np.float32)


def on_surface(shape: str, s: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """(POINTS, 3) in a glyph's own frame."""
    ball = random.normal(size=(POINTS, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    angle, share = random.uniform(0, 2 * np.pi, POINTS), random.random(POINTS)
    circle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    filled, up = circle * np.sqrt(share)[:, None], np.array([0, 0, 1.0])
    is_cap, end = random.random(POINTS) < 0.5, np.where(random.random(POINTS) < 0.5, -1.0, 1.0)[:, None]
    if shape == "box":
        cube = random.uniform(-1, 1, (POINTS, 3))
        cube[np.arange(POINTS), random.integers(0, 3, POINTS)] = end[:, 0]
        return cube * s
    if shape == "cylinder":
        return np.where(is_cap[:, None], filled + end * up, circle + (2 * share - 1)[:, None] * up) * s
    if shape == "capsule":
        return ball * s[0] + s[2] * np.where(is_cap[:, None], np.sign(ball[:, 2:]), (2 * share - 1)[:, None]) * up
    if shape == "arrow":
        base, radius = (float(value) for value in head_of(s))
        heights = -s[2] + share * (base + s[2])
        shaft = np.where(is_cap[:, None], filled * s[0] - s[2] * up, circle * s[0] + heights[:, None] * up)
        slant = circle * (radius * share)[:, None] + (s[2] + (base - s[2]) * share)[:, None] * up
        return np.where(end > 0, shaft, np.where(is_cap[:, None], filled * radius + base * up, slant))
    return {"ellipsoid": ball * s, "disc": filled * s * [1, 1, 0], "splat": ball * s[0]}[shape]


@functools.lru_cache
def samples() -> np.ndarray:
    """(COUNT, POINTS, 3) float64 in the scene; of the last one nothing is finite."""
    random, found = np.random.default_rng(4), []
    for row, axes in zip(rows().astype(np.float64), rotation(rows()[:, 4:8]), strict=True):
        shape = GLYPH_SHAPES[int(-2.0 - row[11])]
        found.append(row[:3] + on_surface(shape, row[8:11], random) @ axes.T)
    found[-1][:] = np.inf
    return np.array(found)


def inside(index: int, points: np.ndarray) -> np.ndarray:
    """(N,) bool: which points (N, 3) are not outside of a glyph by more than rounding, discs and splats by their own
    measures."""
    row = rows()[index].astype(np.float64)
    shape, sizes = GLYPH_SHAPES[int(-2.0 - row[11])], row[8:11]
    local = (points - row[:3]) @ rotation(rows()[index : index + 1, 4:8])[0]
    if shape == "splat":
        return np.asarray(np.linalg.norm(local, axis=1) <= sizes[0] * (1 + 1e-4))
    if shape == "disc":
        flat = (local[:, :2] / sizes[:2]) ** 2
        return np.asarray((flat.sum(axis=1) <= 1 + 1e-4) & (np.abs(local[:, 2]) < 1e-5))
    return np.asarray(outside(shape, np.broadcast_to(sizes, local.shape), local) <= 1e-3)


@pytest.mark.parametrize("index", range(0, COUNT - 1, 3))
def test_the_nearest_point_lies_in_the_glyph_and_none_is_nearer(host_target: Target, index: int) -> None:
    """One glyph alone, asked from around it and from inside of it."""
    target, hierarchy = host_target, make(host_target, ("lbvh", "bvh2"))
    hierarchy.build(glyph_primitives(None, target.upload(rows()[index : index + 1], "test"), 1))
    surface = samples()[index]
    asked = np.concatenate([places(60), surface[:20] + 1e-3, rows()[index : index + 1, :3]]).astype(np.float32)
    found = Queries(hierarchy).nearest(upload_places(target, asked))
    points, distance = target.download(found.points).astype(np.float64), target.download(found.distance)
    np.testing.assert_allclose(np.linalg.norm(points - asked, axis=1), distance, atol=2e-6)
    assert inside(index, points).all() and distance[-1] == 0.0
    least = np.linalg.norm(asked[:, None].astype(np.float64) - surface[None], axis=2).min(axis=1)
    assert (distance <= least + 2e-6).all()
    is_inside = inside(index, asked.astype(np.float64))
    assert (distance[is_inside] <= 1e-3).all() and (distance[~is_inside][:30] > 0.0).any()


@over_choices
def test_lists_and_neighbours_among_others(target: Target, choice: tuple[str, str]) -> None:
    """Glyphs come after triangles and spheres; distances of lists are those of the nearest points."""
    *_, others = mixed_scene(target, 30, 30)
    hierarchy = make(target, choice)
    hierarchy.build(glyph_primitives(others, target.upload(rows(), "test"), COUNT))
    queries, asked = Queries(hierarchy), places(40)
    near = target.download(queries.k_nearest(upload_places(target, asked), 100).prim_ids)
    far = target.download(queries.k_nearest(upload_places(target, asked), 100).distances)
    least = np.array([np.linalg.norm(asked[:, None] - one[None], axis=2).min(axis=1) for one in samples()[:-1]]).T
    for place, (ids, distances) in enumerate(zip(near, far, strict=True)):
        glyphs = ids >= 60
        assert sorted(ids[glyphs] - 60) == list(range(COUNT - 1)), "each once, and not the one that is not there"
        assert (distances[glyphs] <= least[place, ids[glyphs] - 60] + 2e-6).all()
    of_balls = lists_of(target, queries.in_balls(upload_places(target, asked, 0.2), ascending=True))
    for ids, distances, listed in zip(near, far, of_balls, strict=True):
        assert {int(one) for one in ids[distances < 0.2 - 1e-6]} <= set(listed) <= set(ids[distances < 0.2 + 1e-6])
    random = np.random.default_rng(8)
    lower = random.uniform(-0.1, 0.9, (60, 3)).astype(np.float32)
    upper = lower + random.uniform(0.05, 0.6, lower.shape).astype(np.float32)
    of_boxes = lists_of(target, queries.in_boxes(upload_boxes(target, lower, upper)))
    listed_glyphs = 0
    for low, high, listed in zip(lower, upper, of_boxes, strict=True):
        assert len(set(listed)) == len(listed)
        gaps = np.maximum(np.maximum(low - samples()[:-1], samples()[:-1] - high), 0.0)
        gap = np.linalg.norm(gaps, axis=2).min(axis=1)
        holds = np.array([inside(index, (low + high)[None].astype(np.float64) / 2)[0] for index in range(COUNT - 1)])
        told = np.isin(np.arange(COUNT - 1) + 60, listed)
        assert told[(gap == 0.0) | holds].all(), "what has a point in the box is in the list"
        assert (gap[told & ~holds] < 0.04).all(), "and nothing that is far from it"
        listed_glyphs += int(told.sum())
    assert listed_glyphs > 100
    with pytest.raises(HierarchyError, match="told to touch, not glyphs"):
        queries.touching(Touching(others))
