"""Cameras of the file on the document's side: where they are at a moment (gpu/node_transforms.py)."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.camera import Camera, Vector
from raygrove.gpu.node_transforms import is_animated, world_matrix
from raygrove.gpu.scene import Scene, SceneCamera


def camera_at(scene: Scene, camera: SceneCamera, time: float | None = None, clip: int = 0) -> Camera:
    """A camera of the file at a moment. It looks along -Z of its node, at the point of its axis that is nearest to the
    scene's centre."""
    matrix = world_matrix(scene, camera.node, time, clip)
    eye, forward, up = matrix[:3, 3], -_unit(matrix[:3, 2]), _unit(matrix[:3, 1])
    centre = (np.asarray(scene.lower, np.float64) + np.asarray(scene.upper, np.float64)) / 2.0
    least = max(1e-3 * float(np.linalg.norm(np.subtract(scene.upper, scene.lower))), 1e-6)
    distance = max(float(np.dot(centre - eye, forward)), least)
    return Camera(eye=_vector(eye), look_at=_vector(eye + forward * distance), up=_vector(up), fov=camera.fov)


def followed(cameras: tuple[Camera, ...], scene: Scene, time: float, clip: int) -> tuple[Camera, ...]:
    """The document's cameras (the free one, then the file's) with those that the clip moves where they are at a moment;
    near and far planes stay."""
    if not scene.cameras or not any(is_animated(scene, camera.node, clip) for camera in scene.cameras):
        return cameras
    result = list(cameras)
    for index, camera in enumerate(scene.cameras[: len(cameras) - 1], 1):
        if is_animated(scene, camera.node, clip):
            result[index] = dataclasses.replace(
                camera_at(scene, camera, time, clip), near=cameras[index].near, far=cameras[index].far
            )
    return tuple(result)


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def _vector(values: np.ndarray) -> Vector:
    return (float(values[0]), float(values[1]), float(values[2]))
