"""Which primitives of two objects touch, against every pair in float64, and shapes that lie in planes and lines."""

from __future__ import annotations

import numpy as np
import pytest

import raygrove
from raygrove.gpu.hierarchy.base import HierarchyError, Primitives
from raygrove.gpu.hierarchy.primitives import glyph_primitives, mixed_primitives, sphere_primitives, triangle_primitives
from raygrove.gpu.query.query import Queries
from raygrove.gpu.query.touching import Touching
from raygrove.gpu.target.base import Target
from tests.oracle.touching import pair_gaps

from .test_neighbours import EDGE, VISITS, lists_of, make

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Triangles (N, 3, 3), and spheres' centres and radii."""

FLAT = {
    "a triangle": [[0, 0, 0], [4, 0, 0], [0, 4, 0]],
    "beside it in its plane": [[3, 3, 0], [5, 3, 0], [5, 5, 0]],
    "at its edge": [[2, 2, 0], [5, 3, 0], [5, 5, 0]],
    "at its corner": [[4, 0, 0], [6, 0, 0], [6, 1, 1]],
    "above it": [[0, 0, 1], [4, 0, 1], [0, 4, 1]],
    "through it": [[1, 1, -1], [1, 1, 1], [5, 5, 5]],
    "a line in it": [[1, 1, 0], [2, 1, 0], [1, 1, 0]],
    "a line beside it": [[5, 0, 0], [0, 5, 0], [5, 0, 0]],
    "a line through it": [[1, 1, -1], [1, 1, 3], [1, 1, 2]],
    "a line along its edge": [[4, 0, 0], [9, 0, 0], [6, 0, 0]],
    "a line on, farther": [[5, 0, 0], [9, 0, 0], [6, 0, 0]],
    "a point in it": [[1, 2, 0]] * 3,
    "a point beside it": [[3, 2, 0]] * 3,
    "a point above it": [[1, 2, 1]] * 3,
}
"""Whole numbers: nothing is rounded."""
TOUCHING = {
    ("a triangle", name) for name in FLAT
    if name in ("at its edge", "at its corner", "through it", "a line in it", "a line through it",
                "a line along its edge", "a point in it")
} | {
    ("beside it in its plane", "at its edge"), ("at its corner", "a line along its edge"),
    ("at its corner", "a line on, farther"),
    ("above it", "through it"), ("above it", "a line through it"), ("above it", "a point above it"),
    ("through it", "a line in it"), ("through it", "a line through it"), ("a line in it", "a line through it"),
    ("a line beside it", "a point beside it"), ("a line along its edge", "a line on, farther"),
    ("at its edge", "a line beside it"), ("at its corner", "a line beside it"),
    ("a line beside it", "a line along its edge"), ("a line beside it", "a line on, farther"),
}  # fmt: skip


def parts(seed: int, triangles: int, spheres: int) -> Parts:
    """Somewhere in the unit cube; one of the spheres is inactive."""
    random = np.random.default_rng(seed)
    corners = random.random((triangles, 1, 3)) + random.uniform(-0.3, 0.3, (triangles, 3, 3))
    radii = random.uniform(0.0, 0.1, spheres)
    radii[:1] = -1.0
    return corners.astype(np.float32), random.random((spheres, 3), dtype=np.float32), radii.astype(np.float32)


def primitives_of(target: Target, corners: np.ndarray, centres: np.ndarray, radii: np.ndarray) -> Primitives:
    """By their kind, on a target."""
    positions = target.upload(corners.reshape(-1, 3), "test")
    indices = target.upload(np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3), "test")
    balls = target.upload(centres, "test"), target.upload(radii, "test")
    if len(corners) == 0 or len(centres) == 0:
        return sphere_primitives(*balls) if len(corners) == 0 else triangle_primitives(positions, indices)
    return mixed_primitives(positions, indices, *balls)


def check(listed: list[list[int]], gaps: np.ndarray) -> None:
    """Each question lists, once, what reaches into it; what all but touches may be listed."""
    for found, gap in zip(listed, gaps, strict=True):
        assert len(set(found)) == len(found)
        sure = np.abs(gap) > EDGE
        np.testing.assert_array_equal(np.isin(np.arange(len(gap)), found)[sure], (gap < 0)[sure])


COUNTS = {"triangles": (60, 0), "spheres": (0, 60), "mixed": (40, 30)}
ASKED = {"triangles": (50, 0), "spheres": (0, 50), "mixed": (30, 30)}
VISITED = [
    pytest.param(
        choice,
        counts,
        asked,
        marks=[] if kind == other == "mixed" or choice == ("lbvh", "bvh2") else pytest.mark.full,
        id="-".join((*choice, kind, other)),
    )
    for choice in VISITS
    for kind, counts in COUNTS.items()
    for other, asked in ASKED.items()
]
"""Each visit over triangles beside spheres by an object of both, one of them over either alone and by objects of
either; the rest, units of their own, in full."""


@pytest.mark.parametrize(("choice", "counts", "asked"), VISITED)
def test_what_touches(target: Target, choice: tuple[str, str], counts: tuple[int, int], asked: tuple[int, int]) -> None:
    """Of another object, and of the structure itself."""
    own, hierarchy = parts(1, *counts), make(target, choice)
    hierarchy.build(primitives_of(target, *own))
    other = parts(2, *asked)
    gaps = pair_gaps(other, own)
    assert (gaps < 0).sum() > 10
    found = Queries(hierarchy).touching(Touching(primitives_of(target, *other)), ascending=True)
    check(lists_of(target, found), gaps)
    within = Queries(hierarchy).touching(Touching(hierarchy.last_built(), is_own=True))
    gaps = pair_gaps(own, own)
    gaps[np.tri(len(gaps), dtype=bool)] = np.inf
    check(lists_of(target, within), gaps)


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(choice, marks=[] if choice[0] in ("lbvh", "grid") else pytest.mark.full, id="-".join(choice))
        for choice in VISITS
    ],
)
@pytest.mark.parametrize("scale", [1.0, 2.0**-90, 2.0**50])
def test_what_lies_in_planes_and_lines(target: Target, choice: tuple[str, str], scale: float) -> None:
    """Everything but the points, lines and triangles that share one is parted, at any scale."""
    shapes, hierarchy = np.array(list(FLAT.values()), np.float32) * np.float32(scale), make(target, choice)
    none = np.zeros((0, 3), np.float32), np.zeros(0, np.float32)
    hierarchy.build(primitives_of(target, shapes, *none))
    found = Queries(hierarchy).touching(Touching(primitives_of(target, shapes, *none)), ascending=True)
    names = list(FLAT)
    for i, listed in enumerate(lists_of(target, found)):
        expected = {other for other in names if {(names[i], other), (other, names[i])} & TOUCHING} | {names[i]}
        assert {names[j] for j in listed} == expected, names[i]


def test_structures_touch_structures(host_target: Target) -> None:
    """From the library: lists by rows, in parts, on one target."""
    corners, _, _ = parts(5, 40, 0)
    _, centres, radii = parts(6, 0, 40)
    gaps = pair_gaps((corners, np.zeros((0, 3)), np.zeros(0)), (np.zeros((0, 3, 3)), centres, radii))
    mesh = raygrove.build(corners.reshape(-1, 3), np.arange(120).reshape(-1, 3), target=host_target)
    with mesh, raygrove.build_spheres(centres, radii, target=host_target) as balls:
        check([one.tolist() for one in balls.touching(mesh)], gaps)
        check([one.tolist() for one in mesh.touching(balls)], gaps.T)
        assert balls.touching()[-1].tolist() == [] and len(balls.touching()) == 40
        balls.close()
        with pytest.raises(ValueError, match="closed"):
            mesh.touching(balls)


def test_glyphs_are_not_told_to_touch(host_target: Target) -> None:
    glyphs = glyph_primitives(None, host_target.zeros((1, 12), np.float32, "test"), 1)
    with pytest.raises(HierarchyError, match="not glyphs"):
        Touching(glyphs)
