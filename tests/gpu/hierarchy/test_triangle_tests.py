"""Every way to intersect a triangle gives the same hits; the watertight one lets no ray pass between neighbours, which
the others do."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Hierarchy, StructureChoice
from raygrove.gpu.hierarchy.primitives import TRIANGLE_TESTS, triangle_primitives
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.closest_hits import mixed_hits, triangle_hits
from raygrove.testing.scenes import (
    SCENES,
    TriangleScene,
    make_with,
    mixed_scene,
    rays,
    scene_of,
    soup,
    sphere_scene,
    trace,
)

OTHERS = [test for test in TRIANGLE_TESTS if test != "moeller_trumbore"]


def made_with(target: Target, test: str, name: str = "lbvh", layout: str = "auto") -> Hierarchy:
    return make_with(target, name, StructureChoice(layout=layout, triangle_test=test))


@pytest.mark.parametrize("scene_name", SCENES)
@pytest.mark.parametrize("name", ["brute_force", "lbvh"])
@pytest.mark.parametrize("test", OTHERS)
def test_hits_are_the_oracles_before_and_after_a_refit(target: Target, test: str, name: str, scene_name: str) -> None:
    scene = SCENES[scene_name]()
    hierarchy = made_with(target, test, name)
    hierarchy.build(scene.upload(target))
    for later in (False, True):
        if later:
            hierarchy.refit(scene.upload(target, later=True))
        expected = triangle_hits(scene.corners(later), *rays())
        sure = expected.is_certain
        found, any_hit = trace(hierarchy, *rays()), trace(hierarchy, *rays(), "any")
        np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])
        is_hit = sure & (expected.prim_id >= 0)
        np.testing.assert_allclose(found.t[is_hit], expected.t[is_hit], rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(any_hit.prim_id >= 0, found.prim_id >= 0)


def records_of(hierarchy: Hierarchy, count: int) -> np.ndarray:
    """The records (count, 12) that a brute force holds on the host."""
    records = hierarchy._records  # type: ignore[attr-defined]
    return np.array(hierarchy.target.download(records)[:count])


@pytest.mark.parametrize("test", TRIANGLE_TESTS)
def test_u_and_v_weigh_the_second_and_third_vertex(target: Target, test: str) -> None:
    scene = soup(300, size=0.4)
    hierarchy = made_with(target, test)
    hierarchy.build(scene.upload(target))
    origins, directions = rays()
    found = trace(hierarchy, origins, directions)
    hit = found.prim_id >= 0
    assert hit.sum() > 100
    corners = scene.corners()[found.prim_id[hit]].astype(np.float64)
    u, v = found.u[hit, None].astype(float), found.v[hit, None].astype(float)
    points = corners[:, 0] * (1 - u - v) + corners[:, 1] * u + corners[:, 2] * v
    np.testing.assert_allclose(points, origins[hit] + found.t[hit, None] * directions[hit], atol=2e-4)


def fan_at_odds(seed: int) -> tuple[TriangleScene, np.ndarray, np.ndarray]:
    """A closed surface around the origin in an awkward place and size, and rays from inside through its vertices and
    along its edges."""
    random = np.random.default_rng(seed)
    golden = (1 + 5**0.5) / 2
    points = np.array([(x, y, 0.0) for x in (-1, 1) for y in (-golden, golden)])
    points = np.concatenate([points, np.roll(points, 1, 1), np.roll(points, 2, 1)])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = apart < 2.1
    faces = np.array(
        [(a, b, c) for a in range(12) for b in range(a) for c in range(b) if near[a, b] and near[b, c] and near[a, c]]
    )
    for _ in range(2):
        edges = {tuple(sorted(edge)): None for a, b, c in faces for edge in ((a, b), (b, c), (c, a))}
        middle = {edge: len(points) + i for i, edge in enumerate(edges)}
        points = np.concatenate([points, [(points[a] + points[b]) / 2 for a, b in edges]])
        m = [[middle[tuple(sorted(edge))] for edge in ((a, b), (b, c), (c, a))] for a, b, c in faces]
        corners = ((a, x, z) for (a, b, c), (x, y, z) in zip(faces, m, strict=True))
        faces = np.array([*corners, *((x, b, y) for (a, b, c), (x, y, z) in zip(faces, m, strict=True)),
                          *((z, y, c) for (a, b, c), (x, y, z) in zip(faces, m, strict=True)), *m])  # fmt: skip
    points *= (1 + 0.2 * random.random((len(points), 1))) * 10.0 ** random.uniform(-3, 3)
    offset = random.normal(size=3) * np.abs(points).max() * 3
    positions = (points + offset).astype(np.float32)
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    share = random.random((len(pairs), 1))
    share[::3] = 0.0
    aim = positions[pairs[:, 0]].astype(np.float64) * (1 - share) + positions[pairs[:, 1]] * share
    directions = aim - offset
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    origins = np.tile(offset, (len(pairs), 1)).astype(np.float32)
    return TriangleScene(positions, faces.astype(np.int32), positions), origins, directions.astype(np.float32)


def leaks(target: Target, test: str, name: str, seeds: range) -> int:
    """Rays that get out of closed surfaces."""
    count = 0
    for seed in seeds:
        scene, origins, directions = fan_at_odds(seed)
        hierarchy = made_with(target, test, name)
        hierarchy.build(scene.upload(target))
        count += int((trace(hierarchy, origins, directions).prim_id < 0).sum())
    return count


@pytest.mark.parametrize("name", ["brute_force", "lbvh"])
def test_no_ray_leaves_a_closed_surface_where_the_test_is_watertight(target: Target, name: str) -> None:
    assert leaks(target, "watertight", name, range(12)) == 0


def test_the_surfaces_are_hard_enough_to_tell(target: Target) -> None:
    assert leaks(target, "moeller_trumbore", "lbvh", range(12)) > 0
    assert leaks(target, "unit_triangle", "lbvh", range(12)) > 0


def test_watertight_packs_and_single_rays_agree_without_contraction() -> None:
    for contraction in (True, False):
        target = make_target("host", contraction=contraction)
        for width in (1, 8, 16):
            target.lane_count = width
            assert leaks(target, "watertight", "lbvh", range(2)) == 0
        target.close()


@pytest.mark.parametrize("layout", ["bvh4", "cwbvh"])
def test_watertight_hits_in_a_scene_of_1e15_units(target: Target, layout: str) -> None:
    """Products of three coordinates are no floats there; packs and single rays would round them at different places."""
    scene = scene_of(soup(60, seed=4, size=0.3).corners() * 1e15)
    origins, directions = rays()
    origins = (origins * 1e15).astype(np.float32)
    expected, hierarchy = (
        triangle_hits(scene.corners(), origins, directions),
        made_with(target, "watertight", layout=layout),
    )
    hierarchy.build(scene.upload(target))
    found, sure = trace(hierarchy, origins, directions), expected.is_certain
    np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])
    assert (expected.prim_id[sure] >= 0).sum() > 50


def test_slivers_and_lines(target: Target) -> None:
    """Triangles without area are not hit by any test; a neighbour's edge is."""
    line = np.array([[[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 0, 0], [1, 0, 0], [1, 0, 0]]], np.float32)
    origins, directions = np.array([[0.5, 0, 1], [0.25, 0, 1]], np.float32), np.tile(np.float32([0, 0, -1]), (2, 1))
    for test in TRIANGLE_TESTS:
        hierarchy = made_with(target, test)
        hierarchy.build(scene_of(line).upload(target))
        assert (trace(hierarchy, origins, directions).prim_id == -1).all()


def test_spheres_have_one_test(target: Target) -> None:
    _, _, spheres = sphere_scene(target, 50)
    plain, other = made_with(target, "moeller_trumbore"), made_with(target, "unit_triangle")
    for hierarchy in (plain, other):
        hierarchy.build(spheres)
    np.testing.assert_array_equal(trace(plain, *rays()).prim_id, trace(other, *rays()).prim_id)


@pytest.mark.parametrize("name", ["brute_force", "lbvh"])
@pytest.mark.parametrize("test", OTHERS)
def test_triangles_beside_spheres_have_the_test(target: Target, test: str, name: str) -> None:
    triangles, centres, radii, primitives = mixed_scene(target, 300, 300)
    hierarchy = made_with(target, test, name)
    hierarchy.build(primitives)
    for _ in range(2):
        found, expected = trace(hierarchy, *rays()), mixed_hits(triangles.corners(), centres, radii, *rays())
        sure = expected.is_certain
        np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])
        is_hit = sure & (expected.prim_id >= 0)
        np.testing.assert_allclose(found.t[is_hit], expected.t[is_hit], rtol=1e-4, atol=1e-4)
        hierarchy.refit(primitives)


def test_records_of_triangles_stay_as_they_are(host_target: Target) -> None:
    """Bit for bit, beside spheres too; a sphere's has a negative mark, an inactive one's -0."""
    triangles, _, radii, primitives = mixed_scene(host_target, 40, 60)
    alone, both = (made_with(host_target, "watertight", "brute_force") for _ in range(2))
    alone.build(triangles.upload(host_target))
    both.build(primitives)
    rows = [records_of(made, count) for made, count in ((alone, 40), (both, 100))]
    np.testing.assert_array_equal(rows[1][:40].view(np.uint32), rows[0].view(np.uint32))
    marks = rows[1][40:, 11]
    assert np.signbit(marks).all() and not np.signbit(rows[0][:, 11]).any()
    np.testing.assert_array_equal(marks != 0.0, radii >= 0.0)


def test_unit_triangles_cost_48_bytes(host_target: Target) -> None:
    scene = soup(1000)
    plain, other = made_with(host_target, "watertight"), made_with(host_target, "unit_triangle")
    for hierarchy in (plain, other):
        hierarchy.build(scene.upload(host_target))
    assert other.stats().bytes == plain.stats().bytes + 48 * 1000


def test_an_unknown_test_is_named(host_target: Target) -> None:
    with pytest.raises(OptionError, match="watertight, unit_triangle"):
        made_with(host_target, "guess")
    empty = made_with(host_target, "unit_triangle")
    zeros = host_target.zeros((0, 3), np.float32, "test")
    empty.build(triangle_primitives(zeros, zeros.view(np.int32)))
    assert (trace(empty, *rays(64)).prim_id == -1).all()
