"""Opening a scene: from a reference to a `Scene`, and the first look at it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from app import timeline as timelines
from app.jobs import Job
from app.scene_io import SceneError, load
from app.scene_io.demos import make_demo
from app.settings import Settings
from app.state import SceneReference, State
from app.timeline import Timeline
from gpu.camera import Camera, Vector, fit
from gpu.scene import Node, Scene, SceneCamera


def open_scene(reference: SceneReference, settings: Settings, job: Job | None = None) -> Scene:
    """Read or make the scene. Raises SceneError (ImportCancelled where the job was cancelled) and UnknownDemoError, both with a sentence."""
    if reference.kind == "demo":
        return make_demo(reference.names[0], settings.demo.triangles, settings.demo.seed)
    if reference.kind != "files" or not reference.names:
        raise SceneError("No scene was named: give a file or a built-in scene.")
    progress = job.report if job is not None else None
    cancel = job.cancel_event if job is not None else None
    return load(reference.names, settings.importer, progress, cancel, fps=settings.timeline.fps or timelines.DEFAULT_FPS)


def first_look(state: State, scene: Scene) -> State:
    """The state as a new scene begins: its cameras, the head at the start, playing if it moves and `timeline.autoplay` says so."""
    cameras = cameras_of(scene)
    views = tuple(dataclasses.replace(view, camera=0) for view in state.views)
    moves = timelines.span_of(scene, Timeline(), state.settings.timeline).duration > 0.0
    head = Timeline(is_playing=moves and state.settings.timeline.autoplay)
    return dataclasses.replace(state, cameras=cameras, views=views, timeline=head)


def cameras_of(scene: Scene, aspect: float = 4.0 / 3.0) -> tuple[Camera, ...]:
    """The free camera, then the scene's own. The free one starts where the scene says, or at its first camera, or sees everything."""
    own = tuple(_camera_from_node(scene, camera) for camera in scene.cameras)
    if scene.eye is not None and scene.look_at is not None:
        return (Camera(eye=scene.eye, look_at=scene.look_at), *own)
    return (own[0] if own else fit(scene.lower, scene.upper, None, aspect), *own)


def _camera_from_node(scene: Scene, camera: SceneCamera) -> Camera:
    """A camera that looks along -Z of its node at rest; it looks at the point nearest to the scene's centre on its axis."""
    matrix = rest_matrix(scene.nodes, camera.node)
    eye, forward, up = matrix[:3, 3], -_unit(matrix[:3, 2]), _unit(matrix[:3, 1])
    centre = (np.asarray(scene.lower, np.float64) + np.asarray(scene.upper, np.float64)) / 2.0
    distance = max(float(np.dot(centre - eye, forward)), 1e-3 * float(np.linalg.norm(np.subtract(scene.upper, scene.lower))), 1e-6)
    return Camera(eye=_vector(eye), look_at=_vector(eye + forward * distance), up=_vector(up), fov=camera.fov)


def rest_matrix(nodes: tuple[Node, ...], index: int) -> np.ndarray:
    """A node's world transform as it stands without animation: (4, 4) float64."""
    matrix = np.eye(4)
    while index >= 0:
        node = nodes[index]
        local = np.eye(4)
        local[:3, :3] = _rotation(node.rotation) * np.asarray(node.scale)
        local[:3, 3] = node.translation
        matrix = local @ matrix
        index = node.parent
    return matrix


def _rotation(quaternion: tuple[float, float, float, float]) -> np.ndarray:
    x, y, z, w = np.asarray(quaternion, np.float64) / (math.sqrt(sum(q * q for q in quaternion)) or 1.0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def _vector(values: np.ndarray) -> Vector:
    return (float(values[0]), float(values[1]), float(values[2]))
