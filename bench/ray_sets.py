"""The rays of a view that speed is judged by: those of the camera, made on the way and as a buffer; from every hit of
the first picture a shadow ray to the view's light, a short ray of ambient occlusion and a diffuse one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.scatter import scatter_rays
from raygrove.gpu.trace.trace import TILE_RAYS, BufferRays, CameraRays, HitBuffer, pixel_order

from .measure import Stage
from .ray_scenes import View

KINDS = ("camera", "buffer", "shadow", "ao", "diffuse")
"""Closest hits of the camera's rays and of diffuse ones, any hit of the other two."""
ANY_HIT = ("shadow", "ao")
COHERENT = ("camera", "buffer", "shadow")
AO_SHARE = 0.05
"""How far rays of ambient occlusion reach, of the scene's diagonal."""
SEED = 0


@dataclasses.dataclass(frozen=True, eq=False)
class Rays:
    """Rays of one kind in a view at a size: on the target, and what others are given of them (`rows` as BufferRays has
    them, None for the camera's)."""

    view: View
    kind: str
    size: tuple[int, int]
    source: CameraRays | BufferRays
    rows: np.ndarray | None

    @property
    def count(self) -> int:
        """Rays that are traced."""
        return self.source.count if self.rows is None else int((self.rows[6] < self.rows[7]).sum())

    @property
    def tracer_kind(self) -> str:
        """The tracer's word."""
        return "any" if self.kind in ANY_HIT else "closest"


def rays_of(
    target: Target, stage: Stage, view: View, sizes: Sequence[tuple[int, int]], kinds: Sequence[str], diagonal: float
) -> Iterator[Rays]:
    """One after the other: the camera's at every size, those from its hits at the first alone. `stage` has a tree.
    Waits and allocates. A set of the camera's is good until the next one is made."""
    for number, size in enumerate(sizes):
        camera = stage.rays(view.camera, size)
        secondary = {} if number else _from_hits(target, stage, camera, view, kinds, diagonal)
        if "camera" in kinds:
            yield Rays(view, "camera", size, camera, None)
        if "buffer" in kinds:
            rows = rows_of_picture(view.camera, size)
            yield Rays(view, "buffer", size, _uploaded(target, rows), rows)
        for kind, rows in secondary.items():
            rays = Rays(view, kind, size, _uploaded(target, rows), rows)
            if rays.count:
                yield rays


def _uploaded(target: Target, rows: np.ndarray) -> BufferRays:
    return BufferRays(target.upload(rows, "rays"), rows.shape[1])


def rows_of_picture(camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """The rays of a picture as a buffer (8, S) float32, in the order in which kernels make them; those of the tiles'
    overhang are idle."""
    frame = camera.frame(*size)
    eye, ahead, across, down = (frame[4 * row : 4 * row + 3].astype(np.float64) for row in range(4))
    x, y = pixel_order(*size)
    s, t = ((x + 0.5) / size[0] - 0.5)[:, None], ((y + 0.5) / size[1] - 0.5)[:, None]
    along = ahead + across * s + down * t
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    rows = np.zeros((8, len(x)), np.float32)
    rows[0:3], rows[3:6] = eye[:, None], along.T
    rows[7] = np.where((x < size[0]) & (y < size[1]), np.finfo(np.float32).max, 0.0)
    return rows


def _from_hits(
    target: Target, stage: Stage, camera: CameraRays, view: View, kinds: Sequence[str], diagonal: float
) -> dict[str, np.ndarray]:
    """Rows of the kinds that start at hits, by kind, without gaps."""
    wanted = [kind for kind in ("shadow", "ao", "diffuse") if kind in kinds]
    if not wanted:
        return {}
    hits, surface = stage.trace(camera), stage.animator.surface
    scattered = scatter_rays(target, camera, hits, surface.positions, surface.triangles, SEED)
    rows = target.download(scattered.rows)
    found = rows[6] < rows[7]
    diffuse = rows[:, found]
    made: dict[str, np.ndarray] = {}
    for kind in wanted:
        one = diffuse.copy()
        if kind == "ao":
            one[7] = AO_SHARE * diagonal
        if kind == "shadow":
            one = _to_light(one, _normals(target, stage, hits, found), np.asarray(view.light, np.float64))
        made[kind] = _padded(one)
    return made


def _normals(target: Target, stage: Stage, hits: HitBuffer, found: np.ndarray) -> np.ndarray:
    """Normals (N, 3) of the triangles that were hit, on either side."""
    positions, triangles = stage.triangles()
    corners = positions[triangles[target.download(hits.prim_id)[found]]].astype(np.float64)
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _to_light(rows: np.ndarray, normals: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Rays from the origins of diffuse rays to the light, where it stands before the surface: others no renderer
    casts. Diffuse rays leave on the seen side, which tells the side of a normal."""
    away = rows[3:6].T.astype(np.float64)
    normals = normals * np.sign(np.einsum("ij,ij->i", normals, away))[:, None]
    to_light = light - rows[0:3].T.astype(np.float64)
    distance = np.linalg.norm(to_light, axis=1)
    lit = np.einsum("ij,ij->i", normals, to_light) > 0.0
    shadow = rows[:, lit]
    shadow[3:6] = (to_light[lit] / distance[lit, None]).T
    shadow[7] = distance[lit]
    return shadow


def _padded(rows: np.ndarray) -> np.ndarray:
    """With idle rays to a multiple of a tile."""
    count = rows.shape[1]
    padded = np.zeros((8, max(1, -(-count // TILE_RAYS)) * TILE_RAYS), np.float32)
    padded[:, :count] = rows
    return padded
