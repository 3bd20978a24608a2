"""The scene's moving parts as flat arrays for pose.cu and animate.cu: nodes, tracks, objects, key frames, tiles of
vertices. Numpy only.

Skins and morph targets are deform_tables.py's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..light_row import MAX_LIGHTS, LightRow
from ..scene import LIGHT_KINDS, Light, Mesh, Node, Scene, Track
from ..target.base import TargetError
from . import structs
from .structs import NodeRow

INTERPOLATIONS = {"step": 0, "linear": 1, "cubic": 2}
PATHS = {"translation": 0, "rotation": 1, "scale": 2}
TILE_VERTICES = 1024
COMPOSED_NODES = 16
"""Matrices that one pass of compose_nodes multiplies for a node."""
ALIGNED_VERTICES = 4
"""Meshes' vertices lie at multiples of this: four times three floats are three loads of sixteen bytes."""
MAX_BLOCKS = 1 << 16
"""Tiles past this many share blocks."""
MOST_SHAPE_VERTICES = MOST_TRACK_NUMBERS = (1 << 31) - 1
"""Vertices of all shapes that lie on the target together, and numbers of all tracks: kernels count them in 32 bits."""
MOST_POINTS = MOST_SHAPE_VERTICES // 3
"""Vertices of all objects: it is their coordinates that are counted."""


@dataclasses.dataclass(frozen=True, eq=False)
class TrackTables:
    """`channels` (clips, N, 3) and `weight_channels` (clips, rows) int32 track ids, `tracks` (X, 4) int32, `times` and
    `values` float32: every key of every track. Numpy arrays, or arrays of a target."""

    channels: Any
    weight_channels: Any
    tracks: Any
    times: Any
    values: Any


def node_tables(nodes: tuple[Node, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Rest transforms (N, NodeRow.floats()) float32 and parents (N,) int32. Raises ValueError where a parent does not
    come before its child."""
    parents = np.array([node.parent for node in nodes], np.int32)
    late = np.flatnonzero(parents >= np.arange(len(nodes)))
    if len(late):
        raise ValueError(
            f"Node {late[0]} ({nodes[late[0]].name!r}) has the parent {parents[late[0]]}: parents must come "
            f"before their children."
        )
    rows = [NodeRow(n.translation, n.rotation, n.scale).numbers() for n in nodes]
    return np.array(rows, np.float32).reshape(-1, NodeRow.floats()), parents


def ancestor_tables(parents: np.ndarray) -> list[np.ndarray]:
    """One (N,) int32 per pass of compose_nodes: table p leads COMPOSED_NODES^p nodes up, -1 past the root. As many as
    the deepest node needs."""
    passes = [parents]
    while True:
        ancestor = np.arange(len(parents), dtype=np.int32)
        for _ in range(COMPOSED_NODES):
            ancestor = np.where(ancestor >= 0, passes[-1][ancestor], -1).astype(np.int32)
        if (ancestor < 0).all():
            return passes
        passes.append(ancestor)


def track_tables(scene: Scene, weights: Sequence[Mapping[int, Track]] = (), row_count: int = 0) -> TrackTables:
    """The tracks of all clips, clip after clip; a scene without clips has one that drives nothing. `weights` are each
    clip's tracks of weights by row, of `row_count` rows. Raises TargetError where they are more numbers than kernels
    count."""
    clip_count = max(1, len(scene.clips))
    channels = np.full((clip_count, len(scene.nodes), 3), -1, np.int32)
    weight_channels = np.full((clip_count, max(1, row_count)), -1, np.int32)
    rows: list[structs.Track] = []
    times: list[np.ndarray] = [np.zeros(1, np.float32)]
    values: list[np.ndarray] = [np.zeros(1, np.float32)]
    time_count = value_count = 1

    def add(track: Track) -> int:
        nonlocal time_count, value_count
        numbers = value_count + np.size(track.values)
        if numbers > MOST_TRACK_NUMBERS:
            raise TargetError(
                f"{scene.name} has {numbers:,} numbers in its animations, and at most {MOST_TRACK_NUMBERS:,} can "
                f"be played."
            )
        interpolation = INTERPOLATIONS[track.interpolation]
        rows.append(structs.Track(time_count, value_count, len(track.times), interpolation))
        times.append(np.asarray(track.times, np.float32))
        values.append(np.asarray(track.values, np.float32).reshape(-1))
        time_count, value_count = time_count + len(times[-1]), value_count + len(values[-1])
        return len(rows) - 1

    for clip_id, clip in enumerate(scene.clips):
        for channel in clip.channels:
            if channel.path in PATHS and len(channel.track.times):
                channels[clip_id, channel.node, PATHS[channel.path]] = add(channel.track)
    for clip_id, driven in enumerate(weights):
        for row, track in driven.items():
            weight_channels[clip_id, row] = add(track)
    tracks = structs.Track.table(rows or [structs.Track(0, 0, 0, 0)]).view(np.int32).reshape(-1, 4)
    return TrackTables(channels, weight_channels, tracks, np.concatenate(times), np.concatenate(values))


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
    """Where meshes' vertices come from: `first` (meshes,) in the source buffer, where `slots` (meshes,) shapes of
    `strides` (meshes,) vertices lie one after the other; `keys` (meshes,) how many key frames there are, `first_time`
    into `key_times` and `key_slots`; the buffer's `vertices`."""

    first: np.ndarray
    keys: np.ndarray
    slots: np.ndarray
    strides: np.ndarray
    first_time: np.ndarray
    key_times: np.ndarray
    key_slots: np.ndarray
    vertices: int


def source_tables(meshes: tuple[Mesh, ...], slots: np.ndarray | None = None) -> SourceTables:
    """Places of all meshes in the source buffer, which ends with ALIGNED_VERTICES unused vertices where it is not one
    mesh's alone, so that it is never empty. `slots` (meshes,) where fewer of a mesh's keys have room than there are;
    the first ones lie there to begin with."""
    keys = np.array([len(m.key_frames.times) if m.key_frames is not None else 1 for m in meshes], np.int64)
    slots = keys if slots is None else slots
    strides = np.array([_aligned(len(m.positions)) for m in meshes], np.int64)
    times = [m.key_frames.times if m.key_frames is not None else np.zeros(1) for m in meshes]
    counts = np.array([len(t) for t in times], np.int64)
    joined = np.concatenate(times).astype(np.float32) if meshes else np.zeros(1, np.float32)
    numbers = [np.arange(count) % room for count, room in zip(keys.tolist(), slots.tolist(), strict=True)]
    key_slots = np.concatenate(numbers).astype(np.int32) if meshes else np.zeros(1, np.int32)
    sizes = slots * strides
    first = np.cumsum(sizes) - sizes
    return SourceTables(
        first, keys, slots, strides, np.cumsum(counts) - counts, joined, key_slots, ALIGNED_VERTICES + int(sizes.sum())
    )


def check_counts(scene: Scene, sources: SourceTables) -> None:
    """Raise TargetError where kernels cannot number the scene's vertices."""
    points = sum(len(scene.meshes[thing.mesh].positions) for thing in scene.objects)
    targets = ALIGNED_VERTICES + sum(
        len(m.morph_targets.positions) * _aligned(len(m.positions)) for m in scene.meshes if m.morph_targets is not None
    )
    for count, most, what in (
        (points, MOST_POINTS, "vertices in all its objects"),
        (
            sources.vertices,
            MOST_SHAPE_VERTICES,
            "vertices in its meshes and in the key frames that must lie on the target together",
        ),
        (targets, MOST_SHAPE_VERTICES, "vertices in its morph targets"),
    ):
        if count > most:
            raise TargetError(
                f"{scene.name} has {count:,} {what}, and at most {most:,} can be drawn. Leave meshes out, or make "
                f"them coarser."
            )


def _aligned(count: int) -> int:
    return -(-count // ALIGNED_VERTICES) * ALIGNED_VERTICES


def padded(shapes: np.ndarray) -> np.ndarray:
    """Shapes (K, V, 3) one after another, each with zeros up to a multiple of ALIGNED_VERTICES: (K * stride, 3)."""
    missing = _aligned(shapes.shape[1]) - shapes.shape[1]
    return np.pad(shapes, ((0, 0), (0, missing), (0, 0))).reshape(-1, 3) if missing else shapes.reshape(-1, 3)


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(V, 3) float32: normals of the triangles around each vertex, weighted by area; zero where there are none."""
    corners = positions[triangles].astype(np.float32)
    with np.errstate(all="ignore"):
        of_triangle = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        of_triangle[~np.isfinite(of_triangle).all(axis=1)] = 0.0
        columns = [
            np.bincount(triangles.reshape(-1), np.repeat(of_triangle[:, axis], 3), len(positions)) for axis in range(3)
        ]
        summed = np.stack(columns, axis=1).astype(np.float64)  # of no triangle numpy counts in whole numbers
        lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.divide(summed, lengths, out=np.zeros_like(summed), where=lengths > 0.0).astype(np.float32)


def tiles_of(
    first_vertex: np.ndarray, counts: np.ndarray, objects: np.ndarray, size: int = TILE_VERTICES
) -> np.ndarray:
    """(X, 4) int32: a Tile for at most `size` vertices of the given objects."""
    rows = [
        structs.Tile(int(first_vertex[i]) + local, min(size, int(counts[i]) - local), int(i), local)
        for i in objects
        for local in range(0, int(counts[i]), size)
    ]
    return structs.Tile.table(rows).view(np.int32).reshape(-1, 4)


def light_tables(lights: tuple[Light, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(L, LightRow.floats()) float32 at rest and (L,) int32 nodes, of the first MAX_LIGHTS lights."""
    lights = lights[:MAX_LIGHTS]
    rows = np.zeros((max(1, len(lights)), LightRow.floats()), np.float32)
    nodes = np.full(len(rows), -1, np.int32)
    for index, light in enumerate(lights):
        rows[index], nodes[index] = light_row(light).numbers(), light.node
    return rows, nodes


def light_row(light: Light) -> LightRow:
    """A light where its node is the scene."""
    row = LightRow(
        light.direction if light.kind == "directional" else light.position,
        LIGHT_KINDS.index(light.kind),
        light.color,
        light.radius if light.kind == "sphere" else 0.0,
    )
    if light.kind not in ("spot", "rectangle"):
        return row
    across, down = light_edges(light)
    outside, inside = np.cos(np.radians([light.outer_angle, light.inner_angle])).tolist()
    return dataclasses.replace(
        row,
        direction=light.direction,
        cosine_outside=outside,
        across=tuple(across.tolist()),
        cosine_inside=inside,
        down=tuple(down.tolist()),
    )


def light_edges(light: Light) -> tuple[np.ndarray, np.ndarray]:
    """Half the edges of a rectangle that stands on its direction, `up` as far as it can be."""
    axis = np.array(light.direction, np.float64) / max(float(np.linalg.norm(light.direction)), 1e-30)
    across = np.cross(axis, np.array(light.up, np.float64))
    if not np.linalg.norm(across) > 1e-9:
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    across /= np.linalg.norm(across)
    return across * light.size[0] * 0.5, np.cross(axis, across) * light.size[1] * 0.5
