"""Whether a scene is a closed room that is seen from within: from outside there is nothing but its walls."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from raygrove.gpu.camera import Vector
from raygrove.gpu.node_transforms import world_matrix
from raygrove.gpu.scene import Scene

THICK, COVERED = 0.02, 0.8
"""Shares of the scene's box: how deep a wall may be, and of a side how much has triangles there."""


def is_room(scene: Scene, eye: Vector, hidden: Collection[int] = ()) -> bool:
    """Whether `eye` is in the scene's box and triangles of objects that are not hidden, at rest, close all its six
    sides."""
    lower, upper = np.asarray(scene.lower, np.float64), np.asarray(scene.upper, np.float64)
    size = upper - lower
    if not np.all((lower < eye) & (eye < upper)):
        return False
    area = np.zeros((2, 3))
    for index, thing in enumerate(scene.objects):
        if thing.mesh < 0 or index in hidden:
            continue
        mesh, matrix = scene.meshes[thing.mesh], world_matrix(scene, thing.node)
        positions = mesh.positions @ matrix[:3, :3].T + matrix[:3, 3]
        is_near = np.concatenate([np.abs(positions - end) <= THICK * size for end in (lower, upper)], axis=1)
        sides = np.packbits(is_near, axis=1)[:, 0]  # a bit a side, so that triangles are asked once
        first, second, third = sides[mesh.triangles].T
        shared = first & second & third
        for side in range(6):
            rows = mesh.triangles[(shared & (128 >> side)) != 0]
            area[side // 3, side % 3] += _area(positions[rows][..., [(side + 1) % 3, (side + 2) % 3]])
    return bool(np.all(area >= COVERED * size[[1, 2, 0]] * size[[2, 0, 1]]))


def _area(corners: np.ndarray) -> float:
    """Of triangles (T, 3, 2) in a plane."""
    one, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return float(np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]).sum() / 2.0)
