"""Which nodes of a structure can be seen from a place, or from a cell, and which are wholly behind others: a
hierarchical z-buffer on the six faces of a cube, after Greene, Kass and Miller 1993 (docs/decisions/occlusion.md)."""

from __future__ import annotations

import numpy as np

from .camera import Vector
from .clip import HalfSpace
from .hierarchy.base import NodeTable
from .trace.trace import Tracer, upload_rays

RESOLUTION, CELL_RESOLUTION = 256, 128
"""Depths along each side of a face, where nothing else is asked for: from one place, and from the many of a cell."""

AXES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
"""Of a face: the axis that it stands across, and the two along it."""

FACES = tuple((axes, sign) for axes in AXES for sign in (1.0, -1.0))
NEARER = 1.0 - 1e-5
"""Depths of boxes are taken to be nearer by more than rounding, and the part of a ray before a clipping plane shorter:
what lies in the plane hides nothing."""


def places_in(lower: np.ndarray, upper: np.ndarray, along: int = 3) -> np.ndarray:
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
    found = np.zeros(len(table), bool)
    may_be = np.all(table.lower <= table.upper, axis=1) & ~_is_cut_away(table, clip)
    if len(table) < 2:  # one box has none beside it that could hide it, and no ray through all of it is cheap
        return may_be
    for place in np.asarray(places, float).reshape(-1, 3):
        found |= _visible_from(table, may_be, place, _depth_pyramids(tracer, place, resolution, clip))
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


def _kept_part(place: np.ndarray, directions: np.ndarray, clip: HalfSpace | None) -> tuple[np.ndarray, np.ndarray]:
    """t_min and t_max (N,) of rays from a place, as pictures have them (gpu/trace/ray_sources.cuh); where nothing is
    left, both are 0."""
    begin, end = np.zeros(len(directions)), np.full(len(directions), np.inf)
    if clip is None:
        return begin, end
    leaving, inside = directions @ np.array(clip[:3]), clip[3] - place @ np.array(clip[:3])
    with np.errstate(all="ignore"):
        crossed = inside / leaving
    begin[leaving < 0.0] = np.maximum(crossed[leaving < 0.0], 0.0) / NEARER
    end[leaving > 0.0] = np.maximum(crossed[leaving > 0.0], 0.0) * NEARER
    end[(leaving == 0.0) & (inside < 0.0)] = 0.0
    return begin, end


def _depth_pyramids(
    tracer: Tracer, place: np.ndarray, resolution: int, clip: HalfSpace | None = None
) -> list[np.ndarray]:
    """(6, R, R) float64, (6, R/2, R/2) and so on to (6, 1, 1): how far the farthest of the nearest hits is, along the
    face's axis; infinite where a ray hits nothing."""
    middles = (np.arange(resolution) + 0.5) / resolution * 2.0 - 1.0
    across, down = (part.ravel() for part in np.meshgrid(middles, middles, indexing="ij"))
    of_faces = np.zeros((len(FACES), resolution**2, 3))
    for rows, ((along, first, second), sign) in zip(of_faces, FACES, strict=True):
        rows[:, along], rows[:, first], rows[:, second] = sign, across, down
    count = len(FACES) * resolution**2
    directions = of_faces.reshape(-1, 3)
    begin, end = _kept_part(place, directions, clip)
    most = np.finfo(np.float32).max
    rays = upload_rays(tracer.target, np.broadcast_to(place, (count, 3)), directions, np.minimum(begin, most), end)
    hits = tracer.trace(rays, scratch="occlusion")
    t, prim_id = (tracer.target.download(array)[:count] for array in (hits.t, hits.prim_id))
    levels = [np.where(prim_id >= 0, t.astype(float), np.inf).reshape(len(FACES), resolution, resolution)]
    while levels[-1].shape[1] > 1:
        side = levels[-1].shape[1] // 2
        levels.append(levels[-1].reshape(len(FACES), side, 2, side, 2).max(axis=(2, 4)))
    return levels


def _visible_from(table: NodeTable, may_be: np.ndarray, place: np.ndarray, pyramids: list[np.ndarray]) -> np.ndarray:
    """Level by level, children only of nodes that are visible."""
    lower, upper = table.lower.astype(float) - place, table.upper.astype(float) - place
    found = np.zeros(len(table), bool)
    for depth in range(int(table.depth.max()) + 1 if len(table) else 0):
        rows = np.flatnonzero((table.depth == depth) & may_be & ((table.parent < 0) | found[table.parent]))
        for face in range(len(FACES)):
            asked = rows[~found[rows]]
            found[asked] = _is_seen(lower[asked], upper[asked], face, pyramids)
    return found


def _is_seen(lower: np.ndarray, upper: np.ndarray, face: int, pyramids: list[np.ndarray]) -> np.ndarray:
    """Whether boxes (N, 3), relative to the place, are before the farthest depth where they lie on a face."""
    axes, sign = FACES[face]
    sides = [(lower[:, axis], upper[:, axis]) for axis in axes]
    if sign < 0.0:
        sides[0] = (-sides[0][1], -sides[0][0])
    (nearest, farthest), *along = sides
    beside = [np.maximum(np.maximum(low, -high), 0.0) for low, high in along]  # how far the axis passes them
    near = np.maximum(nearest, np.maximum(*beside))  # the part of the box that lies on the face begins there
    is_on_face, holds_place = (near <= farthest) & (farthest > 0.0), (near <= 0.0) & (farthest >= 0.0)
    size = pyramids[0].shape[1]
    ranges = []
    with np.errstate(all="ignore"):
        for low, high in along:
            ends = low / np.where(low < 0.0, near, farthest), high / np.where(high > 0.0, near, farthest)
            texels = [np.floor((np.clip(end, -1.0, 1.0) + 1.0) * 0.5 * size) for end in ends]
            ranges.append([np.clip(np.nan_to_num(part) + by, 0, size - 1).astype(int)
                           for part, by in zip(texels, (-1, 1), strict=True)])  # fmt: skip
    widths = np.maximum(*(last - first + 1 for first, last in ranges))
    level = np.ceil(np.log2(widths)).astype(int)  # at which they meet two depths a side at most
    depth = np.zeros(len(lower))
    for number, pyramid in enumerate(pyramids):
        of_level = level == number
        (x0, x1), (y0, y1) = ([end[of_level] >> number for end in ends] for ends in ranges)
        for x, y in ((x0, y0), (x0, y1), (x1, y0), (x1, y1)):
            depth[of_level] = np.maximum(depth[of_level], pyramid[face, x, y])
    seen: np.ndarray = holds_place | (is_on_face & (near * NEARER <= depth))
    return seen
