"""The scene's moving parts as flat arrays for animate.cu: nodes, tracks, objects, key frames, tiles of vertices. Numpy only."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..scene import Light, Mesh, Node, Scene, Track

INTERPOLATIONS = {"step": 0, "linear": 1, "cubic": 2}
PATHS = {"translation": 0, "rotation": 1, "scale": 2}
TILE_VERTICES = 1024
MAX_LIGHTS = 32
"""Lights that shading and shadows take; a remark names the rest."""


@dataclasses.dataclass(frozen=True, eq=False)
class TrackTables:
    """`channels` (clips, N, 3) int32 track ids, `tracks` (X, 4) int32, `times` and `values` float32: every key of every track."""

    channels: np.ndarray
    tracks: np.ndarray
    times: np.ndarray
    values: np.ndarray


def node_tables(nodes: tuple[Node, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Rest transforms (N, 10) float32 and parents (N,) int32. Raises ValueError where a parent does not come before its child."""
    parents = np.array([node.parent for node in nodes], np.int32)
    late = np.flatnonzero(parents >= np.arange(len(nodes)))
    if len(late):
        raise ValueError(f"Node {late[0]} ({nodes[late[0]].name!r}) has the parent {parents[late[0]]}: parents must come before their children.")
    return np.array([(*n.translation, *n.rotation, *n.scale) for n in nodes], np.float32).reshape(-1, 10), parents


def track_tables(scene: Scene) -> TrackTables:
    """The tracks of all clips, clip after clip; a scene without clips has one that drives nothing."""
    channels = np.full((max(1, len(scene.clips)), len(scene.nodes), 3), -1, np.int32)
    rows: list[tuple[int, int, int, int]] = []
    times: list[np.ndarray] = [np.zeros(1, np.float32)]
    values: list[np.ndarray] = [np.zeros(1, np.float32)]
    time_count = value_count = 1
    for clip_id, clip in enumerate(scene.clips):
        for channel in clip.channels:
            if channel.path not in PATHS or len(channel.track.times) == 0:
                continue
            channels[clip_id, channel.node, PATHS[channel.path]] = len(rows)
            track: Track = channel.track
            rows.append((time_count, value_count, len(track.times), INTERPOLATIONS[track.interpolation]))
            times.append(np.asarray(track.times, np.float32))
            values.append(np.asarray(track.values, np.float32).reshape(-1))
            time_count, value_count = time_count + len(times[-1]), value_count + len(values[-1])
    tracks = np.array(rows, np.int32).reshape(-1, 4) if rows else np.zeros((1, 4), np.int32)
    return TrackTables(channels, tracks, np.concatenate(times), np.concatenate(values))


def moving_nodes(scene: Scene, clip: int) -> np.ndarray:
    """(N,) bool: nodes that a channel of the clip drives, or whose ancestors one drives."""
    moves = np.zeros(len(scene.nodes), bool)
    if 0 <= clip < len(scene.clips):
        moves[[channel.node for channel in scene.clips[clip].channels if channel.path in PATHS]] = True
    for index, node in enumerate(scene.nodes):
        moves[index] |= node.parent >= 0 and moves[node.parent]
    return moves


@dataclasses.dataclass(frozen=True, eq=False)
class SourceTables:
    """Where meshes' vertices come from: `first` (meshes,) in the source buffer, `keys` (meshes,) how many key frames lie there one after
    the other, `first_time` into `key_times`; `mesh_keyed` (meshes,) bool."""

    first: np.ndarray
    keys: np.ndarray
    first_time: np.ndarray
    key_times: np.ndarray
    vertex_count: int


def source_tables(meshes: tuple[Mesh, ...]) -> SourceTables:
    """Places of all meshes in the source buffer."""
    keys = np.array([len(m.key_frames.times) if m.key_frames is not None else 1 for m in meshes], np.int64)
    sizes = keys * np.array([len(m.positions) for m in meshes], np.int64)
    times = [m.key_frames.times if m.key_frames is not None else np.zeros(1) for m in meshes]
    counts = np.array([len(t) for t in times], np.int64)
    joined = np.concatenate(times).astype(np.float32) if meshes else np.zeros(1, np.float32)
    return SourceTables(np.cumsum(sizes) - sizes, keys, np.cumsum(counts) - counts, joined, int(sizes.sum()))


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(V, 3) float32: normals of the triangles around each vertex, weighted by area; zero where there are none."""
    corners = positions[triangles].astype(np.float32)
    with np.errstate(all="ignore"):
        of_triangle = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        of_triangle[~np.isfinite(of_triangle).all(axis=1)] = 0.0
        columns = [np.bincount(triangles.reshape(-1), np.repeat(of_triangle[:, axis], 3), len(positions)) for axis in range(3)]
        summed = np.stack(columns, axis=1)
        lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.divide(summed, lengths, out=np.zeros_like(summed), where=lengths > 0.0).astype(np.float32)


def tiles_of(first_vertex: np.ndarray, counts: np.ndarray, objects: np.ndarray) -> np.ndarray:
    """(X, 4) int32: first vertex, count, object, first local vertex of each tile of the given objects."""
    rows = [
        (int(first_vertex[i]) + local, min(TILE_VERTICES, int(counts[i]) - local), int(i), local)
        for i in objects
        for local in range(0, int(counts[i]), TILE_VERTICES)
    ]
    return np.array(rows, np.int32).reshape(-1, 4)


def light_tables(lights: tuple[Light, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(L, 8) float32 at rest (position or direction, 1 for directional; colour, 0) and (L,) int32 nodes, of the first MAX_LIGHTS lights."""
    rows, nodes = np.zeros((max(1, min(len(lights), MAX_LIGHTS)), 8), np.float32), np.full(max(1, len(lights)), -1, np.int32)
    for row, light in zip(rows, lights, strict=False):
        is_directional = light.kind == "directional"
        row[:3], row[3], row[4:7] = light.direction if is_directional else light.position, float(is_directional), light.color
    for index, light in enumerate(lights):
        nodes[index] = light.node
    return rows, nodes[: len(rows)]
