"""Morph targets and skins on the target: weights and joints of this instant, then the vertices of the objects that they deform."""

from __future__ import annotations

import numpy as np

from ..scene import Scene
from ..target.base import Array, Target, UnitSource
from . import deform_tables, tables
from .tables import MAX_BLOCKS, TrackTables


class Deformer:
    """Holds a scene's skins and morph targets on the target. `deforms` tells the objects that it places, (objects,) bool."""

    def __init__(self, target: Target, scene: Scene, strides: np.ndarray) -> None:
        self._target, self._scene = target, scene
        self.deforms = np.array([deform_tables.is_deformed(scene.meshes[o.mesh]) for o in scene.objects], bool)
        self._weights = deform_tables.weight_tables(scene)
        morphs, skins = deform_tables.morph_tables(scene.meshes), deform_tables.skin_tables(scene.meshes)
        self._has_skins = any(mesh.skin is not None for mesh in scene.meshes)
        self._unit = target.unit(UnitSource("gpu/animate/deform.cu", constants=(("TILE_VERTICES", deform_tables.TILE_VERTICES),)))
        self._rows = target.upload(deform_tables.deformer_table(scene, strides, morphs, skins, self._weights), "animation")
        self._targets = tuple(target.upload(values, "animation") for values in (morphs.targets, morphs.normal_targets))
        self._skinned = tuple(target.upload(values, "animation") for values in (skins.joint_ids, skins.weights))
        self._joint_nodes = target.upload(skins.nodes, "animation")
        self._inverse_binds = target.upload(skins.inverse_binds, "animation")
        self._joints = target.zeros((len(skins.nodes), 16), np.float32, "animation")
        slots = self._weights.slots
        self._slots = target.upload(slots.view(np.uint8) if len(slots) else np.zeros(deform_tables.SLOT.itemsize, np.uint8), "animation")
        self._weight_values = target.zeros(max(1, len(slots)), np.float32, "animation")

    def moves(self, clip: int, moving_nodes: np.ndarray) -> np.ndarray:
        """(objects,) bool: whose joints the clip moves, or whose weights it drives. What else moves a morphed object is its node's matter."""
        driven = {int(self._weights.rows[row]) for row in deform_tables.weight_tracks(self._scene, clip, self._weights.rows)}
        result = np.zeros(len(self._scene.objects), bool)
        for index, thing in enumerate(self._scene.objects):
            skin = self._scene.meshes[thing.mesh].skin
            result[index] = index in driven or (skin is not None and bool(moving_nodes[np.asarray(skin.joints)].any()))
        return result

    def tiles(self, first_vertex: np.ndarray, counts: np.ndarray, objects: np.ndarray) -> Array:
        """The tiles of the given objects on the target."""
        return self._target.upload(tables.tiles_of(first_vertex, counts, objects, deform_tables.TILE_VERTICES), "animation")

    # -- launches -------------------------------------------------------------------------------------------------
    def prepare(self, moment: Array, world: Array, tracks: TrackTables) -> None:
        """Weights and joints of the moment, from the nodes' matrices. `tracks` lie on the target."""
        slots, joints = len(self._weights.slots), len(self._joint_nodes)
        if slots:
            row_count = len(self._weights.rows)
            driven = (tracks.weight_channels, row_count, tracks.tracks, tracks.times, tracks.values)
            self._target.launch(self._unit, "evaluate_weights", slots, moment, self._slots, *driven, slots, self._weight_values)
        if self._has_skins:
            bind = (self._joint_nodes, self._inverse_binds, joints)
            self._target.launch(self._unit, "place_joints", joints, world, *bind, self._joints)

    def deform(self, tiles: Array, placements: Array, sources: tuple[Array, Array], buffers: tuple[Array, Array, Array, Array]) -> None:
        """Write the vertices of the tiles; `buffers` are positions, previous positions, normals and the counter of vertices that are not finite."""
        count = len(tiles)
        if count:
            morph = (self._weight_values, *self._targets)
            arguments = (tiles, count, placements, self._rows, *sources, *morph, self._joints, *self._skinned, *buffers)
            launch = self._target.launch
            launch(self._unit, "deform_vertices", count, *arguments, block=deform_tables.TILE_VERTICES, blocks=min(count, MAX_BLOCKS))
