"""Node transforms and clips in float64, for readers, bounds and tests; frames are evaluated by `gpu.animate`, not here.

Matrices are (4, 4), row-major, column vectors; quaternions x, y, z, w. Decomposition: Higham's polar form by SVD.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raygrove.gpu.scene import Channel, Clip, Node, Track

SHEAR_TOLERANCE = 1e-3
PATHS = {"translation": 3, "rotation": 4, "scale": 3}


def rotation_matrix(quaternion: Sequence[float] | np.ndarray) -> np.ndarray:
    """(3, 3) float64 of a quaternion of any length but zero, which is taken as no rotation."""
    q = np.asarray(quaternion, np.float64)
    length = float(np.linalg.norm(q))
    x, y, z, w = q / length if length > 0.0 else (0.0, 0.0, 0.0, 1.0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(rotation: np.ndarray) -> np.ndarray:
    """Unit quaternion of a (3, 3) rotation, by the largest of its four components (Shepperd 1978)."""
    m = rotation
    squares = np.array(
        [
            m[0, 0] - m[1, 1] - m[2, 2],
            m[1, 1] - m[0, 0] - m[2, 2],
            m[2, 2] - m[0, 0] - m[1, 1],
            m[0, 0] + m[1, 1] + m[2, 2],
        ]
    )
    largest = int(np.argmax(squares))
    if largest == 3:
        q = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 1.0 + squares[3]])
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        q = np.empty(4)
        q[i], q[j], q[k], q[3] = 1.0 + squares[i], m[j, i] + m[i, j], m[k, i] + m[i, k], m[k, j] - m[j, k]
    return q / np.linalg.norm(q)


def compose(translation: Sequence[float], rotation: Sequence[float], scale: Sequence[float]) -> np.ndarray:
    """The matrix of translation x rotation x scale."""
    matrix = np.eye(4)
    matrix[:3, :3] = rotation_matrix(rotation) * np.asarray(scale, np.float64)
    matrix[:3, 3] = translation
    return matrix


def decompose(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Translation, quaternion, scale, and whether the matrix has a shear (or perspective) that these cannot express."""
    linear = np.asarray(matrix, np.float64)[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    if np.linalg.det(linear) < 0.0:
        scale = -scale
    safe = np.where(scale == 0.0, 1.0, scale)
    u, _, vt = np.linalg.svd(linear / safe)
    rotation = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    quaternion = quaternion_of(rotation)
    error = float(np.abs(rotation_matrix(quaternion) * scale - linear).max())
    is_sheared = error > SHEAR_TOLERANCE * max(float(np.abs(scale).max()), 1e-30)
    return np.array(matrix[:3, 3], np.float64), quaternion, scale, is_sheared


def node_of(name: str, parent: int, matrix: np.ndarray) -> tuple[Node, bool]:
    """A node with the matrix's translation, rotation and scale, and whether a shear was lost."""
    translation, rotation, scale, is_sheared = decompose(matrix)
    return Node(name, parent, tuple(translation.tolist()), tuple(rotation.tolist()), tuple(scale.tolist())), is_sheared


def sample(track: Track, time: float, is_rotation: bool = False) -> np.ndarray:
    """The track's value at `time` (float64), held before its first and after its last key; slerp for rotations."""
    times, values = np.asarray(track.times, np.float64), np.asarray(track.values, np.float64)
    after = int(np.searchsorted(times, time, side="right"))
    before, after = max(after - 1, 0), min(after, len(times) - 1)
    span = times[after] - times[before]
    alpha = float(np.clip((time - times[before]) / span, 0.0, 1.0)) if span > 0.0 else 0.0
    if track.interpolation == "cubic":
        result = _hermite(values[before], values[after], alpha, span)
    elif track.interpolation == "step":
        result = values[before]
    elif is_rotation:
        result = slerp(values[before], values[after], alpha)
    else:
        result = values[before] * (1.0 - alpha) + values[after] * alpha
    return result / np.linalg.norm(result) if is_rotation and np.linalg.norm(result) > 0.0 else result


def _hermite(first: np.ndarray, second: np.ndarray, alpha: float, span: float) -> np.ndarray:
    """glTF 2.0 appendix C: keys are in-tangent, value, out-tangent."""
    a2, a3 = alpha * alpha, alpha**3
    start, end = 2 * a3 - 3 * a2 + 1, 3 * a2 - 2 * a3
    return start * first[1] + span * (a3 - 2 * a2 + alpha) * first[2] + end * second[1] + span * (a3 - a2) * second[0]


def slerp(first: np.ndarray, second: np.ndarray, alpha: float) -> np.ndarray:
    """Spherical interpolation by the shorter way."""
    cosine = float(first @ second)
    if cosine < 0.0:
        second, cosine = -second, -cosine
    if cosine > 0.9995:
        return first * (1.0 - alpha) + second * alpha
    angle = float(np.arccos(min(cosine, 1.0)))
    return (np.sin((1.0 - alpha) * angle) * first + np.sin(alpha * angle) * second) / np.sin(angle)


def global_matrices(nodes: Sequence[Node]) -> np.ndarray:
    """(N, 4, 4) float64: each node's matrix to the scene. Parents come before children."""
    return Pose(nodes).matrices()


class Pose:
    """All nodes' transforms at rest as arrays, and their matrices to the scene at any instant: for trees of any size
    and depth."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._parents = np.array([node.parent for node in nodes], np.int64).reshape(-1)
        self._rest = {
            path: np.array([getattr(node, path) for node in nodes], np.float64).reshape(-1, width)
            for path, width in PATHS.items()
        }

    def matrices(self, clip: Clip | None = None, time: float = 0.0) -> np.ndarray:
        """(N, 4, 4) float64: at rest, or at an instant of a clip."""
        values = {path: at_rest.copy() for path, at_rest in self._rest.items()}
        for channel in clip.channels if clip else ():
            if channel.path in values and 0 <= channel.node < len(self._parents):
                values[channel.path][channel.node] = sample(channel.track, time, channel.path == "rotation")
        matrices = _local_matrices(*(values[path] for path in PATHS))
        # Each round a node takes what its ancestor has gathered so far, and looks twice as far up.
        ancestors = self._parents
        while (rising := np.flatnonzero(ancestors >= 0)).size:
            matrices[rising] = matrices[ancestors[rising]] @ matrices[rising]
            ancestors = np.where(ancestors >= 0, ancestors[ancestors], -1)
        return matrices


def _local_matrices(translations: np.ndarray, rotations: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """`compose` for all nodes at once."""
    lengths = np.linalg.norm(rotations, axis=1, keepdims=True)
    unit = np.divide(rotations, lengths, out=np.tile([0.0, 0.0, 0.0, 1.0], (len(rotations), 1)), where=lengths > 0.0)
    x, y, z, w = unit.T
    matrices = np.zeros((len(unit), 4, 4))
    matrices[:, 0, :3] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=1) * scales
    matrices[:, 1, :3] = np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=1) * scales
    matrices[:, 2, :3] = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1) * scales
    matrices[:, :3, 3] = translations
    matrices[:, 3, 3] = 1.0
    return matrices


def animated_nodes(nodes: Sequence[Node], channels: Sequence[Channel]) -> np.ndarray:
    """(N,) bool: nodes that a channel moves, themselves or through a parent."""
    moves = np.zeros(len(nodes), bool)
    moves[[c.node for c in channels if c.path != "weights"]] = True
    for index, node in enumerate(nodes):
        moves[index] |= node.parent >= 0 and moves[node.parent]
    return moves
