"""Rays -> hits: sources, kinds, packs, order and sums, against the float64 oracle."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace import trace as trace_module
from raygrove.gpu.trace.trace import (
    VIEW_FRAME,
    BufferRays,
    CameraRays,
    pixel_order,
    rays_of_picture,
    totals,
    upload_rays,
)
from raygrove.testing.closest_hits import triangle_hits
from tests.gpu.hierarchy.traversed_boxes import as_traversed

from .scenes import random_rays, soup, tracer_over

STRUCTURES = [("brute_force", "auto"), ("lbvh", "bvh2"), ("lbvh", "bvh4")]


def camera_rays(target: Target, camera: Camera, width: int, height: int) -> CameraRays:
    frame = np.zeros((), VIEW_FRAME)
    frame["camera"], frame["width"], frame["height"], frame["jitter"] = camera.frame(width, height), width, height, 0.5
    return CameraRays(target.upload(frame.reshape(1).view(np.uint8), "test"), width, height)


def expected_rays(camera: Camera, width: int, height: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Origins, unit directions and the mask of real pixels in ray order, float64, from the definition of the camera."""
    x, y = pixel_order(width, height)
    right, up, forward = camera.basis()
    tall = camera.height if camera.orthographic else 2.0 * np.tan(np.radians(camera.fov) / 2.0)
    s, t = ((x + 0.5) / width - 0.5) * tall * width / height, (0.5 - (y + 0.5) / height) * tall
    across = s[:, None] * right + t[:, None] * up
    origins, directions = np.tile(camera.eye, (len(x), 1)).astype(float), np.tile(forward, (len(x), 1))
    if camera.orthographic:
        origins = origins + across
    else:
        directions = directions + across
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return origins, directions, (x < width) & (y < height)


def test_rays_walk_morton_tiles() -> None:
    x, y = pixel_order(20, 9)
    assert rays_of_picture(20, 9) == len(x) == 3 * 2 * 64
    assert list(zip(x[:8].tolist(), y[:8].tolist(), strict=True)) == [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (2, 0),
        (3, 0),
        (2, 1),
        (3, 1),
    ]
    assert (x[64], y[64], x[3 * 64], y[3 * 64]) == (8, 0, 0, 8)
    assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == len(x)


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("size", [(64, 48), (37, 21), (1, 1)])
def test_camera_rays_hit_what_the_oracle_says(target: Target, orthographic: bool, size: tuple[int, int]) -> None:
    camera = Camera(eye=(0.5, 1.0, 4.0), look_at=(0.1, 0.0, 0.0), fov=35.0, orthographic=orthographic, height=2.5)
    vertices = soup(1, 60, 0.5)
    tracer, rays = tracer_over(target, vertices), camera_rays(target, camera, *size)
    one_by_one = target.download(tracer.trace(rays, "steps").prim_id).copy()
    hits = tracer.trace(rays)
    t, prim_id = target.download(hits.t), target.download(hits.prim_id)
    assert np.array_equal(prim_id, one_by_one), "rays traced singly, rows from outside in, land where they belong"
    origins, directions, inside = expected_rays(camera, *size)
    wanted = triangle_hits(vertices, origins, directions)
    sure = wanted.is_certain & inside
    assert np.all(prim_id[~inside] == -1)
    assert np.array_equal(prim_id[sure], wanted.prim_id[sure])
    struck = sure & (wanted.prim_id >= 0)
    assert struck.sum() > (100 if size[0] > 1 else -1)
    assert np.allclose(t[struck], wanted.t[struck], rtol=2e-5)


@pytest.mark.parametrize("size", [(1024, 768), (1920, 1080)])
def test_a_large_picture_is_traced_alike_by_a_thread_a_ray(
    target: Target, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """Launch and order of the rays change no hit. On a GPU the larger picture gets a thread for each ray."""
    tracer = tracer_over(target, soup(7, 300), "lbvh", "bvh2")
    rays = camera_rays(target, Camera(eye=(0.0, 0.0, 4.0)), *size)
    hits = tracer.trace(rays)
    found = [target.download(array).copy() for array in (hits.t, hits.prim_id)]
    assert (found[1] >= 0).sum() > 10_000
    with monkeypatch.context() as patched:
        patched.setitem(trace_module.ONE_RAY_A_THREAD, target.kind, {})
        strided = tracer.trace(rays)
    assert all(np.array_equal(a, target.download(b)) for a, b in zip(found, (strided.t, strided.prim_id), strict=True))


@pytest.mark.parametrize(("count", "blocks"), [(1024 * 768, 0), (1920 * 1080, 16_200), (0, 0)])
def test_pictures_get_a_thread_a_ray_where_a_device_is_full_of_them(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, count: int, blocks: int
) -> None:
    """By the multiprocessors of an H200; buffers always, and nothing on the host."""
    tracer = tracer_over(host_target, soup(7, 3), "lbvh", "bvh2")
    picture = CameraRays(host_target.zeros(1, "u1", "test"), count // 8, 8)
    assert tracer.blocks(picture) == 0
    monkeypatch.setattr(host_target, "kind", "cuda")
    monkeypatch.setattr(host_target, "processors", 132)
    assert tracer.blocks(picture) == blocks
    buffer = BufferRays(host_target.zeros((8, 256), "f4", "test"), 200)
    assert tracer.blocks(buffer) == buffer.padded_count // trace_module.TRACE_BLOCK == 2


@pytest.mark.parametrize("orthographic", [False, True])
def test_near_and_far_lie_along_the_view_axis(target: Target, orthographic: bool) -> None:
    vertices = np.array([[[-30, -30, z], [30, -30, z], [0, 60, z]] for z in (1.0, 0.0, -1.0)])
    tracer = tracer_over(target, vertices)
    eye = {"eye": (0.0, 0.0, 5.0), "fov": 90.0, "orthographic": orthographic, "height": 10.0}
    for near, far, expected in ((0.0, 0.0, 0), (4.1, 0.0, 1), (4.1, 4.9, -1), (5.5, 6.5, 2)):
        hits = tracer.trace(camera_rays(target, Camera(near=near, far=far, **eye), 24, 24))  # type: ignore[arg-type]
        assert set(target.download(hits.prim_id)[:192].tolist()) == {expected}


@pytest.mark.parametrize(("name", "layout"), STRUCTURES)
def test_buffer_rays_closest_and_any(target: Target, name: str, layout: str) -> None:
    vertices = soup(2, 300, 0.1)
    origins, directions = random_rays(3, 333)
    tracer = tracer_over(target, vertices, name, layout)
    rays = upload_rays(target, origins, directions)
    hits = tracer.trace(rays)
    t, prim_id, u, v = (target.download(array)[:333] for array in (hits.t, hits.prim_id, hits.u, hits.v))
    wanted = triangle_hits(vertices, origins, directions)
    assert wanted.is_certain.mean() > 0.9 and 50 < np.sum(prim_id >= 0) < 330
    assert np.array_equal(prim_id[wanted.is_certain], wanted.prim_id[wanted.is_certain])
    struck = np.flatnonzero(prim_id >= 0)
    corners = vertices[prim_id[struck]].astype(np.float64)
    on_triangle = (
        corners[:, 0] * (1 - u - v)[struck, None] + corners[:, 1] * u[struck, None] + corners[:, 2] * v[struck, None]
    )
    assert np.allclose(on_triangle, origins[struck] + t[struck, None] * directions[struck], atol=1e-4)
    shadowed = target.download(tracer.trace(rays, "any").prim_id)[:333] >= 0
    assert np.array_equal(shadowed, prim_id >= 0)


def test_distances_bound_the_rays(target: Target) -> None:
    vertices = np.array([[[-9, -9, z], [9, -9, z], [0, 20, z]] for z in (1.0, 2.0, 3.0)])
    tracer = tracer_over(target, vertices)
    t_min, t_max = np.array([0, 1.5, 2.5, 1.2, 3.5, 2.0]), np.array([9, 9, 9, 1.8, 9, 1.0])
    origins, directions = np.zeros((6, 3)), np.tile([0.0, 0.0, 1.0], (6, 1))
    for kind in ("closest", "any", "steps"):
        prim_id = target.download(tracer.trace(upload_rays(target, origins, directions, t_min, t_max), kind).prim_id)[
            :6
        ]
        assert (prim_id >= 0).tolist() == [True, True, True, False, False, False]
        if kind != "any":
            assert prim_id[:3].tolist() == [0, 1, 2]


def test_of_coincident_triangles_the_first_is_hit(target: Target) -> None:
    vertices = np.tile(np.array([[[-9, -9, 0], [9, -9, 0], [0, 20, 0]]], np.float32), (40, 1, 1))
    rays = upload_rays(target, *random_rays(0, 64))
    for name, layout in STRUCTURES:
        prim_id = target.download(tracer_over(target, vertices, name, layout).trace(rays).prim_id)
        assert set(prim_id.tolist()) <= {0, -1} and np.sum(prim_id == 0) > 20


def visited(table: NodeTable, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """How many nodes a traversal without hits must visit."""
    return meeting(table, origins, directions).sum(axis=1)


def primitives_met(table: NodeTable, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """How many primitives a traversal without hits must test: those of the leaves it visits."""
    return meeting(table, origins, directions) @ table.reference_count


def meeting(table: NodeTable, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """(rays, nodes): the nodes whose own and ancestors' boxes the ray meets; the root always."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low = (table.lower[None] - origins[:, None]) / directions[:, None]
        high = (table.upper[None] - origins[:, None]) / directions[:, None]
    entry, leave = np.minimum(low, high).max(axis=2), np.maximum(low, high).min(axis=2)
    meets = (entry <= leave) & (leave >= 0)
    meets[:, 0] = True
    for node in range(1, len(table)):
        meets[:, node] &= meets[:, table.parent[node]]
    return meets


def test_steps_count_the_nodes_visited(target: Target) -> None:
    tracer = tracer_over(target, soup(5, 200, 0.02), "lbvh", "bvh2")
    origins, directions = random_rays(6, 256)
    rays = upload_rays(target, origins, directions)
    counted = tracer.trace(rays, "steps")
    assert counted.steps is not None and counted.tests is not None and counted.boxes is not None
    steps, tests, prim_id = (
        target.download(counted.steps)[:256],
        target.download(counted.tests)[:256],
        target.download(counted.prim_id)[:256],
    )
    assert np.array_equal(prim_id, target.download(tracer.trace(rays).prim_id)[:256])
    missed = prim_id < 0
    table = as_traversed(tracer.structure.nodes(), "bvh2")
    wanted = visited(table, origins.astype(np.float64), directions.astype(np.float64))
    assert missed.sum() > 100 and wanted[missed].max() > 8
    # A ray that grazes a box may be told otherwise in float32.
    assert np.mean(steps[missed] == wanted[missed]) > 0.97
    assert np.all(steps <= wanted + 2)
    in_leaves = primitives_met(table, origins.astype(np.float64), directions.astype(np.float64))
    assert (
        in_leaves[missed].max() > 3
        and np.mean(tests[missed] == in_leaves[missed]) > 0.97
        and np.all(tests <= in_leaves + 8)
    )
    boxes = target.download(counted.boxes)[:256]
    assert np.all(boxes % 2 == 0) and np.all(boxes <= 2 * steps), "two at each inner node, none at a leaf"
    inner = meeting(table, origins.astype(np.float64), directions.astype(np.float64))[:, ~table.is_leaf].sum(axis=1)
    assert np.mean(boxes[missed] == 2 * inner[missed]) > 0.97
    brute = tracer_over(target, soup(5, 200, 0.02), "brute_force").trace(rays, "steps")
    assert np.all(target.download(brute.boxes) == 0)
    assert np.all(target.download(brute.steps)[:256] == 1) and np.all(target.download(brute.tests)[:256] == 200)


def test_totals_add_up_and_repeat(target: Target) -> None:
    vertices = soup(2, 300, 0.2)
    tracer = tracer_over(target, vertices)
    hits = tracer.trace(camera_rays(target, Camera(eye=(0, 0, 4)), 60, 50))
    t, prim_id = target.download(hits.t).astype(np.float64), target.download(hits.prim_id)
    first, second = totals(target, hits), totals(target, hits)
    assert first == second and first.hits == np.sum(prim_id >= 0) > 500
    assert first.sum_t == pytest.approx(t[prim_id >= 0].sum(), rel=1e-12)


def test_an_unknown_kind_and_no_rays(target: Target) -> None:
    tracer = tracer_over(target, soup(0, 4))
    with pytest.raises(KeyError, match="nearest"):
        tracer.trace(upload_rays(target, np.zeros((1, 3)), np.ones((1, 3))), "nearest")
    none = tracer.trace(upload_rays(target, np.zeros((0, 3)), np.zeros((0, 3))))
    assert none.ray_count == 0 and np.all(target.download(none.prim_id) == -1)


def test_a_buffer_of_rays_says_its_length(target: Target) -> None:
    rays = upload_rays(target, *random_rays(0, 65))
    assert isinstance(rays, BufferRays) and (rays.count, rays.padded_count) == (65, 128)
