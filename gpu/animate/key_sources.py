"""Key frames on the target: how much memory they may take, which of them have room, and the shapes of meshes there.
Those of spheres and glyphs are
spheres.py's and glyphs.py's."""

from __future__ import annotations

import numpy as np

from .. import linux
from ..scene import Mesh, Scene
from ..target.base import Array, Target
from . import tables
from .glyphs import keyed_glyphs
from .key_schedule import Sequence, keyed_meshes, plan_sequences, slots_of
from .key_stream import Part, Shape
from .spheres import keyed_spheres

MAPPED_SHARE = 8
"""Of the host's free memory this part may be page-locked for key frames that launches read there."""


def key_budget(target: Target) -> int:
    """Bytes of the target that key frames may take."""
    chosen = target.options.key_memory_mib
    return chosen << 20 if chosen else target.free_bytes() // 2


def plan_keys(target: Target, scene: Scene) -> tuple[list[Sequence], np.ndarray, bool]:
    """The sequences of the scene's meshes, spheres and glyphs, how many shapes of each mesh and then of each group of
    spheres and of glyphs have room, and whether what streams is read where it lies in the host's memory."""
    things, budget = [*keyed_meshes(scene.meshes), *keyed_spheres(scene), *keyed_glyphs(scene)], key_budget(target)
    sequences = plan_sequences(things, budget)
    are_mapped = target.options.key_stream == "mapped" and any(sequence.streams for sequence in sequences)
    if are_mapped and not target.options.key_memory_mib:
        sequences = plan_sequences(things, min(budget, linux.main_memory()[1] // MAPPED_SHARE or budget))
    return sequences, slots_of(len(things), sequences), are_mapped


def upload_meshes(
    target: Target, meshes: tuple[Mesh, ...], places: tables.SourceTables, are_mapped: bool
) -> tuple[Array, Array, dict[int, Shape]]:
    """Positions and normals of all shapes at rest and in their key frames, as many of each mesh as it has slots. Beside
    them all key frames of those meshes that have more."""
    rows: tuple[list[np.ndarray], list[np.ndarray]] = [], []
    streamed: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for index, (mesh, room) in enumerate(zip(meshes, places.slots.tolist(), strict=True)):
        shapes = shapes_of(mesh)
        if room < len(shapes[0]):
            streamed[index] = shapes
        for of, values in zip(rows, shapes, strict=True):
            of.append(tables.padded(np.asarray(values[:room], np.float32)))
    is_one = len(meshes) == 1 and rows[0][0].size > 0
    if is_one and not streamed and not are_mapped:  # it may lie on the target already, one that computes in main memory
        positions, normals = (target.upload_constant(values, "animation") for (values,) in rows)
    else:
        unused = np.zeros((tables.ALIGNED_VERTICES, 3), np.float32)
        joined = ([*of, unused] for of in rows)
        positions, normals = (_upload(target, of, are_mapped) for of in joined)
    found = {}
    for index, given in streamed.items():
        first, stride, first_time = (int(of[index]) for of in (places.first, places.strides, places.first_time))
        parts = tuple(Part(v, source, first, stride) for v, source in zip(given, (positions, normals), strict=True))
        found[index] = Shape(parts, (first_time,))
    return positions, normals, found


def _upload(target: Target, parts: list[np.ndarray], are_mapped: bool) -> Array:
    if are_mapped:
        return target.upload_mapped(np.concatenate(parts), "animation")
    return target.upload_joined(parts, "animation")


def shapes_of(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Positions and normals of all the mesh's key frames (K, V, 3), its shape at rest where it has none; missing
    normals from its triangles."""
    keys = mesh.key_frames
    positions = mesh.positions[None] if keys is None else keys.positions
    normals = keys.normals if keys is not None else (None if mesh.normals is None else mesh.normals[None])
    if normals is None:
        normals = np.stack([tables.vertex_normals(key, mesh.triangles) for key in positions])
    return positions, normals
