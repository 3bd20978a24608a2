"""Node transforms and clips in float64, for readers, bounds and tests; frames are evaluated by `gpu.animate`, not here.

Matrices are (4, 4), row-major, column vectors; quaternions x, y, z, w. Decomposition: Higham's polar form by SVD.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterator, Sequence

import numpy as np

from raygrove.gpu.scene import Channel, Clip, Node, Track

SHEAR_TOLERANCE = 1e-3
NEARLY_EQUAL = 0.9995
"""The cosine between quaternions from which on a straight line is exact enough."""
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


def quaternions_of(m: np.ndarray) -> np.ndarray:
    """(N, 4) unit quaternions of (N, 3, 3) rotations, each by the largest of its four components (Shepperd 1978)."""
    squares = np.einsum("nii,ki->nk", m, np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, 1]], np.float64))
    largest = squares.argmax(axis=1)
    q = np.empty((len(m), 4))
    q[:, 0], q[:, 1], q[:, 2] = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    q[:, 3] = 1.0 + squares[:, 3]
    for i in range(3):
        j, k, chosen = (i + 1) % 3, (i + 2) % 3, largest == i
        part = m[chosen]
        values = [1.0 + squares[chosen, i], part[:, j, i] + part[:, i, j], part[:, k, i] + part[:, i, k]]
        for column, value in zip((i, j, k, 3), [*values, part[:, k, j] - part[:, j, k]], strict=True):
            q[chosen, column] = value
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def compose(translation: Sequence[float], rotation: Sequence[float], scale: Sequence[float]) -> np.ndarray:
    """The matrix of translation x rotation x scale."""
    matrix = np.eye(4)
    matrix[:3, :3] = rotation_matrix(rotation) * np.asarray(scale, np.float64)
    matrix[:3, 3] = translation
    return matrix


def decompose(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of (N, 4, 4) matrices the translations, quaternions and scales, and which have a shear (or perspective) that
    these cannot express."""
    matrices = np.asarray(matrices, np.float64)
    diagonals = matrices[:, [0, 1, 2], [0, 1, 2]]
    is_turned = (np.count_nonzero(matrices[:, :3, :3], axis=(1, 2)) != 3) | ~(diagonals > 0.0).all(axis=1)
    quaternions, scales = np.tile([0.0, 0.0, 0.0, 1.0], (len(matrices), 1)), diagonals.copy()
    is_sheared = np.zeros(len(matrices), bool)
    if is_turned.any():
        quaternions[is_turned], scales[is_turned], is_sheared[is_turned] = _turned_apart(matrices[is_turned, :3, :3])
    return matrices[:, :3, 3].copy(), quaternions, scales, is_sheared


def _turned_apart(linear: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quaternions, scales and shears of (N, 3, 3) matrices that do more than scale."""
    scales = np.linalg.norm(linear, axis=1)
    scales = np.where((np.linalg.det(linear) < 0.0)[:, None], -scales, scales)
    safe = np.where(scales == 0.0, 1.0, scales)
    u, _, vt = np.linalg.svd(linear / safe[:, None, :])
    u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
    quaternions = quaternions_of(u @ vt)
    rebuilt = _local_matrices(np.zeros((len(linear), 3)), quaternions, scales)[:, :3, :3]
    errors = np.abs(rebuilt - linear).max(axis=(1, 2), initial=0.0)
    is_sheared = errors > SHEAR_TOLERANCE * np.maximum(np.abs(scales).max(axis=1, initial=0.0), 1e-30)
    return quaternions, scales, is_sheared


def nodes_of(names: Sequence[str], parents: Sequence[int], matrices: np.ndarray) -> tuple[list[Node], int]:
    """Nodes with the matrices' translations, rotations and scales, and how many of them lost a shear."""
    *poses, is_sheared = decompose(matrices)
    # Tuples by columns, as zip makes them; one for all of no turn, and of no scale.
    columns = [
        itertools.repeat(rest) if (rows == rest).all() else zip(*rows.T.tolist(), strict=True)
        for rows, rest in zip(poses, (Node.translation, Node.rotation, Node.scale), strict=True)
    ]
    return list(map(Node, names, parents, *columns)), int(np.count_nonzero(is_sheared))


def node_of(name: str, parent: int, matrix: np.ndarray) -> Node:
    """One node with the matrix's translation, rotation and scale."""
    return nodes_of([name], [parent], np.asarray(matrix)[None])[0][0]


def sample_many(track: Track, times: np.ndarray, is_rotation: bool = False) -> np.ndarray:
    """`sample` at each of `times`: (T, width) float64."""
    keys, values = np.asarray(track.times, np.float64), np.asarray(track.values, np.float64)
    after = np.searchsorted(keys, times, side="right")
    before, after = np.maximum(after - 1, 0), np.minimum(after, len(keys) - 1)
    spans = keys[after] - keys[before]
    alphas = np.clip(np.divide(times - keys[before], spans, out=np.zeros(len(times)), where=spans > 0.0), 0.0, 1.0)
    if track.interpolation == "cubic":
        rows = zip(before, after, alphas, spans, strict=True)
        result = np.array([_hermite(values[i], values[j], float(alpha), span) for i, j, alpha, span in rows])
    elif track.interpolation == "step":
        result = values[before]
    elif is_rotation:
        result = _slerp_many(values[before], values[after], alphas[:, None])
    else:
        result = values[before] * (1.0 - alphas[:, None]) + values[after] * alphas[:, None]
    if not is_rotation:
        return result
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    return result / np.where(lengths > 0.0, lengths, 1.0)


def sample_together(tracks: Sequence[Track], times: Sequence[np.ndarray], is_rotation: bool = False) -> np.ndarray:
    """`sample_many` of each track at its times, one after another: (sum of T, width) float64. Tracks of one width, all
    without tangents."""
    key_counts, counts = [len(track.times) for track in tracks], [len(some) for some in times]
    keys = np.concatenate([track.times for track in tracks]).astype(np.float64)
    values = np.concatenate([track.values for track in tracks]).astype(np.float64)
    wanted = np.concatenate(times)
    owners, of_keys = np.repeat(np.arange(len(tracks)), counts), np.repeat(np.arange(len(tracks)), key_counts)
    # Ranks among all keys in place of seconds, so that track and time together are one whole number.
    known, ranks = np.unique(keys, return_inverse=True)
    step = len(known) + 1
    placed = owners * step + np.searchsorted(known, wanted, side="right")
    after = np.searchsorted(of_keys * step + ranks.reshape(-1), placed, side="left")
    ends = np.cumsum(key_counts)
    before, after = np.maximum(after - 1, (ends - key_counts)[owners]), np.minimum(after, (ends - 1)[owners])
    spans = keys[after] - keys[before]
    alphas = np.clip(np.divide(wanted - keys[before], spans, out=np.zeros(len(wanted)), where=spans > 0.0), 0.0, 1.0)
    alphas = alphas[:, None]
    if is_rotation:
        result = _slerp_many(values[before], values[after], alphas)
    else:
        result = values[before] * (1.0 - alphas) + values[after] * alphas
    steps = np.array([track.interpolation == "step" for track in tracks])[owners]
    result[steps] = values[before[steps]]
    lengths = np.linalg.norm(result, axis=1, keepdims=True) if is_rotation else np.ones((1, 1))
    return np.asarray(result / np.where(lengths > 0.0, lengths, 1.0))


def _slerp_many(first: np.ndarray, second: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """`slerp` of (T, 4) quaternions."""
    cosines = np.einsum("tk,tk->t", first, second)[:, None]
    second, cosines = np.where(cosines < 0.0, -second, second), np.abs(cosines)
    is_near = cosines > NEARLY_EQUAL
    angles = np.arccos(np.where(is_near, 0.0, cosines))
    start = np.where(is_near, 1.0 - alphas, np.sin((1.0 - alphas) * angles) / np.sin(angles))
    end = np.where(is_near, alphas, np.sin(alphas * angles) / np.sin(angles))
    return start * first + end * second


def sample(track: Track, time: float, is_rotation: bool = False) -> np.ndarray:
    """The track's value at `time` (float64), held before its first and after its last key; slerp for rotations."""
    return sample_many(track, np.array([time]), is_rotation)[0]


def _hermite(first: np.ndarray, second: np.ndarray, alpha: float, span: float) -> np.ndarray:
    """glTF 2.0 appendix C: keys are in-tangent, value, out-tangent."""
    a2, a3 = alpha * alpha, alpha**3
    start, end = 2 * a3 - 3 * a2 + 1, 3 * a2 - 2 * a3
    return start * first[1] + span * (a3 - 2 * a2 + alpha) * first[2] + end * second[1] + span * (a3 - a2) * second[0]


def slerp(first: np.ndarray, second: np.ndarray, alpha: float) -> np.ndarray:
    """Spherical interpolation by the shorter way."""
    return _slerp_many(first[None], second[None], np.array([[alpha]]))[0]


def global_matrices(nodes: Sequence[Node]) -> np.ndarray:
    """(N, 4, 4) float64, not to be written to: each node's matrix to the scene. Parents come before children."""
    return pose_of(nodes).at_rest


def pose_of(nodes: Sequence[Node]) -> Pose:
    """The pose of nodes; of a tuple, which never changes, the last one is kept, as a reader asks for it four times."""
    global _latest
    known, pose = _latest
    if known is not nodes:
        pose = Pose(nodes)
        if isinstance(nodes, tuple):
            _latest = (nodes, pose)
    return pose


class Pose:
    """All nodes' transforms at `rest` as arrays, and their matrices to the scene at any instant: for trees of any size
    and depth."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.parents = np.fromiter(map(operator.attrgetter("parent"), nodes), np.int64, len(nodes))
        self.rest = {
            path: np.fromiter(
                itertools.chain.from_iterable(map(operator.attrgetter(path), nodes)), np.float64, width * len(nodes)
            ).reshape(-1, width)
            for path, width in PATHS.items()
        }

    @functools.cached_property
    def at_rest(self) -> np.ndarray:
        """`matrices` without a clip, computed once."""
        matrices = self.matrices()
        matrices.flags.writeable = False
        return matrices

    def matrices(self, clip: Clip | None = None, time: float = 0.0) -> np.ndarray:
        """(N, 4, 4) float64: at rest, or at an instant of a clip."""
        instants = [] if clip is None else [(clip, np.array([time]))]
        return next(self.matrices_at(instants, 1))[0]

    def matrices_at(self, instants: Sequence[tuple[Clip, np.ndarray]], most: int) -> Iterator[np.ndarray]:
        """(T, N, 4, 4) float64 of at most `most` instants at a time: those of the clips one after another, or the rest
        where there are none."""
        count = max(sum(len(times) for _, times in instants), 1)
        values = {path: np.repeat(at_rest[None], count, axis=0) for path, at_rest in self.rest.items()}
        first = 0
        moved: dict[str, list[tuple[Track, np.ndarray, int, int]]] = {path: [] for path in PATHS}
        for clip, times in instants:
            for channel in clip.channels:
                path, node = channel.path, channel.node
                if path not in values or not 0 <= node < len(self.parents):
                    continue
                if channel.track.interpolation == "cubic":
                    sampled = sample_many(channel.track, times, path == "rotation")
                    values[path][first : first + len(times), node] = sampled
                else:
                    moved[path].append((channel.track, times, first, node))
            first += len(times)
        for path, jobs in moved.items():
            if jobs:
                tracks, instants_of, firsts, nodes = zip(*jobs, strict=True)
                lengths = [len(times) for times in instants_of]
                starts = np.cumsum(lengths) - lengths
                rows = np.arange(sum(lengths)) + np.repeat(np.array(firsts) - starts, lengths)
                values[path][rows, np.repeat(nodes, lengths)] = sample_together(tracks, instants_of, path == "rotation")
        for start in range(0, count, most):
            yield self._to_scene([values[path][start : start + most] for path in PATHS])

    def _to_scene(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Each node's matrix to the scene, from translations, rotations and scales of (T, N) nodes."""
        shape = values[0].shape[:2]
        matrices = _local_matrices(*(part.reshape(-1, part.shape[2]) for part in values)).reshape(*shape, 4, 4)
        # Each round a node takes what its ancestor has gathered so far, and looks twice as far up.
        ancestors = self.parents
        while (rising := np.flatnonzero(ancestors >= 0)).size:
            matrices[:, rising] = matrices[:, ancestors[rising]] @ matrices[:, rising]
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


_latest: tuple[Sequence[Node], Pose] = ((), Pose(()))
