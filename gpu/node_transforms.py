"""Transforms of a scene's nodes in float64, on the host: for the few nodes that the program itself must know, those of
cameras, and of sensors that hang on them.

The engine evaluates the same tracks on the target for what is drawn.
"""

from __future__ import annotations

import math
import weakref

import numpy as np

from .scene import Node, Scene, Track


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


def pose_of(scene: Scene, node: int, time: float, clip: int = 0) -> np.ndarray:
    """Where a node is, (3, 4): rows of a matrix from its axes to the world's, without its scale."""
    found = world_matrix(scene, node, time, clip)[:3]
    lengths = np.linalg.norm(found[:, :3], axis=0)
    found[:, :3] /= np.where(lengths > 0.0, lengths, 1.0)
    return found


def is_animated(scene: Scene, node: int, clip: int = 0) -> bool:
    """Whether the clip moves a node, or one above it."""
    return any(tracks for _, tracks in _chain(scene, node, clip))


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
