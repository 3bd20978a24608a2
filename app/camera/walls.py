"""Whether a scene is a closed room that is seen from within: from outside there is nothing but its walls."""

from __future__ import annotations

import weakref
from collections.abc import Collection

import numpy as np

from raygrove.gpu.camera import Vector
from raygrove.gpu.node_transforms import world_matrix
from raygrove.gpu.scene import Scene

THICK, COVERED = 0.02, 0.8
"""Shares of the scene's box: how deep a wall may be, and of a side how much has triangles there."""
POINTS = 32
"""Of a side so many by so many points are looked at: how many triangles lie over one does not matter."""
EDGE = 1e-4
"""Shares of the way between two points by which triangles are taken to be larger, so that points on edges that two
share are in either."""

_kept: list[tuple[weakref.ref[Scene], frozenset[int], bool]] = []
"""What was asked last, as one asks again and again: large scenes take a while."""


def is_room(scene: Scene, eye: Vector, hidden: Collection[int] = ()) -> bool:
    """Whether `eye` is in the scene's box and triangles of objects that are not hidden, at rest, close all its six
    sides."""
    lower, upper = np.asarray(scene.lower, np.float64), np.asarray(scene.upper, np.float64)
    if not np.all((lower < eye) & (eye < upper)):
        return False
    left_out = frozenset(hidden)
    for kept, without, is_closed in _kept:
        if kept() is scene and without == left_out:
            return is_closed
    found = _is_closed(scene, left_out, lower, upper)
    _kept[:] = [(weakref.ref(scene), left_out, found)]
    return found


def _is_closed(scene: Scene, hidden: Collection[int], lower: np.ndarray, upper: np.ndarray) -> bool:
    is_met = np.zeros((6, POINTS, POINTS), bool)
    for index, thing in enumerate(scene.objects):
        if thing.mesh < 0 or index in hidden:
            continue
        mesh, matrix = scene.meshes[thing.mesh], world_matrix(scene, thing.node)
        sides, lines = _placed(mesh.positions, matrix, lower, upper)
        first = sides[mesh.triangles[:, 0]]
        rows = np.flatnonzero(first)
        corners = mesh.triangles[rows]
        shared = first[rows] & sides[corners[:, 1]] & sides[corners[:, 2]]
        for side in range(6):
            flat = corners[(shared & (1 << side)) != 0]
            axes = [(side + 1) % 3, (side + 2) % 3]
            for axis in axes:  # those between two lines of points meet none: nearly all of a fine wall's
                one, two, three = lines[axis][flat].T
                flat = flat[(one != two) | (two != three)]
            places = mesh.positions[flat] @ matrix[axes, :3].T + matrix[axes, 3]
            is_met[side] |= _met((places - lower[axes]) / (upper - lower)[axes] * POINTS - 0.5)
    return bool(np.all(is_met.mean(axis=(1, 2)) >= COVERED))


@np.errstate(invalid="ignore", over="ignore")  # a file's vertex may be no number, and then is in no wall
def _placed(
    positions: np.ndarray, matrix: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Which vertices are in the walls, (V,) uint8, a bit for each of the box's sides, the lower three first; and along
    each axis after which line of points they are, (V,) uint8."""
    sides, lines = np.zeros(len(positions), np.uint8), []
    for axis in range(3):
        scale = POINTS / (upper[axis] - lower[axis])
        row = (matrix[axis, :3] * scale).astype(np.float32)
        at = positions @ row
        at += np.float32((matrix[axis, 3] - lower[axis]) * scale)
        for side, end in ((axis, 0.0), (axis + 3, POINTS)):
            is_near = np.abs(at - np.float32(end)) <= np.float32(THICK * POINTS)
            sides |= is_near.view(np.uint8) << np.uint8(side)
        at += np.float32(0.5)
        lines.append(np.clip(at, 0.0, POINTS + 1.0, out=at).astype(np.uint8))
    return sides, lines


def _met(corners: np.ndarray) -> np.ndarray:
    """(POINTS, POINTS) bool: which points, at whole numbers, are in any of triangles (T, 3, 2)."""
    first, last = np.ceil(corners.min(axis=1) - EDGE), np.floor(corners.max(axis=1) + EDGE)
    has_any = np.all((first <= last) & (last >= 0) & (first < POINTS), axis=1)
    corners = corners[has_any]
    low = np.maximum(first[has_any, 1], 0).astype(np.int64)
    counts = np.minimum(last[has_any, 1], POINTS - 1).astype(np.int64) - low + 1
    triangle = np.repeat(np.arange(len(corners)), counts)  # once for each line of points that it may meet
    line = low[triangle] + np.arange(len(triangle)) - np.repeat(np.cumsum(counts) - counts, counts)
    left, right = np.full(len(line), np.inf), np.full(len(line), -np.inf)
    for one in range(3):
        (x, y), (then_x, then_y) = corners[triangle, one].T, corners[triangle, (one + 1) % 3].T
        rise = then_y - y
        way = np.clip(np.divide(line - y, rise, out=np.zeros_like(rise), where=rise != 0.0), 0.0, 1.0)
        is_crossed = np.abs(y + way * rise - line) <= EDGE
        for at in (x + way * (then_x - x), np.where(rise == 0.0, then_x, x + way * (then_x - x))):
            left = np.where(is_crossed, np.minimum(left, at), left)
            right = np.where(is_crossed, np.maximum(right, at), right)
    begin, end = np.ceil(left - EDGE), np.floor(right + EDGE)
    is_hit = (begin <= end) & (end >= 0) & (begin < POINTS)
    row = line[is_hit] * (POINTS + 1)
    steps = np.bincount(row + np.maximum(begin[is_hit], 0).astype(np.int64), minlength=POINTS * (POINTS + 1))
    steps -= np.bincount(row + np.minimum(end[is_hit] + 1, POINTS).astype(np.int64), minlength=POINTS * (POINTS + 1))
    return np.cumsum(steps.reshape(POINTS, POINTS + 1), axis=1)[:, :POINTS] > 0
