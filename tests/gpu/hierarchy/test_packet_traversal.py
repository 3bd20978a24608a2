"""A warp's rays as one packet (packet_traversal.cuh): the hits are those of rays that go alone, whatever the rays are
and however much waits. On the host a warp has one lane, so that its packets are of one ray."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Primitives
from raygrove.gpu.hierarchy.bvh.layouts import best_traversal
from raygrove.gpu.hierarchy.primitives import mixed_primitives, sphere_primitives
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import make, soup, sphere_scene, trace
from tests.gpu.target.recording import RecordingTarget

WARP = 32
Rays = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module", params=["host", pytest.param("cuda", marks=pytest.mark.cuda)])
def single(request: pytest.FixtureRequest) -> Target:
    """A ray at a time, as a GPU's threads take them."""
    return RecordingTarget() if request.param == "host" else request.getfixturevalue("cuda_target")


def bundles(count: int, spread: float, seed: int = 3) -> Rays:
    """Warps of rays that begin together outside of the unit cube and go through it, up to `spread` apart."""
    random = np.random.default_rng(seed)
    origins = np.repeat(random.random((count, 3)) * 4 - 1.5, WARP, axis=0)
    through = np.repeat(0.2 + 0.6 * random.random((count, 3)), WARP, axis=0)
    directions = through - origins
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    directions += spread * random.standard_normal(directions.shape)
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return origins.astype(np.float32), directions.astype(np.float32)


def along_axes(count: int) -> Rays:
    """Warps of parallel rays along the axes, from places side by side, with zeros of either sign."""
    random = np.random.default_rng(5)
    origins = np.repeat(random.random((count, 3)), WARP, axis=0) + 0.02 * random.random((count * WARP, 3))
    directions = np.repeat(np.eye(3)[random.integers(0, 3, count)], WARP, axis=0)
    directions *= np.repeat(random.choice([-1.0, 1.0], (count, 1)), WARP, axis=0)
    return origins.astype(np.float32), directions.astype(np.float32)


def to_one_place(count: int) -> Rays:
    """As to a light, from places that lie apart, some of a warp on a plane or a line: nearly parallel."""
    random = np.random.default_rng(6)
    origins = random.random((count * WARP, 3))
    for axis in range(3):
        shared = random.random(len(origins)) < 0.5
        origins[shared, axis] = np.repeat(origins[::WARP, axis], WARP)[shared]
    directions = np.array([3.0, 40.0, 5.0]) - origins
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return origins.astype(np.float32), directions.astype(np.float32)


RAYS: dict[str, Callable[[], Rays]] = {
    "narrow": lambda: bundles(40, 0.005),
    "wide": lambda: bundles(40, 0.05),
    "any way": lambda: bundles(40, 1.0),
    "along axes": lambda: along_axes(40),
    "to one place": lambda: to_one_place(40),
    "no whole warp": lambda: tuple(part[:-7] for part in bundles(3, 0.005)),  # type: ignore[dict-item, return-value]
}


def spheres(target: Target, centres: np.ndarray, radii: np.ndarray) -> Primitives:
    return sphere_primitives(
        target.upload(centres.astype(np.float32), "test"), target.upload(radii.astype(np.float32), "test")
    )


def same_hits(target: Target, primitives: Primitives, rays: Rays, least: int, t_max: float = np.inf) -> None:
    found = []
    for traversal in ("bvh2_stack", "bvh2_packet"):
        tree = make(target, "lbvh", "bvh2", traversal)
        tree.build(primitives)
        assert tree.traversal_name == traversal
        found.append(trace(tree, *rays, t_max=t_max))
    alone, together = found
    assert (alone.prim_id >= 0).sum() >= least
    np.testing.assert_array_equal(together.prim_id, alone.prim_id)
    np.testing.assert_allclose(together.t, alone.t, rtol=1e-6)


@pytest.mark.parametrize("of", list(RAYS))
def test_packets_hit_spheres_as_rays_alone_do(single: Target, of: str) -> None:
    same_hits(single, sphere_scene(single, 3000)[2], RAYS[of](), 20)


@pytest.mark.parametrize("of", list(RAYS))
def test_packets_hit_triangles_as_rays_alone_do(single: Target, of: str) -> None:
    same_hits(single, soup(2000, size=0.05).upload(single), RAYS[of](), 20)


def test_a_ray_that_ends_hits_nothing_behind_its_end(single: Target) -> None:
    same_hits(single, sphere_scene(single, 3000)[2], bundles(40, 0.005), 0, t_max=0.7)


def passed_by(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Spheres in a row that rays along x pass within their boxes but do not hit, and behind them one that is hit."""
    centres = np.stack([np.arange(count) + 1.0, np.full(count, 0.45), np.full(count, 0.45)], axis=1)
    radii = np.full(count, 0.5)
    centres[-1] = (count + 2.0, 0.0, 0.0)
    return centres, radii


@pytest.mark.parametrize("count", [40, 3000])
def test_a_packet_that_is_led_past_much_goes_on_ray_by_ray(single: Target, count: int) -> None:
    """Nothing is found for longer than packets are followed, and more waits than a round takes."""
    origins = np.zeros((2 * WARP, 3), np.float32)
    directions = np.tile(np.float32([1.0, 0.0, 0.0]), (2 * WARP, 1))
    directions[:, 1:] = 1e-5 * np.random.default_rng(1).random((2 * WARP, 2))
    primitives = spheres(single, *passed_by(count))
    same_hits(single, primitives, (origins, directions), 2 * WARP)


def test_spheres_smaller_than_a_packets_rays_are_apart(single: Target) -> None:
    """Thousands in one packet: each ray has its own few."""
    random = np.random.default_rng(2)
    centres = random.random((40_000, 3)) * [0.05, 0.05, 1.0] + [0.475, 0.475, 0.0]
    same_hits(single, spheres(single, centres, np.full(40_000, 4e-4)), bundles(20, 0.02), 5)


def test_a_tree_of_one_leaf_and_one_without_any(single: Target) -> None:
    one = np.array([[0.5, 0.5, 0.5]])
    same_hits(single, spheres(single, one, np.array([0.4])), bundles(4, 0.005), 1)
    same_hits(single, spheres(single, one, np.array([-1.0])), bundles(4, 0.005), 0)


@pytest.mark.parametrize(
    ("device", "kind", "layout", "expected"),
    [
        ("cuda", "sphere", "bvh2", "bvh2_packet"),
        ("cuda", "triangle", "bvh2", "bvh2_stack"),
        ("cuda", "mixed", "bvh2", "bvh2_stack"),
        ("host", "sphere", "bvh2", "bvh2_stack"),
        ("cuda", "sphere", "bvh4", "bvh4_stack"),
    ],
)
def test_spheres_on_a_gpu_are_traced_by_packets_unless_something_else_is_chosen(
    device: str, kind: str, layout: str, expected: str
) -> None:
    assert best_traversal(layout, device, kind) == expected


def test_a_tree_is_traced_by_what_suits_what_it_was_built_over() -> None:
    target = RecordingTarget(is_dry=True)
    centres = target.upload(np.random.default_rng(1).random((30, 3)).astype(np.float32), "test")
    radii = target.upload(np.full(30, 0.1, np.float32), "test")
    triangles = soup(30)
    corners, indices = target.upload(triangles.positions, "test"), target.upload(triangles.indices, "test")
    target.kind = "cuda"
    left_open, chosen = make(target, "lbvh", "bvh2"), make(target, "lbvh", "bvh2", "bvh2_stack")
    for tree in (left_open, chosen):
        tree.build(sphere_primitives(centres, radii))
    assert (left_open.traversal_name, chosen.traversal_name) == ("bvh2_packet", "bvh2_stack")
    left_open.build(mixed_primitives(corners, indices, centres, radii))
    assert left_open.traversal_name == "bvh2_stack"
