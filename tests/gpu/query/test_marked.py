"""The primitives in one region are marked and counted as an oracle in float64 does, however the region is shared."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Hierarchy, HierarchyError
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.query.query import Queries
from raygrove.gpu.query.questions import Boxes, Places, upload_boxes, upload_places
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES
from tests.oracle.regions import sphere_distances, sphere_gaps, triangle_distances, triangle_gaps

from .test_queries import EDGE, able, boxes, make, places

OF_SPHERES = ("records", "bvh4", "kd8")
"""Layouts whose visits mark spheres, one of them where a primitive is met several times; others under -m full: what
visits are asked for is the same, of triangles and in other questions of spheres each is asked."""


def marked(hierarchy: Hierarchy, region: Boxes | Places, count: int, of: str = "surfaces") -> np.ndarray:
    """(count,) bool; the number that was counted is that of the marks."""
    target = hierarchy.target
    marks = target.zeros(count, np.uint32, "test")
    found = Queries(hierarchy, of).mark(region, marks)
    flags = target.download(marks) != 0
    assert target.download(found).tolist() == [flags.sum()]
    return np.asarray(flags)


def check(found: np.ndarray, beyond: np.ndarray) -> None:
    """`beyond`: how far each is outside, below 0 inside; what all but touches may be marked."""
    sure = np.abs(beyond) > EDGE
    np.testing.assert_array_equal(found[sure], beyond[sure] < 0)


@pytest.mark.covers("choice.1")
@able("box")
def test_triangles(target: Target, choice: tuple[str, str]) -> None:
    scene, (lower, upper) = SCENES["soup"](), boxes(20)
    hierarchy, corners = make(target, choice), scene.corners()
    hierarchy.build(scene.upload(target))
    gaps = triangle_gaps(corners, lower, upper)
    for i in range(1, 20):
        if i != 2:  # inverted: below
            check(marked(hierarchy, upload_boxes(target, lower[i : i + 1], upper[i : i + 1]), len(corners)), gaps[i])
    inverted = upload_boxes(target, lower[2:3], upper[2:3])
    assert (lower[2] > upper[2]).all() and not marked(hierarchy, inverted, len(corners)).any()
    away = triangle_distances(corners, places(8))
    for i, radius in enumerate((0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.9, 5.0)):
        check(marked(hierarchy, upload_places(target, places(8)[i], radius), len(corners)), away[i] - radius)


@pytest.mark.covers("choice.1")
@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(choice, marks=[] if choice[1] in OF_SPHERES else pytest.mark.full, id="-".join(choice))
        for choice in able("ball").args[1]
    ],
)
def test_spheres(target: Target, choice: tuple[str, str]) -> None:
    """By their surfaces, a ball that holds the region among them, and by their centres."""
    hierarchy, random = make(target, choice), np.random.default_rng(5)
    if "sphere" not in hierarchy.capabilities.primitive_kinds:
        pytest.skip("this structure has no spheres")
    centres = random.random((500, 3)).astype(np.float32)
    radii = (0.2 * random.random(500) ** 3).astype(np.float32)
    radii[7], centres[7] = 3.0, 0.5
    hierarchy.build(sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test")))
    for at, size in zip(places(6), (0.01, 0.05, 0.1, 0.2, 0.4, 2.0), strict=True):
        lower, upper = at[None] - np.float32(size), at[None] + np.float32(size)
        box, ball = upload_boxes(target, lower, upper), upload_places(target, at, size)
        check(marked(hierarchy, box, 500), sphere_gaps(centres, radii, lower, upper)[0])
        check(marked(hierarchy, ball, 500), sphere_distances(centres, radii, at[None])[0] - size)
        outside = np.maximum(lower - centres, centres - upper).max(axis=1)
        check(marked(hierarchy, box, 500, "centres"), outside)
        check(marked(hierarchy, ball, 500, "centres"), np.linalg.norm(centres - at, axis=1) - size)


def test_one_region_at_a_time(target: Target) -> None:
    scene = SCENES["soup"]()
    hierarchy = make(target, ("lbvh", "bvh2"))
    hierarchy.build(scene.upload(target))
    marks = target.zeros(9999, np.uint32, "test")
    with pytest.raises(HierarchyError, match=r"One region that does not repeat is marked at a time; 2 were given\."):
        Queries(hierarchy).mark(upload_places(target, places(2), 0.1), marks)
