"""Joining equal vertices, and meshes over a choice of their vertices."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.scene import KeyFrames, Mesh, MorphTargets, Skin

MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)


def groups_of_rows(columns: Sequence[np.ndarray], groups: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Groups of equal rows over all `columns` ((V, ...) arrays of 4-byte items); -0 equals 0.

    Returns (V,) int32 group of each row and (G,) int64 first row of each group, groups numbered by first appearance.
    With `groups`, rows must also have been in one group before. Rows are sorted by a 64-bit hash and then compared: a
    collision only splits a group.
    """
    words = [_words(column) for column in columns]
    if groups is not None:
        words.append(np.asarray(groups, np.uint32).reshape(-1, 1))
    count = len(words[0])
    hashes = np.full(count, 0x243F6A8885A308D3, np.uint64)
    for column in words:
        for index in range(column.shape[1]):
            hashes = (hashes ^ column[:, index]) * MULTIPLIERS[0]
            hashes ^= hashes >> np.uint64(29)
            hashes *= MULTIPLIERS[1]
    order = np.argsort(hashes)
    starts = np.ones(count, bool)
    if count > 1:
        is_same = hashes[order[1:]] == hashes[order[:-1]]
        for column in words:
            for index in range(column.shape[1]):
                values = column[:, index][order]
                is_same &= values[1:] == values[:-1]
        starts[1:] = ~is_same
    places = np.flatnonzero(starts)
    first = np.minimum.reduceat(order, places) if count else order
    is_first = np.zeros(count, bool)
    is_first[first] = True
    numbers = (np.cumsum(is_first, dtype=np.int32) - 1)[first]
    result = np.empty(count, np.int32)
    result[order] = np.repeat(numbers, np.diff(places, append=count))
    return result, np.flatnonzero(is_first)


def _words(column: np.ndarray) -> np.ndarray:
    rows = np.ascontiguousarray(column).reshape(len(column), -1)
    if rows.dtype == np.float64:
        rows = rows + 0.0
        return rows.view(np.uint32).reshape(len(rows), -1)
    if rows.dtype.kind == "f":
        rows = rows.astype(np.float32) + np.float32(0.0)
    return rows.astype(rows.dtype.newbyteorder("="), copy=False).view(np.uint32).reshape(len(rows), -1)


def joined(mesh: Mesh) -> Mesh:
    """The mesh with vertices joined that agree in everything: place, normal, texture, key frames, joints, weights and
    targets."""
    keys, skin, morph = mesh.key_frames, mesh.skin, mesh.morph_targets
    columns = [mesh.positions, mesh.normals, mesh.uvs]
    columns += [skin.joint_ids, skin.weights] if skin else []
    columns += [morph.positions.transpose(1, 0, 2)] if morph else []
    columns += [morph.normals.transpose(1, 0, 2)] if morph and morph.normals is not None else []
    columns += [keys.positions.transpose(1, 0, 2)] if keys else []
    groups, first = groups_of_rows([column for column in columns if column is not None])
    return with_vertices(mesh, first, groups[mesh.triangles])


def with_vertices(mesh: Mesh, vertices: np.ndarray, triangles: np.ndarray) -> Mesh:
    """The mesh with the chosen vertices only ((V,) indices or a mask) and `triangles` that count among these."""
    keys, skin, morph = mesh.key_frames, mesh.skin, mesh.morph_targets
    return dataclasses.replace(
        mesh,
        triangles=triangles.astype(np.int32, copy=False),
        positions=mesh.positions[vertices],
        normals=None if mesh.normals is None else mesh.normals[vertices],
        uvs=None if mesh.uvs is None else mesh.uvs[vertices],
        key_frames=keys
        and KeyFrames(
            keys.times, keys.positions[:, vertices], None if keys.normals is None else keys.normals[:, vertices]
        ),
        skin=skin and Skin(skin.joints, skin.inverse_bind, skin.joint_ids[vertices], skin.weights[vertices]),
        morph_targets=morph
        and MorphTargets(
            morph.positions[:, vertices], None if morph.normals is None else morph.normals[:, vertices], morph.weights
        ),
    )
