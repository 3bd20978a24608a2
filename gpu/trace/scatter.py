"""Incoherent rays to measure traversals with: one from every primary hit, by the cosine around the surface, the same
for the same seed."""

from __future__ import annotations

import numpy as np

from ..target.base import Array, Target, UnitSource
from .trace import TILE_RAYS, BufferRays, CameraRays, HitBuffer


def scatter_rays(
    target: Target,
    rays: CameraRays,
    hits: HitBuffer,
    positions: Array,
    triangles: Array,
    seed: int = 0,
    spheres: tuple[Array, Array, int] | None = None,
) -> BufferRays:
    """As many places as `rays` has; those without a hit are inactive. `spheres`: centres (N, 3), radii (N,) and the
    number of the first one, where there are some. Launches only; the rays are scratch memory that the next call
    overwrites."""
    rows = target.scratch("trace.scattered", (8, rays.padded_count), np.float32)
    unit = target.unit(
        UnitSource("gpu/trace/scatter.cu", ("gpu/trace/ray_sources.cuh",), (("RaySource", rays.device_type),))
    )
    count = rays.padded_count
    centres, radii, first_sphere = spheres or (None, None, np.iinfo(np.int32).max)
    target.launch(
        unit,
        "scatter_rays",
        count,
        source=rays.view(),
        ray_count=count,
        prim_id=hits.prim_id,
        u=hits.u,
        v=hits.v,
        positions=positions,
        triangles=triangles,
        centres=centres,
        radii=radii,
        first_sphere=first_sphere,
        seed=seed,
        rows=rows,
    )
    return BufferRays(rows, count)


def without_gaps(target: Target, rays: BufferRays) -> BufferRays:
    """The active rays alone, in their order. Waits and allocates: outside a frame."""
    rows = target.download(rays.rows)
    active = rows[:, rows[6] < rows[7]]
    count = active.shape[1]
    dense = np.zeros((8, max(1, -(-count // TILE_RAYS)) * TILE_RAYS), np.float32)
    dense[:, :count] = active
    return BufferRays(target.upload(dense, "rays"), count)
