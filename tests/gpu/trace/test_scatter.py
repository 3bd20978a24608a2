"""Diffuse rays: they start at the hits, stay on the ray's side of the surface, follow the cosine, and repeat."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.scatter import scatter_rays, without_gaps
from raygrove.gpu.trace.trace import Tracer

from .scenes import soup, tracer_over
from .test_trace import camera_rays, expected_rays


def test_diffuse_rays_leave_every_hit_by_the_cosine(target: Target) -> None:
    camera, size = Camera(eye=(0.5, 1.0, 4.0), look_at=(0.1, 0.0, 0.0), fov=35.0), (72, 48)
    vertices = soup(1, 60, 0.5)
    tracer, rays = tracer_over(target, vertices), camera_rays(target, camera, *size)
    hits = tracer.trace(rays)
    t, prim_id = target.download(hits.t), target.download(hits.prim_id)
    positions = target.upload(vertices.reshape(-1, 3).astype(np.float32), "test")
    triangles = target.upload(np.arange(len(vertices) * 3, dtype=np.int32).reshape(-1, 3), "test")
    scattered = scatter_rays(target, rays, hits, positions, triangles, 7)
    assert scattered.count == scattered.padded_count == rays.padded_count
    rows = target.download(scattered.rows).copy()
    hit = prim_id >= 0
    dense = without_gaps(target, scattered)
    assert dense.count == hit.sum() and dense.padded_count % 64 == 0
    assert (
        np.array_equal(target.download(dense.rows)[:, : dense.count], rows[:, hit])
        and not target.download(dense.rows)[:, dense.count :].any()
    )
    assert hit.sum() > 300 and np.array_equal(rows[7] > rows[6], hit)
    origins, directions, _ = expected_rays(camera, *size)
    points = origins + directions * np.where(hit, t, 0)[:, None]
    assert np.allclose(rows[0:3].T[hit], points[hit], atol=1e-3)
    corners = vertices[np.maximum(prim_id, 0)].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    normals *= -np.sign(np.einsum("ij,ij->i", normals, directions))[:, None]
    away = rows[3:6].T.astype(float)
    cosine = np.einsum("ij,ij->i", away, normals)[hit]
    assert np.allclose(np.linalg.norm(away[hit], axis=1), 1, atol=1e-5)
    assert cosine.min() > -1e-3
    assert abs(cosine.mean() - 2 / 3) < 0.03 and abs((cosine**2).mean() - 0.5) < 0.03, "the cosine's own moments"
    assert ((rows[0:3].T[hit] - points[hit]) * normals[hit]).sum(axis=1).mean() > 0
    assert np.array_equal(
        rows, target.download(scatter_rays(target, rays, tracer.trace(rays), positions, triangles, 7).rows)
    )
    assert not np.array_equal(
        rows, target.download(scatter_rays(target, rays, tracer.trace(rays), positions, triangles, 8).rows)
    )


def test_diffuse_rays_leave_spheres_outwards(target: Target) -> None:
    """A scene without a single triangle."""
    random = np.random.default_rng(3)
    centres = random.uniform(-1, 1, (40, 3)).astype(np.float32)
    radii = random.uniform(0.1, 0.3, 40).astype(np.float32)
    arrays = target.upload(centres, "test"), target.upload(radii, "test")
    structure = make_structure(target, "lbvh")
    structure.build(sphere_primitives(*arrays))
    rays = camera_rays(target, Camera(eye=(0.0, 0.0, 4.0)), 48, 40)
    hits = Tracer(target, structure.traversal()).trace(rays)
    prim_id = target.download(hits.prim_id).copy()
    none = target.empty(0, np.float32, "test"), target.empty(0, np.int32, "test")
    rows = target.download(scatter_rays(target, rays, hits, *none, 7, (*arrays, 0)).rows)
    hit = prim_id >= 0
    assert hit.sum() > 200 and np.array_equal(rows[7] > rows[6], hit)
    outwards = rows[0:3].T[hit] - centres[prim_id[hit]]
    distance = np.linalg.norm(outwards, axis=1)
    np.testing.assert_allclose(distance, radii[prim_id[hit]], rtol=1e-4)
    cosine = np.einsum("ij,ij->i", rows[3:6].T[hit], outwards / distance[:, None])
    assert cosine.min() > -1e-3 and abs(cosine.mean() - 2 / 3) < 0.06
