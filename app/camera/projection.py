"""Where lines of the scene lie in the picture: the camera of the kernels, the other way round."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.camera import Camera

CORNERS = np.array([[(corner >> axis) & 1 for axis in range(3)] for corner in range(8)])
EDGES = np.array([[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]])
"""A box's corners as choices of lower (0) or upper (1), and its twelve edges."""

NEAREST = 1e-4
"""What lies nearer to the eye than this part of the distance to what is looked at is cut off."""


def box_lines(camera: Camera, aspect: float, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The edges of boxes (N, 3) as they lie in the picture: (N, 12, 4) float64 x0, y0, x1, y1 in parts of its width and
    height; NaN where an edge lies behind the eye."""
    choices = CORNERS[None, :, :]
    corners = np.where(choices == 1, np.asarray(upper, np.float64)[:, None], np.asarray(lower, np.float64)[:, None])
    return line_places(camera, aspect, corners[:, EDGES])


def line_places(camera: Camera, aspect: float, ends: np.ndarray) -> np.ndarray:
    """Lines (..., 2, 3) by both ends as they lie in the picture: (..., 4) float64 as box_lines has them."""
    right, up, forward = camera.basis()
    tall = camera.height if camera.orthographic else 2.0 * np.tan(np.radians(camera.fov) / 2.0)
    away = ends - np.asarray(camera.eye, np.float64)
    depth = away @ forward
    across, down = away @ right / (tall * aspect), -(away @ up) / tall
    if not camera.orthographic:
        across, down, depth = _cut_in_front(across, down, depth, NEAREST * _distance(camera))
        across, down = across / depth, down / depth
    return np.stack([across[..., 0] + 0.5, down[..., 0] + 0.5, across[..., 1] + 0.5, down[..., 1] + 0.5], axis=-1)


def point_place(camera: Camera, aspect: float, point: tuple[float, float, float]) -> tuple[float, float] | None:
    """Where a point lies in the picture; None behind the eye."""
    x, y = box_lines(camera, aspect, np.array([point]), np.array([point]))[0, 0, :2].tolist()
    return (x, y) if np.isfinite(x) else None


def _cut_in_front(
    across: np.ndarray, down: np.ndarray, depth: np.ndarray, nearest: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shorten edges to what lies in front of `nearest`; NaN where nothing does. The last axis holds both ends."""
    behind = depth < nearest
    lost = behind.all(axis=-1, keepdims=True)
    other = depth[..., ::-1]
    share = np.where(behind & ~lost, (nearest - depth) / np.where(behind & ~lost, other - depth, 1.0), 0.0)
    across, down, depth = (one + share * (one[..., ::-1] - one) for one in (across, down, depth))
    return np.where(lost, np.nan, across), np.where(lost, np.nan, down), np.where(lost, np.nan, depth)


def _distance(camera: Camera) -> float:
    return max(float(np.linalg.norm(np.subtract(camera.look_at, camera.eye))), 1e-30)
