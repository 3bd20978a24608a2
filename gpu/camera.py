"""The camera: a plain value. Right-handed, +Y up by default, image row 0 on top, pixel centres at .5, vertical field of
view."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from .rows import Row

Vector = tuple[float, float, float]
LARGEST = float(np.finfo(np.float32).max)
LENGTHS_UP_TO = 1e150
"""Squares of what is larger are no numbers of float64."""


@dataclasses.dataclass(frozen=True)
class CameraRow(Row):
    """A camera as kernels read it: four rows of four. `eye` is the origin of the ray through the picture's centre,
    `ahead` its direction; with `is_orthographic` all rays have that. `across` and `down` are the change of the
    direction (or else of the origin) for one whole picture width to the right and one whole height down: a pixel (x, y)
    has s = (x + .5) / width - .5 of the one and t = (y + .5) / height - .5 of the other."""

    eye: Vector
    is_orthographic: bool
    ahead: Vector
    near: float
    across: Vector
    far: float
    down: Vector
    unused: float = 0.0


@dataclasses.dataclass(frozen=True)
class Camera:
    """Where the picture is taken from.

    `eye`, `look_at` and `up` in scene units; `fov` is the vertical angle in degrees; with `orthographic` the picture is
    `height` scene units high and `fov` is ignored. `near` and `far` bound the rays along the view axis; far 0 means no
    bound.
    """

    eye: Vector = (0.0, 0.0, 5.0)
    look_at: Vector = (0.0, 0.0, 0.0)
    up: Vector = (0.0, 1.0, 0.0)
    fov: float = 45.0
    orthographic: bool = False
    height: float = 2.0
    near: float = 0.0
    far: float = 0.0

    def basis(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Unit vectors right, up, forward (float64). A degenerate `up` or a look-at on the eye is replaced by a safe
        axis."""
        eye, look_at, (up,) = *_with_squares(self.eye, self.look_at), _with_squares(self.up)
        forward = np.subtract(look_at, eye).astype(np.float64)
        length = float(np.linalg.norm(forward))
        forward = forward / length if length > 1e-30 else np.array([0.0, 0.0, -1.0])
        right = _cross(forward, up)
        if float(np.linalg.norm(right)) < 1e-9:
            right = _cross(forward, np.eye(3)[int(np.argmin(np.abs(forward)))])
        right /= np.linalg.norm(right)
        return right, _cross(right, forward), forward

    def frame(self, width: int, height: int) -> np.ndarray:
        """The camera as kernels read it, a CameraRow: float32 (16,). What is too large for that becomes the largest
        number, so that no ray begins at infinity."""
        right, up, forward = self.basis()
        tall = min(self.height, LARGEST) if self.orthographic else 2.0 * math.tan(math.radians(self.fov) / 2.0)
        row = CameraRow(
            eye=_vector(self.eye),
            is_orthographic=self.orthographic,
            ahead=_vector(forward),
            near=self.near,
            across=_vector(right * tall * width / height),
            far=self.far if self.far > 0.0 else LARGEST,
            down=_vector(-up * tall),
        )
        return np.clip(np.array(row.numbers(), np.float64), -LARGEST, LARGEST).astype(np.float32)


def _vector(values: Sequence[float] | np.ndarray) -> Vector:
    x, y, z = values
    return (x, y, z)


def _with_squares(*vectors: Vector) -> tuple[Sequence[float] | np.ndarray, ...]:
    """Vectors as they are, or all smaller by one factor where the squares of the largest would be no numbers."""
    if max(abs(value) for vector in vectors for value in vector) <= LENGTHS_UP_TO:
        return vectors
    return tuple(np.multiply(vector, LENGTHS_UP_TO / np.finfo(np.float64).max) for vector in vectors)


def _cross(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> np.ndarray:
    # numpy's own takes ten times as long for one pair, and a camera is asked for every frame.
    (ax, ay, az), (bx, by, bz) = a, b
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def fit(lower: Vector, upper: Vector, camera: Camera | None = None, aspect: float = 4.0 / 3.0) -> Camera:
    """A camera that sees the whole box from the side where `camera` stands (default: front, right and above)."""
    camera = camera or Camera(eye=(0.8, 0.5, 1.6))
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    centre = (low + high) / 2.0
    radius = max(float(np.linalg.norm(high - low)) / 2.0, 1e-6)
    _, _, forward = camera.basis()
    half_angle = math.radians(camera.fov) / 2.0
    half_angle = min(half_angle, math.atan(math.tan(half_angle) * aspect))
    eye = centre - forward * radius / math.sin(half_angle)
    return dataclasses.replace(
        camera, eye=tuple(eye.tolist()), look_at=tuple(centre.tolist()), height=2.0 * radius / min(aspect, 1.0)
    )
