"""What bends and changes shape as flat arrays for deform.cu: morph targets, their weights, skins. Numpy only.

Every mesh's vertices start at a multiple of four and are padded to one, so that the kernel loads sixteen bytes at a
time.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..scene import Mesh, MorphTargets, Scene, Skin, Track
from .structs import Deformer, WeightSlot
from .tables import ALIGNED_VERTICES, padded

TILE_VERTICES = 256
"""A block of the kernel takes as many, a thread each."""


@dataclasses.dataclass(frozen=True, eq=False)
class MorphTables:
    """`targets`, `normal_targets` (X, 3) float32: the targets' differences one after another, each padded; `first` and
    `first_normal` (meshes,) where a mesh's begin, -1 for none."""

    targets: np.ndarray
    normal_targets: np.ndarray
    first: np.ndarray
    first_normal: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class SkinTables:
    """`nodes` (J,) int32 and `inverse_binds` (J, 12) float32 of all skins' joints; `joint_ids` (V, 4) int32 and
    `weights` (V, 4) float32 of all skinned vertices; `first_joint` and `first_vertex` (meshes,), -1 for meshes without
    a skin."""

    nodes: np.ndarray
    inverse_binds: np.ndarray
    joint_ids: np.ndarray
    weights: np.ndarray
    first_joint: np.ndarray
    first_vertex: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class WeightTables:
    """The weights of all morphed objects: `slots` (W,) WeightSlot; `first`
    (objects,) an object's first slot;
    `rows` (R,) the object of each row."""

    slots: np.ndarray
    first: np.ndarray
    rows: np.ndarray


def is_deformed(mesh: Mesh) -> bool:
    """Whether deform.cu places the mesh's vertices."""
    return mesh.skin is not None or mesh.morph_targets is not None


def morph_tables(meshes: tuple[Mesh, ...]) -> MorphTables:
    """All meshes' targets."""
    first, first_normal = np.full(len(meshes), -1, np.int64), np.full(len(meshes), -1, np.int64)
    parts = [np.zeros((ALIGNED_VERTICES, 3), np.float32)]
    normal_parts = [parts[0]]
    count = normal_count = ALIGNED_VERTICES
    for index, mesh in enumerate(meshes):
        morph = mesh.morph_targets
        if morph is None:
            continue
        parts.append(padded(np.asarray(morph.positions, np.float32)))
        first[index], count = count, count + len(parts[-1])
        if morph.normals is not None:
            normal_parts.append(padded(np.asarray(morph.normals, np.float32)))
            first_normal[index], normal_count = normal_count, normal_count + len(normal_parts[-1])
    return MorphTables(np.concatenate(parts), np.concatenate(normal_parts), first, first_normal)


def skin_tables(meshes: tuple[Mesh, ...]) -> SkinTables:
    """All meshes' skins."""
    first_joint, first_vertex = np.full(len(meshes), -1, np.int64), np.full(len(meshes), -1, np.int64)
    skins: list[Skin] = []
    joints = vertices = 0
    for index, mesh in enumerate(meshes):
        if mesh.skin is not None:
            first_joint[index], first_vertex[index] = joints, vertices
            joints, vertices = joints + len(mesh.skin.joints), vertices + len(mesh.positions)
            skins.append(mesh.skin)
    if not skins:
        nothing = np.zeros((1, 4), np.int32)
        return SkinTables(
            np.zeros(1, np.int32),
            np.zeros((1, 12), np.float32),
            nothing,
            nothing.astype(np.float32),
            first_joint,
            first_vertex,
        )
    return SkinTables(
        np.concatenate([np.asarray(skin.joints, np.int32) for skin in skins]),
        np.concatenate([np.asarray(skin.inverse_bind, np.float32)[:, :3].reshape(-1, 12) for skin in skins]),
        np.concatenate([np.asarray(skin.joint_ids, np.int32) for skin in skins]),
        np.concatenate([np.asarray(skin.weights, np.float32) for skin in skins]),
        first_joint,
        first_vertex,
    )


def weight_tables(scene: Scene) -> WeightTables:
    """A slot a target of every morphed object, in the objects' order."""
    first, parts, count = np.zeros(len(scene.objects), np.int64), [np.zeros(0, WeightSlot.dtype())], 0
    rows: list[int] = []
    for index, thing in enumerate(scene.objects):
        morph = scene.meshes[thing.mesh].morph_targets
        if morph is None:
            continue
        slots = np.zeros(len(morph.weights), WeightSlot.dtype())
        slots["row"], slots["component"], slots["width"], slots["rest"] = (
            len(rows),
            np.arange(len(slots)),
            len(slots),
            morph.weights,
        )
        first[index], count = count, count + len(slots)
        rows.append(index)
        parts.append(slots)
    return WeightTables(np.concatenate(parts), first, np.array(rows, np.int64))


def weight_tracks(scene: Scene, clip: int, rows: np.ndarray) -> dict[int, Track]:
    """The tracks that drive the weights of objects in a clip, by row; as wide as the object has targets, missing
    weights at rest."""
    if not 0 <= clip < len(scene.clips):
        return {}
    driven = {
        channel.node: channel.track
        for channel in scene.clips[clip].channels
        if channel.path == "weights" and len(channel.track.times)
    }
    found = {}
    for row, index in enumerate(rows):
        thing = scene.objects[index]
        morph = scene.meshes[thing.mesh].morph_targets
        if morph is not None and thing.node in driven:
            found[row] = _padded_to_mesh(driven[thing.node], morph)
    return found


def _padded_to_mesh(track: Track, morph: MorphTargets) -> Track:
    values, width = np.asarray(track.values, np.float32), len(morph.weights)
    padded_values = np.zeros((*values.shape[:-1], width), np.float32)
    (padded_values[:, 1] if track.interpolation == "cubic" else padded_values)[...] = morph.weights
    shared = min(width, values.shape[-1])
    padded_values[..., :shared] = values[..., :shared]
    return Track(track.times, padded_values, track.interpolation)


def deformer_table(
    scene: Scene, strides: np.ndarray, morphs: MorphTables, skins: SkinTables, weights: WeightTables
) -> np.ndarray:
    """(objects, 8) int32: a Deformer for each object."""
    rows = []
    for index, thing in enumerate(scene.objects):
        morph = scene.meshes[thing.mesh].morph_targets
        rows.append(
            Deformer(
                first_weight=int(weights.first[index]),
                target_count=0 if morph is None else len(morph.weights),
                first_target=max(0, int(morphs.first[thing.mesh])),
                first_normal_target=int(morphs.first_normal[thing.mesh]),
                stride=int(strides[thing.mesh]),
                first_joint=int(skins.first_joint[thing.mesh]),
                first_vertex=max(0, int(skins.first_vertex[thing.mesh])),
            )
        )
    return Deformer.table(rows or [Deformer()]).view(np.int32).reshape(-1, 8)
