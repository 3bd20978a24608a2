"""What the rays of a picture found, as arrays on the host: depth, normals, ids and steps. Made on request, outside the
frame.

Rays go through the pixels' centres, one per pixel, whatever samples the picture has. Where nothing is hit the depth is
infinite, the normal zero and the ids -1.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .animate.animate import Surface
from .camera import Camera
from .clip import HalfSpace
from .glyph_points import glyph_points
from .octahedral import octahedral_direction
from .target.base import Target
from .trace.trace import VIEW_FRAME, CameraRays, Tracer, pixel_order, see_through

Buffers = dict[str, np.ndarray]
"""depth (H, W) float32, along the axis of view; normal (H, W, 3) float32, of unit length, towards the eye, in the
scene's axes; prim_id, object_id, steps, tests and boxes (H, W) int32: the scene's primitive, the object it belongs to,
nodes visited, primitives and boxes tested by the ray."""


def read_buffers(
    target: Target,
    tracer: Tracer,
    surface: Surface,
    camera: Camera,
    width: int,
    height: int,
    clip: HalfSpace | None = None,
    shaded: bool = True,
) -> Buffers:
    """Trace a picture's rays once more and read back what they found; without `shaded` neither normals nor object ids,
    which take longer than the rest. Waits."""
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, camera, width, height, clip)
    frame["jitter"] = 0.5
    rays = CameraRays(target.upload(frame.reshape(1).view(np.uint8), "rays"), width, height)
    hits = tracer.trace(rays, "steps")
    x, y = pixel_order(width, height)
    inside = (x < width) & (y < height)

    def picture(array: Any) -> np.ndarray:
        values = target.download(array)[: len(inside)]
        made = np.empty((height, width), values.dtype)
        made[y[inside], x[inside]] = values[inside]
        return made

    t, prim_id, u, v = (picture(array) for array in (hits.t, hits.prim_id, hits.u, hits.v))
    counts = {"steps": hits.steps, "tests": hits.tests, "boxes": hits.boxes}
    counted = {name: picture(array) for name, array in counts.items()}
    directions = pixel_directions(camera, width, height)
    is_hit = prim_id >= 0
    depth = np.where(is_hit, t * (directions @ camera.basis()[2]), np.inf).astype(np.float32)
    found = {"depth": depth, "prim_id": prim_id} | counted
    if not shaded:
        return found
    normal = np.zeros((height, width, 3), np.float32)
    normal[is_hit] = _normals(
        target, surface, prim_id[is_hit], u[is_hit], v[is_hit], directions[is_hit].astype(np.float32)
    )
    firsts = [thing.first for thing in surface.objects]
    object_id = np.where(is_hit, np.searchsorted(firsts, prim_id, side="right") - 1, -1).astype(np.int32)
    return found | {"normal": normal, "object_id": object_id}


def pixel_directions(camera: Camera, width: int, height: int) -> np.ndarray:
    """Unit directions of the rays through the pixels' centres, (H, W, 3) float64."""
    rows = camera.frame(width, height).astype(np.float64).reshape(4, 4)
    s, t = (np.arange(width) + 0.5) / width - 0.5, (np.arange(height) + 0.5) / height - 0.5
    across = rows[2, :3] * s[None, :, None] + rows[3, :3] * t[:, None, None]
    directions = rows[1, :3] + (0.0 if camera.orthographic else across)
    return np.broadcast_to(directions / np.linalg.norm(directions, axis=-1, keepdims=True), (height, width, 3))


def _normals(
    target: Target, surface: Surface, prim_id: np.ndarray, u: np.ndarray, v: np.ndarray, directions: np.ndarray
) -> np.ndarray:
    """What `smooth` shades with (gpu/shade/smooth.cuh): the vertices' normals where there are some, else the
    triangle's, the direction from a sphere's centre, turned to the eye."""
    if not len(prim_id):
        return np.zeros((0, 3), np.float32)
    if surface.glyphs is not None:
        is_glyph = prim_id >= surface.glyphs.first_id
        others = dataclasses.replace(surface, glyphs=None)
        found, rest = np.zeros((len(prim_id), 3), np.float32), ~is_glyph
        rows = target.download(surface.glyphs.rows)[prim_id[is_glyph] - surface.glyphs.first_id]
        outwards = glyph_points(rows, u[is_glyph], v[is_glyph])[1].astype(np.float32)
        found[is_glyph] = np.where(_dot(outwards, directions[is_glyph]) > 0.0, -outwards, outwards)
        found[rest] = _normals(target, others, prim_id[rest], u[rest], v[rest], directions[rest])
        return found
    if surface.spheres is not None:
        is_sphere = prim_id >= surface.spheres.first_id
        found, rest = np.zeros((len(prim_id), 3), np.float32), ~is_sphere
        outwards = octahedral_direction(u[is_sphere], v[is_sphere]).astype(np.float32)
        found[is_sphere] = np.where(_dot(outwards, directions[is_sphere]) > 0.0, -outwards, outwards)
        found[rest] = _triangle_normals(target, surface, prim_id[rest], u[rest], v[rest], directions[rest])
        return found
    return _triangle_normals(target, surface, prim_id, u, v, directions)


def _triangle_normals(
    target: Target, surface: Surface, prim_id: np.ndarray, u: np.ndarray, v: np.ndarray, directions: np.ndarray
) -> np.ndarray:
    corners = target.download(surface.triangles)[prim_id]
    a, b, c = (target.download(surface.positions)[corners[:, corner]] for corner in range(3))
    own = np.cross(b - a, c - a)
    normals = target.download(surface.normals)
    weights = ((1.0 - u - v)[:, None], u[:, None], v[:, None])
    summed = sum(normals[corners[:, corner]] * weights[corner] for corner in range(3))
    smooth = _unit(np.where(_dot(summed, summed) > 1e-12, summed, own))
    faces_away = _dot(own, directions) * _dot(own, smooth) > 0.0
    normal = np.where(faces_away, -smooth, smooth)
    return np.asarray(normal - directions * (2.0 * np.maximum(_dot(normal, directions), 0.0)))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", a, b)[:, None]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.sqrt(np.maximum(_dot(vectors, vectors), 1e-36))
