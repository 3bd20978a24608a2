"""Camera moves as pure functions: a camera, and how far the mouse or the keys went, to a camera.

Drags are in fractions of the picture's height, so that they feel alike at every size; wheel steps are notches; times are seconds.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from gpu.camera import Camera, Vector, fit

STANDARD_VIEWS: dict[str, tuple[Vector, Vector]] = {
    "front": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
    "back": ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0)),
    "right": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "left": ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "top": ((0.0, 1.0, 0.0), (0.0, 0.0, -1.0)),
    "bottom": ((0.0, -1.0, 0.0), (0.0, 0.0, 1.0)),
}
"""Where the eye stands, seen from the centre, and which way is up."""

POLE_LIMIT = math.radians(89.5)


def orbit(camera: Camera, across: float, down: float, centre: Vector | None = None) -> Camera:
    """Turn about `centre` (default: what is looked at): a drag over one picture height is half a turn. Stops short of the poles of `up`."""
    pivot = np.asarray(camera.look_at if centre is None else centre, np.float64)
    up = _unit(np.asarray(camera.up, np.float64))
    turn = _rotation(up, -across * math.pi)
    right, _, forward = camera.basis()
    elevation = math.asin(float(np.clip(np.dot(-forward, up), -1.0, 1.0)))
    wanted = float(np.clip(elevation + down * math.pi, -POLE_LIMIT, POLE_LIMIT))
    if abs(elevation) > POLE_LIMIT:
        wanted = elevation if abs(elevation + down * math.pi) >= abs(elevation) else elevation + down * math.pi
    rotation = turn @ _rotation(right, -(wanted - elevation))
    eye = pivot + rotation @ (np.asarray(camera.eye) - pivot)
    look_at = pivot + rotation @ (np.asarray(camera.look_at) - pivot)
    return dataclasses.replace(camera, eye=_vector(eye), look_at=_vector(look_at))


def pan(camera: Camera, across: float, down: float) -> Camera:
    """Move along the picture plane so that what is looked at follows the mouse."""
    right, up, _ = camera.basis()
    tall = camera.height if camera.orthographic else 2.0 * distance(camera) * math.tan(math.radians(camera.fov) / 2.0)
    return _moved(camera, (-right * across + up * down) * tall)


def dolly(camera: Camera, notches: float) -> Camera:
    """Come nearer (positive) to what is looked at, a tenth of the way a notch; an orthographic picture shrinks its height instead."""
    scale = 0.9**notches
    if camera.orthographic:
        return dataclasses.replace(camera, height=min(max(camera.height * scale, 1e-9), 1e12))
    eye, look_at = np.asarray(camera.eye), np.asarray(camera.look_at)
    return dataclasses.replace(camera, eye=_vector(look_at + (eye - look_at) * scale))


def zoom(camera: Camera, notches: float) -> Camera:
    """Narrow (positive) the field of view."""
    return dataclasses.replace(camera, fov=min(max(camera.fov * 0.95**notches, 1.0), 170.0))


def look(camera: Camera, across: float, down: float) -> Camera:
    """Turn the head where it stands: orbit about the eye."""
    return orbit(camera, across, down, camera.eye)


FLY_KEYS: dict[str, tuple[float, float, float]] = {
    "w": (0.0, 0.0, 1.0),
    "s": (0.0, 0.0, -1.0),
    "a": (-1.0, 0.0, 0.0),
    "d": (1.0, 0.0, 0.0),
    "q": (0.0, -1.0, 0.0),
    "e": (0.0, 1.0, 0.0),
}
"""Direction of each key: to the right, up, forward."""


def fly(
    camera: Camera, keys: frozenset[str] | set[str], seconds: float, scene_size: float, *, fast: bool = False, slow: bool = False
) -> Camera:
    """Fly with the keys W A S D Q E: a fifth of `scene_size` (the scene's diagonal) a second, ten times that if `fast` (Shift), a
    tenth if `slow` (Ctrl)."""
    direction = np.sum([FLY_KEYS[key] for key in keys if key in FLY_KEYS] or [(0.0, 0.0, 0.0)], axis=0)
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return camera
    speed = 0.2 * scene_size * (10.0 if fast else 1.0) * (0.1 if slow else 1.0)
    right, _, forward = camera.basis()
    axes = np.stack([right, _unit(np.asarray(camera.up, np.float64)), forward])
    return _moved(camera, (direction / length) @ axes * speed * seconds)


def standard_view(camera: Camera, name: str, lower: Vector, upper: Vector, aspect: float = 4.0 / 3.0) -> Camera:
    """Look at the whole box from one of its sides: front, back, right, left, top, bottom. KeyError for another name."""
    side, up = STANDARD_VIEWS[name]
    return fit(lower, upper, dataclasses.replace(camera, eye=side, look_at=(0.0, 0.0, 0.0), up=up), aspect)


def fitted(camera: Camera, lower: Vector, upper: Vector, aspect: float = 4.0 / 3.0) -> Camera:
    """See the whole box from the same side."""
    return fit(lower, upper, camera, aspect)


def distance(camera: Camera) -> float:
    """From the eye to what is looked at."""
    return max(float(np.linalg.norm(np.subtract(camera.look_at, camera.eye))), 1e-9)


def _moved(camera: Camera, offset: np.ndarray) -> Camera:
    return dataclasses.replace(camera, eye=_vector(np.asarray(camera.eye) + offset), look_at=_vector(np.asarray(camera.look_at) + offset))


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-30 else np.array([0.0, 1.0, 0.0])


def _rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula: (3, 3) for a unit axis."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


def _vector(values: np.ndarray) -> Vector:
    return (float(values[0]), float(values[1]), float(values[2]))
