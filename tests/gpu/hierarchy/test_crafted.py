"""Scenes made to break builders: every structure gives the hits of brute force, bit by bit, and a tree no deeper than
it promises.

A structure that says how many primitives it takes (`most_primitives`) gets as many of the large scenes' triangles.
"""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.kdtree.kdtree import KdTreeHierarchy
from raygrove.gpu.hierarchy.octree.octree import OctreeHierarchy
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import Traced, TriangleScene, make, rays, trace
from tests.covering import by_turns

from .crafted_scenes import CRAFTED, MANY, USUAL, crafted

LARGE = ("identical", "random bits")
SIZES = [
    *(pytest.param(name, USUAL) for name in CRAFTED),
    *(pytest.param(name, MANY, marks=pytest.mark.full) for name in LARGE),
]
"""Scenes, and the most triangles of each; whole ones of the largest under -m full."""
CASES = by_turns([name for name in structures() if name != "brute_force"], SIZES, 2)
"""Half of the scenes for each structure, the other half for the next one, as builders of a family share most of their
kernels; all of them under -m full."""

_EXPECTED: dict[tuple[str, int, str], Traced] = {}


def expected_hits(target: Target, name: str, most: int) -> Traced:
    key = (name, most, target.kind)
    if key not in _EXPECTED:
        plain = make(target, "brute_force")
        plain.build(crafted(name, most).upload(target))
        _EXPECTED[key] = trace(plain, *rays(24))
    return _EXPECTED[key]


def meets_own_box(scene: TriangleScene, hits: Traced, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Whether each ray (N,) misses everything, or passes the box of the triangle that it hits no later than the hit; in
    float64."""
    lower, upper = (side[np.maximum(hits.prim_id, 0)].astype(np.float64) for side in scene.boxes())
    start, along = origins.astype(np.float64), directions.astype(np.float64)
    with np.errstate(all="ignore"):
        first, second = (lower - start) / along, (upper - start) / along
    still = along == 0.0
    inside = (lower <= start) & (start <= upper)
    entry = np.where(still, np.where(inside, -np.inf, np.inf), np.minimum(first, second)).max(axis=1)
    leaving = np.where(still, np.where(inside, np.inf, -np.inf), np.maximum(first, second)).min(axis=1)
    return (hits.prim_id < 0) | ((np.maximum(entry, 0.0) <= leaving) & (entry <= hits.t))


@pytest.mark.parametrize(("name", "scene_name", "most"), CASES)
def test_hits_are_those_of_brute_force(exact_hits_target: Target, name: str, scene_name: str, most: int) -> None:
    most = min(most, getattr(structures()[name], "most_primitives", {}).get(exact_hits_target.kind, MANY))
    hierarchy = make(exact_hits_target, name)
    hierarchy.build(crafted(scene_name, most).upload(exact_hits_target))
    expected, found = expected_hits(exact_hits_target, scene_name, most), trace(hierarchy, *rays(24))
    if scene_name == "random bits":
        # Edges of 1e38 beside ones of 1e-38: rounding puts hits outside of their own triangle's box, where no tree
        # looks for them. None is made up.
        meets = meets_own_box(crafted(scene_name, most), expected, *rays(24))
        assert (found.t >= expected.t).all() and (found.t == expected.t)[meets].all() and meets.mean() > 0.25
    else:
        for column in ("t", "prim_id", "u", "v"):
            np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
    hierarchy.measure()
    exact_hits_target.synchronize()
    stats = hierarchy.stats()
    assert stats.depth is not None
    if isinstance(hierarchy, BvhHierarchy | KdTreeHierarchy | OctreeHierarchy):
        assert stats.depth <= hierarchy.max_depth() + 1
    assert stats.primitive_count == len(crafted(scene_name, most).indices)
    lower, upper = crafted(scene_name, most).boxes()
    assert stats.inactive_count == np.count_nonzero((lower > upper).any(axis=1))


SPHERES = {
    "huge": (1e38, 1e38),
    "tiny": (1e-38, 1e-38),
    "points": (1.0, 0.0),
    "too small to be hit": (1.0, 1e-20),
    "not finite": (1.0, 1.0),
    "from 1e-8 to 1e3": (1.0, 1.0),
}
"""Factors of centres and radii."""


@pytest.mark.parametrize("scene_name", SPHERES)
def test_spheres_are_hit_as_by_brute_force(exact_hits_target: Target, scene_name: str) -> None:
    random, (far, large) = np.random.default_rng(11), SPHERES[scene_name]
    centres, radii = (
        (random.random((300, 3)) * far).astype(np.float32),
        ((0.02 + 0.1 * random.random(300)) * large).astype(np.float32),
    )
    if scene_name == "not finite":
        centres[::5, 0], radii[1::5], radii[2::5] = np.inf, np.nan, -1.0
    if scene_name == "from 1e-8 to 1e3":  # those of 1 to 1e3 reach up to the edge of the others, and not around them
        radii = np.geomspace(1e-8, 1e3, 300).astype(np.float32)
        centres[:, 0] = np.where(radii > 0.02, -radii, centres[:, 0])
    origins, directions = rays(64)
    found = {}
    for name in ("brute_force", *(name for name in structures() if name != "brute_force")):
        hierarchy = make(exact_hits_target, name)
        hierarchy.build(
            sphere_primitives(exact_hits_target.upload(centres, "test"), exact_hits_target.upload(radii, "test"))
        )
        found[name] = trace(hierarchy, origins * np.float32(far), directions)
        for column in ("t", "prim_id"):
            np.testing.assert_array_equal(
                getattr(found[name], column), getattr(found["brute_force"], column), err_msg=name
            )
        hierarchy.measure()
        exact_hits_target.synchronize()
        assert hierarchy.stats().inactive_count == (180 if scene_name == "not finite" else 0), name
        hierarchy.close()
    hit = found["brute_force"].prim_id
    assert (hit >= 0).any() == (scene_name in ("not finite", "from 1e-8 to 1e3"))
    assert scene_name != "from 1e-8 to 1e3" or len(np.unique(hit)) > 10
