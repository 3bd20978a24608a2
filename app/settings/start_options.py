"""How the program starts: what it opens, and where a scene is first seen from.

An angle of a camera that stands at `position`: azimuth 0 looks along -Z and grows to the right (90 looks along +X),
elevation is above the horizon; both for +Y up, and turned with `camera.up_axis`.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from raygrove.app.camera.moves import UP_AXES
from raygrove.gpu.camera import Camera, Vector
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import option

FAR = 1e18


@dataclasses.dataclass(frozen=True)
class StartOptions:
    """What is opened where nothing is named, and where a scene is first seen from."""

    scene: str = option(
        "",
        "What is opened where no file is named: a path, a glob or a numbered pattern, from the settings file's "
        "own folder.",
    )
    camera: str = option(
        "scene",
        "Where a scene is first seen from: where its file says (or so that all is seen), or from position.",
        choices=("scene", "position"),
    )
    position: Vector = option(
        (0.0, 0.0, 5.0), "Where the camera then stands, in the file's coordinates.", minimum=-FAR, maximum=FAR
    )
    elevation: float = option(
        0.0, "How far above the horizon it then looks.", minimum=-89.0, maximum=89.0, unit="degrees"
    )
    azimuth: float = option(
        0.0,
        "Which way it then looks: 0 along -Z, growing to the right, so that 90 is along +X.",
        minimum=-360.0,
        maximum=360.0,
        unit="degrees",
    )
    hide: str = option(
        "",
        "Objects that are left out when a scene opens: names, patterns as vase_*, or numbers, with semicolons "
        "between them.",
    )
    isolate: str = option("", "Objects that alone are seen when a scene opens, written as those of hide.")


def placed(camera: Camera, options: StartOptions, scene: Scene | None, up_axis: str = "y") -> Camera:
    """The camera with which a scene is first seen: `camera` is where the scene itself would put it."""
    if options.camera != "position":
        return camera
    eye = np.asarray(options.position, np.float64) - _origin(scene)
    forward = direction(options.elevation, options.azimuth, up_axis)
    look_at = eye + forward * _depth(eye, forward, scene)
    return dataclasses.replace(camera, eye=_vector(eye), look_at=_vector(look_at), up=_vector(UP_AXES[up_axis][:, 1]))


def direction(elevation: float, azimuth: float, up_axis: str = "y") -> np.ndarray:
    """The unit vector of two angles in degrees."""
    high, across = math.radians(elevation), math.radians(azimuth)
    turned: np.ndarray = UP_AXES[up_axis] @ [
        math.sin(across) * math.cos(high),
        math.sin(high),
        -math.cos(across) * math.cos(high),
    ]
    return turned


def as_options(camera: Camera, options: StartOptions, scene: Scene | None, up_axis: str = "y") -> StartOptions:
    """The settings that start every scene where `camera` stands now."""
    x, y, z = UP_AXES[up_axis].T @ camera.basis()[2]
    elevation = math.degrees(math.asin(float(np.clip(y, -1.0, 1.0))))
    return dataclasses.replace(
        options,
        camera="position",
        position=_vector(np.asarray(camera.eye, np.float64) + _origin(scene)),
        elevation=round(min(max(elevation, -89.0), 89.0), 6),
        azimuth=round(math.degrees(math.atan2(float(x), -float(z))), 6),
    )


def _origin(scene: Scene | None) -> np.ndarray:
    return np.asarray(scene.origin if scene is not None else (0.0, 0.0, 0.0), np.float64)


def _depth(eye: np.ndarray, forward: np.ndarray, scene: Scene | None) -> float:
    """How far ahead the point lies that is looked at: as deep as the scene's centre, so that an orbit goes round the
    scene."""
    if scene is None:
        return 1.0
    centre = (np.asarray(scene.lower, np.float64) + np.asarray(scene.upper, np.float64)) / 2.0
    size = float(np.linalg.norm(np.subtract(scene.upper, scene.lower)))
    return max(float(np.dot(centre - eye, forward)), 1e-2 * size, 1e-6)


def _vector(values: np.ndarray) -> Vector:
    return (float(values[0]), float(values[1]), float(values[2]))
