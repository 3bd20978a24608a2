"""Which nodes of a structure can be seen from a place, or from a cell, and which are wholly behind others: a
hierarchical z-buffer on the six faces of a cube, after Greene, Kass and Miller 1993 (docs/decisions/occlusion.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .camera import Vector
from .clip import HalfSpace
from .hierarchy.base import NodeTable
from .target.base import Array, Target, UnitSource
from .trace.trace import TILE_RAYS, BufferRays, Tracer

RESOLUTION, CELL_RESOLUTION = 256, 128
"""Depths along each side of a face, where nothing else is asked for: from one place, and from the many of a cell."""

CELL_PLACES = 3
"""Along each side of a cell, which is seen from them alone: a sample, and no proof."""

FACES = 6
NEARER = 1.0 - 1e-5
"""Depths of boxes are taken to be nearer by more than rounding, and the part of a ray before a clipping plane shorter:
what lies in the plane hides nothing."""
_UNIT = UnitSource("gpu/trace/occlusion.cu", constants=(("FACES", FACES), ("NEARER", NEARER)))


def places_in(lower: np.ndarray, upper: np.ndarray, along: int = CELL_PLACES) -> np.ndarray:
    """(along^3, 3) float64: places in a box (3,) at equal distances, its corners among them; one, its centre, for an
    `along` of 1."""
    shares = np.linspace(0.0, 1.0, along) if along > 1 else np.array([0.5])
    grid = np.stack(np.meshgrid(shares, shares, shares, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(lower, float) + grid * (np.asarray(upper, float) - np.asarray(lower, float))


def visible_nodes(
    tracer: Tracer, table: NodeTable, places: np.ndarray, resolution: int = RESOLUTION, clip: HalfSpace | None = None
) -> np.ndarray:
    """(N,) bool: which nodes of the table, that of the structure that is traced, can be seen from any of `places`
    (P, 3), in any direction. `resolution` is a power of two: depths along each side of a face. What is seen through
    openings narrower than two depths may be missed; what is hidden may be told to be visible. Inverted boxes are not.
    With `clip`, what lies beyond the plane is not there: it hides nothing, and nodes wholly beyond it are not visible.
    Waits."""
    may_be = np.all(table.lower <= table.upper, axis=1) & ~_is_cut_away(table, clip)
    if len(table) < 2:  # one box has none beside it that could hide it, and no ray through all of it is cheap
        return may_be
    target, rows = tracer.target, np.asarray(places, np.float32).reshape(-1, 3)
    of_places = target.upload(rows, "occlusion")
    boxes = target.upload(np.stack([table.lower, table.upper], axis=1).astype(np.float32), "occlusion")
    seen = target.upload((~may_be).astype(np.uint32), "occlusion")  # of these nothing is to be found any more
    for which in range(len(rows)):
        depths = _depth_pyramids(tracer, of_places, which, resolution, clip)
        _launch(target, "mark_seen", len(table), places=of_places, which=which, boxes=boxes, depths=depths,
                count=len(table), side=resolution, seen=seen)  # fmt: skip
    found: np.ndarray = (target.download(seen) != 0) & may_be
    return found


def visible_from(
    tracer: Tracer, table: NodeTable, eye: Vector, cell: int = -1, clip: HalfSpace | None = None
) -> np.ndarray:
    """(N,) bool: the same from `eye`, or from 27 places in the box of a row of the table."""
    if cell < 0:
        return visible_nodes(tracer, table, np.array([eye]), clip=clip)
    return visible_nodes(tracer, table, places_in(table.lower[cell], table.upper[cell]), CELL_RESOLUTION, clip)


def _is_cut_away(table: NodeTable, clip: HalfSpace | None) -> np.ndarray:
    """(N,) bool: whose whole box is beyond the plane, by more than rounding."""
    if clip is None:
        return np.zeros(len(table), bool)
    normal, offset = np.array(clip[:3]), clip[3]
    ends = normal * table.lower.astype(float), normal * table.upper.astype(float)
    slack = (1.0 - NEARER) * (np.abs(ends).max(axis=0).sum(axis=1) + abs(offset))
    result: np.ndarray = np.minimum(*ends).sum(axis=1) > offset + slack
    return result


def _depth_pyramids(tracer: Tracer, places: Array, which: int, side: int, clip: HalfSpace | None) -> Array:
    """How far the farthest of the nearest hits is along the faces' axes, level after level
    (gpu/trace/occlusion.cu); infinite where a ray hits nothing. Launches only."""
    target, count = tracer.target, FACES * side**2
    stride = -(-count // TILE_RAYS) * TILE_RAYS
    rays = target.scratch("occlusion.rays", 8 * stride, np.float32)
    plane = target.upload(np.array(clip or (0.0, 0.0, 0.0, 0.0), np.float32), "occlusion")
    shared = {"places": places, "which": which, "plane": plane, "is_cut": int(clip is not None), "side": side}
    _launch(target, "write_cube_rays", stride, **shared, count=count, stride=stride, rows=rays)
    hits = tracer.trace(BufferRays(rays.reshape(8, stride), count), scratch="occlusion")
    levels = side.bit_length()
    depths = target.scratch("occlusion.depths", sum(FACES * (side >> level) ** 2 for level in range(levels)), "f4")
    _launch(target, "write_depths", count, t=hits.t, prim_id=hits.prim_id, count=count, depths=depths)
    for level in range(1, levels):
        of_level = FACES * (side >> level) ** 2
        _launch(target, "halve_depths", of_level, side=side, level=level, count=of_level, depths=depths)
    return depths


def _launch(target: Target, kernel: str, items: int, **arguments: Any) -> None:
    target.launch(target.unit(_UNIT), kernel, items, **arguments)
