"""Node transforms on the document's side, in float64: where a camera of the file is at a moment.

The engine evaluates the same tracks on the target for what is drawn; this is for the few nodes that the program itself
must know.
"""

from __future__ import annotations

import dataclasses
import math
import weakref

import numpy as np

from raygrove.gpu.camera import Camera, Vector
from raygrove.gpu.scene import Node, Scene, SceneCamera, Track


def world_matrix(scene: Scene, node: int, time: float | None = None, clip: int = 0) -> np.ndarray:
    """A node's transform to the world, (4, 4); at rest where no time is given."""
    matrix = np.eye(4)
    for index, tracks in _chain(scene, node, clip if time is not None else -1):
        at_rest = scene.nodes[index]
        values = {path: value_at(track, time or 0.0, path == "rotation") for path, track in tracks}
        local = np.eye(4)
        local[:3, :3] = rotation_matrix(values.get("rotation", at_rest.rotation)) * np.asarray(
            values.get("scale", at_rest.scale), np.float64
        )
        local[:3, 3] = values.get("translation", at_rest.translation)
        matrix = local @ matrix
    return matrix


def is_animated(scene: Scene, node: int, clip: int = 0) -> bool:
    """Whether the clip moves a node, or one above it."""
    return any(tracks for _, tracks in _chain(scene, node, clip))


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


def value_at(track: Track, time: float, is_rotation: bool) -> np.ndarray:
    """A track's value in float64: the first or last key outside its times, spherical between rotations, Hermite's cubic
    with tangents a second."""
    times = track.times
    after = int(np.searchsorted(times, time, side="right"))
    if after == 0 or after == len(times):
        key = np.asarray(track.values[0 if after == 0 else -1], np.float64)
        return key[1] if track.interpolation == "cubic" else key
    span = float(times[after]) - float(times[after - 1])
    share = (time - float(times[after - 1])) / span
    a, b = track.values[after - 1].astype(np.float64), track.values[after].astype(np.float64)
    if track.interpolation == "step":
        return a
    if track.interpolation == "cubic":
        s2, s3 = share * share, share**3
        value = (
            (2 * s3 - 3 * s2 + 1) * a[1]
            + (s3 - 2 * s2 + share) * span * a[2]
            + (3 * s2 - 2 * s3) * b[1]
            + (s3 - s2) * span * b[0]
        )
        return np.asarray(value)
    return slerp(a, b, share) if is_rotation else np.asarray((1.0 - share) * a + share * b)


def slerp(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """The rotation between two quaternions along the shorter arc."""
    a, b = a / (np.linalg.norm(a) or 1.0), b / (np.linalg.norm(b) or 1.0)
    cosine = float(np.dot(a, b))
    if cosine < 0.0:
        b, cosine = -b, -cosine
    angle = math.acos(min(cosine, 1.0))
    if angle < 1e-6:
        return np.asarray((1.0 - share) * a + share * b)
    return np.asarray((math.sin((1.0 - share) * angle) * a + math.sin(share * angle) * b) / math.sin(angle))


def rotation_matrix(quaternion: np.ndarray | tuple[float, ...]) -> np.ndarray:
    """(3, 3) of a quaternion x, y, z, w of any length but 0, which is no rotation."""
    x, y, z, w = np.asarray(quaternion, np.float64) / (math.sqrt(sum(float(q) ** 2 for q in quaternion)) or 1.0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


Links = tuple[tuple[int, tuple[tuple[str, Track], ...]], ...]


_CHAINS: weakref.WeakKeyDictionary[Scene, dict[tuple[int, int], Links]] = weakref.WeakKeyDictionary()
"""What `_chain` has found, for as long as its scene lives."""


def _chain(scene: Scene, node: int, clip: int) -> Links:
    """A node and those above it, each with the tracks that move it; looked for once, because a scene may have thousands
    of channels."""
    kept = _CHAINS.setdefault(scene, {})
    if (node, clip) not in kept:
        kept[node, clip] = _find_chain(scene, node, clip)
    return kept[node, clip]


def _find_chain(scene: Scene, node: int, clip: int) -> Links:
    links: list[int] = []
    nodes: tuple[Node, ...] = scene.nodes
    while node >= 0:
        links.append(node)
        node = nodes[node].parent
    tracks: dict[int, list[tuple[str, Track]]] = {index: [] for index in links}
    for channel in scene.clips[clip].channels if 0 <= clip < len(scene.clips) else ():
        if channel.node in tracks and channel.path != "weights" and len(channel.track.times):
            tracks[channel.node].append((channel.path, channel.track))
    return tuple((index, tuple(tracks[index])) for index in links)


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def _vector(values: np.ndarray) -> Vector:
    return (float(values[0]), float(values[1]), float(values[2]))
